/**
 * Epics and issues that other agents work on.
 */
import { edit, fields, invoke, list, optional, publish, text } from "sdk:wire";

const SECTIONS = ["title", "description", "inScope", "outOfScope", "completionCriteria", "agent"];

/**
 * Creates an epic, under whose prefix issues are numbered.
 *
 * @param {string} prefix 3 to 6 letters.
 * @param {string} title One line.
 * @param {{ description?: string }} [options] What it is about.
 * @returns {EpicCreated} Its `id`, and how full the `board` is.
 * @throws {ApiError} `invalid-argument`, `conflict`, `limit-exceeded`
 */
export function createEpic(prefix, title, options) {
  const operation = "board.create_epic";
  const { description } = optional(operation, options, "description");
  return invoke(
    operation,
    text(operation, "prefix", prefix),
    text(operation, "title", title),
    description,
  );
}

/**
 * Creates an issue.
 *
 * @param {IssueDraft} issue Its `title`, `inScope`, `outOfScope`, `completionCriteria` and `agent`,
 *   and where they are wanted `description`, `epic`, `blockedBy` and `reviewers`.
 * @returns {IssueCreated} Its `id`, and how full the `board` is.
 * @throws {ApiError} `invalid-argument`, `conflict` for a cycle, `limit-exceeded`
 */
export function createIssue(issue) {
  const operation = "board.create_issue";
  const draft = fields(operation, issue, ...SECTIONS, "epic", "blockedBy", "reviewers");
  for (const name of ["title", "inScope", "outOfScope", "completionCriteria", "agent"]) {
    text(operation, name, draft[name]);
  }
  return invoke(operation, draft);
}

/**
 * Changes an issue; what is left out stays.
 *
 * @param {string} id The issue.
 * @param {IssueChanges} changes Any section, `reviewers`, and `status` `"open"` to revive it;
 *   a `description` of null is taken away.
 * @throws {ApiError} `not-found`, `invalid-argument`, `refused`
 */
export function updateIssue(id, changes) {
  const operation = "board.update_issue";
  const given = fields(operation, changes, ...SECTIONS, "reviewers", "status");
  invoke(operation, text(operation, "id", id), { ...given, description: edit(given.description) });
}

/**
 * Sets which issues have to be done before an issue, in place of those set before.
 *
 * @param {string} id The issue.
 * @param {string[]} blockedBy Ids of issues; none for an empty list.
 * @throws {ApiError} `not-found`, `conflict` for a cycle
 */
export function setIssueBlockedBy(id, blockedBy) {
  const operation = "board.set_issue_blocked_by";
  invoke(operation, text(operation, "id", id), list(operation, "blockedBy", blockedBy));
}

/**
 * Removes an epic that has no issues.
 *
 * @param {string} id The epic.
 * @returns {BoardUsage} How full the board is.
 * @throws {ApiError} `not-found`, `refused`
 */
export function removeEpic(id) {
  return invoke("board.remove_epic", text("board.remove_epic", "id", id));
}

/**
 * Removes an issue that nobody works on.
 *
 * @param {string} id The issue.
 * @returns {BoardUsage} How full the board is.
 * @throws {ApiError} `not-found`, `refused`
 */
export function removeIssue(id) {
  return invoke("board.remove_issue", text("board.remove_issue", "id", id));
}

/**
 * Asks to be told how an issue ended; the answer comes before the next turn.
 *
 * @param {string} id The issue.
 * @returns {string} What was registered.
 * @throws {ApiError} `not-found`, `invalid-argument`, `refused`
 */
export function waitForIssue(id) {
  return invoke("board.wait_for_issue", text("board.wait_for_issue", "id", id));
}

/**
 * Lists issues.
 *
 * @param {{ status?: string, epic?: string }} [options] Only those of a status or an epic.
 * @returns {IssueRow[]} A row for each.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function listIssues(options) {
  const { status, epic } = optional("board.list_issues", options, "status", "epic");
  return invoke("board.list_issues", status, epic);
}

/**
 * Reads an issue whole.
 *
 * @param {string} id The issue.
 * @returns {Issue} Its sections, its `verdicts` and why it failed.
 * @throws {ApiError} `not-found`
 */
export function readIssue(id) {
  const { row, ...rest } = invoke("board.read_issue", text("board.read_issue", "id", id));
  return { ...row, ...rest };
}

/** Where an issue stands. */
export const IssueStatus = Object.freeze({
  Open: "open",
  InProgress: "in-progress",
  InReview: "in-review",
  Done: "done",
  Failed: "failed",
});

publish("board", {
  createEpic,
  createIssue,
  updateIssue,
  setIssueBlockedBy,
  removeEpic,
  removeIssue,
  waitForIssue,
  listIssues,
  readIssue,
});
