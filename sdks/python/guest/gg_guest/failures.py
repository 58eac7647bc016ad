"""How a failure is told: as Python renders it, without the frames that are gg's own.

Always true: every frame that is left out is counted; telling a failure does not fail.
"""

import linecache
import os
import sys
import traceback
from types import ModuleType

import gg
import wit_world
from componentize_py_types import Err
from gg._wire import clean, error as failed
from gg.core import ApiError
from wit_world.imports import feedback
from wit_world.imports import types as contract
from wit_world.imports.feedback import ErrorKind

MAX_CHARS = 32 * 1024
"""Characters of a rendering; what is longer loses its middle."""

_OWN = tuple(f"{os.path.dirname(module)}/" for module in (__file__, gg.__file__, wit_world.__file__))
"""Where gg's own code was loaded from."""

_BUILT_IN = (*_OWN, os.path.dirname(os.__file__) + "/", "/bundled/")
"""Where code was loaded from that has no file when a program runs."""


for _module in [gg, *(it for name, it in sys.modules.items() if name.startswith("gg."))]:
    # What messages say of a module is where its users would look for it.
    _module.__spec__.origin = _module.__file__ = f"{_module.__name__.replace('.', '/')}.py"


def remember(file: str, source: str) -> None:
    """Lets tracebacks quote a source that is in no file."""
    lines = source.splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)


def report(error: BaseException) -> None:
    """Tells gg of a failure that nobody caught."""
    kind, code, operation = _classified(error)
    feedback.report_error(kind, code, operation, rendering(error))


def rendering(error: BaseException) -> str:
    """A failure as Python renders it."""
    try:
        text = _rendered(error)
    except MemoryError:
        text = f"{type(error).__name__} (there was no memory left to say more)"
    except Exception as other:
        # A program's own exceptions say themselves how they are shown.
        text = f"{type(error).__name__} (it could not be shown: {type(other).__name__})"
    if len(text) > MAX_CHARS:
        half = MAX_CHARS // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half} characters dropped …\n{text[-half:]}"
    return clean(text)


def _rendered(error: BaseException) -> str:
    told = traceback.TracebackException.from_exception(error, lookup_lines=False)
    struck = _strike(told)
    text = "".join(told.format()).rstrip("\n")
    if struck:
        text += f"\n… {struck} frame{'' if struck == 1 else 's'} of gg's own"
    return text


def _strike(told: traceback.TracebackException | None) -> int:
    """Takes gg's own frames out of a failure and of all that led to it; how many there were."""
    struck = 0
    rest, seen = [told], set()
    while rest:
        one = rest.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        kept = traceback.StackSummary()
        for frame in one.stack:
            # An import that fails passes the interpreter's own, of which nothing can be read.
            if frame.filename.startswith((*_OWN, "<frozen importlib")):
                struck += 1
                continue
            if frame.filename.startswith(_BUILT_IN):
                # No file of that name is to be opened: on the machine it would be another.
                linecache.cache[frame.filename] = (0, None, [], frame.filename)
            kept.append(frame)
        one.stack = kept
        rest += [one.__cause__, one.__context__, *(one.exceptions or ())]
    return struck


def _classified(
    error: BaseException,
) -> tuple[ErrorKind, contract.FailureClass | None, str | None]:
    if isinstance(error, Err) and isinstance(error.value, contract.ApiError):
        error = failed(error.value)
    if isinstance(error, ApiError):
        code = contract.FailureClass[getattr(error.code, "name", "OTHER")]
        return ErrorKind.API_FAILURE, code, str(error.operation)
    if _is_unknown_name(error):
        return ErrorKind.UNKNOWN_NAME, None, None
    return ErrorKind.OTHER, None, None


def _is_unknown_name(error: BaseException) -> bool:
    match error:
        # A local that is read before it is set is a known name.
        case UnboundLocalError():
            return False
        case NameError() | ModuleNotFoundError():
            return True
        case AttributeError():
            return isinstance(error.obj, ModuleType) and _is_ours(error.obj.__name__)
        case ImportError():
            return _is_ours(error.name or "")
        case _:
            return False


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("gg", "lib")


def die(message: str) -> None:
    """Writes to the standard error that is shown with the end of a program."""
    os.write(2, f"{message}\n".encode("utf-8", "replace"))
    sys.__stderr__.flush()
