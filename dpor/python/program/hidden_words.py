"""Which words of an object's memory hold state that `get_referents` does not show."""

from __future__ import annotations

import types
from collections.abc import Iterator
from functools import cache
from typing import Any

from dpor.python.kernel.classes import HEAP_TYPE
from dpor.python.program.restoring import CONTAINERS
from dpor.python.states.memory import WORDS, ask
from dpor.python.states.stacks import StateUnknown


def hidden_words_of(obj: Any, kind: type, base: type | None) -> Iterator[int]:
    """Yield the numbers of these words. `base`: the known built-in class that the object's class is derived from, or
    None."""
    first = id(obj) >> 3
    if base is set:
        yield from (first + offset for offset in _words_of_set())
    elif base is property:
        yield from range(first + _HEAD, first + (property.__basicsize__ >> 3))
    elif issubclass(kind, BaseException):  # numbers, flags, and the places of its references
        in_c: type = next(each for each in kind.__mro__ if not each.__flags__ & HEAP_TYPE)
        yield from range(first + _HEAD, first + (in_c.__basicsize__ >> 3))
    elif base in CONTAINERS and not kind.__flags__ & HEAP_TYPE:
        assert base is not None
        yield from range(first + (base.__basicsize__ >> 3), first + (kind.__basicsize__ >> 3))
    for each in kind.__mro__:  # which of its slots are empty
        slots = sum(map(_is_slot, vars(each).values(), [each] * len(vars(each))))
        if slots and each.__base__ is not None and each.__flags__ & HEAP_TYPE:
            begin = first + (each.__base__.__basicsize__ >> 3)
            yield from range(begin, begin + slots)


_HEAD = 2
"""Words at the beginning of each object: its count of references, and its class."""


def _is_slot(found: Any, kind: type) -> bool:
    return type(found) is types.MemberDescriptorType and found.__objclass__ is kind


def words_of_class(kind: type) -> list[int]:
    """Return the words that hold the class of the class, its name and its bases."""
    first = id(kind) >> 3
    return [first + 1, *(first + offset for offset in _offsets_in_class())]


@cache
def _offsets_in_class() -> tuple[int, ...]:
    """Raises `StateUnknown` if they are not found in a class that is made to try it."""
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
    """Return the offsets of the number of used places of a set's table, its size, and where `pop` continues: the order
    of items depends on these. Raises `StateUnknown` if they are not where they are expected."""
    ask()
    tried = set(range(3))
    tried.discard(1)
    tried.pop()
    if [WORDS[(id(tried) >> 3) + offset] for offset in (2, 3, 4, 7)] != [3, 1, 7, 1]:
        raise StateUnknown("sets are not laid out as expected")
    return 2, 4, 7
