/**
 * Files and directories.
 *
 * A relative path starts at the working directory.
 *
 * @packageDocumentation
 */
import type { FileRead } from "gg:core";
import { invoke, optional, optionalText, publish, read, text, whole } from "sdk:wire";

/**
 * What an entry of a directory is.
 * @enum
 */
export const EntryKind = {
  /** A file. */
  File: "file",
  /** A directory. */
  Directory: "directory",
  /** Neither, as a socket. */
  Other: "other",
} as const;
export type EntryKind = (typeof EntryKind)[keyof typeof EntryKind];
Object.freeze(EntryKind);

/**
 * An entry of a directory.
 */
export interface DirEntry {
  /** Its name, without the directory's. */
  name: string;
  /** What it is. */
  kind: EntryKind;
}

/**
 * A line that matched.
 */
export interface SearchMatch {
  /** The file. */
  path: string;
  /** The line's number, from 1. */
  line: number;
  /** The line. */
  text: string;
}

const window = (
  operation: string,
  options: { offset?: number; limit?: number } | undefined,
): [number | undefined, number | undefined] => {
  const { offset, limit } = optional(operation, options, "offset", "limit");
  return [whole(operation, "offset", offset, 1), whole(operation, "limit", limit, 1)];
};

/**
 * Reads a file.
 *
 * @param path The file.
 * @param options Which lines; left out, from the first on as many as one read gives.
 * @returns Text with `contents`, or what is known of a picture.
 * @throws {ApiError} `not-found`, `invalid-argument`, `io-error`
 */
export function readFile(
  path: string,
  options?: {
    /** The first line, from 1. */
    offset?: number;
    /** How many lines. */
    limit?: number;
  },
): FileRead {
  const operation = "files.read_file";
  return read(invoke(operation, text(operation, "path", path), ...window(operation, options)));
}

/**
 * Reads a file that holds text.
 *
 * @param path The file.
 * @param options Which lines; left out, from the first on as many as one read gives.
 * @returns The lines.
 * @throws {ApiError} `not-found`, `invalid-argument` (also for a picture), `io-error`
 */
export function readTextFile(
  path: string,
  options?: {
    /** The first line, from 1. */
    offset?: number;
    /** How many lines. */
    limit?: number;
  },
): string {
  const operation = "files.read_text_file";
  return invoke(operation, text(operation, "path", path), ...window(operation, options));
}

/**
 * Replaces a file, or creates it with the directories it needs.
 *
 * @param path The file.
 * @param contents All it is to hold.
 * @returns The bytes written.
 * @throws {ApiError} `invalid-argument`, `io-error`, `refused` where a check stopped it
 */
export function writeFile(path: string, contents: string): number {
  const operation = "files.write_file";
  return invoke(operation, text(operation, "path", path), text(operation, "contents", contents));
}

/**
 * Replaces the one exact occurrence of a text in a file.
 *
 * @param path The file.
 * @param oldString What stands there, once.
 * @param newString What is to stand there.
 * @throws {ApiError} `not-found`, `conflict` where it stands several times, `invalid-argument`,
 *   `io-error`, `refused` where a check stopped it
 */
export function editFile(path: string, oldString: string, newString: string): void {
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
 * @param path The directory; left out, the working directory.
 * @returns Its entries.
 * @throws {ApiError} `not-found`, `invalid-argument`, `io-error`
 */
export function listDir(path?: string): DirEntry[] {
  return invoke("files.list_dir", optionalText("files.list_dir", "path", path));
}

/**
 * Searches files line by line.
 *
 * @param query A regular expression.
 * @param options Where, and how much.
 * @returns The lines that match.
 * @throws {ApiError} `invalid-argument`, `not-found`, `io-error`
 */
export function search(
  query: string,
  options?: {
    /** A file or a directory; left out, the working directory. */
    path?: string;
    /** How many matches at most. */
    limit?: number;
  },
): SearchMatch[] {
  const operation = "files.search";
  const { path, limit } = optional(operation, options, "path", "limit");
  return invoke(
    operation,
    text(operation, "query", query),
    optionalText(operation, "path", path),
    whole(operation, "limit", limit, 1),
  );
}

publish("files", { readFile, readTextFile, writeFile, editFile, listDir, search });
