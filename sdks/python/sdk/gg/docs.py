"""Documentation of what a program can call."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from wit_world.imports import docs as wire
from wit_world.imports import types as contract

from ._wire import call, choice, operation, optional, optional_texts, text, whole, word

__all__ = ["DocHit", "DocKind", "DocSearch", "close", "close_all", "search"]


class DocKind(StrEnum):
    """What an entry of the documentation is.

    Attributes:
        MODULE: A module.
        FUNCTION: A function.
        TYPE: A type.
    """

    MODULE = "module"
    FUNCTION = "function"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class DocHit:
    """An entry that a search found.

    Attributes:
        key: The name its page is opened by.
        kind: What it is.
        module: The module it belongs to.
        name: Its name in that module.
        summary: One line on what it does.
    """

    key: str
    kind: DocKind
    module: str
    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class DocSearch:
    """A page of what a search found.

    Attributes:
        total: How many entries there are.
        offset: How many stand before this page.
        hits: The entries of this page.
    """

    total: int
    offset: int
    hits: list[DocHit]


@operation("docs.search")
def search(
    query: str | None = None,
    *,
    modules: Collection[str] | None = None,
    type: str | None = None,
    kind: DocKind | None = None,
    offset: int | None = None,
    limit: int | None = None,
) -> DocSearch:
    """Searches the documentation and shows what it finds.

    Modules alone list all that they hold.

    Args:
        query: Words to look for.
        modules: Only entries of these modules.
        type: Only a type, and what is written with it.
        kind: Only entries of the kind.
        offset: How many entries to leave out at the beginning.
        limit: How many entries to give, 100 at most; left out, 20.

    Returns:
        How many entries there are, and those of this page.

    Raises:
        ApiError: With `INVALID_ARGUMENT` where nothing narrows the search.
    """
    found = call(
        wire.search,
        optional("query", query),
        optional_texts("modules", modules),
        optional("type", type),
        choice("kind", DocKind, kind, contract.DocKind),
        whole("offset", offset),
        whole("limit", limit, 1),
    )
    hits = [
        DocHit(hit.key, word(DocKind, hit.kind), hit.module, hit.name, hit.summary)
        for hit in found.hits
    ]
    return DocSearch(found.total, found.offset, hits)


@operation("docs.close")
def close(key: str) -> int:
    """Closes a page of the documentation.

    Args:
        key: The name it was opened by.

    Returns:
        How many pages were closed.

    Raises:
        ApiError: With `INVALID_ARGUMENT`.
    """
    return call(wire.close, text("key", key))


@operation("docs.close_all")
def close_all() -> int:
    """Closes every page of the documentation.

    Returns:
        How many pages were closed.
    """
    return call(wire.close_all)
