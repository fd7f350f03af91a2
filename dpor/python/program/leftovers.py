"""What packages without hooks have stored in classes and modules of the library, and in classes in C, when they were
imported.

Host and program share these. When the program is imported again with other packages instrumented, its modules are
new ones, and the library must not go on to refer to the old: to a class that was registered with an abstract one, to
`OrderedDict.__implemented__` of zope.interface, to a function that was patched into `socket`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import chain
from types import FunctionType, ModuleType
from typing import Any, TypeAlias
from weakref import ref

from dpor.python.kernel.classes import can_be_changed, derived_from, is_a, module_of_class, namespace_of
from dpor.python.kernel.library import serves_both_sides
from dpor.python.program.abstract_classes import forget_registered
from dpor.python.program.modules_in_c import is_in_c
from dpor.python.sharing import host_fields

_Holder: TypeAlias = tuple[Any, dict[str, Any]]
"""A class or module, and the attributes that it had."""


class Library:
    """The attributes of the library's classes and modules, and of classes in C, as they were before a package without
    hooks was imported, or when the module in C was loaded."""

    def __init__(self) -> None:
        kinds = derived_from(object)
        classes = [kind for kind in kinds if can_be_changed(kind) and serves_both_sides(module_of_class(kind))]
        modules = [module for name, module in sys.modules.items() if serves_both_sides(name)]
        holders = chain(classes, (module for module in modules if type(module) is ModuleType))
        self._affected: tuple[list[_Holder], list[Any]] | None = None
        """What has held anything of modules that are imported `again`, and the abstract classes that have."""
        self._earlier = {id(kind): ref(kind) for kind in kinds}
        self._before = {id(holder): (holder, {**vars(holder)}) for holder in holders}
        for name in [*sys.modules]:
            if is_in_c(name, sys.modules):
                self.remember_classes(sys.modules[name])

    def remember_classes(self, module: ModuleType) -> None:
        """Remember the attributes of the classes of a module in C. It is in the process once, however often its package
        is imported again. (A metaclass in C may let others store attributes although a flag says that nobody can.)"""
        for kind in [*namespace_of(module).values()]:
            if is_a(kind, type):
                self._before.setdefault(id(kind), (kind, {**vars(kind)}))

    def restore(self, modules: Iterable[ModuleType], *, again: bool = False) -> None:
        """Undo what refers to these modules, their classes and functions. `again`: they have been imported as before,
        so they have changed what they changed then."""
        gone = {id(module): namespace_of(module) for module in modules if is_a(module, ModuleType)}
        names = {namespace.get("__name__") for namespace in gone.values()}
        values = [value for namespace in gone.values() for value in namespace.values()]
        kinds = {id(kind) for kind in values if is_a(kind, type) and _module_of(kind) in names}

        def is_gone_class(kind: type) -> bool:
            """True also of those that a module no longer has, as it has been emptied. (The host has some of these
            names, too.)"""
            number = id(kind)
            return number in kinds or (
                _module_of(kind) in names
                and number not in self._before
                and not (number in self._earlier and self._earlier[number]() is kind)
            )

        holders, abstract = self._affected if again and self._affected else (self._before.values(), None)
        abstract = forget_registered(is_gone_class, abstract)
        is_gone = _refers_to({*gone}, {*map(id, gone.values())}, is_gone_class)
        affected: dict[int, _Holder] = {}
        for holder, before in holders:
            changed = [(name, value) for name, value in vars(holder).items() if value is not before.get(name, holder)]
            for name, value in changed:
                if is_gone(value):
                    host_fields.store(holder, name, before.get(name, host_fields.ABSENT))
                    affected[id(holder)] = holder, before
        if again and self._affected is None:
            self._affected = [*affected.values()], abstract

    def look_everywhere(self) -> None:
        """Called when the program is about to be imported with other hooks, and may affect others."""
        self._affected = None


def _module_of(kind: type) -> object:
    return type.__getattribute__(kind, "__module__")


def _refers_to(modules: set[int], namespaces: set[int], is_gone_class: Callable[[type], bool]) -> Callable[[Any], bool]:
    """Return a function that is true of these modules, their functions and classes, and objects of these classes."""

    def refers(value: Any) -> bool:
        if is_a(value, (staticmethod, classmethod)):
            value = value.__func__
        elif is_a(value, property):
            value = value.fget
        if type(value) is FunctionType:
            return id(value.__globals__) in namespaces
        return id(value) in modules or is_gone_class(value if is_a(value, type) else type(value))

    return refers
