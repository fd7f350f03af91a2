"""What programs store in modules, classes and functions that they share with the host (`math.hits = 0`,
`json.JSONEncoder.seen = set()`): it is part of states, and undone after each run.

The namespace of such a holder is remembered when the program stores something there for the first time, or looks at its
`__dict__`.
"""

from __future__ import annotations

import _collections_abc
import ctypes
import dis
import gc
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from dpor.python.kernel.classes import HEAP_TYPE, module_of_class

ABSENT: Final = object()
_first: Final[dict[int, tuple[Any, dict[str, Any]]]] = {}


def remember(holder: Any) -> None:
    """Called before a module, class or function changes: remember its namespace if it is the host's."""
    if id(holder) not in _first and _is_of_host(holder):
        _first[id(holder)] = holder, dict(vars(holder))


def _is_of_host(holder: Any) -> bool:
    """True if it does not belong to the program. (The classes of drop-ins outlive a run, as those of the library.)"""
    if type(holder) is ModuleType:
        return ".call" not in vars(holder) and sys.modules.get(holder.__name__) is holder
    if type(holder) is FunctionType:
        return True  # harmless for functions of the program
    if not issubclass(type(holder), type):
        return False
    if _is_static(holder) or vars(_collections_abc).get(holder.__name__) is holder:
        return True
    home = sys.modules.get(module_of_class(holder))
    return type(home) is ModuleType and ".call" not in vars(home)


def is_read_unseen(holder: Any, name: str) -> bool:
    """True if functions of the host read this attribute of their module, or of a class of their module."""
    if holder is sys and name == "unraisablehook":  # C code reads it when a finaliser fails
        return True
    if (
        type(holder) is FunctionType
        or _is_static(holder)
        or not _is_of_host(holder)
        or (holder.__name__, name) in _SEEN
    ):
        return False
    if type(holder) is ModuleType:
        return name in _names_read(holder)[0]
    return name in _names_read(sys.modules[holder.__module__])[1]


_SEEN: Final = frozenset({("warnings", "showwarning")})
"""Attributes whose readers perform an operation."""


@cache
def _names_read(module: ModuleType) -> tuple[set[str], set[str]]:
    """Return the names of the globals, and of the attributes, that the functions of a module read."""
    found: tuple[set[str], set[str]] = set(), set()
    owners = [kind for kind in vars(module).values() if type(kind) is type and kind.__module__ == module.__name__]
    functions = [value for owner in (module, *owners) for value in vars(owner).values() if type(value) is FunctionType]
    codes = [function.__code__ for function in functions if function.__globals__ is vars(module)]
    while codes:
        code = codes.pop()
        codes.extend(part for part in code.co_consts if type(part) is CodeType)
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD"):
                found[instruction.opname != "LOAD_GLOBAL"].add(instruction.argval)
    return found


def changed() -> Iterator[tuple[str, str, Any]]:
    """Yield (holder, name, value) of each attribute that differs from before; the value is None if it was deleted."""
    for holder, first in _first.values():
        where = holder.__name__ if type(holder) is ModuleType else f"{holder.__module__}.{holder.__qualname__}"
        for name, value in vars(holder).items():
            if first.get(name, ABSENT) is not value:
                yield where, name, value
        for name in sorted(first.keys() - vars(holder).keys()):
            yield where, name, None


def forget_restored(is_restored: Callable[[Any], bool]) -> None:
    """Forget the old attributes of holders that somebody else restores. `is_restored` returns True for these."""
    for number, (holder, _) in [*_first.items()]:
        if is_restored(holder):
            del _first[number]


def stored_fields() -> Iterator[tuple[Any, str, Any]]:
    """Yield (holder, name, value) of attributes that have changed; the value is `ABSENT` if the attribute is gone."""
    for holder, first in _first.values():
        now = vars(holder)
        for name in [*now, *(first.keys() - now.keys())]:
            if first.get(name, ABSENT) is not now.get(name, ABSENT):
                yield holder, name, now.get(name, ABSENT)


def is_changed(holder: ModuleType, name: str) -> bool:
    """True if the module's attribute is not as it was when the run began."""
    known = _first.get(id(holder))
    return known is not None and known[1].get(name, ABSENT) is not vars(holder).get(name, ABSENT)


def roots() -> Iterator[tuple[tuple[str, str, str], Any]]:
    """Yield the name and the value of each attribute that the program has stored in a module of the host: these are
    roots, since every thread can reach them."""
    for holder, first in _first.values():
        if type(holder) is ModuleType:
            for name, value in vars(holder).items():
                if first.get(name, ABSENT) is not value:
                    yield ("process", holder.__name__, name), value


def restore() -> None:
    """After a run: undo all changes."""
    for holder, first in _first.values():
        now = vars(holder)
        for name in now.keys() - first.keys():
            store(holder, name, ABSENT)
        for name, value in first.items():
            if now.get(name, ABSENT) is not value:
                store(holder, name, value)
    _first.clear()


def store(holder: Any, name: str, value: Any) -> None:
    """Store the attribute, or delete it if the value is `ABSENT`, in the holder's namespace: that of a function may
    have names for which the function has descriptors, as `f.__dict__["__name__"]`."""
    if type(holder) is FunctionType or type(holder) is ModuleType:
        if value is ABSENT:
            del vars(holder)[name]
        else:
            vars(holder)[name] = value
    elif value is not ABSENT:
        setattr(holder, name, value)
    elif _is_static(holder):
        (names,) = gc.get_referents(vars(holder))
        del names[name]
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(holder))
    else:
        delattr(holder, name)


def _is_static(holder: Any) -> bool:
    """True if it is a class in C that was not made at run time. If attributes can be stored in it, its metaclass lets
    them, which need not know how to delete any: that of BTrees crashes."""
    return issubclass(type(holder), type) and not holder.__flags__ & HEAP_TYPE
