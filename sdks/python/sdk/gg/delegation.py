"""Other agents."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from wit_world.imports import delegation as wire
from wit_world.imports import types as contract

from ._wire import call, operation, optional, optional_texts, text, word

__all__ = [
    "AgentStatus",
    "Approved",
    "ChangesRequested",
    "Finished",
    "Subagent",
    "SubagentOutcome",
    "exec",
    "fork",
    "send_message",
    "spawn_subagent",
    "transition_state",
    "wait_for_subagents",
]


class AgentStatus(StrEnum):
    """How an agent ended.

    Attributes:
        COMPLETED: It declared its work done.
        EXHAUSTED: It had no turns left.
        TIMED_OUT: The time was spent.
        LIMIT_EXCEEDED: It reached another ceiling.
        CANCELED: It was stopped from outside.
        MODEL_ERROR: Its model could not be had.
        AUTH_ERROR: The key was refused.
        HOOK_ERROR: A hook failed.
        COMPACTION_FAILED: Its conversation could not be made shorter.
        INTERNAL_ERROR: gg failed.
    """

    COMPLETED = "completed"
    EXHAUSTED = "exhausted"
    TIMED_OUT = "timed-out"
    LIMIT_EXCEEDED = "limit-exceeded"
    CANCELED = "canceled"
    MODEL_ERROR = "model-error"
    AUTH_ERROR = "auth-error"
    HOOK_ERROR = "hook-error"
    COMPACTION_FAILED = "compaction-failed"
    INTERNAL_ERROR = "internal-error"


@dataclass(frozen=True, slots=True)
class Subagent:
    """Another agent.

    Attributes:
        id: What it is known by.
    """

    id: str

    @operation("delegation.send_message", alias=True)
    def send(self, message: str) -> None:
        """Writes to it, unless it has ended; it cannot answer.

        Args:
            message: What to write.

        Raises:
            ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT` or `REFUSED`.
        """
        call(wire.send_message, self.id, text("message", message))


@dataclass(frozen=True, slots=True)
class Finished:
    """The work was declared done.

    Attributes:
        summary: What came of it.
    """

    summary: str


@dataclass(frozen=True, slots=True)
class Approved:
    """What was reviewed was approved."""


@dataclass(frozen=True, slots=True)
class ChangesRequested:
    """Changes were asked for to what was reviewed.

    Attributes:
        items: One change each.
    """

    items: list[str]


@dataclass(frozen=True, slots=True)
class SubagentOutcome:
    """What became of an agent.

    Attributes:
        id: What it was known by.
        text: What it left to be read.
        status: How it ended.
        ending: What it declared when it ended.
    """

    id: str
    text: str | None
    status: AgentStatus
    ending: Finished | Approved | ChangesRequested | None


@operation("delegation.spawn_subagent")
def spawn_subagent(agent: str, prompt: str) -> Subagent:
    """Starts another agent on a task of its own.

    Args:
        agent: Which agent.
        prompt: Its whole task.

    Returns:
        What it is waited for by.

    Raises:
        ApiError: With `INVALID_ARGUMENT` or `LIMIT_EXCEEDED`.
    """
    return Subagent(call(wire.spawn_subagent, text("agent", agent), text("prompt", prompt)).id)


@operation("delegation.wait_for_subagents")
def wait_for_subagents(ids: Collection[str] | None = None) -> list[SubagentOutcome]:
    """Waits until agents have ended.

    Args:
        ids: Ids of agents; left out, all that no wait has brought yet.

    Returns:
        What became of each.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT` or `REFUSED`.
    """
    return [
        SubagentOutcome(
            outcome.id, outcome.text, word(AgentStatus, outcome.status), _ending(outcome.ending)
        )
        for outcome in call(wire.wait_for_subagents, optional_texts("ids", ids))
    ]


@operation("delegation.send_message")
def send_message(id: str, message: str) -> None:
    """Writes to an agent that has not ended; it cannot answer.

    Args:
        id: Whom.
        message: What to write.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT` or `REFUSED`.
    """
    call(wire.send_message, text("id", id), text("message", message))


@operation("delegation.exec")
def exec(agent: str, *, prompt: str | None = None) -> None:
    """Hands over to another agent, when the turn ends.

    Args:
        agent: Which agent.
        prompt: What it is told.

    Raises:
        ApiError: With `INVALID_ARGUMENT` or `REFUSED`.
    """
    call(wire.exec, text("agent", agent), optional("prompt", prompt))


@operation("delegation.fork")
def fork(prompt: str) -> Subagent:
    """Runs a copy of oneself, from the end of the turn on.

    Args:
        prompt: What the copy is to do.

    Returns:
        The copy.

    Raises:
        ApiError: With `LIMIT_EXCEEDED` or `INVALID_ARGUMENT`.
    """
    return Subagent(call(wire.fork, text("prompt", prompt)).id)


@operation("delegation.transition_state")
def transition_state(state: str, *, note: str | None = None) -> None:
    """Goes on to another state, when the turn ends.

    Args:
        state: Which state.
        note: What it is told.

    Raises:
        ApiError: With `INVALID_ARGUMENT` or `REFUSED`.
    """
    call(wire.transition_state, text("state", state), optional("note", note))


def _ending(ending: contract.Ending | None) -> Finished | Approved | ChangesRequested | None:
    match ending:
        case None:
            return None
        case contract.Ending_Finish(summary):
            return Finished(summary)
        case contract.Ending_Approve():
            return Approved()
        case _:
            return ChangesRequested(ending.value)
