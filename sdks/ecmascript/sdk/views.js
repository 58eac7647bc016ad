/**
 * What is shown: the only way out of a program. A view is there from the next turn on.
 */
import { invalid, invoke, nameOf, optional, publish, read, text, whole } from "sdk:wire";

/**
 * Reads a file and shows it.
 *
 * @param {string} path The file.
 * @param {{ offset?: number, limit?: number, maxLineChars?: number }} [options] First line, from 1,
 *   how many, and where long lines are cut in the view.
 * @returns {FileRead} Of `kind` `"text"` with `contents`, or `"image"`.
 * @throws {ApiError} `not-found`, `invalid-argument`, `io-error`, `limit-exceeded`
 */
export function openFile(path, options) {
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
      whole(operation, "offset", offset),
      whole(operation, "limit", limit),
      whole(operation, "maxLineChars", maxLineChars),
    ),
  );
}

/**
 * Shows a text, in place of the one shown under the same label.
 *
 * @param {string} label What it is shown as.
 * @param {string} body The text.
 * @throws {ApiError} `invalid-argument`, `limit-exceeded`
 */
export function openText(label, body) {
  const operation = "views.open_text";
  invoke(operation, text(operation, "label", label), text(operation, "body", body));
}

/**
 * Shows a page of the documentation.
 *
 * @param {string | Function} target A function, or the name of a function, a type or a module.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function openDocsView(target) {
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
 * @param {string} selector The path or the label.
 * @returns {number} How many were closed.
 * @throws {ApiError} `invalid-argument`
 */
export function close(selector) {
  return invoke("views.close", text("views.close", "selector", selector));
}

/**
 * What is shown.
 *
 * @returns {OpenView[]} Each with `kind`, `selector` and `tokens`, and a page's `region`.
 */
export function current() {
  return invoke("views.current");
}

/** What a view shows. */
export const ViewKind = Object.freeze({
  File: "file",
  Text: "text",
  Documentation: "documentation",
});

publish("views", { openFile, openText, openDocsView, close, current });
