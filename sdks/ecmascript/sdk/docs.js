/**
 * Documentation of what a program can call.
 */
import { invoke, optional, publish, text, whole } from "sdk:wire";

/**
 * Searches the documentation and shows what it finds.
 *
 * @param {DocQuery} [options] `query`, `modules`, `type` and `kind` narrow it; `offset` and `limit`
 *   page it.
 * @returns {DocSearch} How many there are in `total`, and the `hits` of this page.
 * @throws {ApiError} `invalid-argument`
 */
export function search(options) {
  const operation = "docs.search";
  const { query, modules, type, kind, offset, limit } = optional(
    operation,
    options,
    "query",
    "modules",
    "type",
    "kind",
    "offset",
    "limit",
  );
  return invoke(
    operation,
    query,
    modules,
    type,
    kind,
    whole(operation, "offset", offset),
    whole(operation, "limit", limit),
  );
}

/**
 * Closes a page of the documentation.
 *
 * @param {string} key The page.
 * @returns {number} How many were closed.
 * @throws {ApiError} `invalid-argument`
 */
export function close(key) {
  return invoke("docs.close", text("docs.close", "key", key));
}

/**
 * Closes every page of the documentation.
 *
 * @returns {number} How many were closed.
 */
export function closeAll() {
  return invoke("docs.close_all");
}

/** What an entry of the documentation is. */
export const DocKind = Object.freeze({ Module: "module", Function: "function", Type: "type" });

publish("docs", { search, close, closeAll });
