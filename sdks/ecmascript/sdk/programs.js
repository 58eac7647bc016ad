/**
 * Programs that ran before.
 */
import { invoke, publish, text } from "sdk:wire";

/**
 * Which programs there are, the oldest first.
 *
 * @returns {ProgramEntry[]} Each with `id`, `turn`, `lines`, `chars` and whether it was `ok`.
 * @throws {ApiError} `unavailable`
 */
export function history() {
  return invoke("programs.history");
}

/**
 * The source of a program.
 *
 * @param {string} [id] Which; left out, the last.
 * @returns {string} Its source, as it ran.
 * @throws {ApiError} `not-found`
 */
export function get(id) {
  return invoke("programs.get", id);
}

/**
 * Runs another program after this one has ended.
 *
 * @param {string} source The program.
 * @throws {ApiError} `invalid-argument`, `refused`
 */
export function rerun(source) {
  invoke("programs.rerun", text("programs.rerun", "source", source));
}

publish("programs", { history, get, rerun });
