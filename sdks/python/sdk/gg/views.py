"""What is shown: the only way out of a program. A view is there from the next turn on."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike
from types import ModuleType

from wit_world.imports import views as wire

from ._wire import call, operation, path as path_, target as target_, text, whole, word
from .files import ImageFile, TextFile, _read

__all__ = [
    "LineRegion",
    "OpenView",
    "ViewKind",
    "close",
    "current",
    "open_docs_view",
    "open_file",
    "open_text",
]


class ViewKind(StrEnum):
    """What a view shows.

    Attributes:
        FILE: A file, or some lines of it.
        TEXT: A text.
        DOCUMENTATION: A page of the documentation.
    """

    FILE = "file"
    TEXT = "text"
    DOCUMENTATION = "documentation"


@dataclass(frozen=True, slots=True)
class LineRegion:
    """Some lines of a file, both ends included.

    Attributes:
        first: The number of the first line, from 1.
        last: The number of the last.
    """

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class OpenView:
    """A view that is open.

    Attributes:
        kind: What it shows.
        selector: The path, label or name it is known by.
        tokens: How much of the conversation it takes.
        region: The lines it shows, where it does not show a whole file.
    """

    kind: ViewKind
    selector: str
    tokens: int
    region: LineRegion | None


@operation("views.open_file")
def open_file(
    path: str | PathLike[str],
    *,
    offset: int | None = None,
    limit: int | None = None,
    max_line_chars: int | None = None,
) -> TextFile | ImageFile:
    """Reads a file and shows it.

    Args:
        path: The file.
        offset: The first line to read, from 1.
        limit: How many lines to read at most.
        max_line_chars: Where longer lines are cut in the view.

    Returns:
        A `TextFile` with the lines, or an `ImageFile` with a description of the picture.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT`, `IO_ERROR`, or `LIMIT_EXCEEDED` where it is
            too large to be shown.
    """
    return _read(
        call(
            wire.open_file,
            path_("path", path),
            whole("offset", offset, 1),
            whole("limit", limit, 1),
            whole("max_line_chars", max_line_chars, 1),
        )
    )


@operation("views.open_text")
def open_text(label: str, body: str) -> None:
    """Shows a text, in place of the one shown under the same label.

    Args:
        label: What it is shown as.
        body: The text.

    Raises:
        ApiError: With `INVALID_ARGUMENT`, or `LIMIT_EXCEEDED` where it is too large to be shown.
    """
    call(wire.open_text, text("label", label), text("body", body))


@operation("views.open_docs_view")
def open_docs_view(target: str | Callable | type | ModuleType) -> None:
    """Shows a page of the documentation.

    Args:
        target: A function, type or module, or the name of one, in full or bare.

    Raises:
        ApiError: With `NOT_FOUND`, `CONFLICT` for a bare name of several, or `INVALID_ARGUMENT`.
    """
    call(wire.open_docs_view, target_(target))


@operation("views.close")
def close(selector: str) -> int:
    """Closes every file, text and search view under a selector.

    Args:
        selector: The path or the label.

    Returns:
        How many views were closed.

    Raises:
        ApiError: With `INVALID_ARGUMENT`.
    """
    return call(wire.close, text("selector", selector))


@operation("views.current")
def current() -> list[OpenView]:
    """Lists what is shown.

    Returns:
        The views that are open.
    """
    return [
        OpenView(
            word(ViewKind, view.kind),
            view.selector,
            view.tokens,
            view.region and LineRegion(view.region.first, view.region.last),
        )
        for view in call(wire.current)
    ]
