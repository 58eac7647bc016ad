/**
 * How the work is declared done. What is written after such a call still runs.
 */
import { invoke, list, publish, text } from "sdk:wire";

/**
 * Declares the work done.
 *
 * @param {string} summary What came of it.
 * @throws {ApiError} `invalid-argument`
 */
export function finish(summary) {
  invoke("session.finish", text("session.finish", "summary", summary));
}

/**
 * Approves what was reviewed.
 */
export function approve() {
  invoke("session.approve");
}

/**
 * Asks for changes to what was reviewed.
 *
 * @param {string[]} items One change each.
 * @throws {ApiError} `invalid-argument`
 */
export function requestChanges(items) {
  const operation = "session.request_changes";
  invoke(operation, list(operation, "items", items));
}

publish("session", { finish, approve, requestChanges });
