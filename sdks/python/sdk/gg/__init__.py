"""What a program can call, by module."""

import sys
from typing import Any

from . import (
    board,
    context,
    core,
    delegation,
    docs,
    files,
    memories,
    programs,
    session,
    shell,
    skills,
    tasks,
    views,
)
from ._log import log
from .core import UNCHANGED, ApiError, ErrorCode

MODULES = [
    "files",
    "shell",
    "board",
    "tasks",
    "memories",
    "docs",
    "views",
    "context",
    "delegation",
    "skills",
    "programs",
    "session",
    "core",
]
"""The modules, in the order a model meets them."""

__all__ = [*MODULES, "ApiError", "ErrorCode", "UNCHANGED", "log"]


def _tell_what_there_is(module: Any) -> None:
    """Gives a module a failure for unknown names that lists those it has."""

    def missing(name: str) -> Any:
        known = ", ".join(sorted(module.__all__))
        raise AttributeError(
            f"module '{module.__name__}' has no '{name}'; it has {known}", name=name, obj=module
        )

    module.__getattr__ = missing


for _name in MODULES:
    _tell_what_there_is(globals()[_name])
_tell_what_there_is(sys.modules[__name__])
