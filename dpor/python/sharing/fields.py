"""Helpers for attributes: whether a function performs its own operations, and an object with one attribute."""

from __future__ import annotations

import types
from typing import Any


def is_instrumented(function: types.FunctionType) -> bool:
    """True if the function performs its own operations: it is code of the program, or of a drop-in."""
    untyped: Any = function  # typeshed has no `__builtins__`
    names, known = function.__globals__, untyped.__builtins__
    return ".call" in names or ".call" in known or str(names.get("__name__")).startswith("dpor.python")


class Holder:
    """An object with one attribute."""

    def __init__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # a property, because look-ups of `__class__` find the class's first
        return self.__dict__.get("__class__", Holder)
