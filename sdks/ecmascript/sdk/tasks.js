/**
 * A list of tasks of one's own.
 */
import { edit, fields, invoke, list, publish, text } from "sdk:wire";

const SECTIONS = ["title", "description", "inScope", "outOfScope", "completionCriteria"];

/**
 * Adds a task.
 *
 * @param {TaskDraft} task Its `id` and `title`, and where they are wanted `description`,
 *   `blockedBy`, `inScope`, `outOfScope` and `completionCriteria`.
 * @returns {TaskUsage} How many there are, and may be.
 * @throws {ApiError} `conflict`, `limit-exceeded`, `invalid-argument`
 */
export function addTask(task) {
  const operation = "tasks.add_task";
  const draft = fields(operation, task, "id", "blockedBy", ...SECTIONS);
  text(operation, "id", draft.id);
  text(operation, "title", draft.title);
  return invoke(operation, draft);
}

/**
 * Changes a task; what is left out stays.
 *
 * @param {string} id The task.
 * @param {TaskChanges} changes Any section, and `status`; a `description` of null is taken away.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function updateTask(id, changes) {
  const operation = "tasks.update_task";
  const given = fields(operation, changes, "status", ...SECTIONS);
  invoke(operation, text(operation, "id", id), { ...given, description: edit(given.description) });
}

/**
 * Sets which tasks have to be done before a task, in place of those set before.
 *
 * @param {string} id The task.
 * @param {string[]} blockedBy Ids of tasks; none for an empty list.
 * @throws {ApiError} `not-found`, `conflict` for a cycle
 */
export function setBlockedBy(id, blockedBy) {
  const operation = "tasks.set_blocked_by";
  invoke(operation, text(operation, "id", id), list(operation, "blockedBy", blockedBy));
}

/**
 * Marks a task as done.
 *
 * @param {string} id The task.
 * @throws {ApiError} `not-found`
 */
export function completeTask(id) {
  invoke("tasks.complete_task", text("tasks.complete_task", "id", id));
}

/**
 * Removes a task; no task is blocked by it any more.
 *
 * @param {string} id The task.
 * @returns {TaskUsage} How many there are, and may be.
 * @throws {ApiError} `not-found`
 */
export function removeTask(id) {
  return invoke("tasks.remove_task", text("tasks.remove_task", "id", id));
}

/** Where a task stands. */
export const TaskStatus = Object.freeze({ Pending: "pending", Done: "done" });

publish("tasks", { addTask, updateTask, setBlockedBy, completeTask, removeTask });
