/**
 * Commands.
 *
 * @packageDocumentation
 */
import { invalid, invoke, optional, publish, text } from "sdk:wire";

/**
 * What a command came to.
 */
export interface ShellOutput {
  /** Its exit code. */
  exitCode: number;
  /** What it printed, errors included. */
  output: string;
  /** Whether a part of that is missing. */
  truncated: boolean;
}

/**
 * Runs a command with `sh -c` in the working directory.
 *
 * @param command The command.
 * @param options For how long.
 * @returns Its exit code and what it printed.
 * @throws {ApiError} `limit-exceeded` where it took too long, `invalid-argument`, `io-error`,
 *   `refused` where a check stopped it
 */
export function shell(
  command: string,
  options?: {
    /** Seconds after which it is killed. */
    timeoutSecs?: number;
  },
): ShellOutput {
  const operation = "shell.shell";
  const { timeoutSecs } = optional(operation, options, "timeoutSecs");
  if (timeoutSecs !== undefined && typeof timeoutSecs !== "number") {
    throw invalid(operation, `\`timeoutSecs\` is ${typeof timeoutSecs}; expected a number`);
  }
  return invoke(operation, text(operation, "command", command), timeoutSecs);
}

publish("shell", { shell });
