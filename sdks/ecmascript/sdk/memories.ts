/**
 * Notes that outlast a conversation.
 *
 * A memory may carry code, which programs import as `lib:<name>`.
 *
 * @packageDocumentation
 */
import { invoke, optional, optionalText, publish, text, texts } from "sdk:wire";

/**
 * How full the notebook is.
 */
export interface MemoryUsage {
  /** How many memories there are. */
  count: number;
  /** How many there may be. */
  maxCount?: number;
  /** How many characters they have together. */
  totalChars: number;
  /** How many they may have. */
  maxTotalChars?: number;
  /** How many characters their index has. */
  indexChars?: number;
  /** How many it may have. */
  maxIndexChars?: number;
}

/**
 * A memory that was found.
 */
export interface MemoryHit {
  /** What it is called. */
  name: string;
  /** One line on what it holds. */
  description: string;
  /** How many of the words it holds. */
  matched: number;
  /** How often it holds them. */
  occurrences: number;
  /** A part of it around a word. */
  excerpt: string;
}

/** The code of a memory. */
interface Halves {
  code?: string;
  onUse?: string;
}

const halves = (
  operation: string,
  options: Halves | undefined,
): [string | undefined, string | undefined] => {
  const { code, onUse } = optional(operation, options, "code", "onUse");
  return [
    optionalText(operation, "code", code),
    optionalText(operation, "onUse", onUse),
  ];
};

/**
 * Writes a memory.
 *
 * @param name What it is called.
 * @param description One line on what it holds.
 * @param body What is to be remembered.
 * @param options The code it carries.
 * @returns How full the notebook is.
 * @throws {ApiError} `conflict`, `limit-exceeded`, `invalid-argument`
 */
export function writeMemory(
  name: string,
  description: string,
  body: string,
  options?: {
    /** Code that programs import. */
    code?: string;
    /** A program that runs when the memory is used. */
    onUse?: string;
  },
): MemoryUsage {
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
 * @param name What it is called.
 * @param description One line on what it holds.
 * @param body What is to be remembered.
 * @param options The code it carries.
 * @returns How full the notebook is.
 * @throws {ApiError} `not-found`, `limit-exceeded`, `invalid-argument`
 */
export function updateMemory(
  name: string,
  description: string,
  body: string,
  options?: {
    /** Code that programs import. */
    code?: string;
    /** A program that runs when the memory is used. */
    onUse?: string;
  },
): MemoryUsage {
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
 * @param name What it is called.
 * @param body What is to be remembered.
 * @param options What more is said of it, and the code it carries.
 * @returns How full the notebook is.
 * @throws {ApiError} `conflict`, `limit-exceeded`, `invalid-argument`
 */
export function createMemory(
  name: string,
  body: string,
  options?: {
    /** One line on what it holds. */
    description?: string;
    /** Code that programs import. */
    code?: string;
    /** A program that runs when the memory is used. */
    onUse?: string;
  },
): MemoryUsage {
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
    optionalText(operation, "description", description),
    text(operation, "body", body),
    optionalText(operation, "code", code),
    optionalText(operation, "onUse", onUse),
  );
}

/**
 * Replaces the one exact occurrence of a text in a memory.
 *
 * @param name The memory.
 * @param oldString What stands there, once.
 * @param newString What is to stand there.
 * @returns How full the notebook is.
 * @throws {ApiError} `not-found`, `conflict`, `invalid-argument`, `limit-exceeded`
 */
export function editMemory(name: string, oldString: string, newString: string): MemoryUsage {
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
 * @param name The memory.
 * @returns How full the notebook is.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function deleteMemory(name: string): MemoryUsage {
  return invoke("memories.delete_memory", text("memories.delete_memory", "name", name));
}

/**
 * Reads a memory.
 *
 * @param name The memory.
 * @returns Its body.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function readMemory(name: string): string {
  return invoke("memories.read_memory", text("memories.read_memory", "name", name));
}

/**
 * Searches memories.
 *
 * @param keywords Words to look for.
 * @returns The memories that hold one, the best first.
 * @throws {ApiError} `invalid-argument`
 */
export function searchMemories(keywords: string[]): MemoryHit[] {
  const operation = "memories.search_memories";
  return invoke(operation, texts(operation, "keywords", keywords));
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
