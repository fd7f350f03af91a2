"""What can be said of an attribute before it is known what is done with it."""

from __future__ import annotations

import types
from typing import Any


def is_instrumented(function: types.FunctionType) -> bool:
    """Does the function perform its own operations: the program's code, or a drop-in's?"""
    untyped: Any = function  # typeshed has no `__builtins__`
    names, known = function.__globals__, untyped.__builtins__
    return ".call" in names or ".call" in known or str(names.get("__name__")).startswith("dpor.python")


class Holder:
    """An object with one attribute."""

    def __init__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value
