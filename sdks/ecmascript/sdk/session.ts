/**
 * How the work is declared done.
 *
 * What is written after such a call still runs.
 *
 * @packageDocumentation
 */
import { invoke, publish, text, texts } from "sdk:wire";

/**
 * Declares the work done.
 *
 * @param summary What came of it.
 * @throws {ApiError} `invalid-argument`
 */
export function finish(summary: string): void {
  invoke("session.finish", text("session.finish", "summary", summary));
}

/**
 * Approves what was reviewed.
 */
export function approve(): void {
  invoke("session.approve");
}

/**
 * Asks for changes to what was reviewed.
 *
 * @param items One change each.
 * @throws {ApiError} `invalid-argument`
 */
export function requestChanges(items: string[]): void {
  const operation = "session.request_changes";
  invoke(operation, texts(operation, "items", items));
}

publish("session", { finish, approve, requestChanges });
