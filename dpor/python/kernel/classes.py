"""Finding out what an object is without running code of the program."""

from __future__ import annotations

from typing import Any


def derived_from(kind: type) -> list[type]:
    """List all classes that are derived from the class, each once."""
    found: dict[int, type] = {}
    stack: list[type] = type.__subclasses__(kind)
    while stack:
        derived = stack.pop()
        if id(derived) not in found:
            found[id(derived)] = derived
            stack += type.__subclasses__(derived)
    return [*found.values()]


def namespace_of(module: Any) -> dict[str, Any]:
    """Return the names of a module, or of what a program has put into `sys.modules`: that may be any object, with a
    `__getattribute__` of its own. Empty for objects without a `__dict__`, as None."""
    try:
        names: dict[str, Any] = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return {}
    return names


def is_a(obj: Any, kinds: type | tuple[type, ...]) -> bool:
    """Like `isinstance`, but without asking the object for its `__class__`: that may call code of the program
    (`__getattribute__`, or a property of that name)."""
    return issubclass(type(obj), kinds)
