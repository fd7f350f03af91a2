"""Wrappers of built-in functions, by the function that each replaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

wrappers: Final[dict[int, Any]] = {}
"""The wrappers, by `id` of the built-in function (a look-up by the function itself could call code of the program)."""

_kept: Final[list[Any]] = []


def wrap(*functions: Any) -> Callable[[Function], Function]:
    """Decorator: the function is called in place of these."""

    def register(wrapper: Function) -> Function:
        for function in functions:
            set_wrapper(function, wrapper)
        return wrapper

    return register


AS_IS: Final = object()
"""Used instead of a wrapper if the function stays as it is. (So the table does not keep a class of the program
alive.)"""


def set_wrapper(function: Any, wrapper: Any) -> None:
    """Let calls of the function go through the wrapper."""
    wrappers[id(function)] = wrapper
    _kept.append(function)


class_wrappers: Final[dict[tuple[int, str], Any]] = {}
"""The wrappers of class methods, by `id` of the class and name: each look-up returns another object."""


def set_class_wrapper(kind: type, name: str, wrapper: Any) -> None:
    """Let calls of the class method of this name go through the wrapper."""
    class_wrappers[id(kind), name] = wrapper
    _kept.append(kind)


def harmless(*functions: Any) -> None:
    """Note that these need no wrapper: they touch nothing that can change, or only make something new."""
    for function in functions:
        set_wrapper(function, AS_IS)
