"""One instrumented module: its source, its code, and what is read off the source: which of its globals change."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dpor.core.errors import Unsupported
from dpor.python.kernel.classes import is_a, namespace_of
from dpor.python.kernel.library import CHANGING, CONSTANT
from dpor.python.program import afterlife, changing_globals, import_once
from dpor.python.rewrite import instrument
from dpor.python.rewrite.cache import cached, source_of
from dpor.python.sharing import children

_SPECIAL: Final = ("__all__", "__path__")
"""The globals with such names whose objects programs change."""


class ProgramModule:
    """One instrumented module: its code, and its globals before it is executed.

    changing     the globals that a run may rebind, or whose objects it may change; None: it may be any
    import_once  True if what it makes stays the same in all runs
    """

    def __init__(self, module: types.ModuleType, source: str, path: str) -> None:
        self.module = module
        self.source = source
        self.path = path
        self.file = Path(path).resolve()
        self.code: types.CodeType | None = None
        self.first: dict[str, Any] = {}
        self.changing: tuple[str, ...] | None = CHANGING.get(module.__name__, ())
        self.import_once = True
        if module.__name__.partition(".")[0] not in CONSTANT:
            self.changing, self.import_once = _read(source, path)

    def begin_again(self) -> None:
        """Before the module is executed again: make it what it was at first, also if it has been given a class."""
        object.__setattr__(self.module, "__class__", types.ModuleType)
        afterlife.begin_again(self.module.__dict__, self.first)

    def globals(self, of_all: bool) -> Iterable[tuple[str, Any]]:
        """Return (name, value) of the globals that are `changing`, or of all; and the `__path__` of a package, at which
        each import of a part looks."""
        names = namespace_of(self.module)
        if of_all or self.changing is None:
            wanted = [key for key in names if not key.startswith((".", "__")) or key in _SPECIAL]
        else:
            wanted = [key for key in (*self.changing, "__path__") if key in names]
        return [(key, names[key]) for key in wanted]

    def roots(self, name: str, of_all: bool) -> Iterator[tuple[Any, Any]]:
        """Yield the values of these globals, and the attributes of the module's own classes, each with a name that
        begins with `name`, the module's."""
        for key, value in self.globals(of_all):
            if is_a(value, type):
                yield from _in_class(value, name, key)
            else:
                yield (name, key), value

    def refuse_lazy_imports(self) -> None:
        """Which thread executes a module that is imported lazily (3.15), and when, is not under control: raise
        `Unsupported`."""
        for node in ast.walk(ast.parse(self.source)) if sys.version_info >= (3, 15) else ():
            if isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "is_lazy", False):
                raise Unsupported(
                    f"{self.path}:{node.lineno}: `lazy import` is not under control: leave out the `lazy`"
                )


@lru_cache(maxsize=1024)
def instrumented_code(
    source: str,
    path: str,
    *,
    visible_globals: frozenset[str],
    numbers: bool,
    starts_threads: bool,
    unhooked: frozenset[str],
) -> types.CodeType:
    """Instrument a module, or find it on disk: most modules stay the same when a fact is learnt, and between checks."""
    return cached(
        lambda: instrument(
            source,
            path,
            visible_globals=visible_globals,
            numbers=numbers,
            starts_threads=starts_threads,
            unhooked=unhooked,
        ),
        *("code", source, path, sorted(visible_globals), numbers, starts_threads, sorted(unhooked)),
    )


@lru_cache(maxsize=1024)
def _read(source: str, path: str) -> tuple[tuple[str, ...] | None, bool]:
    """Read from the source which globals change, and whether importing once is enough: see `ProgramModule`."""

    def read() -> tuple[tuple[str, ...] | None, bool]:
        tree = ast.parse(source, path)
        changing = changing_globals.changing_globals(tree)
        return None if changing is None else tuple(sorted(changing)), import_once.can_import_once(tree)

    return cached(read, "facts", source_of(import_once.__file__, changing_globals.__file__), source)


def _in_class(kind: type, module: str, *path: str) -> Iterator[tuple[Any, Any]]:
    """Yield what the attributes of a class of the module refer to, and those of the classes in it."""
    if kind.__module__ == module:
        for name, held in children.of_class(kind):
            if not is_a(held, type):
                yield (module, *path, name), held
            elif held.__qualname__ == f"{kind.__qualname__}.{name}":
                yield from _in_class(held, module, *path, name)
