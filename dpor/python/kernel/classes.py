"""What an object is, found out without running code of the program."""

from __future__ import annotations

from typing import Any


def is_a(obj: Any, kinds: type | tuple[type, ...]) -> bool:
    """As `isinstance`, which asks an object for its `__class__` where its type does not answer: the program may have
    written what is then called (`__getattribute__`, or a property of that name)."""
    return issubclass(type(obj), kinds)
