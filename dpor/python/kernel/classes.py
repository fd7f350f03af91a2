"""Finding out what an object is without running code of the program."""

from __future__ import annotations

from typing import Any


def is_a(obj: Any, kinds: type | tuple[type, ...]) -> bool:
    """Like `isinstance`, but without asking the object for its `__class__`: that may call code of the program
    (`__getattribute__`, or a property of that name)."""
    return issubclass(type(obj), kinds)
