"""Methods that `dataclasses` and `attrs` add beside those that they generate, to be instrumented like the program's.

It is not imported but loaded by `generating`, as a copy, which provides `running`: which `__repr__` calls are in
progress.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

running: Any = None


def recursive_repr(user_function: Callable[[Any], str], fillvalue: str = "...") -> Callable[[Any], str]:
    @functools.wraps(user_function)
    def wrapper(self: Any) -> str:
        if not running.enter(user_function, self):
            return fillvalue
        try:
            return user_function(self)
        finally:
            running.leave(user_function, self)

    return wrapper


def recursive_repr_with(fillvalue: str = "...") -> Callable[[Any], Any]:
    return lambda user_function: recursive_repr(user_function, fillvalue)


def make_order(cls: type, attrs: Any) -> Any:
    fields = tuple((a.name, a.order_key) for a in attrs if a.order)

    def values(obj: Any) -> tuple[Any, ...]:
        return tuple(key(getattr(obj, name)) if key else getattr(obj, name) for name, key in fields)

    def ordering(name: str) -> Any:
        compare = getattr(operator, name)

        def method(self: Any, other: Any) -> Any:
            if other.__class__ is not self.__class__:
                return NotImplemented
            return compare(values(self), values(other))

        method.__name__ = f"__{name}__"
        return method

    return tuple(ordering(name) for name in ("lt", "le", "gt", "ge"))
