"""Encoders of objects of modules in C, by type: each uses a documented way to read the whole state of the object.

Those of `itertools` have none from Python 3.14 on, where they can no longer be pickled: their memory is read."""

from __future__ import annotations

import array
import builtins
import collections
import contextvars
import ctypes
import decimal
import functools
import gc
import hashlib
import itertools
import os
import struct
import sys
import time
import types
import typing
import warnings
import zoneinfo
from collections.abc import Iterator
from typing import Any, Final

from dpor.python.states.heap import Heap, Plan
from dpor.python.states.stacks import StateUnknown


def by_reduce(heap: Heap, obj: Any) -> None:
    """Encode an object by `__reduce__`: an immutable one, or an iterator with its iterable and position."""
    kind: Any = type(obj)
    _, args, *state = kind.__reduce__(obj)
    heap.out.append((len(args), len(state)))
    heap.refs((*args, *state))


def _by_reduce_quietly(heap: Heap, obj: Any) -> None:
    """Like `by_reduce`, for types whose `__reduce__` gives a deprecation warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_reduce(heap, obj)


def _by_referents(heap: Heap, obj: Any) -> None:
    """Encode an object that holds nothing but references, which the garbage collector visits in a fixed order."""
    referents = gc.get_referents(obj)
    heap.out.append(len(referents))
    heap.refs(referents)


def _by(name: str) -> Plan:
    """Make the plan of a type whose whole state is in this attribute."""

    def content(heap: Heap, obj: Any) -> None:
        kind: Any = type(obj)
        heap.ref(kind.__dict__[name].__get__(obj))

    return content


def _zone(heap: Heap, obj: Any) -> None:
    if obj.key is None:
        raise StateUnknown("a time zone was read from a file")
    heap.out.append(obj.key)


def _hash(heap: Heap, obj: Any) -> None:
    heap.out.append((obj.name, obj.digest()))


_ITERTOOLS: Final = {
    "cycle": "oon",
    "chain": "oo",
    "islice": "onnnn",
    "repeat": "on",
    "accumulate": "oooo-",
    "zip_longest": "nno-o",
    "starmap": "oo",
    "groupby": "ooooo--",
    "_grouper": "oo",
    "takewhile": "oon",
    "dropwhile": "oon",
    "filterfalse": "oo",
    "compress": "oo",
    "_tee": "oi--",
    "_tee_dataobject": "ono" + "v" * 57,
    "product": "op?i",
    "permutations": "opr?ni",
    "combinations": "or?ni",
    "combinations_with_replacement": "or?ni",
}
"""What the words of each type's objects are, after the head, in Python 3.14 and 3.15.

o   a reference, or none
n   a number; i: one of 32 bits
p   the address of as many numbers as the object of the first word has items
r   the address of as many numbers as the word before the last says
v   a reference, if the second word is greater than the number of words of this kind before it
?   whether there is a reference, whose object follows from the rest; -: no part of the state
"""


def _by_words(layout: str) -> Plan:
    """Make the plan of a type whose objects are laid out so. An address is only taken for a reference if the garbage
    collector visits its object."""

    def content(heap: Heap, obj: Any) -> None:
        referents = {id(referent): referent for referent in gc.get_referents(obj)}
        words = list((ctypes.c_size_t * len(layout)).from_address(id(obj) + object.__basicsize__))

        def reference(word: int) -> None:
            if word:
                heap.ref(referents[word])
            else:
                heap.out.append(None)

        def numbers(address: int, count: int) -> None:
            heap.out.append(tuple((ctypes.c_size_t * count).from_address(address)))

        for place, (letter, word) in enumerate(zip(layout, words, strict=True)):
            if letter == "o":
                reference(word)
            elif letter == "v":
                if place - layout.index("v") < words[1] & 0xFFFF_FFFF:
                    reference(word)
            elif letter == "p":
                numbers(word, len(referents[words[0]]))
            elif letter == "r":
                numbers(word, words[-2])
            elif letter != "-":
                heap.out.append(word & 0xFFFF_FFFF if letter == "i" else bool(word) if letter == "?" else word)

    return content


def _grouper(heap: Heap, obj: Any) -> None:
    """Encode a group, and whether it is the one that its `groupby` has given last: only that one gives items."""
    _by_words(_ITERTOOLS["_grouper"])(heap, obj)
    (parent,) = (referent for referent in gc.get_referents(obj) if type(referent) is itertools.groupby)
    last = ctypes.c_size_t.from_address(id(parent) + object.__basicsize__ + _LAST_GROUP * 8).value
    heap.out.append(last == id(obj))


_LAST_GROUP: Final = 5
"""The word of a `groupby` with the address of the group given last."""


def _of_itertools() -> Iterator[tuple[type, Plan]]:
    for name, layout in _ITERTOOLS.items():
        kind: Any = getattr(itertools, name)
        if "__reduce__" in vars(kind):
            yield kind, _by_reduce_quietly
        elif sys.version_info[:2] in ((3, 14), (3, 15)) and kind.__basicsize__ == object.__basicsize__ + 8 * len(
            layout
        ):
            yield kind, _grouper if name == "_grouper" else _by_words(layout)


_TYPE_PARAMETERS: Final = ("TypeVar", "ParamSpec", "TypeVarTuple", "TypeAliasType")
"""Types of type parameters, which cannot change. Written in C from Python 3.12 on."""
_IN_C: Final = (types.MemberDescriptorType, types.GetSetDescriptorType)

ENCODERS: Final[dict[type, Plan]] = {
    **dict(_of_itertools()),
    **{
        kind: _by("__name__")
        for kind in (
            *(getattr(typing, name, object) for name in _TYPE_PARAMETERS),
            getattr(builtins, "sentinel", object),
        )
        if type(vars(kind).get("__name__")) in _IN_C
    },
    **dict.fromkeys(map(type, (sys.version_info, sys.flags)), by_reduce),
    **dict.fromkeys((time.struct_time, os.stat_result, os.terminal_size), by_reduce),
    type(vars(collections.namedtuple("_", "a"))["a"]): by_reduce,
    type(iter(array.array("i"))): by_reduce,
    type(iter("ä")): by_reduce,
    decimal.Context: by_reduce,
    contextvars.ContextVar: _by_referents,
    type(functools.cmp_to_key(min)(0)): _by_referents,
    super: _by_referents,
    types.UnionType: _by("__args__"),
    struct.Struct: _by("format"),
    zoneinfo.ZoneInfo: _zone,
    type(hashlib.sha256()): _hash,
}
"""Encoders by exact type."""
