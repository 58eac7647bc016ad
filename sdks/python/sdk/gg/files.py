"""Files and directories.

A relative path starts at the working directory.
"""

from dataclasses import dataclass
from enum import StrEnum
from os import PathLike

from wit_world.imports import files as wire
from wit_world.imports import types as contract

from ._wire import call, operation, optional_path, path as path_, text, whole, word

__all__ = [
    "DirEntry",
    "EntryKind",
    "ImageFile",
    "ImageFormat",
    "SearchMatch",
    "TextFile",
    "edit_file",
    "list_dir",
    "read_file",
    "read_text_file",
    "search",
    "write_file",
]


class ImageFormat(StrEnum):
    """How a picture is encoded.

    Attributes:
        PNG: Portable Network Graphics.
        JPEG: Joint Photographic Experts Group.
        GIF: Graphics Interchange Format.
        WEBP: WebP.
    """

    PNG = "png"
    JPEG = "jpeg"
    GIF = "gif"
    WEBP = "webp"


class EntryKind(StrEnum):
    """What an entry of a directory is.

    Attributes:
        FILE: A file.
        DIRECTORY: A directory.
        OTHER: Neither, as a socket.
    """

    FILE = "file"
    DIRECTORY = "directory"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that holds text, or some lines of it.

    Attributes:
        contents: The lines that were read.
        first_line: The number of the first of them, from 1.
        last_line: The number of the last of them.
        total_lines: How many lines the file has.
        truncated: Whether a bound of gg's left lines out at the end; a `limit` of the call is none.
    """

    contents: str
    first_line: int
    last_line: int
    total_lines: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A file that holds a picture.

    Attributes:
        label: What the picture is shown as.
        format: How it is encoded.
        bytes: Its size in bytes.
        shown: Whether it is shown.
        reason: Why it is not shown, where it is not.
    """

    label: str
    format: ImageFormat
    bytes: int
    shown: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class DirEntry:
    """An entry of a directory.

    Attributes:
        name: Its name, without the directory.
        kind: What it is.
    """

    name: str
    kind: EntryKind


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """A line that matches a search.

    Attributes:
        path: The file.
        line: The number of the line, from 1.
        text: The line.
    """

    path: str
    line: int
    text: str


@operation("files.read_file")
def read_file(
    path: str | PathLike[str], *, offset: int | None = None, limit: int | None = None
) -> TextFile | ImageFile:
    """Reads a file.

    Args:
        path: The file.
        offset: The first line to read, from 1.
        limit: How many lines to read at most.

    Returns:
        A `TextFile` with the lines, or an `ImageFile` with a description of the picture.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT` or `IO_ERROR`.
    """
    return _read(
        call(
            wire.read_file,
            path_("path", path),
            whole("offset", offset, 1),
            whole("limit", limit, 1),
        )
    )


@operation("files.read_text_file")
def read_text_file(
    path: str | PathLike[str], *, offset: int | None = None, limit: int | None = None
) -> str:
    """Reads a file that holds text.

    Args:
        path: The file.
        offset: The first line to read, from 1.
        limit: How many lines to read at most.

    Returns:
        The lines.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT` (also for a picture) or `IO_ERROR`.
    """
    return call(
        wire.read_text_file,
        path_("path", path),
        whole("offset", offset, 1),
        whole("limit", limit, 1),
    )


@operation("files.write_file")
def write_file(path: str | PathLike[str], contents: str) -> int:
    """Replaces a file, or creates it with the directories it needs.

    Args:
        path: The file.
        contents: All it is to hold.

    Returns:
        How many bytes were written.

    Raises:
        ApiError: With `INVALID_ARGUMENT`, `IO_ERROR`, or `REFUSED` where a check stopped it.
    """
    return call(wire.write_file, path_("path", path), text("contents", contents))


@operation("files.edit_file")
def edit_file(path: str | PathLike[str], old_string: str, new_string: str) -> None:
    """Replaces the one exact occurrence of a text in a file.

    The rest of the file stays as it is, byte for byte.

    Args:
        path: The file.
        old_string: What stands there, exactly once.
        new_string: What is to stand there.

    Raises:
        ApiError: With `NOT_FOUND` where the file or the text is not there, `CONFLICT` where the
            text stands there several times, `INVALID_ARGUMENT`, `IO_ERROR`, or `REFUSED` where a
            check stopped it.
    """
    call(
        wire.edit_file,
        path_("path", path),
        text("old_string", old_string),
        text("new_string", new_string),
    )


@operation("files.list_dir")
def list_dir(path: str | PathLike[str] | None = None) -> list[DirEntry]:
    """Lists a directory, one level deep.

    Args:
        path: The directory; left out, the working directory.

    Returns:
        Its entries, sorted by name.

    Raises:
        ApiError: With `NOT_FOUND`, `INVALID_ARGUMENT` or `IO_ERROR`.
    """
    entries = call(wire.list_dir, optional_path("path", path))
    return [DirEntry(entry.name, word(EntryKind, entry.kind)) for entry in entries]


@operation("files.search")
def search(
    query: str, *, path: str | PathLike[str] | None = None, limit: int | None = None
) -> list[SearchMatch]:
    """Searches files line by line.

    Files that ignore files name are left out.

    Args:
        query: A regular expression.
        path: The file or directory to search; left out, the working directory.
        limit: How many matches to give at most.

    Returns:
        The lines that match, by file and line.

    Raises:
        ApiError: With `INVALID_ARGUMENT`, `NOT_FOUND` or `IO_ERROR`.
    """
    matches = call(
        wire.search, text("query", query), optional_path("path", path), whole("limit", limit, 1)
    )
    return [SearchMatch(match.path, match.line, match.text) for match in matches]


def _read(answer: contract.FileRead) -> TextFile | ImageFile:
    value = answer.value
    if isinstance(answer, contract.FileRead_Text):
        return TextFile(
            value.contents, value.first_line, value.last_line, value.total_lines, value.truncated
        )
    return ImageFile(
        value.label, word(ImageFormat, value.format), value.bytes, value.shown, value.reason
    )
