"""What a program prints: lines of the feedback channel, which only the operator reads.

Standard output carries gg's own stream, so nothing of a guest may reach it.
"""

import io
import sys

from wit_world.imports.feedback import LogLevel

from gg._log import emit

_MAX_PENDING = 64 * 1024
"""Characters without the end of a line that are kept before they are told as one."""


class Lines(io.TextIOBase):
    """A text stream whose lines are log lines."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, level: LogLevel, name: str) -> None:
        super().__init__()
        self._level = level
        self._pending = ""
        self.name = name
        self.mode = "w"

    @property
    def buffer(self) -> "Bytes":
        """The same stream, for bytes."""
        return Bytes(self)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        *lines, rest = (self._pending + text).split("\n")
        self._pending = rest
        for line in lines:
            emit(self._level, line)
        if len(rest) > _MAX_PENDING:
            self.end_line()
        return len(text)

    def end_line(self) -> None:
        """Tells a line that was not ended."""
        if self._pending:
            line, self._pending = self._pending, ""
            emit(self._level, line)

    def fileno(self) -> int:
        raise io.UnsupportedOperation("fileno")


class Bytes(io.RawIOBase):
    """The bytes behind a text stream."""

    def __init__(self, text: Lines) -> None:
        super().__init__()
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        data = bytes(data)
        self._text.write(data.decode("utf-8", "replace"))
        return len(data)


def install() -> None:
    """Puts the feedback channel in the place of both streams; no input ever comes."""
    sys.stdout = sys.__stdout__ = Lines(LogLevel.INFO, "<stdout>")
    sys.stderr = sys.__stderr__ = Lines(LogLevel.WARN, "<stderr>")
    sys.stdin = sys.__stdin__ = io.StringIO()


def end() -> None:
    """Tells what was printed without an end of line."""
    for stream in (sys.__stdout__, sys.__stderr__):
        stream.end_line()
