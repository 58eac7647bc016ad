"""Lines for the operator; a model never reads them."""

from wit_world.imports import feedback
from wit_world.imports.feedback import LogLevel

from ._wire import clean

_LEVELS = {
    "debug": LogLevel.DEBUG,
    "info": LogLevel.INFO,
    "warn": LogLevel.WARN,
    "error": LogLevel.ERROR,
}

_MAX_LINE = 16 * 1024
"""Characters of a line that cross; the operator is shown fewer."""


def log(*values: object, level: str = "info") -> None:
    """Logs a line for the operator.

    Args:
        *values: What it says, separated by blanks.
        level: `debug`, `info`, `warn` or `error`.
    """
    if level not in _LEVELS:
        raise ValueError(f"level is {level!r}; expected {', '.join(_LEVELS)}")
    for line in " ".join(map(str, values)).splitlines() or [""]:
        emit(_LEVELS[level], line)


def emit(level: LogLevel, line: str) -> None:
    """Sends one line, cut where it is longer than anyone will read."""
    if len(line) > _MAX_LINE:
        line = f"{line[:_MAX_LINE]}… ({len(line) - _MAX_LINE} more characters)"
    feedback.log(level, clean(line))
