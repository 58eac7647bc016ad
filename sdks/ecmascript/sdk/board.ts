/**
 * Epics and issues that other agents work on.
 *
 * @packageDocumentation
 */
import {
  choice,
  edit,
  fields,
  invoke,
  optional,
  optionalText,
  optionalTexts,
  publish,
  text,
  texts,
  textual,
} from "sdk:wire";

/**
 * Where an issue stands.
 * @enum
 */
export const IssueStatus = {
  /** Nobody works on it. */
  Open: "open",
  /** Somebody works on it. */
  InProgress: "in-progress",
  /** It is being reviewed. */
  InReview: "in-review",
  /** It is done. */
  Done: "done",
  /** It was given up. */
  Failed: "failed",
} as const;
export type IssueStatus = (typeof IssueStatus)[keyof typeof IssueStatus];
Object.freeze(IssueStatus);

/**
 * What a reviewer found.
 * @enum
 */
export const VerdictKind = {
  /** It is good. */
  Approved: "approved",
  /** Something is to be changed. */
  ChangesRequested: "changes-requested",
} as const;
export type VerdictKind = (typeof VerdictKind)[keyof typeof VerdictKind];
Object.freeze(VerdictKind);

/**
 * How full the board is.
 */
export interface BoardUsage {
  /** How many epics there are. */
  epics: number;
  /** How many there may be. */
  maxEpics: number;
  /** How many issues there are. */
  issues: number;
  /** How many there may be. */
  maxIssues: number;
}

/**
 * An epic that was created.
 */
export interface EpicCreated {
  /** Its id. */
  id: string;
  /** How full the board is. */
  board: BoardUsage;
}

/**
 * An issue that was created.
 */
export interface IssueCreated {
  /** Its id. */
  id: string;
  /** How full the board is. */
  board: BoardUsage;
}

/**
 * An issue to be created.
 */
export interface IssueDraft {
  /** One line. */
  title: string;
  /** What it is about. */
  description?: string;
  /** What belongs to it. */
  inScope: string;
  /** What does not. */
  outOfScope: string;
  /** How one sees that it is done. */
  completionCriteria: string;
  /** Who implements it. */
  agent: string;
  /** The epic it belongs to. */
  epic?: string;
  /** Issues that have to be done before. */
  blockedBy?: string[];
  /** Who reviews it. */
  reviewers?: string[];
}

/**
 * What changes of an issue; what is left out stays.
 */
export interface IssueChanges {
  /** One line. */
  title?: string;
  /** What it is about; null takes it away. */
  description?: string | null;
  /** What belongs to it. */
  inScope?: string;
  /** What does not. */
  outOfScope?: string;
  /** How one sees that it is done. */
  completionCriteria?: string;
  /** Who implements it. */
  agent?: string;
  /** Who reviews it. */
  reviewers?: string[];
  /** `open` revives an issue that failed; nothing else can be set. */
  status?: IssueStatus;
}

/**
 * An issue, without its sections.
 */
export interface IssueRow {
  /** Its id. */
  id: string;
  /** The epic it belongs to. */
  epic?: string;
  /** One line. */
  title: string;
  /** Where it stands. */
  status: IssueStatus;
  /** Who implements it. */
  agent: string;
  /** Who reviews it. */
  reviewers: string[];
  /** Issues that have to be done before. */
  blockedBy: string[];
  /** How often it was begun. */
  attempts: number;
}

/**
 * What a reviewer said of an issue.
 */
export interface Verdict {
  /** The round of review, from 1. */
  round: number;
  /** Who reviewed. */
  reviewer: string;
  /** What was found. */
  kind: VerdictKind;
  /** The changes asked for. */
  items: string[];
}

/**
 * An issue, whole.
 */
export interface Issue extends IssueRow {
  /** What it is about. */
  description?: string;
  /** What belongs to it. */
  inScope: string;
  /** What does not. */
  outOfScope: string;
  /** How one sees that it is done. */
  completionCriteria: string;
  /** How many rounds of review there were. */
  rounds: number;
  /** What reviewers said. */
  verdicts: Verdict[];
  /** Why it failed. */
  failure?: string;
}

/**
 * Creates an epic, under whose prefix issues are numbered.
 *
 * @param prefix 3 to 6 letters.
 * @param title One line.
 * @param options What more is said of it.
 * @returns Its id, and how full the board is.
 * @throws {ApiError} `invalid-argument`, `conflict`, `limit-exceeded`
 */
