/**
 * One's own conversation.
 *
 * @packageDocumentation
 */
import { invalid, invoke, list, optional, optionalText, publish, text, texts } from "sdk:wire";

/**
 * Who wrote a message.
 * @enum
 */
export const MessageRole = {
  /** The session's instructions. */
  System: "system",
  /** Whoever the session works for. */
  User: "user",
  /** Oneself. */
  Assistant: "assistant",
  /** The result of a call. */
  Tool: "tool",
} as const;
export type MessageRole = (typeof MessageRole)[keyof typeof MessageRole];
Object.freeze(MessageRole);

/**
 * What was taken out.
 */
export interface Reclaimed {
  /** How many messages. */
  items: number;
  /** How many tokens they had. */
  tokens: number;
}

/**
 * What was archived.
 */
export interface Archived {
  /** Which turns. */
  turns: number[];
  /** How many messages. */
  items: number;
  /** How many tokens they had. */
  tokens: number;
}

/**
 * A message of the archive.
 */
export interface ArchiveMatch {
  /** Its place in the archive. */
  ordinal: number;
  /** The turn it belonged to. */
  turn: number;
  /** Who wrote it. */
  role: MessageRole;
  /** The part that matches. */
  text: string;
}

/**
 * Takes file contents that were read out of the conversation.
 *
 * @param path The file; left out, all files.
 * @returns How much that was.
 * @throws {ApiError} `invalid-argument`
 */
export function evictFileView(path?: string): Reclaimed {
  const operation = "context.evict_file_view";
  return invoke(operation, optionalText(operation, "path", path));
}

/**
 * Takes whole turns out of the conversation; they can still be searched.
 *
 * @param ranges Pairs of first and last turn, both included.
 * @returns Which turns, and how much that was.
 * @throws {ApiError} `invalid-argument`, `limit-exceeded`
 */
export function archiveThread(ranges: [number, number][]): Archived {
  const operation = "context.archive_thread";
  const pairs = list(operation, "ranges", ranges).map((range) => {
    const pair = Array.isArray(range) && range.length === 2 && range.every(Number.isInteger);
    if (!pair || range.some((turn) => turn < 0 || turn > 0xffffffff)) {
      throw invalid(operation, "`ranges` holds no pair of turns; expected [first, last]");
    }
    return { first: range[0], last: range[1] };
  });
  return invoke(operation, pairs);
}

/**
 * Searches what was archived for a text, in any case.
 *
 * @param query The text.
 * @returns The messages that hold it, the oldest first.
 * @throws {ApiError} `invalid-argument`
 */
export function searchArchive(query: string): ArchiveMatch[] {
  return invoke("context.search_archive", text("context.search_archive", "query", query));
}

/**
 * Replaces the conversation by a summary, when the turn ends.
 *
 * @param summary All that is needed to go on.
 * @param options What else is kept.
 * @throws {ApiError} `invalid-argument`
 */
export function compact(
  summary: string,
  options?: {
    /** Files to read again. */
    files?: string[];
  },
): void {
  const operation = "context.compact";
  const { files = [] } = optional(operation, options, "files");
  invoke(operation, text(operation, "summary", summary), texts(operation, "files", files));
}

publish("context", { evictFileView, archiveThread, searchArchive, compact });
