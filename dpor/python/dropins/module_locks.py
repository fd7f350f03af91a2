"""Modules of the program that are imported while it runs: the thread that imports one first executes it, step by step,
and others that import it wait.

These are CPython's module locks, with the rules of `dpor/primitives/imports.py`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from dpor.primitives.imports import IDLE, LOAD, THERE, WAIT, AwaitImport, BeginImport, BeginImportWithin, EndImport
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import Made, SyncObject

_begin: Final = cache(BeginImport)
_begin_within: Final = cache(BeginImportWithin)
_await: Final = cache(AwaitImport)
_end: Final = cache(EndImport)


class ModuleLock(SyncObject):
    """The lock of a module: the same in all runs, whichever thread asks for it first."""

    def __init__(self, name: str, state: Any) -> None:
        self._name = name
        self.dpor_made_at = None
        self.dpor_state = state
        self.dpor_location = run.operations.location(("module", f"import {name}"))
        run.made.append(Made(self))


class _Activity(ModuleLock):
    """The object whose state is the activity of all threads (`primitives.imports.Activity`). Reports do not name it."""


class _Locks:
    """The module locks of one run."""

    def __init__(self) -> None:
        self.run = -1
        self.by_name: dict[str, ModuleLock] = {}

    def of(self, name: str) -> tuple[ModuleLock, ModuleLock]:
        if self.run != run.number:
            self.run = run.number
            self.by_name = {"": _Activity("", IDLE)}
        if name not in self.by_name:
            self.by_name[name] = ModuleLock(name, None)
        return self.by_name[name], self.by_name[""]

    def states(self) -> Iterator[tuple[Any, ...]]:
        for name, lock in sorted(self.by_name.items()):
            yield (name, lock.dpor_state) if name else tuple(sorted(part) for part in lock.dpor_state)


_locks: Final = _Locks()


def forget() -> None:
    """Forget the locks: what this run has imported so far is loaded before other threads begin."""
    _locks.run = -1


def states() -> list[tuple[Any, ...]]:
    """Return how far the imports of this run have come: part of its state."""
    return [*_locks.states()] if _locks.run == run.number else []


def load_module(name: str) -> None:
    """Called before the module is looked up: execute it, unless it has been executed or another thread is executing
    it."""
    objects = _locks.of(name)
    while True:
        loads = any(thread == run.current.id for thread, _ in objects[1].dpor_state[0])  # determined by its own past
        result = perform((_begin_within if loads else _begin)(name), *objects)
        if result == WAIT:
            result = perform(_await(name), *objects)
            if result == LOAD and not run.unwinding:
                incomplete(f"{name} fails to load while another thread waits for it, which may then see it half loaded")
        if result != THERE or name in sys.modules or run.unwinding:
            break
        perform(_end(name, False), *objects)  # the program has removed it
    if result != LOAD:
        return
    loaded = False
    try:
        importlib.import_module(name)
        loaded = True
    finally:
        perform(_end(name, loaded), *objects)


def load_modules(name: str, package: str, level: int) -> None:
    """Load what an import statement needs, from the outermost package on. The import itself raises an error for what
    does not exist."""
    try:
        absolute = importlib.util.resolve_name("." * level + name, package) if level else name
    except ImportError:
        return
    for part in _prefixes(absolute):
        if run.above.imports_in_steps(part):
            load_module(part)
        elif part not in sys.modules:
            return


def _prefixes(name: str) -> Iterator[str]:
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])
