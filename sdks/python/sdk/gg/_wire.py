"""How the SDK reaches gg; nothing here is public.

A public function is marked with the operation it binds. Its body checks what the contract's types
cannot say and makes one call; whatever goes wrong in it leaves as an `ApiError` of that operation.
"""

import dataclasses
import functools
import os
import types
from collections.abc import Callable, Collection
from enum import Enum
from typing import Any

from componentize_py_types import Err
from wit_world.imports import types as contract

from .core import UNCHANGED, ApiError, ErrorCode, Unchanged

MAX_CALL_BYTES = 32 * 1024 * 1024
"""What one call may carry: one that brings more fails as `limit-exceeded`, before anything is copied.

gg itself ends a program only past half as much again.
"""

BOUND: list[str] = []
"""The operations that functions bind."""

_MAX_COUNT = 0xFFFF_FFFF

_NAMES = {
    "blockedBy": "blocked_by",
    "completionCriteria": "completion_criteria",
    "inScope": "in_scope",
    "maxLineChars": "max_line_chars",
    "newString": "new_string",
    "oldString": "old_string",
    "onUse": "on_use",
    "outOfScope": "out_of_scope",
    "timeoutSecs": "timeout_secs",
}
"""Arguments as gg's sentences name them, and as the functions here do."""

_HALVES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
"""What stands for half a surrogate pair."""


class _Refused(Exception):
    """An argument that does not fit; the mark of the function makes it a failed call."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.INVALID_ARGUMENT):
        super().__init__(message)
        self.code = code


def operation(name: str, *, alias: bool = False) -> Callable:
    """Marks a function with the operation it binds, as `files.read_file`.

    An alias is a second way into an operation that another function binds.
    """
    _, _, key = name.partition(".")

    def mark(function: Callable) -> Callable:
        @functools.wraps(function)
        def bound(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except _Refused as refused:
                failure = ApiError(refused.code, key, str(refused))
            except Err as failed:
                failure = error(failed.value)
            # Raised outside of the handlers: what a program sees has no other cause.
            raise failure

        if not alias:
            BOUND.append(name)
        return bound

    return mark


def error(failure: contract.ApiError) -> ApiError:
    """A failure of the contract as the one that programs catch."""
    message = failure.message
    for theirs, ours in _NAMES.items():
        for end in "`[":
            message = message.replace(f"`{theirs}{end}", f"`{ours}{end}")
    return ApiError(word(ErrorCode, failure.code), failure.operation, message)


def call(function: Callable, *arguments: Any) -> Any:
    """Makes one call, unless it carries more than a call may."""
    room = MAX_CALL_BYTES
    for argument in arguments:
        room = _measured(argument, room)
    return function(*arguments)


def _measured(value: Any, room: int) -> int:
    """What is left of `room` behind a value."""
    if isinstance(value, str):
        # No character is shorter than a byte or longer than four.
        size = len(value)
        if size <= room < 4 * size and not value.isascii():
            size = len(value.encode())
        room -= size
    elif isinstance(value, list):
        # Each element has an address and a length beside its own bytes.
        room -= 8 * len(value)
        for item in value if room >= 0 else ():
            room = _measured(item, room)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            room = _measured(getattr(value, field.name), room)
    if room < 0:
        raise _too_large()
    return room


def _too_large() -> _Refused:
    return _Refused(
        f"the arguments are too large; a call carries {MAX_CALL_BYTES // 1024**2} MiB at most",
        ErrorCode.LIMIT_EXCEEDED,
    )


# --- What goes in


def text(name: str, value: Any) -> str:
    """Checks that an argument is a text that can cross: half a surrogate pair becomes U+FFFD."""
    if not isinstance(value, str):
        raise _Refused(f"`{name}` is {_named(value)}; expected a str")
    return clean(value)


def clean(value: str) -> str:
    """A text without halves of surrogate pairs, which no UTF-8 has a place for."""
    # A text of more than a call carries is refused by its length, not copied here first.
    if not value.isascii() and len(value) <= MAX_CALL_BYTES:
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.translate(_HALVES)
    return str.__str__(value)


def optional(name: str, value: Any) -> str | None:
    """Checks a text that may be left out."""
    return None if value is None else text(name, value)


def path(name: str, value: Any) -> str:
    """Checks that an argument names a file: a text or a path object."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return text(name, value)


