/**
 * Notes that outlast a conversation.
 *
 * A memory may carry code, which programs import as `lib:<name>`.
 */
import { invoke, list, optional, publish, text } from "sdk:wire";

const halves = (operation, options) => {
  const { code, onUse } = optional(operation, options, "code", "onUse");
  return [code, onUse];
};

/**
 * Writes a memory.
 *
 * @param {string} name What it is called.
 * @param {string} description One line on what it holds.
 * @param {string} body What is to be remembered.
 * @param {{ code?: string, onUse?: string }} [options] Code to import, and a program to run on use.
 * @returns {MemoryUsage} How full the notebook is.
 * @throws {ApiError} `conflict`, `limit-exceeded`, `invalid-argument`
 */
export function writeMemory(name, description, body, options) {
  const operation = "memories.write_memory";
  return invoke(
    operation,
    text(operation, "name", name),
    text(operation, "description", description),
    text(operation, "body", body),
    ...halves(operation, options),
  );
}

/**
 * Replaces a memory whole; code that is left out goes.
 *
 * @param {string} name What it is called.
 * @param {string} description One line on what it holds.
 * @param {string} body What is to be remembered.
 * @param {{ code?: string, onUse?: string }} [options] Code to import, and a program to run on use.
 * @returns {MemoryUsage} How full the notebook is.
 * @throws {ApiError} `not-found`, `limit-exceeded`, `invalid-argument`
 */
export function updateMemory(name, description, body, options) {
  const operation = "memories.update_memory";
  return invoke(
    operation,
    text(operation, "name", name),
    text(operation, "description", description),
    text(operation, "body", body),
    ...halves(operation, options),
  );
}

/**
 * Creates a memory.
 *
 * @param {string} name What it is called.
 * @param {string} body What is to be remembered.
 * @param {{ description?: string, code?: string, onUse?: string }} [options] One line on what it
 *   holds, code to import, and a program to run on use.
 * @returns {MemoryUsage} How full the notebook is.
 * @throws {ApiError} `conflict`, `limit-exceeded`, `invalid-argument`
 */
export function createMemory(name, body, options) {
  const operation = "memories.create_memory";
  const { description, code, onUse } = optional(
    operation,
    options,
    "description",
    "code",
    "onUse",
  );
  return invoke(
    operation,
    text(operation, "name", name),
    description,
    text(operation, "body", body),
    code,
    onUse,
  );
}

/**
 * Replaces the one exact occurrence of a text in a memory.
 *
 * @param {string} name The memory.
 * @param {string} oldString What stands there, once.
 * @param {string} newString What is to stand there.
 * @returns {MemoryUsage} How full the notebook is.
 * @throws {ApiError} `not-found`, `conflict`, `invalid-argument`, `limit-exceeded`
 */
export function editMemory(name, oldString, newString) {
  const operation = "memories.edit_memory";
  return invoke(
    operation,
    text(operation, "name", name),
    text(operation, "oldString", oldString),
    text(operation, "newString", newString),
  );
}

/**
 * Deletes a memory.
 *
 * @param {string} name The memory.
 * @returns {MemoryUsage} How full the notebook is.
 * @throws {ApiError} `not-found`
 */
export function deleteMemory(name) {
  return invoke("memories.delete_memory", text("memories.delete_memory", "name", name));
}

/**
 * Reads a memory.
 *
 * @param {string} name The memory.
 * @returns {string} Its body.
 * @throws {ApiError} `not-found`
 */
export function readMemory(name) {
  return invoke("memories.read_memory", text("memories.read_memory", "name", name));
}

/**
 * Searches memories.
 *
 * @param {string[]} keywords Words to look for.
 * @returns {MemoryHit[]} The best first.
 * @throws {ApiError} `invalid-argument`
 */
export function searchMemories(keywords) {
  const operation = "memories.search_memories";
  return invoke(operation, list(operation, "keywords", keywords));
}

publish("memories", {
  writeMemory,
  updateMemory,
  createMemory,
  editMemory,
  deleteMemory,
  readMemory,
  searchMemories,
});
