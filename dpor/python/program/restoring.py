"""How an object of the program's modules is restored in place, by kind of object; and how its value is read if
`get_referents` does not show it."""

from __future__ import annotations

import _random
import _thread
import array
import collections
import datetime
import decimal
import functools
import io
import itertools
import re
import types
import weakref
from collections.abc import Callable, Iterator
from ctypes import c_ssize_t, sizeof
from typing import Any, Final

from dpor.python.kernel.classes import HEAP_TYPE, is_a
from dpor.python.sharing import type_traits

CONTAINERS: Final = (list, dict, set, collections.deque, collections.OrderedDict, collections.defaultdict)
IMMUTABLE_BASES: Final = (
    *(tuple, frozenset, int, float, complex, str, bytes),
    *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone),
    *(property, staticmethod, classmethod, functools.partial, weakref.ReferenceType),
)


class CannotRestore(Exception):
    """Something has changed, and cannot be restored in place."""


# ---------------------------------------------------------------------- objects that refer to others


def restorer(obj: Any) -> Callable[[], None]:
    """Return a function that restores the contents that the object has now."""
    kind = type(obj)
    if kind is types.CellType:
        try:
            return functools.partial(_restore_cell, obj, [obj.cell_contents])
        except ValueError:
            return functools.partial(_restore_cell, obj, [])
    steps: list[Callable[[], None]] = []
    if is_a(obj, list):
        steps.append(functools.partial(list.__setitem__, obj, slice(None), list.__getitem__(obj, slice(None))))
    elif is_a(obj, collections.OrderedDict):
        steps.append(functools.partial(_restore_ordered_dict, obj, [*collections.OrderedDict.items(obj)]))
    elif is_a(obj, dict):
        steps.append(functools.partial(_restore_dict, obj, dict.copy(obj)))
    elif is_a(obj, set):
        steps.append(functools.partial(restore_set, obj, set(obj)))
    elif is_a(obj, collections.deque):
        steps.append(functools.partial(_restore_deque, obj, [*collections.deque.__iter__(obj)]))
    if kind is not dict:
        steps += _slots(obj, kind)

    def restore() -> None:
        for step in steps:
            step()

    return steps[0] if len(steps) == 1 else restore


def function_restorer(function: types.FunctionType) -> Callable[[], None]:
    """Return a function that restores the parts of a function that programs can assign."""
    before = {name: getattr(function, name) for name in _PARTS_OF_FUNCTION}

    def restore() -> None:
        for name, value in before.items():
            if getattr(function, name) is not value:
                setattr(function, name, value)

    return restore


_PARTS_OF_FUNCTION: Final = ("__code__", "__defaults__", "__kwdefaults__", "__name__", "__qualname__", "__doc__")


def class_restorer(kind: type, names: dict[str, Any]) -> Callable[[], None]:
    """Return a function that restores the attributes and bases of a class, given copies of its attributes."""
    return functools.partial(_restore_class, kind, names, dict(names), kind.__bases__)


def _slots(obj: Any, kind: type) -> Iterator[Callable[[], None]]:
    for base in kind.__mro__:
        for slot in vars(base).values():
            if type(slot) is types.MemberDescriptorType and slot.__objclass__ is base and base.__flags__ & HEAP_TYPE:
                try:
                    value = [slot.__get__(obj, kind)]
                except AttributeError:
                    value = []
                yield functools.partial(_restore_slot, slot, obj, value)
    fields = type_traits.fields(obj, kind)
    if fields is not None:
        yield functools.partial(_restore_fields, obj, kind, fields)


def _restore_dict(obj: dict[Any, Any], before: dict[Any, Any]) -> None:
    if [*map(id, dict.keys(obj))] == [*map(id, before)]:
        for key, value in before.items():
            if dict.get(obj, key) is not value:
                dict.__setitem__(obj, key, value)
    else:
        dict.clear(obj)
        dict.update(obj, before)


def _restore_ordered_dict(obj: collections.OrderedDict[Any, Any], before: list[tuple[Any, Any]]) -> None:
    collections.OrderedDict.clear(obj)
    for key, value in before:
        collections.OrderedDict.__setitem__(obj, key, value)