def optional_path(name: str, value: Any) -> str | None:
    """Checks a path that may be left out."""
    return None if value is None else path(name, value)


def whole(name: str, value: Any, least: int = 0) -> int | None:
    """Checks a count that may be left out: an int that is not less than what counts from there."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Refused(f"`{name}` is {_named(value)}; expected an int, {least} or more")
    if value < least:
        raise _Refused(f"`{name}` is {_short(value)}; expected an int, {least} or more")
    if value > _MAX_COUNT:
        raise _Refused(f"`{name}` is {_short(value)}; expected an int, {_MAX_COUNT} at most")
    return int(value)


def number(name: str, value: Any) -> float | None:
    """Checks a number that may be left out."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _Refused(f"`{name}` is {_named(value)}; expected a number")
    try:
        return float(value)
    except OverflowError:
        raise _Refused(f"`{name}` is too large a number") from None


def texts(name: str, value: Any) -> list[str]:
    """Checks that an argument is a list of texts, or another collection of them."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Collection):
        raise _Refused(f"`{name}` is {_named(value)}; expected a list of str")
    _countable(value)
    return [text(f"{name}[{at}]", item) for at, item in enumerate(value)]


def optional_texts(name: str, value: Any) -> list[str] | None:
    """Checks a list of texts that may be left out."""
    return None if value is None else texts(name, value)


def ranges(name: str, value: Any) -> list[contract.TurnRange]:
    """Checks that an argument is a list of pairs of turns."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Collection):
        raise _Refused(f"`{name}` is {_named(value)}; expected a list of (first, last)")
    _countable(value)
    pairs = []
    for at, item in enumerate(value):
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise _Refused(f"`{name}[{at}]` is {_named(item)}; expected (first, last)")
        first, last = (whole(f"{name}[{at}]", turn) for turn in item)
        if first is None or last is None:
            raise _Refused(f"`{name}[{at}]` holds None; expected (first, last)")
        pairs.append(contract.TurnRange(first, last))
    return pairs


def choice[E: Enum](name: str, kind: type[E], value: Any, into: type[Enum]) -> Any:
    """Checks a choice that may be left out, and gives the contract's word for it."""
    if value is None:
        return None
    try:
        member = kind(value)
    except ValueError:
        known = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
        raise _Refused(f"`{name}` is {_short(value)}; expected {known}") from None
    return into[member.name]


def kept(name: str, value: Any, check: Callable = text) -> Any:
    """A field of an update that stays where it is left out; it cannot be taken away."""
    if value is UNCHANGED:
        return None
    if value is None:
        raise _Refused(f"`{name}` is None; it can be changed, not taken away")
    return check(name, value)


def edit(name: str, value: Any) -> contract.TextEdit:
    """A field of an update that can also be taken away."""
    if value is UNCHANGED:
        return contract.TextEdit_Keep()
    if value is None:
        return contract.TextEdit_Clear()
    return contract.TextEdit_Set(text(name, value))


def target(value: Any) -> str:
    """The name a page of the documentation is asked for by."""
    if isinstance(value, str):
        return text("target", value)
    if isinstance(value, types.ModuleType):
        name = value.__name__
    else:
        name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    if isinstance(value, type) and issubclass(value, (ApiError, Unchanged)):
        name = f"gg.core.{value.__name__}"
    if name.partition(".")[0] not in ("gg", "lib"):
        raise _Refused("`target` is neither a name nor a function, type or module of gg's")
    return name


def _countable(value: Collection) -> None:
    """Refuses a collection whose addresses alone are more than a call carries."""
    if 8 * len(value) > MAX_CALL_BYTES:
        raise _too_large()


def _named(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _short(value: Any) -> str:
    if isinstance(value, int) and abs(value) >= 10**80:
        # The digits of a very large one are more than Python agrees to write.
        return "an int of more than 80 digits"
    shown = repr(value) if isinstance(value, (int, float, str, Enum)) else _named(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}…"


# --- What comes back


def word[E: Enum](kind: type[E], value: Enum) -> E:
    """A word of the contract as the enum that programs know it by."""
    return kind[value.name]
