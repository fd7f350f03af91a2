"""What classes and functions keep in containers for the library: the members of an enumeration, the fields of a
dataclass, annotations.

Functions of the library look into these without a hook. A program that names none of them (`E._value2member_map_`)
cannot change them, so looking is then no operation. If it names some, whoever looks reads them, and the facts about
containers tell whether anything changes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import FunctionType, MethodType
from typing import Any, Final

from dpor.python.kernel.classes import attributes_of_class, is_a

MEMBERS: Final = ("_member_map_", "_member_names_", "_value2member_map_")
FIELDS: Final = ("__dataclass_fields__",)
ANNOTATIONS: Final = ("__annotations__",)
KEPT: Final = frozenset({*MEMBERS, *FIELDS, *ANNOTATIONS})
"""The names of such containers."""

_ANNOTATIONS_MADE: Final = "__annotations_cache__"
"""Where classes keep their annotations from 3.14 on, once somebody has asked for them."""

_WORDS: Final = re.compile("|".join(KEPT))


class _Named:
    """Those of the names that the source of the current program has."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()


_now: Final = _Named()


def named_in(source: str) -> frozenset[str]:
    """Return those of the names that this source has."""
    return frozenset(_WORDS.findall(source))


def watch(names: frozenset[str]) -> None:
    """Set the names that the program has. Called before a run, and when a module is loaded."""
    _now.names = names


def is_named(name: str) -> bool:
    """True if this is such a name, and the program has it."""
    return name in _now.names


def containers(holder: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the containers that a class or function, or the class of an object, keeps under those of these names that
    the program has, each with a name of its own."""
    named = [name for name in names if name in _now.names]
    if not named:
        return
    if is_a(holder, MethodType):
        holder = holder.__func__
    if is_a(holder, FunctionType):
        if ANNOTATIONS[0] in named:
            with suppress(Exception):  # from 3.14 on, code of the program may make them now
                yield f"{holder.__module__}.{holder.__qualname__}", holder.__annotations__
        return
    if ANNOTATIONS[0] in named:
        named.append(_ANNOTATIONS_MADE)
    for base in (holder if is_a(holder, type) else type(holder)).__mro__:
        for name in named:
            if name in attributes_of_class(base):
                yield f"{base.__module__}.{base.__qualname__}.{name}", attributes_of_class(base)[name]