export function createEpic(
  prefix: string,
  title: string,
  options?: {
    /** What it is about. */
    description?: string;
  },
): EpicCreated {
  const operation = "board.create_epic";
  const { description } = optional(operation, options, "description");
  return invoke(
    operation,
    text(operation, "prefix", prefix),
    text(operation, "title", title),
    optionalText(operation, "description", description),
  );
}

/**
 * Creates an issue.
 *
 * @param issue What it is.
 * @returns Its id, and how full the board is.
 * @throws {ApiError} `invalid-argument`, `not-found`, `limit-exceeded`
 */
export function createIssue(issue: IssueDraft): IssueCreated {
  const operation = "board.create_issue";
  const draft = fields(
    operation,
    issue,
    "title",
    "description",
    "inScope",
    "outOfScope",
    "completionCriteria",
    "agent",
    "epic",
    "blockedBy",
    "reviewers",
  );
  text(operation, "title", draft.title);
  text(operation, "inScope", draft.inScope);
  text(operation, "outOfScope", draft.outOfScope);
  text(operation, "completionCriteria", draft.completionCriteria);
  text(operation, "agent", draft.agent);
  textual(operation, draft, "description", "epic");
  optionalTexts(operation, "blockedBy", draft.blockedBy);
  optionalTexts(operation, "reviewers", draft.reviewers);
  return invoke(operation, draft);
}

/**
 * Changes an issue; what is left out stays.
 *
 * @param id The issue.
 * @param changes What changes.
 * @throws {ApiError} `not-found`, `invalid-argument`, `refused`
 */
export function updateIssue(id: string, changes: IssueChanges): void {
  const operation = "board.update_issue";
  const given = fields(
    operation,
    changes,
    "title",
    "description",
    "inScope",
    "outOfScope",
    "completionCriteria",
    "agent",
    "reviewers",
    "status",
  );
  textual(
    operation,
    given,
    "title",
    "description",
    "inScope",
    "outOfScope",
    "completionCriteria",
    "agent",
  );
  optionalTexts(operation, "reviewers", given.reviewers);
  choice(operation, "status", IssueStatus, given.status);
  invoke(operation, text(operation, "id", id), { ...given, description: edit(given.description) });
}

/**
 * Sets which issues have to be done before an issue, in place of those set before.
 *
 * @param id The issue.
 * @param blockedBy Ids of issues; none for an empty list.
 * @throws {ApiError} `not-found`, `conflict` for a cycle, `invalid-argument`, `refused` where
 *   somebody works on it
 */
export function setIssueBlockedBy(id: string, blockedBy: string[]): void {
  const operation = "board.set_issue_blocked_by";
  invoke(operation, text(operation, "id", id), texts(operation, "blockedBy", blockedBy));
}

/**
 * Removes an epic that has no issues.
 *
 * @param id The epic.
 * @returns How full the board is.
 * @throws {ApiError} `not-found`, `invalid-argument`, `refused`
 */
export function removeEpic(id: string): BoardUsage {
  return invoke("board.remove_epic", text("board.remove_epic", "id", id));
}

/**
 * Removes an issue that nobody works on.
 *
 * @param id The issue.
 * @returns How full the board is.
 * @throws {ApiError} `not-found`, `invalid-argument`, `refused`
 */
export function removeIssue(id: string): BoardUsage {
  return invoke("board.remove_issue", text("board.remove_issue", "id", id));
}

/**
 * Asks to be told how an issue ended; the answer comes before the next turn.
 *
 * @param id The issue.
 * @returns What was registered.
 * @throws {ApiError} `not-found`, `invalid-argument`, `refused`
 */
export function waitForIssue(id: string): string {
  return invoke("board.wait_for_issue", text("board.wait_for_issue", "id", id));
}

/**
 * Lists issues.
 *
 * @param options Which; left out, all.
 * @returns A row for each.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function listIssues(options?: {
  /** Only those that stand there. */
  status?: IssueStatus;
  /** Only those of an epic. */
  epic?: string;
}): IssueRow[] {
  const { status, epic } = optional("board.list_issues", options, "status", "epic");
  const operation = "board.list_issues";
  return invoke(
    operation,
    choice(operation, "status", IssueStatus, status),
    optionalText(operation, "epic", epic),
  );
}

/**
 * Reads an issue whole.
 *
 * @param id The issue.
 * @returns Its sections, what reviewers said and why it failed.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function readIssue(id: string): Issue {
  const { row, ...rest } = invoke<{ row: IssueRow } & Omit<Issue, keyof IssueRow>>(
    "board.read_issue",
    text("board.read_issue", "id", id),
  );
  return { ...row, ...rest };
}

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
