"""Wrappers of built-in functions, by the function that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

wrappers: Final[dict[int, Any]] = {}
"""By `id` of the built-in function (looking it up by the function itself could call code of the program)."""

_kept: Final[list[Any]] = []


def wrap(*functions: Any) -> Callable[[Function], Function]:
    """The decorated function is called in place of these."""

    def register(wrapper: Function) -> Function:
        for function in functions:
            set_wrapper(function, wrapper)
        return wrapper

    return register


AS_IS: Final = object()
"""In place of a wrapper: the function stays as it is. (So a class of the program is not kept alive.)"""


def set_wrapper(function: Any, wrapper: Any) -> None:
    wrappers[id(function)] = wrapper
    _kept.append(function)


class_wrappers: Final[dict[tuple[int, str], Any]] = {}
"""By `id` of a built-in class and the name of a class method, which is another object at every look-up."""


def set_class_wrapper(kind: type, name: str, wrapper: Any) -> None:
    class_wrappers[id(kind), name] = wrapper
    _kept.append(kind)


def harmless(*functions: Any) -> None:
    """These need no wrapper: they touch nothing that can change, or only make something new."""
    for function in functions:
        set_wrapper(function, AS_IS)
