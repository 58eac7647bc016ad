/**
 * A list of tasks of one's own.
 *
 * @packageDocumentation
 */
import { choice, edit, fields, invoke, publish, text, texts, textual } from "sdk:wire";

/**
 * Where a task stands.
 * @enum
 */
export const TaskStatus = {
  /** It is to be done. */
  Pending: "pending",
  /** It is done. */
  Done: "done",
} as const;
export type TaskStatus = (typeof TaskStatus)[keyof typeof TaskStatus];
Object.freeze(TaskStatus);

/**
 * A task to be added.
 */
export interface TaskDraft {
  /** An id that no other task has. */
  id: string;
  /** One line. */
  title: string;
  /** What it is about. */
  description?: string;
  /** What belongs to it. */
  inScope?: string;
  /** What does not. */
  outOfScope?: string;
  /** How one sees that it is done. */
  completionCriteria?: string;
}

/**
 * What changes of a task; what is left out stays.
 */
export interface TaskChanges {
  /** One line. */
  title?: string;
  /** What it is about; null takes it away. */
  description?: string | null;
  /** What belongs to it. */
  inScope?: string;
  /** What does not. */
  outOfScope?: string;
  /** How one sees that it is done. */
  completionCriteria?: string;
  /** Where it stands. */
  status?: TaskStatus;
}

/**
 * How full the list is.
 */
export interface TaskUsage {
  /** How many tasks there are. */
  count: number;
  /** How many there may be. */
  maxTasks: number;
}

/**
 * Adds a task.
 *
 * @param task What it is.
 * @returns How full the list is.
 * @throws {ApiError} `conflict` where the id is taken, `limit-exceeded`, `invalid-argument`
 */
export function addTask(task: TaskDraft): TaskUsage {
  const operation = "tasks.add_task";
  const draft = fields(
    operation,
    task,
    "id",
    "title",
    "description",
    "inScope",
    "outOfScope",
    "completionCriteria",
  );
  text(operation, "id", draft.id);
  text(operation, "title", draft.title);
  textual(operation, draft, "description", "inScope", "outOfScope", "completionCriteria");
  return invoke(operation, draft);
}

/**
 * Changes a task; what is left out stays.
 *
 * @param id The task.
 * @param changes What changes.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function updateTask(id: string, changes: TaskChanges): void {
  const operation = "tasks.update_task";
  const given = fields(
    operation,
    changes,
    "title",
    "description",
    "inScope",
    "outOfScope",
    "completionCriteria",
    "status",
  );
  textual(
    operation,
    given,
    "title",
    "description",
    "inScope",
    "outOfScope",
    "completionCriteria",
  );
  choice(operation, "status", TaskStatus, given.status);
  invoke(operation, text(operation, "id", id), { ...given, description: edit(given.description) });
}

/**
 * Sets which tasks have to be done before a task, in place of those set before.
 *
 * @param id The task.
 * @param blockedBy Ids of tasks; none for an empty list.
 * @throws {ApiError} `not-found`, `conflict` for a cycle, `invalid-argument`
 */
export function setBlockedBy(id: string, blockedBy: string[]): void {
  const operation = "tasks.set_blocked_by";
  invoke(operation, text(operation, "id", id), texts(operation, "blockedBy", blockedBy));
}

/**
 * Marks a task as done.
 *
 * @param id The task.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function completeTask(id: string): void {
  invoke("tasks.complete_task", text("tasks.complete_task", "id", id));
}

/**
 * Removes a task; no task is blocked by it any more.
 *
 * @param id The task.
 * @returns How full the list is.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function removeTask(id: string): TaskUsage {
  return invoke("tasks.remove_task", text("tasks.remove_task", "id", id));
}

publish("tasks", { addTask, updateTask, setBlockedBy, completeTask, removeTask });
