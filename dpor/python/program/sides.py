"""Host and program are in one process but have separate modules: `sys.modules` is exchanged around each run.

The standard library and what runs programs serve both sides (`library.serves_both_sides`), and so do modules in C,
which exist once in a process (`modules_in_c`). Of all other packages host and program each import their own. So what
the program does to its `rich` or `attrs` does not affect the host, and a package can be instrumented that the host
uses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Set
from types import FunctionType, ModuleType
from typing import Any, Final

from dpor.python.kernel.classes import module_named_by, module_of_class, namespace_of
from dpor.python.kernel.library import STDLIB, serves_both_sides
from dpor.python.program.leftovers import Library
from dpor.python.program.modules_in_c import ModulesInC, is_in_c, within


class Sides:
    """The modules of both sides.

    is_instrumented   True if the module of this name is compiled from rewritten source
    program           the modules of the program's side, by name
    """

    def __init__(self, is_instrumented: Callable[[str], bool]) -> None:
        self._is_instrumented: Final = is_instrumented
        self.program: dict[str, ModuleType] = {}
        self._aside: dict[str, ModuleType] = {}
        self._names: list[str] = []
        self._seen = self._expected = -1
        self._all_hidden = False
        self._has_hooks = False
        """True if the program has modules and all of them are instrumented."""
        self._library: Library | None = None
        self._first: Set[str] = frozenset()
        self._apart: tuple[Set[str], Set[str]] = frozenset(), frozenset()
        """Names of modules to drop, and of those of which it is known that they have nothing of these."""
        self._stale: tuple[Set[str], ...] = (frozenset(),) * 4
        """Names of modules to execute again, of the program's, of those of these that are not up to date then, and of
        the submodules in C that will be imported again."""
        self._in_c: Final = ModulesInC()

    def forget(self, *, left: bool = False) -> None:
        """Forget the program's modules: it will be imported again, because what is instrumented has changed, or it has
        been `left`."""
        if self._library is not None:
            self._library.restore(self.program.values(), again=left)
            self._library.look_everywhere()
        self.program.clear()
        self._has_hooks = False
        self._seen = -1

    def remember_library(self, name: str) -> None:
        """Called before the program imports a module without hooks."""
        if self._library is None and not serves_both_sides(name):
            self._library = Library()

    def remember_in_c(self, module: ModuleType) -> None:
        """Called when a module in C has just been loaded for the program."""
        if self._library is not None:
            self._library.remember_classes(module)

    def settle(self) -> None:
        """Called when the program is loaded: these modules stay."""
        self._first = frozenset(self.program)
        self._apart = frozenset(), frozenset()

    def drop(self, names: Set[str]) -> None:
        """Between runs: remove modules that runs import, so that they import them again, and with them the modules
        without hooks that runs import and that have anything of theirs, or of instrumented modules: what an import has
        changed in these is undone when the run ends, so the next has to do it again."""
        if not names and len(self.program) == len(self._first):
            return
        going = set(names)
        restored = {
            name for name in self._first if self._is_instrumented(name) and name.partition(".")[0] not in STDLIB
        }
        known, apart = self._apart
        others = self.program.keys() - self._first - going - (apart if known == names else frozenset())
        while found := {name for name in others if _has_anything_of(self.program[name], going | restored)}:
            going |= found
            others -= found
        if others or known != names:
            self._apart = frozenset(names), frozenset(self.program.keys() - going)
        if self._library is not None and not all(map(self._is_instrumented, going)):
            self._library.restore(self.program[name] for name in going & self.program.keys())
        for name in going | within(going, self.program.keys() - going, self.program):
            module = self.program.pop(name, None)
            package, _, part = name.rpartition(".")
            holder = self.program.get(package)
            if module is not None and holder is not None and namespace_of(holder).get(part) is module:
                del namespace_of(holder)[part]

    def drop_stale(self, again: Collection[str]) -> Set[str]:
        """When a run begins: remove the packages without hooks that have functions, classes or objects of modules that
        are about to be executed `again`, so that they are imported again with these and do not mix up old and new.
        Return their names. (Parts in C exist only once.)"""
        again, known = frozenset(again), frozenset(self.program)
        if self._stale[:2] != (again, known):
            self._stale = again, known, self._find_stale(again), within(again, known - again, self.program)
        _, _, going, in_c = self._stale
        if going:
            self.hide_host()  # before the names are free for other modules
            if self._library is not None:
                current = going | (again & known)  # the last run may have imported some again, and then broken off
                modules = [sys.modules.get(name, self.program[name]) for name in current]
                self._library.restore(modules, again=True)
        for name in going | in_c:
            sys.modules.pop(name, None)
        return going

    def _find_stale(self, again: Set[str]) -> Set[str]:
        packages: dict[str, list[str]] = {}
        for name in self.program:
            if not self._is_instrumented(name):
                packages.setdefault(name.partition(".")[0], []).append(name)
        going: set[str] = set()
        found = {name for name in again if name.partition(".")[0] not in STDLIB}
        while found:
            held = _changeable(self.program[name] for name in found & self.program.keys())
            found = {
                name
                for names in packages.values()
                if going.isdisjoint(names)
                if any(_has_anything_of(self.program[name], found, held) for name in names)
                for name in names
            }
            going |= found
        return going

    def files(self) -> dict[str, str]:
        """Return the files of the program's modules, by name, without the library's and ours."""
        found = {name: namespace_of(module).get("__file__") for name, module in self.program.items()}
        return {
            name: file
            for name, file in found.items()
            if file and name.partition(".")[0] not in STDLIB | {"dpor"} and not is_in_c(name, self.program)
        }

    def host_module(self, name: str) -> ModuleType | None:
        """While the program runs: return the host's module of this name."""
        return self._aside.get(name)

    def enter(self) -> None:
        """Put the program's modules into `sys.modules`, because it begins to run."""
        sys.meta_path.insert(0, self._in_c)
        modules = sys.modules
        if len(modules) != self._seen:
            self._names = [name for name, module in modules.items() if self._is_apart(name, module)]
            self._in_c.remember(self._names)
        self._aside = {}
        self._all_hidden = False
        for name in modules.keys() & self.program.keys():  # some are the same module: `collections.abc` from 3.14 on
            self._aside[name] = modules[name]
        if not self._has_hooks:  # uninstrumented code may import without our notice
            self.hide_host()
        modules.update(self.program)
        self._expected = len(modules)

    def hide_host(self) -> None:
        """Hide the host's modules, because the program imports something."""
        if not self._all_hidden:
            self._all_hidden = True
            for name in self._names:
                if name in sys.modules and sys.modules[name] is not self.program.get(name):
                    self._aside[name] = sys.modules.pop(name)
                    self._expected -= 1

    def leave(self) -> None:
        """Put the host's modules back, because the program has ended."""
        sys.meta_path.remove(self._in_c)
        modules, program = sys.modules, self.program
        if len(modules) != self._expected or not modules.keys() >= program.keys():
            hidden = set() if self._all_hidden else set(self._names)
            self.program = program = {
                name: module
                for name, module in modules.items()
                if name in program or (name not in hidden and self._is_apart(name, module))
            }
            self._in_c.remember(program)
            self._has_hooks = bool(program) and all(map(self._is_instrumented, program))
        for name in program:
            program[name] = modules.pop(name)
        modules.update(self._aside)
        self._aside = {}
        self._seen = len(modules)

    def _is_apart(self, name: str, module: ModuleType) -> bool:
        if self._is_instrumented(name):
            return True
        if serves_both_sides(name):
            return False
        names = namespace_of(module)
        file = names.get("__file__")
        if file is None:
            return "__path__" in names or "." in name
        return str(file).endswith((".py", ".pyc")) or ("." in name and is_in_c(name, sys.modules))


def _has_anything_of(module: ModuleType, names: Set[str], held: Set[int] = frozenset()) -> bool:
    """True if one of these modules, or a function, a class or an object of a class of theirs, or one of the objects
    that are `held` (by `id`), is a global of the module."""
    return any(id(value) in held or not names.isdisjoint(homes_of(value)) for value in [*namespace_of(module).values()])


def _changeable(modules: Iterable[ModuleType]) -> set[int]:
    """Return the `id`s of the globals of these modules that importers may change in place."""
    return {id(value) for module in modules for value in namespace_of(module).values() if type(value) in _CHANGEABLE}


_CHANGEABLE: Final = (dict, list, set, bytearray)


def homes_of(value: Any) -> Any:
    """Return the names of the modules that a value is, or from which it comes."""
    kind = type(value)
    if kind is ModuleType:
        return (value.__name__,)
    if kind is FunctionType:
        return (module_named_by(value),)
    return [module_of_class(base) for base in (value if issubclass(kind, type) else kind).__mro__]
