/**
 * Commands.
 */
import { invalid, invoke, optional, publish, text } from "sdk:wire";

/**
 * Runs a command with `sh -c` in the working directory.
 *
 * @param {string} command The command.
 * @param {{ timeoutSecs?: number }} [options] Seconds after which it is killed.
 * @returns {ShellOutput} `exitCode`, `output` and whether that is `truncated`.
 * @throws {ApiError} `limit-exceeded` where it took too long, `invalid-argument`, `io-error`
 */
export function shell(command, options) {
  const operation = "shell.shell";
  const { timeoutSecs } = optional(operation, options, "timeoutSecs");
  if (timeoutSecs !== undefined && typeof timeoutSecs !== "number") {
    throw invalid(operation, `\`timeoutSecs\` is ${typeof timeoutSecs}; expected a number`);
  }
  return invoke(operation, text(operation, "command", command), timeoutSecs);
}

publish("shell", { shell });
