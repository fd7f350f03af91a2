"""What operators and look-ups of a class call that is in C, so that what it reaches is not seen."""

from __future__ import annotations

import functools
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any, Final

from dpor.python.kernel.classes import module_of_class
from dpor.python.sharing.type_traits import RECORDED, way_of

_OPERATORS: Final = tuple(
    f"__{form}{name}__"
    for name in (
        *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"),
        *("lshift", "rshift", "and", "xor", "or"),
    )
    for form in ("i", "", "r")
)


def computes_in_c(kind: type) -> bool:
    """True if the class has an arithmetic operator in C from outside of the standard library. Nothing is known of what
    it does."""
    return any(_is_foreign(kind, name) for name in _OPERATORS)


def looks_up_in_c(kind: type) -> bool:
    """True if the class looks up attributes by a function in C from outside of the standard library, as proxies do.
    Nothing is known of what it does."""
    return _is_foreign(kind, "__getattribute__")


def _is_foreign(kind: type, name: str) -> bool:
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    return (
        type(found) is types.WrapperDescriptorType
        and module_of_class(found.__objclass__).partition(".")[0] not in sys.stdlib_module_names
    )


def special_in_c(kind: type) -> str | None:
    """Return the name of a special method or property of the class that is a function in C, if that reaches something
    besides its object, or changes it in a way that its name does not tell. `__call__` is none: calls have a hook."""
    return next(_special_in_c(kind), None)


def _special_in_c(kind: type) -> Iterator[str]:
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
