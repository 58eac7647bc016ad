"""A list of tasks of one's own."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from wit_world.imports import tasks as wire
from wit_world.imports import types as contract

from ._wire import call, choice, edit, kept, operation, optional, text, texts
from .core import UNCHANGED, Unchanged

__all__ = [
    "TaskStatus",
    "TaskUsage",
    "add_task",
    "complete_task",
    "remove_task",
    "set_blocked_by",
    "update_task",
]


class TaskStatus(StrEnum):
    """Where a task stands.

    Attributes:
        PENDING: It is to be done.
        DONE: It is done.
    """

    PENDING = "pending"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class TaskUsage:
    """How full the list is.

    Attributes:
        count: How many tasks there are.
        max_tasks: How many there may be.
    """

    count: int
    max_tasks: int


@operation("tasks.add_task")
def add_task(
    id: str,
    title: str,
    *,
    description: str | None = None,
    in_scope: str | None = None,
    out_of_scope: str | None = None,
    completion_criteria: str | None = None,
) -> TaskUsage:
    """Adds a task.

    Args:
        id: What it is to be known by.
        title: One line on what it is.
        description: What it is about.
        in_scope: What belongs to it.
        out_of_scope: What does not.
        completion_criteria: What has to hold when it is done.

    Returns:
        How full the list is.

    Raises:
        ApiError: With `CONFLICT` where the id is taken, `LIMIT_EXCEEDED` or `INVALID_ARGUMENT`.
    """
    draft = contract.TaskDraft(
        id=text("id", id),
        title=text("title", title),
        description=optional("description", description),
        in_scope=optional("in_scope", in_scope),
        out_of_scope=optional("out_of_scope", out_of_scope),
        completion_criteria=optional("completion_criteria", completion_criteria),
    )
    return _usage(call(wire.add_task, draft))


@operation("tasks.update_task")
def update_task(
    id: str,
    *,
    title: str | Unchanged = UNCHANGED,
    description: str | None | Unchanged = UNCHANGED,
    in_scope: str | Unchanged = UNCHANGED,
    out_of_scope: str | Unchanged = UNCHANGED,
    completion_criteria: str | Unchanged = UNCHANGED,
    status: TaskStatus | Unchanged = UNCHANGED,
) -> None:
    """Changes a task; what is left out stays.

    Args:
        id: The task.
        title: One line on what it is.
        description: What it is about; `None` takes it away.
        in_scope: What belongs to it.
        out_of_scope: What does not.
        completion_criteria: What has to hold when it is done.
        status: Where it stands.

    Raises:
        ApiError: With `NOT_FOUND` or `INVALID_ARGUMENT`.
    """
    changes = contract.TaskChanges(
        title=kept("title", title),
        description=edit("description", description),
        in_scope=kept("in_scope", in_scope),
        out_of_scope=kept("out_of_scope", out_of_scope),
        completion_criteria=kept("completion_criteria", completion_criteria),
        status=kept("status", status, _status),
    )
    call(wire.update_task, text("id", id), changes)


@operation("tasks.set_blocked_by")
def set_blocked_by(id: str, blocked_by: Collection[str]) -> None:
    """Sets which tasks have to be done before a task, in place of those set before.

    Args:
        id: The task.
        blocked_by: Ids of tasks; none for an empty list.

    Raises:
        ApiError: With `NOT_FOUND`, `CONFLICT` for a cycle, or `INVALID_ARGUMENT`.
    """
    call(wire.set_blocked_by, text("id", id), texts("blocked_by", blocked_by))


@operation("tasks.complete_task")
def complete_task(id: str) -> None:
    """Marks a task as done.

    Args:
        id: The task.

    Raises:
        ApiError: With `NOT_FOUND` or `INVALID_ARGUMENT`.
    """
    call(wire.complete_task, text("id", id))


@operation("tasks.remove_task")
def remove_task(id: str) -> TaskUsage:
    """Removes a task; no task is blocked by it any more.

    Args:
        id: The task.

    Returns:
        How full the list is.

    Raises:
        ApiError: With `NOT_FOUND` or `INVALID_ARGUMENT`.
    """
    return _usage(call(wire.remove_task, text("id", id)))


def _status(name: str, value: TaskStatus) -> contract.TaskStatus:
    return choice(name, TaskStatus, value, contract.TaskStatus)


def _usage(usage: contract.TaskUsage) -> TaskUsage:
    return TaskUsage(usage.count, usage.max_tasks)
