"""The submodules that a program finds in an instrumented package of the library without having imported them, such as
`collections.abc`, because somebody in the process has.

They are imported when no module of the library is being executed any more: modules that import each other, as those of
`http`, `urllib` and `email` do, would otherwise find each other half executed where in Python they do not.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final


class LibraryParts:
    """host_module(name) returns the host's module of this name, or None."""

    def __init__(self, host_module: Callable[[str], ModuleType | None]) -> None:
        self._host_module: Final = host_module
        self._executing = 0
        self._left: list[tuple[str, ModuleType]] = []

    @contextmanager
    def executing(self, name: str, module: ModuleType) -> Iterator[None]:
        """Context in which an instrumented module of the library is executed."""
        self._executing += 1
        try:
            yield
            self._left.append((name, module))
            if self._executing == 1:
                _bind(name, module)
                while self._left:
                    self._import(*self._left.pop(0))
        finally:
            self._executing -= 1
            if not self._executing:
                self._left.clear()

    def _import(self, name: str, module: ModuleType) -> None:
        host = self._host_module(name)
        if host is not None:
            for part in sorted(vars(host).keys() - vars(module).keys()):
                if getattr(vars(host)[part], "__name__", None) == f"{name}.{part}":
                    found = importlib.import_module(f"{name}.{part}")
                    vars(module).setdefault(part, found)  # some are in `sys.modules` under another module's name


def _bind(name: str, module: ModuleType) -> None:
    """Make the module an attribute of its package, as the import does that has just executed it."""
    package, _, part = name.rpartition(".")
    if package:
        vars(sys.modules[package])[part] = module
