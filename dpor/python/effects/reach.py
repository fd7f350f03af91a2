"""Accesses beyond the object that a method is called on: comparing, printing, hashing and copying read nested objects.

Containers are searched, shared or not (a private list may hold a shared one). The fields of an object of a class are
read only if the method that will be called on it is uninstrumented Python code (as `dataclass` generates). Instrumented
methods perform operations of their own.
"""

from __future__ import annotations

import decimal
import functools
import gc
import types
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dpor.core.operations import READ, WRITE, Accesses, Operation
from dpor.python.effects.accesses import NOTHING, Touched, yield_before
from dpor.python.effects.kinds import container_type_of, is_c_iterator, is_in_c, is_program, static
from dpor.python.effects.memoryviews import through
from dpor.python.kernel import opaque_code
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.run import run
from dpor.python.kernel.streams import BehindStream
from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing import children, shared_object, shared_objects, type_traits
from dpor.python.sharing.shared_object import STRUCTURE, SharedObject
from dpor.python.sharing.type_traits import ATOMIC

ANYTHING: Final = ""
"""In place of a method's name: any method, so everything that may be read counts as read."""

EQUAL, HASH, SHOW = "__eq__", "__hash__", "__repr__"

_NESTING: Final = frozenset({tuple, frozenset})
_PLAIN: Final = ATOMIC - _NESTING
_SHOWING: Final = frozenset({types.MethodType, functools.partial, slice})
"""Types that show the objects they refer to, but whose equality does not depend on them."""
_CALLABLES: Final = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType, type)


def reads(values: Iterable[Any], method: str, touched: Touched) -> bool:
    """Add what calling the method on the values reads, apart from what instrumented code does. True if such code is
    called."""
    called = False
    seen: set[int] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        kind = type(value)
        shows = kind in _SHOWING and method == SHOW
        if (kind in _PLAIN and not shows) or id(value) in seen:
            continue
        seen.add(id(value))
        if shows:
            stack.extend(gc.get_referents(value))
            continue
        if is_a(value, (tuple, frozenset)):
            stack.extend(value)
            if kind in _NESTING:
                continue
        found = static(kind, method) if method else None
        if isinstance(found, types.FunctionType) and is_program(found):
            called = True
            continue
        container_type = container_type_of(kind)
        if kind is memoryview:
            touched.add(through(value, READ))
        elif container_type is not None:
            shared = shared_objects.shared_object_of(value)
            if shared is not None:
                touched.add(container_type.reads_all(shared))
            stack.extend(container_type.contents(value))
            if not method or isinstance(found, types.FunctionType):
                stack.extend(_read_fields(value, touched))
        elif kind in views:
            stack.append(views[kind](value))
        elif is_c_iterator(kind) and method in (ANYTHING, SHOW):
            stack.extend(_taken_from(value, touched))
        elif is_a(value, BaseException) and not isinstance(found, types.FunctionType):
            shared = shared_objects.shared_object_of(value)
            if shared is not None:
                for name in parts_of_exceptions(kind):
                    touched.add(field_read(shared, value, name))
            stack.extend(value.args)
            if method == ANYTHING:
                stack.extend(_read_fields(value, touched))
        elif is_in_c(kind) and not isinstance(found, types.FunctionType):
            if method != ANYTHING and (found is None or found.__objclass__ is object):
                continue
            for part in parts_in_c(value):
                shared = shared_objects.shared_object_of(part)
                if shared is not None:
                    touched.add(((shared.location(STRUCTURE), READ),))
            stack.extend(_held_in_c(value))
            if method == ANYTHING:
                stack.extend(_read_fields(value, touched))
        elif not method or isinstance(found, types.FunctionType) or kind is types.SimpleNamespace:
            if not is_a(value, _CALLABLES):
                known = len(touched)
                stack.extend(_read_fields(value, touched))
                if isinstance(found, types.FunctionType) and len(touched) > known:
                    opaque_code.opaque(f"{found.__globals__.get('__name__')}.{found.__qualname__}")
    return called


def parts_in_c(value: Any) -> tuple[Any, ...]:
    """Return an object in C, and other objects that show the same state but are not known to the garbage collector."""
    return (value, value.flags, value.traps) if type(value) is decimal.Context else (value,)


def _held_in_c(value: Any) -> Iterable[Any]:
    """The objects that an object in C was given or is made of: its methods read and write these, too."""
    held = () if type(value) in _RUNNING else _referents(value)
    if any(is_a(part, BehindStream) for part in held):
        return ()
    return [getattr(part, "__self__", part) for part in held]