def restore_set(obj: set[Any], before: set[Any]) -> None:
    """Let the set have these elements, in this order of insertion."""
    set.clear(obj)
    set.update(obj, before)


def _restore_deque(obj: collections.deque[Any], before: list[Any]) -> None:
    collections.deque.clear(obj)
    collections.deque.extend(obj, before)


def _restore_cell(cell: types.CellType, before: list[Any]) -> None:
    if before:
        (cell.cell_contents,) = before
    else:
        del cell.cell_contents


def _restore_slot(slot: Any, obj: Any, before: list[Any]) -> None:
    if before:
        slot.__set__(obj, before[0])
    else:
        try:
            slot.__delete__(obj)
        except AttributeError:  # it is empty
            pass


def _restore_fields(obj: Any, kind: type, before: dict[str, Any]) -> None:
    """The program may have stored another `__dict__`, or another `__class__`."""
    if type(obj) is not kind:
        object.__setattr__(obj, "__class__", kind)
    if type_traits.fields(obj, kind) is not before:
        found = next(vars(base)["__dict__"] for base in kind.__mro__ if "__dict__" in vars(base))
        found.__set__(obj, before)


def _restore_class(kind: type, names: dict[str, Any], before: dict[str, Any], bases: tuple[type, ...]) -> None:
    if kind.__bases__ is not bases and kind.__bases__ != bases:
        raise CannotRestore(f"the class {kind.__qualname__} was given other bases")
    for name in [name for name in names if name not in before]:
        type.__delattr__(kind, name)
    if [*names] != [name for name in before if name in names]:
        raise CannotRestore(f"attributes of the class {kind.__qualname__} were removed")
    for name, value in before.items():
        if names.get(name, before) is not value:
            type.__setattr__(kind, name, value)


# ---------------------------------------------------------------------- values


def _text(stream: Any) -> object:
    return None if stream.closed else (stream.getvalue(), stream.tell())


def restore_value(obj: Any, before: Any) -> None:
    """Set the value of the object. Raises `CannotRestore` if that is not possible."""
    if is_a(obj, bytearray):
        obj[:] = before
    elif is_a(obj, array.array):
        del obj[:]
        obj.frombytes(before)
    elif is_a(obj, _random.Random):
        _random.Random.setstate(obj, before)
    elif type(obj) is LRU_CACHE and not before[-1]:
        obj.cache_clear()
    elif type(obj) is not itertools.count or not _set_count(obj, before):
        raise CannotRestore(f"a {type(obj).__qualname__} moved on")


def _set_count(counter: itertools.count[int], before: str) -> bool:
    """Set back a counter in steps of one, which has no method for that: its number is the first word that is its own.
    Returns False if it is of another kind, or if there is another number in that place."""
    now, then = (_COUNT.fullmatch(text) for text in (repr(counter), before))
    if now is None or then is None or itertools.count.__basicsize__ < object.__basicsize__ + sizeof(c_ssize_t):
        return False
    number = c_ssize_t.from_address(id(counter) + object.__basicsize__)
    if number.value != int(now[1]):
        return False
    number.value = int(then[1])
    return repr(counter) == before


_COUNT: Final = re.compile(r"count\((-?\d{1,18})\)")

LRU_CACHE: Final[Any] = type(functools.lru_cache(len))

VALUES: Final[dict[type, Callable[[Any], Any]]] = {
    bytearray: lambda array: bytearray.__getitem__(array, slice(None)),
    array.array: array.array.tobytes,
    _random.Random: _random.Random.getstate,
    itertools.count: repr,
    decimal.Context: repr,
    io.StringIO: _text,
    io.BytesIO: _text,
    LRU_CACHE: LRU_CACHE.cache_info,
    _thread.LockType: lambda lock: lock.locked(),
}
"""Types whose objects hold no references and can change, and functions that return the value of one."""

KNOWN_BASES: Final = frozenset((*CONTAINERS, *IMMUTABLE_BASES, *VALUES, BaseException, types.SimpleNamespace))
