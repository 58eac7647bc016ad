/**
 * Documentation of what a program can call.
 *
 * @packageDocumentation
 */
import { choice, invoke, optional, optionalText, optionalTexts, publish, text, whole } from "sdk:wire";

/**
 * What an entry of the documentation is.
 * @enum
 */
export const DocKind = {
  /** A module. */
  Module: "module",
  /** A function. */
  Function: "function",
  /** A type. */
  Type: "type",
} as const;
export type DocKind = (typeof DocKind)[keyof typeof DocKind];
Object.freeze(DocKind);

/**
 * An entry of the documentation.
 */
export interface DocHit {
  /** The name its page is opened by. */
  key: string;
  /** What it is. */
  kind: DocKind;
  /** The module it belongs to. */
  module: string;
  /** What it is called. */
  name: string;
  /** One line on it. */
  summary: string;
}

/**
 * What a search found.
 */
export interface DocSearch {
  /** How many entries there are. */
  total: number;
  /** How many come before these. */
  offset: number;
  /** The entries of this page. */
  hits: DocHit[];
}

/**
 * Searches the documentation and shows what it finds.
 *
 * @param options What is looked for; at least one of `query`, `modules`, `type` and `kind`.
 * @returns How many there are, and the entries of this page.
 * @throws {ApiError} `invalid-argument`
 */
export function search(options?: {
  /** Words, in any order. */
  query?: string;
  /** Only entries of these modules. */
  modules?: string[];
  /** Only a type, and what is written with it. */
  type?: string;
  /** Only entries of a kind. */
  kind?: DocKind;
  /** How many entries to leave out at the beginning. */
  offset?: number;
  /** How many entries to give, 100 at most; left out, 20. */
  limit?: number;
}): DocSearch {
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
    optionalText(operation, "query", query),
    optionalTexts(operation, "modules", modules),
    optionalText(operation, "type", type),
    choice(operation, "kind", DocKind, kind),
    whole(operation, "offset", offset),
    whole(operation, "limit", limit, 1),
  );
}

/**
 * Closes a page of the documentation.
 *
 * @param key The page.
 * @returns How many were closed.
 * @throws {ApiError} `invalid-argument`
 */
export function close(key: string): number {
  return invoke("docs.close", text("docs.close", "key", key));
}

/**
 * Closes every page of the documentation.
 *
 * @returns How many were closed.
 */
export function closeAll(): number {
  return invoke("docs.close_all");
}

publish("docs", { search, close, closeAll });
