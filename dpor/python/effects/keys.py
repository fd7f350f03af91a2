"""The part of a dict or set that a key stands for.

Two keys that are equal must be one part, in every run; and no code of the program may be called to find that out. Keys
with a built-in equality stand for themselves, objects that are equal only to themselves are identified by the number of
their `SharedObject`. For other keys there are three answers:

    PRIVATE   no other thread has the object, so no other thread can ask for this key
    ANY_KEY   could be equal to any key
    USER_EQ   as ANY_KEY, and its `__eq__` or `__hash__` is Python code, which may be the program's
"""

from __future__ import annotations

import enum
import types
from collections.abc import Hashable, Iterable
from typing import Any, Final

from dpor.python.effects.kinds import is_immutable, static
from dpor.python.kernel.classes import is_a, module_named_by, module_of_class
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import shared_objects, type_traits


class UnknownKey(enum.Enum):
    """The answers for keys that do not stand for one part."""

    PRIVATE = "private"
    ANY_KEY = "any key"
    USER_EQ = "user eq"


PRIVATE, ANY_KEY, USER_EQ = UnknownKey.PRIVATE, UnknownKey.ANY_KEY, UnknownKey.USER_EQ

_SELF: Final[frozenset[type]] = frozenset({str, int, bool, bytes, type(None)})
"""Exact types whose objects stand for themselves: immutable, with an equality that depends on nothing else."""

_VALUES: Final[frozenset[type]] = frozenset({complex, float, type(Ellipsis), range})
"""Like `_SELF`, except that some (NaN) are not equal to themselves."""

_NAMED: Final = (types.FunctionType, types.BuiltinFunctionType, type)


def part_of(key: Any) -> Hashable:
    """Return the part that the key stands for, or a member of `UnknownKey`."""
    kind = type(key)
    if kind in _SELF:
        part: Hashable = key
        return part
    if kind in _VALUES or is_immutable(kind):
        return key if key == key else ANY_KEY
    if kind is tuple:
        return _of_all(key, tuple)
    if kind is frozenset:
        return _of_all(key, frozenset)
    return _of_other(key, kind)


def _of_all(keys: Iterable[Any], make: type[tuple[Any, ...]] | type[frozenset[Any]]) -> Hashable:
    parts = make(map(part_of, keys))
    for answer in (USER_EQ, ANY_KEY, PRIVATE):
        if answer in parts:
            return answer
    return parts


_OBJECT_EQ: Final = object.__dict__["__eq__"]
_OBJECT_HASH: Final = object.__dict__["__hash__"]
_ENUM_HASH: Final = enum.Enum.__dict__["__hash__"]


def _of_other(key: Any, kind: type) -> Hashable:
    eq, hashes = static(kind, "__eq__"), static(kind, "__hash__")
    if hashes is None:
        return PRIVATE  # not hashable: the operation will fail
    if eq is _OBJECT_EQ and hashes in (_OBJECT_HASH, _ENUM_HASH):
        return _of_identity(key, kind)
    if is_a(key, types.MethodType) and kind is types.MethodType:
        return _of_all((key.__self__, key.__func__), tuple)
    if is_a(key, _NAMED) and not isinstance(eq, types.FunctionType):
        return _of_named(key)
    for base in (str, int, float, bytes, tuple):
        if issubclass(kind, base):
            if eq is base.__dict__["__eq__"] and hashes is base.__dict__["__hash__"]:
                return part_of(_plain(key, base))
            break
    if isinstance(eq, types.FunctionType) or isinstance(hashes, types.FunctionType):
        return USER_EQ
    return ANY_KEY


def _of_identity(key: Any, kind: type) -> Hashable:
    if is_a(key, enum.Enum):
        return ("enum", module_of_class(kind), kind.__qualname__, key._name_)
    if is_a(key, SyncObject):
        return ("object", key.dpor_location)
    if is_a(key, types.ModuleType):
        return ("module", key.__name__)
    if is_a(key, _NAMED):
        return _of_named(key)
    shared = shared_objects.shared_object_of(key)
    if shared is not None:
        return ("object", shared.number)
    return ANY_KEY if kind in type_traits.ATOMIC or type_traits.is_neutral(kind) else PRIVATE


def _of_named(key: Any) -> Hashable:
    """Return the part of a function or class. Those that one statement makes are one part: coarse, but the same in
    every run."""
    if is_a(key, types.BuiltinFunctionType) and not isinstance(key.__self__, types.ModuleType):
        return ANY_KEY
    return ("named", module_named_by(key), key.__qualname__)


def _plain(key: Any, base: type) -> Any:
    """Convert a key of a subclass to the built-in type `base`, without calling code of the subclass."""
    if base is str:
        return str.__str__(key)
    if base is bytes:
        return bytes.__getitem__(key, slice(None))
    if base is tuple:
        return tuple.__getitem__(key, slice(None))
    return int.__add__(key, 0) if base is int else float.__add__(key, 0)
