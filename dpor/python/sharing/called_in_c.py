"""Special methods and properties that are functions in C. Operators and attributes call them without a hook, so what
they reach besides their object is not seen."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Iterator
from typing import Any, Final

from dpor.python.kernel.incomplete import incomplete_if_multithreaded
from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing.code_of_types import MOST_TYPES
from dpor.python.sharing.type_traits import RECORDED, way_of

_found: dict[type, str | None] = type_cache({})


def note_called_in_c(kind: type) -> bool:
    """Called when an object of the class is made or touched: note that the run is incomplete if more threads than one
    come to exist and the class has such a function. Return True if it has."""
    name = _called_in_c(kind)
    if name is None:
        return False
    incomplete_if_multithreaded(f"{name} is a function in C: what it reaches when it is called is not seen")
    return True


def _called_in_c(kind: type) -> str | None:
    """Return the name of a special method or property of the class that reaches something besides its object, or
    changes it in a way that its name does not tell. `__call__` is none: calls have a hook."""
    if kind not in _found:
        if len(_found) > MOST_TYPES:
            _found.clear()
        _found[kind] = next(_names(kind), None)
    return _found[kind]


def _names(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        for name, held in [*vars(base).items()]:
            if type(held) is property:
                found = any(_reaches_more(accessor) for accessor in (held.fget, held.fset, held.fdel))
            else:
                found = name != "__call__" and name.startswith("__") and name.endswith("__") and _is_unseen(name, held)
            if found:
                yield f"{base.__qualname__}.{name}"


def _reaches_more(function: Any) -> bool:
    """True if a function in C, given an object, reaches more than that object."""
    if type(function) is functools.partial:
        return _reaches_more(function.func)
    if type(function) is operator.attrgetter:
        return any("." in name for name in function.__reduce__()[1])
    return _is_bound(function)


def _is_unseen(name: str, held: Any) -> bool:
    function = held.__func__ if type(held) in (staticmethod, classmethod) else held
    if type(function) is functools.partial:
        return _is_unseen(name, function.func)
    if type(function) in _DESCRIPTORS:
        return function.__name__ != name and way_of(function.__objclass__) is RECORDED
    return type(function) in _GETTERS or _is_bound(function)


def _is_bound(function: Any) -> bool:
    return type(function) in _BOUND and way_of(type(function.__self__)) is RECORDED


_BOUND: Final = frozenset({types.BuiltinMethodType, types.MethodWrapperType})
_DESCRIPTORS: Final = frozenset({types.MethodDescriptorType, types.WrapperDescriptorType})
_GETTERS: Final = frozenset({operator.itemgetter, operator.attrgetter, operator.methodcaller})
