"""Programs that ran before."""

from dataclasses import dataclass

from wit_world.imports import programs as wire

from ._wire import call, operation, optional, text

__all__ = ["ProgramEntry", "get", "history", "rerun"]


@dataclass(frozen=True, slots=True)
class ProgramEntry:
    """A program that ran.

    Attributes:
        id: What it is known by.
        turn: The turn it ran in.
        lines: How many lines it has.
        chars: How many characters it has.
        ok: Whether it ended well.
        error: Why it did not.
        opening: Whether gg wrote it, to open the conversation.
    """

    id: str
    turn: int
    lines: int
    chars: int
    ok: bool
    error: str | None
    opening: bool

    @operation("programs.get", alias=True)
    def source(self) -> str:
        """Reads the source of the program.

        Returns:
            Its source, as it ran.

        Raises:
            ApiError: With `NOT_FOUND`.
        """
        return call(wire.get, self.id)


@operation("programs.history")
def history() -> list[ProgramEntry]:
    """Lists the programs that are kept.

    Returns:
        The programs, the oldest first.
    """
    return [
        ProgramEntry(
            entry.id,
            entry.turn,
            entry.lines,
            entry.chars,
            entry.ok,
            entry.error,
            entry.opening,
        )
        for entry in call(wire.history)
    ]


@operation("programs.get")
def get(id: str | None = None) -> str:
    """Reads the source of a program.

    Args:
        id: The program; left out, the last.

    Returns:
        Its source, as it ran.

    Raises:
        ApiError: With `NOT_FOUND` or `INVALID_ARGUMENT`.
    """
    return call(wire.get, optional("id", id))


@operation("programs.rerun")
def rerun(source: str) -> None:
    """Runs another program after this one has ended.

    Args:
        source: The program.

    Raises:
        ApiError: With `INVALID_ARGUMENT`, or `REFUSED` where one was asked for already.
    """
    call(wire.rerun, text("source", source))
