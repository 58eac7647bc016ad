/**
 * Programs that ran before.
 *
 * @packageDocumentation
 */
import { invoke, optionalText, publish, text } from "sdk:wire";

/**
 * A program that ran.
 */
export interface ProgramEntry {
  /** Its id. */
  id: string;
  /** The turn it ran in. */
  turn: number;
  /** How many lines it has. */
  lines: number;
  /** How many characters it has. */
  chars: number;
  /** Whether it ended well. */
  ok: boolean;
  /** How it failed. */
  error?: string;
  /** Whether it is the one the session opened with. */
  opening: boolean;
}

/**
 * Which programs there are, the oldest first.
 *
 * @returns One entry for each.
 */
export function history(): ProgramEntry[] {
  return invoke("programs.history");
}

/**
 * The source of a program.
 *
 * @param id Which; left out, the last.
 * @returns Its source, as it ran.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function get(id?: string): string {
  return invoke("programs.get", optionalText("programs.get", "id", id));
}

/**
 * Runs another program after this one has ended.
 *
 * @param source The program.
 * @throws {ApiError} `invalid-argument`, `refused`
 */
export function rerun(source: string): void {
  invoke("programs.rerun", text("programs.rerun", "source", source));
}

publish("programs", { history, get, rerun });
