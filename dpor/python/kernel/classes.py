"""Finding out what an object is without running code of the program."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Mapping
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any, Final

from dpor.python.kernel.library import STDLIB

IMMUTABLE_TYPE: Final = 1 << 8
HEAP_TYPE: Final = 1 << 9
"""Flags of classes (`Py_TPFLAGS_...`): nobody can store attributes in them; they were made at run time."""


def can_be_changed(kind: type) -> bool:
    """True if attributes can be stored in the class: nearly all such classes are made in Python."""
    return kind.__flags__ & (HEAP_TYPE | IMMUTABLE_TYPE) == HEAP_TYPE


def derived_from(kind: type) -> list[type]:
    """List all classes that are derived from the class, each once."""
    found: dict[int, type] = {}
    stack: list[type] = type.__subclasses__(kind)
    while stack:
        derived = stack.pop()
        if id(derived) not in found:
            found[id(derived)] = derived
            stack += type.__subclasses__(derived)
    return [*found.values()]


def namespace_of(module: Any) -> dict[str, Any]:
    """Return the names of a module, or of what a program has put into `sys.modules`: that may be any object, with a
    `__getattribute__` of its own. Empty for objects without a `__dict__`, as None."""
    try:
        names: dict[str, Any] = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return {}
    return names


def imported_as(module: Any) -> str:
    """Return the name under which an import has made a module; "" for what was put into `sys.modules` otherwise."""
    spec = namespace_of(module).get("__spec__")
    return str(namespace_of(spec).get("name", "")) if is_a(module, types.ModuleType) else ""


def module_of_class(kind: type) -> str:
    """Return the name of the module of a class; "" if it has put something else under that name, such as a property
    for its objects. Classes in C whose names have no dot say that they are of `builtins`: those of others are found in
    their modules."""
    module = _MODULE(kind)
    if type(module) is not str:
        return ""
    return _module_in_c(kind) if module == "builtins" and not kind.__flags__ & HEAP_TYPE else module


def module_named_by(function: Any) -> str:
    """Return the name of the module that a function or a class says that it is from; "" if it says something else.
    Functions in C of psutil have the module itself there."""
    if is_a(function, type):
        return module_of_class(function)
    module = function.__module__
    if type(module) is types.ModuleType:
        module = namespace_of(module).get("__name__")
    return module if type(module) is str else ""


@cache
def _module_in_c(kind: type) -> str:
    for name, module in [*sys.modules.items()] if kind not in _BUILT_IN else ():
        names = namespace_of(module)
        in_c = str(names.get("__file__")).endswith(_SUFFIXES) and name.partition(".")[0] not in STDLIB
        if in_c and any(value is kind for value in names.values()):
            return name
    return kind.__module__


_MODULE: Final = type.__dict__["__module__"].__get__
attributes_of_class: Final[Callable[[type], Mapping[str, Any]]] = type.__dict__["__dict__"].__get__
"""Return the `__dict__` of a class, though its metaclass may have a `__getattribute__` of its own."""
_SUFFIXES: Final = tuple(EXTENSION_SUFFIXES)
_BUILT_IN: Final = frozenset(kind for kind in (*vars(builtins).values(), *vars(types).values()) if type(kind) is type)


def is_a(obj: Any, kinds: type | tuple[type, ...]) -> bool:
    """Like `isinstance`, but without asking the object for its `__class__`: that may call code of the program
    (`__getattribute__`, or a property of that name)."""
    return issubclass(type(obj), kinds)
