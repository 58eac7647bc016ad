"""Code of skills and memories: the package `lib`, whose modules run when somebody asks for them."""

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

from wit_world.imports import feedback

from . import failures

_sources: dict[str, str] = {}


def offer(modules: list) -> None:
    """Says which modules there are."""
    for module in modules:
        _sources[module.key] = module.source
        failures.remember(file_of(module.key), module.source)


def file_of(key: str) -> str:
    """What a module is called in a traceback."""
    return f"lib/{key}.py"


def install() -> None:
    """Makes `import lib` and `import lib.<key>` work."""
    sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        package, _, key = name.partition(".")
        if package != "lib" or "." in key or (key and key not in _sources):
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(key), is_package=not key)


class _Loader(importlib.abc.InspectLoader):
    def __init__(self, key: str) -> None:
        self._key = key

    def is_package(self, name: str) -> bool:
        return not self._key

    def get_source(self, name: str) -> str:
        return _sources.get(self._key, "")

    def exec_module(self, module: ModuleType) -> None:
        if not self._key:
            module.__getattr__ = _member
            module.__dir__ = lambda: sorted(_sources)
            return
        try:
            code = compile(_sources[self._key], file_of(self._key), "exec", dont_inherit=True)
            exec(code, module.__dict__)
        except Exception as error:
            feedback.report_module_error(self._key, failures.rendering(error))
            raise


def _member(name: str) -> ModuleType:
    """A module that is reached as `lib.<key>` without a line of its own."""
    if name in _sources:
        return importlib.import_module(f"lib.{name}")
    known = ", ".join(sorted(_sources)) or "nothing"
    raise AttributeError(
        f"module 'lib' has no '{name}'; it has {known}", name=name, obj=sys.modules["lib"]
    )
