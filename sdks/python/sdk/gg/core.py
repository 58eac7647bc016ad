"""How calls fail, and what several modules share."""

from enum import StrEnum

__all__ = ["ApiError", "ErrorCode", "UNCHANGED", "Unchanged"]


class ErrorCode(StrEnum):
    """Why a call failed.

    Attributes:
        INVALID_ARGUMENT: An argument is malformed, empty or out of its range.
        NOT_FOUND: What was named does not exist.
        CONFLICT: What was asked for contradicts what there is.
        LIMIT_EXCEEDED: A bound was met.
        IO_ERROR: The operating system failed.
        UNAVAILABLE: The call is not offered.
        REFUSED: The call is offered, but not now.
        OTHER: Anything else.
    """

    INVALID_ARGUMENT = "invalid-argument"
    NOT_FOUND = "not-found"
    CONFLICT = "conflict"
    LIMIT_EXCEEDED = "limit-exceeded"
    IO_ERROR = "io-error"
    UNAVAILABLE = "unavailable"
    REFUSED = "refused"
    OTHER = "other"


class ApiError(Exception):
    """A call that failed.

    Attributes:
        code: Why it failed.
        operation: Which call it was, as `open_text`.
        message: What went wrong, as a sentence.
    """

    code: ErrorCode
    operation: str
    message: str

    def __init__(self, code: ErrorCode, operation: str, message: str) -> None:
        super().__init__(code, operation, message)
        self.code = code
        self.operation = operation
        self.message = message

    def __str__(self) -> str:
        return f"`{self.operation}` failed ({self.code}): {self.message}"


# A traceback names it as a program does.
ApiError.__module__ = "gg"


class Unchanged:
    """What stands for a field of an update that stays as it is.

    Its one value is `UNCHANGED`.
    """

    _only: "Unchanged | None" = None

    def __new__(cls) -> "Unchanged":
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED = Unchanged()
"""Leaves a field of an update as it is."""
