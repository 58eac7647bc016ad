"""One program, from its source to its end."""

import atexit
import builtins
import os
import random
import sys
from types import ModuleType

from . import failures, modules, output

FILE = "program.py"
"""What a program is called in a traceback."""

MAX_RECURSION = 1000
"""Calls inside each other; what asks for more is given this."""

_set_recursion_limit = sys.setrecursionlimit


def settle() -> None:
    """Makes the interpreter what a program finds."""
    # Nothing is loaded from the machine that a program did not ask for.
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.setrecursionlimit = _clamped
    _set_recursion_limit(MAX_RECURSION)


def _clamped(limit: int) -> None:
    """Set the maximum depth of the Python interpreter stack to n, 1000 at most."""
    _set_recursion_limit(min(limit, MAX_RECURSION))


def run(source: str, offered: list) -> None:
    """Runs a program; a failure it does not catch is told, and nothing else comes of it."""
    # A byte order mark is no part of a source, as it is none of a file that CPython reads.
    source = source.removeprefix("\ufeff")
    modules.offer(offered)
    failures.remember(FILE, source)
    sys.argv = [FILE]
    random.seed()
    if where := os.environ.get("PWD"):
        try:
            os.chdir(where)
        except OSError:
            # A guest without files can still run; it meets the failure where it opens one.
            pass
    main = ModuleType("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    try:
        exec(compile(source, FILE, "exec", dont_inherit=True), main.__dict__)
    except SystemExit as leave:
        _leave(leave.code)
    except BaseException as error:
        # The frame that runs a program is no part of what the program did.
        failures.report(error.with_traceback(error.__traceback__.tb_next))
    _end()


def rehearse() -> None:
    """Goes through what every program begins with, so that the memory it touches is there."""
    random.seed()
    main = ModuleType("__main__")
    main.__builtins__ = builtins
    exec(compile("import gg\n", FILE, "exec", dont_inherit=True), main.__dict__)


def _leave(code: object) -> None:
    """Ends as a script that asks for it does: with a code, or with a last word and 1."""
    _end()
    if code is None:
        code = 0
    elif not isinstance(code, int):
        failures.die(str(code))
        code = 1
    os._exit(code & 0xFF)


def _end() -> None:
    try:
        atexit._run_exitfuncs()
    except BaseException as error:
        failures.report(error)
    output.end()
