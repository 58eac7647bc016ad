"""Notes that outlast a conversation.

A memory may carry code, which programs import from `lib`.
"""

from collections.abc import Collection
from dataclasses import dataclass

from wit_world.imports import memories as wire
from wit_world.imports import types as contract

from ._wire import call, operation, optional, text, texts

__all__ = [
    "MemoryHit",
    "MemoryUsage",
    "create_memory",
    "delete_memory",
    "edit_memory",
    "read_memory",
    "search_memories",
    "update_memory",
    "write_memory",
]


@dataclass(frozen=True, slots=True)
class MemoryUsage:
    """How full the notebook is; a bound that is `None` is not set.

    Attributes:
        count: How many memories there are.
        max_count: How many there may be.
        total_chars: How many characters they hold.
        max_total_chars: How many they may hold.
        index_chars: How many characters their index has, where there is one.
        max_index_chars: How many it may have.
    """

    count: int
    max_count: int | None
    total_chars: int
    max_total_chars: int | None
    index_chars: int | None
    max_index_chars: int | None


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that a search found.

    Attributes:
        name: What it is called.
        description: One line on what it holds.
        matched: How many of the keywords it holds.
        occurrences: How often it holds them.
        excerpt: Some text around the first of them.
    """

    name: str
    description: str
    matched: int
    occurrences: int
    excerpt: str

    @operation("memories.read_memory", alias=True)
    def read(self) -> str:
        """Reads the memory.

        Returns:
            Its body.

        Raises:
            ApiError: With `NOT_FOUND`.
        """
        return call(wire.read_memory, self.name)


@operation("memories.write_memory")
def write_memory(
    name: str,
    description: str,
    body: str,
    *,
    code: str | None = None,
    on_use: str | None = None,
) -> MemoryUsage:
    """Writes a memory.

    Args:
        name: What it is to be called.
        description: One line on what it holds.
        body: What is to be remembered.
        code: A module that programs can import.
        on_use: A program that runs when the memory is used.

    Returns:
        How full the notebook is.

    Raises:
        ApiError: With `CONFLICT` where the name is taken, `LIMIT_EXCEEDED` or `INVALID_ARGUMENT`.
    """
    return _usage(call(wire.write_memory, *_written(name, description, body, code, on_use)))


@operation("memories.update_memory")
def update_memory(
    name: str,
    description: str,
    body: str,
    *,
    code: str | None = None,
    on_use: str | None = None,
) -> MemoryUsage:
    """Replaces a memory whole; code that is left out goes.

    Args:
        name: What it is called.
        description: One line on what it holds.
        body: What is to be remembered.
        code: A module that programs can import.
        on_use: A program that runs when the memory is used.

    Returns:
        How full the notebook is.

    Raises:
        ApiError: With `NOT_FOUND`, `LIMIT_EXCEEDED` or `INVALID_ARGUMENT`.
    """
    return _usage(call(wire.update_memory, *_written(name, description, body, code, on_use)))


@operation("memories.create_memory")
def create_memory(
    name: str,
    body: str,
    *,
    description: str | None = None,
    code: str | None = None,
    on_use: str | None = None,
) -> MemoryUsage:
    """Creates a memory.

    Args:
        name: What it is to be called.
        body: What is to be remembered.
        description: One line on what it holds.
        code: A module that programs can import.
        on_use: A program that runs when the memory is used.

    Returns:
        How full the notebook is.

    Raises:
        ApiError: With `CONFLICT` where the name is taken, `LIMIT_EXCEEDED` or `INVALID_ARGUMENT`.
    """
    return _usage(
        call(
            wire.create_memory,
            text("name", name),
            optional("description", description),
            text("body", body),
            optional("code", code),
            optional("on_use", on_use),
        )
    )


@operation("memories.edit_memory")
def edit_memory(name: str, old_string: str, new_string: str) -> MemoryUsage:
    """Replaces the one exact occurrence of a text in a memory.

    Args:
        name: The memory.
        old_string: What stands there, exactly once.
        new_string: What is to stand there.

    Returns:
        How full the notebook is.

    Raises:
        ApiError: With `NOT_FOUND`, `CONFLICT` where the text stands there several times,
            `INVALID_ARGUMENT` or `LIMIT_EXCEEDED`.
    """
    return _usage(
        call(
            wire.edit_memory,
            text("name", name),
            text("old_string", old_string),
            text("new_string", new_string),
        )
    )


@operation("memories.delete_memory")
def delete_memory(name: str) -> MemoryUsage:
    """Deletes a memory.

    Args:
        name: The memory.

    Returns:
        How full the notebook is.

    Raises:
        ApiError: With `NOT_FOUND` or `INVALID_ARGUMENT`.
    """
    return _usage(call(wire.delete_memory, text("name", name)))


@operation("memories.read_memory")
def read_memory(name: str) -> str:
    """Reads a memory.

    Args:
        name: The memory.

    Returns:
        Its body.

    Raises:
        ApiError: With `NOT_FOUND` or `INVALID_ARGUMENT`.
    """
    return call(wire.read_memory, text("name", name))


@operation("memories.search_memories")
def search_memories(keywords: Collection[str]) -> list[MemoryHit]:
    """Searches memories.

    Args:
        keywords: Words to look for.

    Returns:
        The memories that hold any of them, the best first.

    Raises:
        ApiError: With `INVALID_ARGUMENT`.
    """
    hits = call(wire.search_memories, texts("keywords", keywords))
    return [
        MemoryHit(hit.name, hit.description, hit.matched, hit.occurrences, hit.excerpt)
        for hit in hits
    ]


def _written(
    name: str, description: str, body: str, code: str | None, on_use: str | None
) -> tuple[str | None, ...]:
    return (
        text("name", name),
        text("description", description),
        text("body", body),
        optional("code", code),
        optional("on_use", on_use),
    )


def _usage(usage: contract.MemoryUsage) -> MemoryUsage:
    return MemoryUsage(
        usage.count,
        usage.max_count,
        usage.total_chars,
        usage.max_total_chars,
        usage.index_chars,
        usage.max_index_chars,
    )
