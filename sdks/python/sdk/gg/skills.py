"""Instructions written beforehand."""

from wit_world.imports import skills as wire

from ._wire import call, operation, text

__all__ = ["read_skill"]


@operation("skills.read_skill")
def read_skill(name: str) -> str:
    """Uses a skill.

    Args:
        name: The skill.

    Returns:
        Its text.

    Raises:
        ApiError: With `NOT_FOUND` or `INVALID_ARGUMENT`.
    """
    return call(wire.read_skill, text("name", name))
