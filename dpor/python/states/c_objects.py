"""Encoders of objects of modules in C, by type: each uses a documented way to read the whole state of the object."""

from __future__ import annotations

import array
import builtins
import collections
import contextvars
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


_ITERTOOLS: Final = (
    *("cycle", "chain", "islice", "repeat", "accumulate", "zip_longest", "starmap", "groupby", "_grouper"),
    *("takewhile", "dropwhile", "filterfalse", "compress", "_tee", "_tee_dataobject"),
    *("product", "permutations", "combinations", "combinations_with_replacement"),
)
_TYPE_PARAMETERS: Final = ("TypeVar", "ParamSpec", "TypeVarTuple", "TypeAliasType")
"""Types of type parameters, which cannot change. Written in C from Python 3.12 on."""
_IN_C: Final = (types.MemberDescriptorType, types.GetSetDescriptorType)

ENCODERS: Final[dict[type, Plan]] = {
    **{kind: _by_reduce_quietly for name in _ITERTOOLS if "__reduce__" in vars(kind := getattr(itertools, name))},
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
