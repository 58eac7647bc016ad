/**
 * One's own conversation.
 */
import { invalid, invoke, list, optional, publish, text } from "sdk:wire";

/**
 * Takes file contents that were read out of the conversation.
 *
 * @param {string} [path] The file; left out, all files.
 * @returns {Reclaimed} How many `items` and `tokens` that were.
 */
export function evictFileView(path) {
  return invoke("context.evict_file_view", path);
}

/**
 * Takes whole turns out of the conversation; they can still be searched.
 *
 * @param {[number, number][]} ranges Pairs of first and last turn, both included.
 * @returns {Archived} Which `turns`, and how many `items` and `tokens` that were.
 * @throws {ApiError} `invalid-argument`, `limit-exceeded`
 */
export function archiveThread(ranges) {
  const operation = "context.archive_thread";
  const pairs = list(operation, "ranges", ranges).map((range) => {
    const pair = Array.isArray(range) && range.length === 2 && range.every(Number.isInteger);
    if (!pair || range.some((turn) => turn < 0)) {
      throw invalid(operation, "`ranges` holds no pair of turns; expected [first, last]");
    }
    return { first: range[0], last: range[1] };
  });
  return invoke(operation, pairs);
}

/**
 * Searches what was archived for a text, in any case.
 *
 * @param {string} query The text.
 * @returns {ArchiveMatch[]} The oldest first.
 * @throws {ApiError} `invalid-argument`
 */
export function searchArchive(query) {
  return invoke("context.search_archive", text("context.search_archive", "query", query));
}

/**
 * Replaces the conversation by a summary, when the turn ends.
 *
 * @param {string} summary All that is needed to go on.
 * @param {{ files?: string[] }} [options] Files to read again.
 * @throws {ApiError} `invalid-argument`
 */
export function compact(summary, options) {
  const operation = "context.compact";
  const { files = [] } = optional(operation, options, "files");
  invoke(operation, text(operation, "summary", summary), list(operation, "files", files));
}

publish("context", { evictFileView, archiveThread, searchArchive, compact });