def _referents(value: Any) -> list[Any]:
    """What an object in C refers to, but for the dict of which the keys are its fields."""
    own = type_traits.fields(value, type(value))
    return [part for part in children.referents(value) if part is not own]


_RUNNING: Final = frozenset({types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType})
"""Types of suspended code of the program, which performs operations of its own."""


def _taken_from(iterator: Any, touched: Touched) -> list[Any]:
    """Add that the iterator or generator is read and perhaps advanced; returns the objects behind it.

    The code of a generator performs operations of its own.
    """
    shared = shared_objects.shared_object_of(iterator)
    if shared is not None:
        touched.add(((shared.location(STRUCTURE), WRITE),))
    return [] if type(iterator) is types.GeneratorType else _referents(iterator)


def parts_of_exceptions(kind: type[BaseException]) -> tuple[str, ...]:
    """The names of the fields that an exception has in C: `args`, `strerror` and the like."""
    own = kind.__mro__[: kind.__mro__.index(BaseException)]
    members = (types.MemberDescriptorType, types.GetSetDescriptorType)
    return ("args", *(name for base in own for name, member in vars(base).items() if type(member) in members))


def yield_before_reading(kind: str, values: Iterable[Any], method: str) -> bool:
    """Yield before all that the method reads of the values is read. Returns True if that is anything."""
    touched = Touched()
    touched.deeply(reads, values, method)
    yield_before(kind, touched)
    return bool(touched)


views: dict[type, Any] = type_cache({})
"""By type of objects that only show another object: the function that returns that object (see `iteration`)."""


def writes(values: Iterable[Any], touched: Touched) -> bool:
    """Add that everything reachable from the values may be changed: for code of which nothing is known. True if any of
    it is shared.

    For an object that is not a container, its state in C is written and its fields count as read: C code changes
    containers, not attributes. Functions are not searched, because what they do is seen when they are called.
    """
    found = False
    seen: set[int] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind in _PLAIN or kind is object or id(value) in seen or is_a(value, _CALLABLES):
            continue  # an `object()` has nothing that could change
        seen.add(id(value))
        if is_a(value, (tuple, frozenset)):
            stack.extend(value)
        container_type = container_type_of(kind)
        shared = shared_objects.shared_object_of(value)
        found = found or shared is not None
        if container_type is not None:
            if shared is not None:
                touched.add(container_type.writes_all(shared))
            stack.extend(container_type.contents(value))
        elif kind in views:
            stack.append(views[kind](value))
        elif shared is not None:
            touched.add(((shared.location(STRUCTURE), WRITE),))
            stack.extend(parts_in_c(value)[1:])
        if is_in_c(kind) and kind is not functools.partial:
            stack.extend(_held_in_c(value))
        stack.extend(_read_fields(value, touched))
    return found


def _read_fields(value: Any, touched: Touched) -> Iterator[Any]:
    """Add that all fields of the object are read; returns their values."""
    shared = None if type(value) in type_traits.recorded else shared_objects.shared_object_of(value)
    if children.adopts(type(value)):
        yield type_traits.fields(value, type(value))
    for name, content in fields_of(value):
        if shared is not None:
            touched.add(field_read(shared, value, name))
        yield content
    if shared is not None:
        for name, content in _slots_of(value):
            if content is _UNSET:
                touched.add(field_read(shared, value, name))
        touched.add(shared_object.reads_names(shared, type(value)))


def field_read(shared: SharedObject, value: Any, name: str) -> Accesses:
    """Accesses of a load of the field, as in `dpor.python.hooks.attributes`."""
    operation = shared.reads.get(name)
    if operation is None and name not in shared.reads:
        operation = shared.reads[name] = run.above.read_operation(shared, value, name)
    return operation.accesses if type(operation) is Operation else NOTHING


def fields_of(value: Any) -> list[tuple[str, Any]]:
    """List names and values of the object's own fields, in a fixed order. Runs no code of the program."""
    found: list[tuple[str, Any]] = []
    try:
        found.extend(object.__getattribute__(value, "__dict__").items())
    except AttributeError:
        pass
    found.extend((name, content) for name, content in _slots_of(value) if content is not _UNSET)
    return found


def _slots_of(value: Any) -> Iterator[tuple[str, Any]]:
    for base in type(value).__mro__:
        if "__slots__" in base.__dict__:
            for name, member in base.__dict__.items():
                if type(member) is types.MemberDescriptorType:
                    try:
                        yield name, member.__get__(value)
                    except AttributeError:
                        yield name, _UNSET


_UNSET: Final = object()
