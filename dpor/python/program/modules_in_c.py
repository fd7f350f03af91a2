"""Submodules in C: there is one of each in a process. If its package is imported again, so is the submodule: whoever
imports it gets the same one, and the import system makes it an attribute of the new package.

Some are not found at all (`library.IN_PYTHON_TOO`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Set
from importlib.abc import Loader
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from types import ModuleType
from typing import Any, Final

from dpor.python.kernel.classes import namespace_of
from dpor.python.kernel.library import IN_PYTHON_TOO

_SUFFIXES: Final = tuple(EXTENSION_SUFFIXES)


def is_in_c(name: str, modules: Mapping[str, Any]) -> bool:
    """True if the module of this name is loaded from a file in C, or code in C has made it within such a module."""
    names = namespace_of(modules.get(name))
    file = names.get("__file__")
    if file is None:
        package = name.rpartition(".")[0]
        return "__path__" not in names and package != "" and is_in_c(package, modules)
    return str(file).endswith(_SUFFIXES)


def within(packages: Set[str], names: Iterable[str], modules: Mapping[str, Any]) -> set[str]:
    """Return those of the names that are submodules in C of these packages."""
    found: set[str] = set()
    for name in sorted(names):
        package = name.rpartition(".")[0]
        if (package in packages or package in found) and is_in_c(name, modules):
            found.add(name)
    return found


class ModulesInC:
    """Finds the submodules in C that have been loaded."""

    def __init__(self) -> None:
        self._known: dict[str, ModuleType] = {}

    def remember(self, names: Iterable[str]) -> None:
        modules = sys.modules
        self._known.update((name, modules[name]) for name in names if "." in name and is_in_c(name, modules))

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name in IN_PYTHON_TOO:
            raise ModuleNotFoundError(f"programs get the part of the package that is in Python, not {name}", name=name)
        module = self._known.get(name)
        return None if module is None else ModuleSpec(name, _Same(module), is_package=hasattr(module, "__path__"))


class _Same(Loader):
    """A loader that returns the module, as it is."""

    def __init__(self, module: ModuleType) -> None:
        self._module: Final = module
        self._spec: Final = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
