/**
 * What is shown: the only way out of a program.
 *
 * A view is there from the next turn on.
 *
 * @packageDocumentation
 */
import type { FileRead } from "gg:core";
import { invalid, invoke, nameOf, optional, publish, read, text, whole } from "sdk:wire";

/**
 * What a view shows.
 * @enum
 */
export const ViewKind = {
  /** A file. */
  File: "file",
  /** A text. */
  Text: "text",
  /** A page of the documentation. */
  Documentation: "documentation",
} as const;
export type ViewKind = (typeof ViewKind)[keyof typeof ViewKind];
Object.freeze(ViewKind);

/**
 * Lines of a file, both ends included.
 */
export interface LineRegion {
  /** The first line, from 1. */
  first: number;
  /** The last line. */
  last: number;
}

/**
 * A view that is open.
 */
export interface OpenView {
  /** What it shows. */
  kind: ViewKind;
  /** The path, the label or the name it is found by. */
  selector: string;
  /** How many tokens it takes. */
  tokens: number;
  /** Which lines, of a file that is shown in part. */
  region?: LineRegion;
}

/**
 * Reads a file and shows it.
 *
 * @param path The file.
 * @param options Which lines, and how long.
 * @returns Text with `contents`, or what is known of a picture.
 * @throws {ApiError} `not-found`, `invalid-argument`, `io-error`, `limit-exceeded`
 */
export function openFile(
  path: string,
  options?: {
    /** The first line, from 1. */
    offset?: number;
    /** How many lines. */
    limit?: number;
    /** Where long lines are cut in the view. */
    maxLineChars?: number;
  },
): FileRead {
  const operation = "views.open_file";
  const { offset, limit, maxLineChars } = optional(
    operation,
    options,
    "offset",
    "limit",
    "maxLineChars",
  );
  return read(
    invoke(
      operation,
      text(operation, "path", path),
      whole(operation, "offset", offset, 1),
      whole(operation, "limit", limit, 1),
      whole(operation, "maxLineChars", maxLineChars, 1),
    ),
  );
}

/**
 * Shows a text, in place of the one shown under the same label.
 *
 * @param label What it is shown as.
 * @param body The text.
 * @throws {ApiError} `invalid-argument`, `limit-exceeded`
 */
export function openText(label: string, body: string): void {
  const operation = "views.open_text";
  invoke(operation, text(operation, "label", label), text(operation, "body", body));
}

/**
 * Shows a page of the documentation.
 *
 * @param target A function, or the name of a function, a type or a module, in full or bare.
 * @throws {ApiError} `not-found`, `conflict` for a bare name of several, `invalid-argument`
 */
export function openDocsView(target: string | Function): void {
  const operation = "views.open_docs_view";
  const name = typeof target === "function" ? nameOf(target) : target;
  if (typeof name !== "string") {
    throw invalid(operation, "the target is neither a name nor a function of gg's");
  }
  invoke(operation, name);
}

/**
 * Closes every file, text and search view under a selector.
 *
 * @param selector The path or the label.
 * @returns How many were closed.
 * @throws {ApiError} `invalid-argument`
 */
export function close(selector: string): number {
  return invoke("views.close", text("views.close", "selector", selector));
}

/**
 * What is shown.
 *
 * @returns One entry for each view.
 */
export function current(): OpenView[] {
  return invoke("views.current");
}

publish("views", { openFile, openText, openDocsView, close, current });
