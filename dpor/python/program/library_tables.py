"""Containers that modules without hooks hold: `http.client.responses`, `mimetypes.types_map`, registries of packages
that are trusted. Host and program share these modules, or they are not executed again before each run.

What a program does to one of them lasts for one run. Its own code can change one whose name it has in its source: such
a *table* is shared by all threads, part of states, and restored after each run. Any other may be changed by functions
of its module. So now and then all are looked at between runs. If one differs, that is a new fact, and the search begins
again and treats it like those that are named. (If several threads call functions without hooks, these get hooks, and
their modules are the program's.)
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Mapping, Set
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from dpor.core.errors import AssumptionBroken
from dpor.core.home import is_ours
from dpor.python.effects.process_state import LOOK_EVERY, Contents, Table, words_of
from dpor.python.kernel.classes import is_a, module_of_class, namespace_of
from dpor.python.kernel.library import BENEATH, CLOSED, MODELLED, STDLIB
from dpor.python.program.program_module import ProgramModule

_FACT: Final = "table changes"
_PLAIN: Final = frozenset({str, int, float, bytes, bool, type(None), FunctionType, BuiltinFunctionType})
_CONTAINERS: Final = frozenset(
    {dict, list, set, collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter}
)
_CARED_FOR: Final = MODELLED | BENEATH | {"builtins", "copyreg", "sys", "tempfile", "warnings"}
"""Packages whose state is known, or is none of the program's. (Of other packages that are never instrumented, many have
caches: only a program that names one of their containers is taken to change it.)"""
_MOST: Final = 10_000
"""How many objects of a module are looked at at most."""


class LibraryTables:
    """The tables of the modules without hooks that a program imports.

    program   its instrumented modules, by name
    modules   a function that returns all modules that it may find
    watched   the tables that it may change: set before each run
    """

    def __init__(self, program: Mapping[str, ProgramModule], modules: Callable[[], Mapping[str, Any]]) -> None:
        self._program: Final = program
        self._modules: Final = modules
        self._imported: dict[str, None] = {}
        self._first: dict[int, tuple[Table, Contents]] = {}
        self._is_loaded = False
        self._facts: Set[object] = frozenset()
        self._known: tuple[int, int, int] | None = None
        self.watched: list[Table] = []

    def note_import(self, name: str, parts: Iterable[str] | None) -> bool:
        """Called when the program has imported a module, or `parts` of it. True if there are more tables to watch."""
        watched = len(self.watched)
        for each in (name, *(f"{name}.{part}" for part in parts or ())):
            if each not in self._imported and each.partition(".")[0] not in _CARED_FOR:
                self._imported[each] = None
                if self._is_loaded:  # else what is imported next may add to the tables of this one
                    self._find(each)
                    self.choose(self._facts)
        return len(self.watched) > watched

    def forget(self) -> None:
        """Called when the program is about to be imported again."""
        self._is_loaded, self._known, self.watched = False, None, []
        self._first.clear()

    def choose(self, facts: Set[object]) -> None:
        """Before a run: choose the tables to watch, given what is known."""
        self._facts = facts
        if not self._is_loaded:
            self._is_loaded = True
            for name in self._imported:
                self._find(name)
        known = len(self._program), len(facts), len(self._first)
        if not self._first or self._known == known:
            return
        self._known = known
        own = [loaded.source for name, loaded in self._program.items() if name.partition(".")[0] not in STDLIB]
        words = words_of(own)
        tables = [table for table, _ in self._first.values()]
        self.watched = [table for table in tables if table.words & words or (_FACT, table.module, table.name) in facts]

    def look(self, runs: int, facts: set[object]) -> None:
        """After so many runs of the search: restore what has changed unseen. Raises `AssumptionBroken` if anything
        has."""
        if runs % LOOK_EVERY > 1:
            return
        changed = {(_FACT, table.module, table.name): table for table in self.restore()}
        new = [table for fact, table in changed.items() if fact not in facts]
        if new:
            facts.update(changed)
            raise AssumptionBroken(f"{new[0].module}.{new[0].name} is changed: it is restored after each run")

    def restore(self) -> list[Table]:
        """Restore all tables to what they held before the first run; return those that held something else."""
        changed = []
        for table, first in self._first.values():
            if table.get() != first and (table in self.watched or table.module.partition(".")[0] not in CLOSED):
                table.restore(first)
                changed.append(table)
        return changed

    def drop(self, is_gone: Callable[[Any], bool]) -> None:
        """Before modules are executed again: take what they have made out of the tables that they change."""
        for table in self.watched:
            table.drop(is_gone)

    def _find(self, imported: str) -> None:
        """Take up the tables of a module that the program has imported, and of its submodules."""
        for name, module in self._modules().items():
            if type(module) is ModuleType and f"{name}.".startswith(f"{imported}."):
                if name not in self._program and not is_ours(name):
                    for number, table in _tables_of(name, module).items():
                        self._first.setdefault(number, (table, table.get()))


def _tables_of(name: str, module: ModuleType) -> dict[int, Table]:
    """Return the namespace of the module, and the containers that its globals, attributes of its classes, and what is
    in these lead to, by `id`."""
    seen: set[int] = set()
    tables = {id(namespace_of(module)): Table(name, "__dict__", "", namespace_of(module), names=True)}
    left = [(key, key, value) for key, value in namespace_of(module).items() if not key.startswith("__")]
    for _ in range(_MOST):
        if not left:
            break
        path, word, obj = left.pop()
        kind = type(obj)
        if id(obj) in tables:
            tables[id(obj)].words.add(word)
        if kind in _PLAIN or id(obj) in seen or is_a(obj, ModuleType):
            continue
        seen.add(id(obj))
        if issubclass(kind, type):
            if module_of_class(obj) == name:
                left += [(f"{path}.{key}", key, value) for key, value in vars(obj).items() if not key.startswith("__")]
        elif kind is tuple:
            left += [(f"{path}[{place}]", "", value) for place, value in enumerate(obj)]
        elif kind in _CONTAINERS:
            tables[id(obj)] = Table(name, path, word, obj)
            left += [(f"{path}[{place}]", "", value) for place, value in enumerate(Contents(obj).items)]
        elif (
            module_of_class(kind).partition(".")[0] == name.partition(".")[0]
            and type(fields := namespace_of(obj)) is dict
            and fields
        ):
            tables[id(fields)] = Table(name, f"{path}.__dict__", word, fields)
            left += [(f"{path}.{key}", key, value) for key, value in fields.items() if type(key) is str]
    return tables
