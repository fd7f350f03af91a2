"""Which words of an object's memory hold what the collector does not show, and are to be as they were."""

from __future__ import annotations

import types
from collections.abc import Iterator
from functools import cache
from typing import Any

from dpor.python.program.putting_back import CONTAINERS, HEAP_TYPE
from dpor.python.states.memory import WORDS, ask
from dpor.python.states.stacks import StateUnknown


def unseen_words(obj: Any, kind: type, base: type | None) -> Iterator[int]:
    """Yield their numbers. `base`: the built-in class that its class is derived from, if it is a known one."""
    first = id(obj) >> 3
    if base is set:
        yield from (first + offset for offset in _words_of_set())
    elif base is property:
        yield from range(first + _HEAD, first + (property.__basicsize__ >> 3))
    elif issubclass(kind, BaseException):  # numbers, flags, and which of its references is which
        in_c: type = next(each for each in kind.__mro__ if not each.__flags__ & HEAP_TYPE)
        yield from range(first + _HEAD, first + (in_c.__basicsize__ >> 3))
    elif base in CONTAINERS and not kind.__flags__ & HEAP_TYPE:
        assert base is not None
        yield from range(first + (base.__basicsize__ >> 3), first + (kind.__basicsize__ >> 3))
    for each in kind.__mro__:  # which slot is empty
        slots = sum(map(_is_slot, vars(each).values(), [each] * len(vars(each))))
        if slots and each.__base__ is not None and each.__flags__ & HEAP_TYPE:
            begin = first + (each.__base__.__basicsize__ >> 3)
            yield from range(begin, begin + slots)


_HEAD = 2
"""Words at the beginning of each object: how many references there are to it, and its class."""


def _is_slot(found: Any, kind: type) -> bool:
    return type(found) is types.MemberDescriptorType and found.__objclass__ is kind


def words_of_class(kind: type) -> list[int]:
    """Its class, its name, its bases."""
    first = id(kind) >> 3
    return [first + 1, *(first + offset for offset in _offsets_in_class())]


@cache
def _offsets_in_class() -> tuple[int, ...]:
    """Raises `StateUnknown` if they are not found."""
    ask()
    tried = type("Tried", (), {"__qualname__": "Tried here"})
    asked = (tried.__bases__, tried.__name__, tried.__qualname__)
    kind: Any = type
    held = [WORDS[(id(tried) >> 3) + offset] for offset in range(kind.__basicsize__ >> 3)]
    if any(id(each) not in held for each in asked):
        raise StateUnknown("classes are not laid out as expected")
    return tuple(held.index(id(each)) for each in asked)


@cache
def _words_of_set() -> tuple[int, ...]:
    """How many places of its table have been in use, how many there are, and where `pop` goes on: orders depend on
    these. Raises `StateUnknown` if they are not found."""
    ask()
    tried = set(range(3))
    tried.discard(1)
    tried.pop()
    if [WORDS[(id(tried) >> 3) + offset] for offset in (2, 3, 4, 7)] != [3, 1, 7, 1]:
        raise StateUnknown("sets are not laid out as expected")
    return 2, 4, 7
