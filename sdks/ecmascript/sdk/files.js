/**
 * Files and directories.
 *
 * A relative path starts at the working directory.
 */
import { invoke, optional, publish, read, text, whole } from "sdk:wire";

const window = (operation, options) => {
  const { offset, limit } = optional(operation, options, "offset", "limit");
  return [whole(operation, "offset", offset), whole(operation, "limit", limit)];
};

/**
 * Reads a file.
 *
 * @param {string} path The file.
 * @param {{ offset?: number, limit?: number }} [options] First line, from 1, and how many.
 * @returns {FileRead} Of `kind` `"text"` with `contents`, or `"image"`.
 * @throws {ApiError} `not-found`, `invalid-argument`, `io-error`
 */
export function readFile(path, options) {
  const operation = "files.read_file";
  return read(invoke(operation, text(operation, "path", path), ...window(operation, options)));
}

/**
 * Reads a file that holds text.
 *
 * @param {string} path The file.
 * @param {{ offset?: number, limit?: number }} [options] First line, from 1, and how many.
 * @returns {string} Its lines.
 * @throws {ApiError} `not-found`, `invalid-argument` (also for an image), `io-error`
 */
export function readTextFile(path, options) {
  const operation = "files.read_text_file";
  return invoke(operation, text(operation, "path", path), ...window(operation, options));
}

/**
 * Replaces a file, or creates it with the directories it needs.
 *
 * @param {string} path The file.
 * @param {string} contents All it is to hold.
 * @returns {number} The bytes written.
 * @throws {ApiError} `invalid-argument`, `io-error`
 */
export function writeFile(path, contents) {
  const operation = "files.write_file";
  return invoke(operation, text(operation, "path", path), text(operation, "contents", contents));
}

/**
 * Replaces the one exact occurrence of a text in a file.
 *
 * @param {string} path The file.
 * @param {string} oldString What stands there, once.
 * @param {string} newString What is to stand there.
 * @throws {ApiError} `not-found`, `conflict` where it stands several times, `invalid-argument`
 */
export function editFile(path, oldString, newString) {
  const operation = "files.edit_file";
  invoke(
    operation,
    text(operation, "path", path),
    text(operation, "oldString", oldString),
    text(operation, "newString", newString),
  );
}

/**
 * Lists a directory, one level deep.
 *
 * @param {string} [path] The directory; left out, the working directory.
 * @returns {DirEntry[]} Each with `name` and `kind`.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function listDir(path) {
  return invoke("files.list_dir", path);
}

/**
 * Searches files line by line.
 *
 * @param {string} query A regular expression.
 * @param {{ path?: string, limit?: number }} [options] Where, and how many matches at most.
 * @returns {SearchMatch[]} Each with `path`, `line` and `text`.
 * @throws {ApiError} `invalid-argument`, `not-found`
 */
export function search(query, options) {
  const operation = "files.search";
  const { path, limit } = optional(operation, options, "path", "limit");
  return invoke(operation, text(operation, "query", query), path, whole(operation, "limit", limit));
}

/** What an entry of a directory is. */
export const EntryKind = Object.freeze({ File: "file", Directory: "directory", Other: "other" });

publish("files", { readFile, readTextFile, writeFile, editFile, listDir, search });
