/**
 * Other agents.
 *
 * @packageDocumentation
 */
import { invoke, optional, optionalText, optionalTexts, publish, text } from "sdk:wire";

/**
 * How an agent ended.
 * @enum
 */
export const AgentStatus = {
  /** It declared its work done. */
  Completed: "completed",
  /** It had no turn left. */
  Exhausted: "exhausted",
  /** Its time was over. */
  TimedOut: "timed-out",
  /** It passed a limit. */
  LimitExceeded: "limit-exceeded",
  /** It was stopped. */
  Canceled: "canceled",
  /** Its model could not be reached. */
  ModelError: "model-error",
  /** Its model refused the credential. */
  AuthError: "auth-error",
  /** A hook stopped it. */
  HookError: "hook-error",
  /** Its conversation could not be shortened. */
  CompactionFailed: "compaction-failed",
  /** Something broke. */
  InternalError: "internal-error",
} as const;
export type AgentStatus = (typeof AgentStatus)[keyof typeof AgentStatus];
Object.freeze(AgentStatus);

/**
 * An agent that was started.
 */
export interface SubagentHandle {
  /** Its id. */
  id: string;
}

/**
 * What an agent declared when it ended, by `kind`.
 */
export type Ending =
  | { kind: "finish"; value: string }
  | { kind: "approve"; value?: undefined }
  | { kind: "request-changes"; value: string[] };

/**
 * What became of an agent.
 */
export interface SubagentOutcome {
  /** Its id. */
  id: string;
  /** What it said last. */
  text?: string;
  /** How it ended. */
  status: AgentStatus;
  /** What it declared. */
  ending?: Ending;
}

/**
 * Starts another agent on a task of its own.
 *
 * @param agent Whom.
 * @param prompt Its whole task.
 * @returns What it is waited for by.
 * @throws {ApiError} `invalid-argument`, `limit-exceeded`
 */
export function spawnSubagent(agent: string, prompt: string): SubagentHandle {
  const operation = "delegation.spawn_subagent";
  return invoke(operation, text(operation, "agent", agent), text(operation, "prompt", prompt));
}

/**
 * Waits until agents have ended.
 *
 * @param ids Whom; left out, all that no wait has brought yet.
 * @returns What became of each.
 * @throws {ApiError} `not-found`, `invalid-argument`, `refused`
 */
export function waitForSubagents(ids?: string[]): SubagentOutcome[] {
  const operation = "delegation.wait_for_subagents";
  type Told = Omit<SubagentOutcome, "ending"> & { ending?: { tag: string; value?: unknown } };
  const told = invoke<Told[]>(operation, optionalTexts(operation, "ids", ids));
  return told.map(({ ending, ...rest }) =>
    ending === undefined
      ? rest
      : { ...rest, ending: { kind: ending.tag, value: ending.value } as Ending },
  );
}

/**
 * Writes to an agent that has not ended; it cannot answer.
 *
 * @param id Whom.
 * @param message What.
 * @throws {ApiError} `not-found`, `invalid-argument`, `refused`
 */
export function sendMessage(id: string, message: string): void {
  const operation = "delegation.send_message";
  invoke(operation, text(operation, "id", id), text(operation, "message", message));
}

/**
 * Hands over to another agent, when the turn ends.
 *
 * @param agent To whom.
 * @param options What it is told.
 * @throws {ApiError} `invalid-argument`, `refused`
 */
export function exec(
  agent: string,
  options?: {
    /** What it is to do; left out, what stands in the conversation. */
    prompt?: string;
  },
): void {
  const operation = "delegation.exec";
  const { prompt } = optional(operation, options, "prompt");
  invoke(operation, text(operation, "agent", agent), optionalText(operation, "prompt", prompt));
}

/**
 * Runs a copy of oneself, from the end of the turn on.
 *
 * @param prompt What the copy is to do.
 * @returns What it is waited for by.
 * @throws {ApiError} `limit-exceeded`, `invalid-argument`
 */
export function fork(prompt: string): SubagentHandle {
  return invoke("delegation.fork", text("delegation.fork", "prompt", prompt));
}

/**
 * Goes on to another state, when the turn ends.
 *
 * @param state Which.
 * @param options What is told along.
 * @throws {ApiError} `invalid-argument`, `refused`
 */
export function transitionState(
  state: string,
  options?: {
    /** What whoever goes on there is told. */
    note?: string;
  },
): void {
  const operation = "delegation.transition_state";
  const { note } = optional(operation, options, "note");
  invoke(operation, text(operation, "state", state), optionalText(operation, "note", note));
}

publish("delegation", {
  spawnSubagent,
  waitForSubagents,
  sendMessage,
  exec,
  fork,
  transitionState,
});
