"""What objects of modules in C hold, by type: those that tell all about themselves in one way or another."""

from __future__ import annotations

import array
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
    """Immutable objects that tell all about themselves, and iterators that tell what they are over, and their
    position."""
    kind: Any = type(obj)
    _, args, *state = kind.__reduce__(obj)
    heap.out.append((len(args), len(state)))
    heap.refs((*args, *state))


def _by_reduce_quietly(heap: Heap, obj: Any) -> None:
    """The same, of those that warn that they will not always do so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_reduce(heap, obj)


def _by_referents(heap: Heap, obj: Any) -> None:
    """Those that hold objects, which the collector of cycles visits in a fixed order, and nothing else."""
    referents = gc.get_referents(obj)
    heap.out.append(len(referents))
    heap.refs(referents)


def _by(name: str) -> Plan:
    """Those of which this attribute tells all."""

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
"""Nothing in them can change. Written in C from Python 3.12 on."""
_IN_C: Final = (types.MemberDescriptorType, types.GetSetDescriptorType)

TOLD: Final[dict[type, Plan]] = {
    **{kind: _by_reduce_quietly for name in _ITERTOOLS if "__reduce__" in vars(kind := getattr(itertools, name))},
    **{
        kind: _by("__name__")
        for name in _TYPE_PARAMETERS
        if type(vars(kind := getattr(typing, name, object)).get("__name__")) in _IN_C
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
"""By exact type."""
