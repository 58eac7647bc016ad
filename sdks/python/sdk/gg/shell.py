"""Commands."""

from dataclasses import dataclass

from wit_world.imports import shell as wire

from ._wire import call, number, operation, text

__all__ = ["ShellOutput", "shell"]


@dataclass(frozen=True, slots=True)
class ShellOutput:
    """What a command came to.

    Attributes:
        exit_code: The code it ended with.
        output: What it wrote on standard output and standard error.
        truncated: Whether some of that is left out.
    """

    exit_code: int
    output: str
    truncated: bool


@operation("shell.shell")
def shell(command: str, *, timeout_secs: float | None = None) -> ShellOutput:
    """Runs a command with `sh -c` in the working directory.

    A command that ends with another code than 0 is a result, not a failure.

    Args:
        command: The command.
        timeout_secs: Seconds after which it is killed.

    Returns:
        Its exit code and its output.

    Raises:
        ApiError: With `LIMIT_EXCEEDED` where it took too long, `INVALID_ARGUMENT`, `IO_ERROR`, or
            `REFUSED` where a check stopped it.
    """
    output = call(wire.shell, text("command", command), number("timeout_secs", timeout_secs))
    return ShellOutput(output.exit_code, output.output, output.truncated)
