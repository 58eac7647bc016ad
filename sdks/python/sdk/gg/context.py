"""One's own conversation."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike

from wit_world.imports import context as wire

from ._wire import call, operation, optional_path, ranges as ranges_, text, texts, word

__all__ = [
    "ArchiveMatch",
    "Archived",
    "MessageRole",
    "Reclaimed",
    "archive_thread",
    "compact",
    "evict_file_view",
    "search_archive",
]


class MessageRole(StrEnum):
    """Who a message is from.

    Attributes:
        SYSTEM: The instructions at the beginning.
        USER: Whoever gives the task.
        ASSISTANT: The model.
        TOOL: A call that was carried out.
    """

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """What was taken out of the conversation.

    Attributes:
        items: How many messages.
        tokens: How many tokens they had.
    """

    items: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Archived:
    """The turns that were archived.

    Attributes:
        turns: Their numbers.
        items: How many messages they had.
        tokens: How many tokens those had.
    """

    turns: list[int]
    items: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ArchiveMatch:
    """A message of the archive that matches a search.

    Attributes:
        ordinal: Its place in the archive.
        turn: The turn it stood in.
        role: Who it is from.
        text: Its text around the match.
    """

    ordinal: int
    turn: int
    role: MessageRole
    text: str


@operation("context.evict_file_view")
def evict_file_view(path: str | PathLike[str] | None = None) -> Reclaimed:
    """Takes file contents that were read out of the conversation.

    Args:
        path: The file; left out, all files.

    Returns:
        How much was taken out.

    Raises:
        ApiError: With `INVALID_ARGUMENT`.
    """
    reclaimed = call(wire.evict_file_view, optional_path("path", path))
    return Reclaimed(reclaimed.items, reclaimed.tokens)


@operation("context.archive_thread")
def archive_thread(ranges: Collection[tuple[int, int]]) -> Archived:
    """Takes whole turns out of the conversation; they can still be searched.

    Args:
        ranges: Pairs of the first and the last turn, both included.

    Returns:
        Which turns were taken out, and how much that was.

    Raises:
        ApiError: With `INVALID_ARGUMENT` or `LIMIT_EXCEEDED`.
    """
    archived = call(wire.archive_thread, ranges_("ranges", ranges))
    return Archived(archived.turns, archived.items, archived.tokens)


@operation("context.search_archive")
def search_archive(query: str) -> list[ArchiveMatch]:
    """Searches what was archived for a text, in any case.

    Args:
        query: The text.

    Returns:
        The messages that hold it, the oldest first.

    Raises:
        ApiError: With `INVALID_ARGUMENT`.
    """
    return [
        ArchiveMatch(match.ordinal, match.turn, word(MessageRole, match.role), match.text)
        for match in call(wire.search_archive, text("query", query))
    ]


@operation("context.compact")
def compact(summary: str, *, files: Collection[str] = ()) -> None:
    """Replaces the conversation by a summary, when the turn ends.

    Args:
        summary: All that is needed to go on.
        files: Files to read again.

    Raises:
        ApiError: With `INVALID_ARGUMENT`.
    """
    call(wire.compact, text("summary", summary), texts("files", files))
