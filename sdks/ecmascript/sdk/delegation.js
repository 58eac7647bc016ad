/**
 * Other agents.
 */
import { invoke, list, optional, publish, text } from "sdk:wire";

/**
 * Starts another agent on a task of its own.
 *
 * @param {string} agent Whom.
 * @param {string} prompt Its whole task.
 * @returns {SubagentHandle} Its `id`.
 * @throws {ApiError} `invalid-argument`, `limit-exceeded`, `refused`
 */
export function spawnSubagent(agent, prompt) {
  const operation = "delegation.spawn_subagent";
  return invoke(operation, text(operation, "agent", agent), text(operation, "prompt", prompt));
}

/**
 * Waits until agents have ended.
 *
 * @param {string[]} [ids] Whom; left out, all that no wait has brought yet.
 * @returns {SubagentOutcome[]} Each with `id`, `status`, and the `text` and `ending` it left.
 * @throws {ApiError} `not-found`, `refused`
 */
export function waitForSubagents(ids) {
  const operation = "delegation.wait_for_subagents";
  return invoke(operation, ids === undefined ? undefined : list(operation, "ids", ids)).map(
    (outcome) =>
      outcome.ending === undefined
        ? outcome
        : { ...outcome, ending: { kind: outcome.ending.tag, value: outcome.ending.value } },
  );
}

/**
 * Writes to an agent that has not ended; it cannot answer.
 *
 * @param {string} id Whom.
 * @param {string} message What.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function sendMessage(id, message) {
  const operation = "delegation.send_message";
  invoke(operation, text(operation, "id", id), text(operation, "message", message));
}

/**
 * Hands over to another agent, when the turn ends.
 *
 * @param {string} agent To whom.
 * @param {{ prompt?: string }} [options] What it is told.
 * @throws {ApiError} `invalid-argument`, `refused`
 */
export function exec(agent, options) {
  const operation = "delegation.exec";
  const { prompt } = optional(operation, options, "prompt");
  invoke(operation, text(operation, "agent", agent), prompt);
}

/**
 * Runs a copy of oneself, from the end of the turn on.
 *
 * @param {string} prompt What the copy is to do.
 * @returns {SubagentHandle} Its `id`.
 * @throws {ApiError} `limit-exceeded`, `invalid-argument`
 */
export function fork(prompt) {
  return invoke("delegation.fork", text("delegation.fork", "prompt", prompt));
}

/**
 * Goes on to another state, when the turn ends.
 *
 * @param {string} state Which.
 * @param {{ note?: string }} [options] What it is told.
 * @throws {ApiError} `invalid-argument`, `refused`
 */
export function transitionState(state, options) {
  const operation = "delegation.transition_state";
  const { note } = optional(operation, options, "note");
  invoke(operation, text(operation, "state", state), note);
}

/** How an agent ended. */
export const AgentStatus = Object.freeze({
  Completed: "completed",
  Exhausted: "exhausted",
  TimedOut: "timed-out",
  LimitExceeded: "limit-exceeded",
  Canceled: "canceled",
  ModelError: "model-error",
  AuthError: "auth-error",
  HookError: "hook-error",
  CompactionFailed: "compaction-failed",
  InternalError: "internal-error",
});

publish("delegation", {
  spawnSubagent,
  waitForSubagents,
  sendMessage,
  exec,
  fork,
  transitionState,
});
