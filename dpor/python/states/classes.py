"""Classes in states: most are encoded by name, those of the program by their contents.

A class that a module of the host, or a drop-in, has under its name is encoded as that name: programs do not change it.
A class of the program that its module has under its name, and that holds nothing that can change but its attributes
themselves, is encoded as its name and attributes. Any other class is an object of the heap like others.
"""

from __future__ import annotations

import abc
import sys
import types
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final

from dpor.python.dropins import copying, state, stdlib
from dpor.python.kernel.classes import HEAP_TYPE, module_of_class
from dpor.python.kernel.run import run
from dpor.python.states.frames import ATOMS, Layouts

_LEFT_OUT: Final = frozenset({"__dict__", "__weakref__", "_abc_impl"})
"""Attributes of classes that hold nothing of the program's, or that are encoded separately."""
_ACCESSORS: Final = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.BuiltinFunctionType,
    types.ClassMethodDescriptorType,
)


class Classes:
    """The classes that one search has encoded.

    known           returns the number of a class that is not the program's, if it was asked for before
    program_modules returns the program's modules, by name
    are_constant    returns True if these are the same objects in all runs that change nothing
    """

    def __init__(
        self,
        layouts: Layouts,
        program_modules: Callable[[], dict[str, types.ModuleType]],
        are_constant: Callable[[], bool],
    ) -> None:
        self._are_constant = are_constant
        self._layouts = layouts
        self._program_modules = program_modules
        self.naming = layouts.naming
        self._kept: list[type] = []
        self._host: dict[type, int] = {}
        self.known: Callable[[type], int | None] = self._host.get
        self._of_run: dict[type, int | None] = {}

    def begin_run(self) -> None:
        if run.dirty or not self._are_constant():
            self._of_run.clear()

    def is_in_all_runs(self, kind: type) -> bool:
        """True if the class exists in all runs."""
        return self.number(kind) is not None and (kind in self._host or self._are_constant())

    def number(self, kind: type) -> int | None:
        """Return the number of the class; None if it is an object of the heap."""
        number = self._host.get(kind)
        if number is not None:
            return number
        if run.dirty:
            self._of_run.clear()
        elif kind in self._of_run:
            return self._of_run[kind]
        if not kind.__flags__ & HEAP_TYPE:
            self._kept.append(kind)
            number = self._host[kind] = self._intern(("built in", id(kind)), _text_of_type(kind))
            return number
        name = (module_of_class(kind), kind.__qualname__)
        module = self._program_modules().get(name[0])
        if module is not None:
            self._of_run[kind] = None  # until it is known: a class may refer to itself
            contents = self._contents(kind) if find(module, name[1]) is kind and not _registered(kind) else None
            number = None if contents is None else self._intern((name, contents), repr((name, contents)))
            self._of_run[kind] = number
            if "_abc_impl" in kind.__dict__:  # classes may be registered with it, which no attribute shows
                del self._of_run[kind]
            return number
        for source, module in _host_modules(name[0]):
            if find(module, name[1]) is kind:
                self._kept.append(kind)
                number = self._host[kind] = self._intern(("host", id(kind)), f"host {source} {name}")
                return number
        self._of_run[kind] = None
        return None

    def _intern(self, kind: Hashable, text: str) -> int:
        return self.naming.number(kind, lambda kind: f"class {text}")

    def _contents(self, kind: type) -> Any:
        """Return the attributes as a value that can be compared; None if they hold something that can change."""
        found: list[Any] = []
        for base in (type(kind), *kind.__bases__):
            number = self.number(base)
            if number is None:
                return None
            found.append(number)
        for name, value in kind.__dict__.items():
            if name not in _LEFT_OUT:
                constant = self._constant(value)
                if constant is None:
                    return None
                found.append((name, constant))
        return tuple(found)

    def _constant(self, value: Any) -> Any:
        kind = type(value)
        if kind in ATOMS:
            return ("leaf", kind.__name__, repr(value))
        if kind is types.FunctionType:
            return self._function(value)
        if kind is staticmethod or kind is classmethod:
            inner = self._constant(value.__func__)
            return None if inner is None else (kind.__name__, inner)
        if kind is property:
            inner = tuple(self._constant(part) for part in (value.fget, value.fset, value.fdel))
            return None if None in inner else ("property", inner)
        if kind is tuple:
            inner = tuple(map(self._constant, value))
            return None if None in inner else ("tuple", inner)
        if kind in _ACCESSORS:
            return ("accessor", kind.__name__, value.__name__)
        return None

    def _function(self, function: types.FunctionType) -> Any:
        """Return the function as a value if it holds nothing that can change (`__class__` is the only variable that it
        may share); else None."""
        code = function.__code__
        defaults = tuple(map(self._constant, function.__defaults__ or ()))
        if function.__kwdefaults__ or function.__dict__ or None in defaults:
            return None
        if code.co_freevars and code.co_freevars != ("__class__",):
            return None
        return ("function", self._layouts.number(code), function.__name__, function.__qualname__, defaults)

    def attributes(self, kind: type) -> Iterator[tuple[str, Any]]:
        """Yield the attributes of a class that is an object of the heap."""
        for name, value in kind.__dict__.items():
            if name not in _LEFT_OUT:
                yield name, value
        registered = _registered(kind)
        if registered:
            yield "_abc_impl", registered


def _registered(kind: type) -> tuple[type, ...]:
    """Return the classes that are registered with an abstract class."""
    if "_abc_impl" not in kind.__dict__:
        return ()
    references = vars(abc)["_get_dump"](kind)[0]
    classes = [found for found in (reference() for reference in references) if found is not None]
    return tuple(sorted(classes, key=lambda found: (found.__module__, found.__qualname__)))


def find(module: types.ModuleType, qualname: str) -> Any:
    """Return what the qualified name leads to in the module, through classes and modules; None if there is nothing."""
    found: Any = module
    for name in qualname.split("."):
        found = vars(found).get(name) if isinstance(found, (type, types.ModuleType)) else None
    return found


def _text_of_type(kind: type) -> str:
    """Return a text of a type in C."""
    return f"built in {module_of_class(kind)}.{kind.__qualname__} {kind.__basicsize__} {sorted(kind.__dict__)}"


def _host_modules(name: str) -> Iterator[tuple[str, types.ModuleType]]:
    """Yield the modules of this name, apart from those of the program, each with where it comes from."""
    for source, modules in (
        ("copy", copying.copies),
        ("made", [*stdlib.made_modules.values(), state.THREADING]),
        ("imported", [sys.modules.get(name)]),
    ):
        for module in modules:
            if module is not None and module.__name__ == name:
                yield source, module
