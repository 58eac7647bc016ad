"""How the work is declared done. What is written after such a call still runs."""

from collections.abc import Collection

from wit_world.imports import session as wire

from ._wire import call, operation, text, texts

__all__ = ["approve", "finish", "request_changes"]


@operation("session.finish")
def finish(summary: str) -> None:
    """Declares the work done.

    Args:
        summary: What came of it.

    Raises:
        ApiError: With `INVALID_ARGUMENT`.
    """
    call(wire.finish, text("summary", summary))


@operation("session.approve")
def approve() -> None:
    """Approves what was reviewed."""
    call(wire.approve)


@operation("session.request_changes")
def request_changes(items: Collection[str]) -> None:
    """Asks for changes to what was reviewed.

    Args:
        items: One change each.

    Raises:
        ApiError: With `INVALID_ARGUMENT`.
    """
    call(wire.request_changes, texts("items", items))
