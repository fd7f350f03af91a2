"""Which modules are the program's, and so instrumented: the files of its project, and packages chosen by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from dpor.core.home import is_program
from dpor.python.kernel.library import CLOSED, GIVES_MODULES, MODELLED, PARTS, STDLIB

ROOT_MARKS: Final = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


class Border:
    """The border of the program. It can only be moved outwards.

    packages   the names of packages that belong to it, wherever they are
    acting     likewise, of those that runs have shown to act (`dpor.python.kernel.opaque_code`)
    """

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = tuple(f"{package}." for package in packages)
        self.acting: frozenset[str] = GIVES_MODULES
        self._root: Path | None = None
        self._least_root: Path | None = None

    def set_root(self, file: Path) -> None:
        """Let the program be what lies in the project of this file."""
        directory = folder_to_import_from(file.resolve())
        marked = (c for c in (directory, *directory.parents) if any((c / mark).exists() for mark in ROOT_MARKS))
        root, least = next(marked, directory), self._least_root
        self._root = least if least is not None and root.is_relative_to(least) else root

    def widen(self, directory: Path) -> None:
        """Let everything in this folder belong to the program if a file of it does."""
        self._least_root = directory.resolve()

    def include(self, name: str) -> None:
        """Let the module's top package be the program's. (Our programs are at all times.)"""
        if not is_program(name):
            self._packages += (f"{name.partition('.')[0]}.",)

    def include_module(self, name: str) -> None:
        """Let this module be the program's, without the rest of its package."""
        self._packages += (name,)

    def instrument_acting(self, packages: Iterable[str]) -> bool:
        """Between runs: let these packages be the program's, as runs have shown. Returns True if some are new: then the
        program must be loaded again (`Loader.start_over`)."""
        wanted = frozenset(packages)
        more = wanted.union(part for part, whole in PARTS.items() if whole in wanted) - self.acting
        self.acting |= more
        return bool(more)

    def is_chosen(self, name: str) -> bool:
        """True if the module is of a package that is instrumented by its name, wherever it is."""
        return is_program(name) or name.partition(".")[0] in self.acting or f"{name}.".startswith(self._packages)

    def is_inside(self, name: str, origin: str | None) -> bool:
        """True if the module of this name and file is the program's."""
        if origin is None or not origin.endswith(".py"):
            return False
        top = name.partition(".")[0]
        if top in MODELLED:
            return False
        if self.is_chosen(name):
            return True
        if top in CLOSED or top in STDLIB:
            return False
        path = Path(origin).resolve()
        if self._root is None or "site-packages" in path.parts or not path.is_relative_to(self._root):
            return False
        return not any(part.startswith(".") for part in path.relative_to(self._root).parts)


def folder_to_import_from(file: Path) -> Path:
    """Return the folder from which the file's package, or the file, is imported."""
    return next(folder for folder in file.parents if not (folder / "__init__.py").exists())
