"""Epics and issues that other agents work on."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from wit_world.imports import board as wire
from wit_world.imports import types as contract

from ._wire import call, choice, edit, kept, operation, optional, optional_texts, text, texts, word
from .core import UNCHANGED, Unchanged

__all__ = [
    "BoardUsage",
    "EpicCreated",
    "Issue",
    "IssueCreated",
    "IssueRow",
    "IssueStatus",
    "Verdict",
    "VerdictKind",
    "create_epic",
    "create_issue",
    "list_issues",
    "read_issue",
    "remove_epic",
    "remove_issue",
    "set_issue_blocked_by",
    "update_issue",
    "wait_for_issue",
]


class IssueStatus(StrEnum):
    """Where an issue stands.

    Attributes:
        OPEN: Nobody works on it yet.
        IN_PROGRESS: Somebody works on it.
        IN_REVIEW: Its work is being reviewed.
        DONE: Its work is merged.
        FAILED: Its work was given up.
    """

    OPEN = "open"
    IN_PROGRESS = "in-progress"
    IN_REVIEW = "in-review"
    DONE = "done"
    FAILED = "failed"


class VerdictKind(StrEnum):
    """What a reviewer decided.

    Attributes:
        APPROVED: The work is good.
        CHANGES_REQUESTED: The work has to change.
    """

    APPROVED = "approved"
    CHANGES_REQUESTED = "changes-requested"


@dataclass(frozen=True, slots=True)
class BoardUsage:
    """How full the board is.

    Attributes:
        epics: How many epics there are.
        max_epics: How many there may be.
        issues: How many issues there are.
        max_issues: How many there may be.
    """

    epics: int
    max_epics: int
    issues: int
    max_issues: int


@dataclass(frozen=True, slots=True)
class EpicCreated:
    """An epic that was created.

    Attributes:
        id: What it is known by.
        board: How full the board is.
    """

    id: str
    board: BoardUsage


@dataclass(frozen=True, slots=True)
class IssueCreated:
    """An issue that was created.

    Attributes:
        id: What it is known by.
        board: How full the board is.
    """

    id: str
    board: BoardUsage

    @operation("board.wait_for_issue", alias=True)
    def wait(self) -> str:
        """Asks to be told how the issue ended; the answer comes before a later turn.

        Returns:
            What was registered.

        Raises:
            ApiError: With `NOT_FOUND` or `REFUSED`.
        """
        return call(wire.wait_for_issue, self.id)


@dataclass(frozen=True, slots=True)
class IssueRow:
    """An issue in a list.

    Attributes:
        id: What it is known by.
        epic: The epic it belongs to.
        title: One line on what it is.
        status: Where it stands.
        agent: Who implements it.
        reviewers: Who review it.
        blocked_by: The issues that have to be done before.
        attempts: How often work on it began.
    """

    id: str
    epic: str | None
    title: str
    status: IssueStatus
    agent: str
    reviewers: list[str]
    blocked_by: list[str]
    attempts: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reviewer decided in a round.

    Attributes:
        round: The round, from 1.
        reviewer: Who decided.
        kind: What was decided.
        items: The changes that were asked for.
    """

    round: int
    reviewer: str
    kind: VerdictKind
    items: list[str]


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue whole.

    Attributes:
        id: What it is known by.
        epic: The epic it belongs to.
        title: One line on what it is.
        status: Where it stands.
        agent: Who implements it.
        reviewers: Who review it.
        blocked_by: The issues that have to be done before.
        attempts: How often work on it began.
        description: What it is about.
        in_scope: What belongs to it.
        out_of_scope: What does not.
        completion_criteria: What has to hold when it is done.
        rounds: How many rounds of review there were.
        verdicts: What was decided in them.
        failure: Why it failed, where it did.
    """

    id: str
    epic: str | None
    title: str
    status: IssueStatus
    agent: str
    reviewers: list[str]
    blocked_by: list[str]
    attempts: int
    description: str | None
    in_scope: str
    out_of_scope: str
    completion_criteria: str
    rounds: int
    verdicts: list[Verdict]
    failure: str | None


@operation("board.create_epic")
def create_epic(prefix: str, title: str, *, description: str | None = None) -> EpicCreated:
    """Creates an epic, under whose prefix issues are numbered.

    Args:
        prefix: 3 to 6 letters.
        title: One line on what it is.
        description: What it is about.

    Returns:
        Its id, and how full the board is.

    Raises:
        ApiError: With `INVALID_ARGUMENT`, `CONFLICT` where the prefix is taken, or
            `LIMIT_EXCEEDED`.
    """
    created = call(
        wire.create_epic,
        text("prefix", prefix),
        text("title", title),
        optional("description", description),
    )
    return EpicCreated(created.id, _usage(created.board))


@operation("board.create_issue")
def create_issue(
    title: str,
    in_scope: str,
    out_of_scope: str,
    completion_criteria: str,
    agent: str,
    *,
    description: str | None = None,
    epic: str | None = None,
    blocked_by: Collection[str] | None = None,
    reviewers: Collection[str] | None = None,
) -> IssueCreated:
    """Creates an issue.

    Args:
        title: One line on what it is.
        in_scope: What belongs to it.
        out_of_scope: What does not.
        completion_criteria: What has to hold when it is done.
        agent: Who implements it.
        description: What it is about.
        epic: The epic it belongs to.
        blocked_by: Ids of issues that have to be done before.
        reviewers: Who review it.

    Returns:
        Its id, and how full the board is.

    Raises:
        ApiError: With `INVALID_ARGUMENT`, `NOT_FOUND` or `LIMIT_EXCEEDED`.
    """
    created = call(
        wire.create_issue,
        contract.IssueDraft(
            title=text("title", title),
            description=optional("description", description),
            in_scope=text("in_scope", in_scope),
            out_of_scope=text("out_of_scope", out_of_scope),
            completion_criteria=text("completion_criteria", completion_criteria),
            agent=text("agent", agent),
            epic=optional("epic", epic),
            blocked_by=optional_texts("blocked_by", blocked_by),
            reviewers=optional_texts("reviewers", reviewers),
        ),
    )
    return IssueCreated(created.id, _usage(created.board))


@operation("board.update_issue")
def update_issue(
    id: str,
    *,
    title: str | Unchanged = UNCHANGED,
    description: str | None | Unchanged = UNCHANGED,
    in_scope: str | Unchanged = UNCHANGED,
    out_of_scope: str | Unchanged = UNCHANGED,
    completion_criteria: str | Unchanged = UNCHANGED,
    agent: str | Unchanged = UNCHANGED,
    reviewers: Collection[str] | Unchanged = UNCHANGED,
    status: IssueStatus | Unchanged = UNCHANGED,
) -> None:
    """Changes an issue; what is left out stays.

    Args:
        id: The issue.
        title: One line on what it is.
        description: What it is about; `None` takes it away.
        in_scope: What belongs to it.
        out_of_scope: What does not.
        completion_criteria: What has to hold when it is done.
        agent: Who implements it.
        reviewers: Who review it, in place of those set before.
        status: `OPEN` revives a failed issue; no other status can be set.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT`, or `REFUSED` where somebody works on it.
    """
    changes = contract.IssueChanges(
        title=kept("title", title),
        description=edit("description", description),
        in_scope=kept("in_scope", in_scope),
        out_of_scope=kept("out_of_scope", out_of_scope),
        completion_criteria=kept("completion_criteria", completion_criteria),
        agent=kept("agent", agent),
        reviewers=kept("reviewers", reviewers, texts),
        status=kept("status", status, _status),
    )
    call(wire.update_issue, text("id", id), changes)


@operation("board.set_issue_blocked_by")
def set_issue_blocked_by(id: str, blocked_by: Collection[str]) -> None:
    """Sets which issues have to be done before an issue, in place of those set before.

    Args:
        id: The issue.
        blocked_by: Ids of issues; none for an empty list.

    Raises:
        ApiError: With `NOT_FOUND`, `CONFLICT` for a cycle, `INVALID_ARGUMENT`, or `REFUSED` where
            somebody works on it.
    """
    call(wire.set_issue_blocked_by, text("id", id), texts("blocked_by", blocked_by))


@operation("board.remove_epic")
def remove_epic(id: str) -> BoardUsage:
    """Removes an epic that has no issues.

    Args:
        id: The epic.

    Returns:
        How full the board is.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT`, or `REFUSED` where it has issues.
    """
    return _usage(call(wire.remove_epic, text("id", id)))


@operation("board.remove_issue")
def remove_issue(id: str) -> BoardUsage:
    """Removes an issue that nobody works on.

    Args:
        id: The issue.

    Returns:
        How full the board is.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT`, or `REFUSED` where somebody works on it.
    """
    return _usage(call(wire.remove_issue, text("id", id)))


@operation("board.wait_for_issue")
def wait_for_issue(id: str) -> str:
    """Asks to be told how an issue ended; the answer comes before a later turn.

    Args:
        id: The issue.

    Returns:
        What was registered.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT` or `REFUSED`.
    """
    return call(wire.wait_for_issue, text("id", id))


@operation("board.list_issues")
def list_issues(*, status: IssueStatus | None = None, epic: str | None = None) -> list[IssueRow]:
    """Lists issues.

    Args:
        status: Only those that stand there.
        epic: Only those of the epic.

    Returns:
        A row for each.

    Raises:
        ApiError: With `NOT_FOUND` or `INVALID_ARGUMENT`.
    """
    rows = call(wire.list_issues, _status("status", status), optional("epic", epic))
    return [IssueRow(**_row(row)) for row in rows]


@operation("board.read_issue")
def read_issue(id: str) -> Issue:
    """Reads an issue whole.

    Args:
        id: The issue.

    Returns:
        Its sections, what reviewers decided, and why it failed.

    Raises:
        ApiError: With `NOT_FOUND` or `INVALID_ARGUMENT`.
    """
    issue = call(wire.read_issue, text("id", id))
    return Issue(
        **_row(issue.row),
        description=issue.description,
        in_scope=issue.in_scope,
        out_of_scope=issue.out_of_scope,
        completion_criteria=issue.completion_criteria,
        rounds=issue.rounds,
        verdicts=[
            Verdict(it.round, it.reviewer, word(VerdictKind, it.kind), it.items)
            for it in issue.verdicts
        ],
        failure=issue.failure,
    )


def _status(name: str, value: IssueStatus | None) -> contract.IssueStatus | None:
    return choice(name, IssueStatus, value, contract.IssueStatus)


def _usage(usage: contract.BoardUsage) -> BoardUsage:
    return BoardUsage(usage.epics, usage.max_epics, usage.issues, usage.max_issues)


def _row(row: contract.IssueRow) -> dict:
    return {
        "id": row.id,
        "epic": row.epic,
        "title": row.title,
        "status": word(IssueStatus, row.status),
        "agent": row.agent,
        "reviewers": row.reviewers,
        "blocked_by": row.blocked_by,
        "attempts": row.attempts,
    }
