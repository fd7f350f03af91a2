"""Containers that are one location each: deque, bytearray, array, memoryview. Their methods read or write it.

Also the methods of generators and of iterators written in C, which change at every step, and those of streams.
"""

from __future__ import annotations

import array
import collections
import functools
import io
import types
from collections.abc import Callable, Iterable
from contextvars import Context
from typing import Any, Final

from dpor.core.operations import READ, WRITE, Accesses, Mode
from dpor.python.effects.accesses import Reread, Touched, reads_structure, writes_structure, yield_before
from dpor.python.effects.calls import (
    Args,
    Entry,
    MethodCall,
    changes_unless_empty,
    entries_of_types,
    entry,
    nothing,
    unknown,
    whole,
)
from dpor.python.effects.generators import ASYNCHRONOUS, WORDS, drive_asynchronous, resume_generator
from dpor.python.effects.iteration import C_ITERATORS, advance, consumes_atomically, contents, materialised, stepwise
from dpor.python.effects.kinds import is_c_iterator, register_container_type
from dpor.python.effects.lists import looks_deep
from dpor.python.effects.memoryviews import behind, through
from dpor.python.effects.reach import ANYTHING, EQUAL, SHOW, reads, writes
from dpor.python.sharing import shared_objects
from dpor.python.sharing.shared_object import STRUCTURE, SharedObject

_COMPARISONS: Final = (EQUAL, "__ne__", "__lt__", "__le__", "__gt__", "__ge__", SHOW)


def _method(
    accesses: Callable[[SharedObject], Accesses], keeps: Callable[[Args], Iterable[Any]] = lambda args: ()
) -> Entry:
    """Make the entry of a method that also reads all that is in its arguments; iterators are consumed first."""

    def act(call: MethodCall) -> Any:
        call.args = tuple(arg if _is_plain(arg) else list(stepwise(arg)) for arg in call.args)
        touched = Touched()
        called = touched.deeply(reads, call.args, ANYTHING)
        if call.shared is not None:
            touched.add(accesses(call.shared))
        done = call.indivisible if called else call.done
        return done(touched, keeps(call.args))

    return act


def _is_plain(arg: Any) -> bool:
    return not (type(arg) is types.GeneratorType or is_c_iterator(type(arg)))


def _keeping(call: MethodCall) -> Any:
    """Perform a method that stores its arguments without reading them."""
    return call.run() if call.shared is None else call.done(writes_structure(call.shared), keeps=call.args)


# ---------------------------------------------------------------------- deque


def _comparing(accesses: Callable[[SharedObject], Accesses]) -> Entry:
    """Make the entry of `in`, `index`, `count` or `remove`: if Python code compares the elements, no other thread runs
    meanwhile."""

    def act(call: MethodCall) -> Any:
        touched = Touched()
        values = Reread(lambda: (*call.args[:1], *collections.deque.__iter__(call.obj)))
        called = touched.deeply(reads, values, EQUAL)
        if called:
            touched.deeply(reads, values, ANYTHING)
        if call.shared is not None:
            touched.add(accesses(call.shared))
        return call.indivisible(touched) if called and call.shared else call.done(touched)

    return act


def _extend(call: MethodCall) -> Any:
    """`extend`, `extendleft`, `+=` and `__init__`."""
    if not call.args or call.kwargs or (call.name == "__iadd__" and not hasattr(type(call.args[0]), "__iter__")):
        return _keeping(call)
    items, *rest = call.args
    touched = Touched()
    if consumes_atomically(items, touched):
        if call.shared is not None:
            touched.add(writes_structure(call.shared))
        call.yield_before(touched)
        items = materialised(items)
        call.publish(contents(items))
        call.args = (items, *rest)
        return call.run()
    if call.name == "__init__":
        call.args = (list(stepwise(items)), *rest)
        return _extend(call)
    append = collections.deque.appendleft if call.name == "extendleft" else collections.deque.append
    for item in stepwise(items):
        _keeping(MethodCall(call.obj, shared_objects.shared_object_of(call.obj), call.name, append, (item,)))
    return call.obj if call.name == "__iadd__" else None


def _rotate(call: MethodCall) -> Any:
    shared, items = call.shared, call.obj
    if shared is None:
        return call.run()
    steps = call.args[0] if call.args else 1

    def unchanged() -> bool:
        length = collections.deque.__len__(items)
        return length < 2 or (type(steps) is int and steps % length == 0)

    return call.done_unless(unchanged, lambda: reads_structure(shared), lambda: writes_structure(shared))


_READ: Final = _method(reads_structure)
_WRITE: Final = _method(writes_structure)
DEQUE_ENTRIES: Final[dict[str, Entry]] = {
    **dict.fromkeys(
        ("__getitem__", "__len__", "__sizeof__", "copy", "__copy__", "__add__", "__mul__", "__rmul__"), _READ
    ),
    **dict.fromkeys(("__contains__", "index", "count"), _comparing(reads_structure)),
    "remove": _comparing(writes_structure),
    **dict.fromkeys(("append", "appendleft", "insert", "__setitem__"), _keeping),
    **dict.fromkeys(("extend", "extendleft", "__iadd__", "__init__"), _extend),
    **dict.fromkeys(("pop", "popleft", "clear", "reverse"), changes_unless_empty(writes_structure, reads_structure)),
    **dict.fromkeys(("__delitem__", "__imul__"), _WRITE),
    "rotate": _rotate,
    **dict.fromkeys(("__iter__", "__reversed__"), whole(reads_structure)),
    **{name: looks_deep(name) for name in _COMPARISONS},
}

register_container_type(collections.deque, DEQUE_ENTRIES, collections.deque.__iter__, reads_structure, writes_structure)

# ---------------------------------------------------------------------- bytes and numbers

_LOOKING: Final = frozenset(
    {
        *(name for name in dir(bytes) if name != "__init__"),
        *("copy", "__copy__", "__deepcopy__", "__alloc__", "__release_buffer__"),
        *("buffer_info", "tobytes", "tofile", "tolist", "tounicode"),
    }
)
"""Methods that change nothing: those that `bytes` has, too, and some. Of others, as later versions bring, nothing is
known."""

_MAKE: Final = entry(nothing)
_MADE: Final = ("__iter__", "__class_getitem__", "fromhex", "maketrans")


def _entries_of(kind: type) -> dict[str, Entry]:
    names = (name for base in kind.__mro__ for name in vars(base) if callable(getattr(kind, name)))
    return {name: _MAKE if name in _MADE else _READ if name in _LOOKING else _WRITE for name in names}


BYTEARRAY_ENTRIES: Final = _entries_of(bytearray)
ARRAY_ENTRIES: Final = _entries_of(array.array)


def _no_contents(obj: Any) -> Iterable[Any]:
    return ()


register_container_type(bytearray, BYTEARRAY_ENTRIES, _no_contents, reads_structure, writes_structure)
register_container_type(array.array, ARRAY_ENTRIES, _no_contents, reads_structure, writes_structure)


def _look_through(mode: Mode) -> Entry:
    """Make the entry of a method of a memoryview that reads (or writes) the memory that it shows."""
    return lambda call: call.done(through(call.obj, mode))


def _give_up(call: MethodCall) -> Any:
    """Release the view: the object behind it can be resized again."""
    touched = Touched(through(call.obj, WRITE))
    if call.shared is not None:
        touched.add(writes_structure(call.shared))
    return call.done(touched)


MEMORYVIEW_ENTRIES: Final[dict[str, Entry]] = {
    **dict.fromkeys((name for name in dir(memoryview) if callable(getattr(memoryview, name))), _look_through(READ)),
    "__contains__": _look_through(READ),
    "__setitem__": _look_through(WRITE),
    **dict.fromkeys(("release", "__exit__"), _give_up),
}

register_container_type(memoryview, MEMORYVIEW_ENTRIES, behind, reads_structure, reads_structure)

# ---------------------------------------------------------------------- generators and iterators


def _generator(call: MethodCall) -> Any:
    if call.name in ("__next__", "send", "throw", "close"):
        return resume_generator(call.obj, call.plain, call.obj, *call.args)
    return call.run() if call.name == "__iter__" else _look(call)


for _driven in WORDS:
    entries_of_types[_driven] = _generator


def _asynchronous(call: MethodCall) -> Any:
    return call.run() if call.name == "__await__" else drive_asynchronous(call.obj, call.plain, call.obj, *call.args)


for _awaitable in ASYNCHRONOUS:
    entries_of_types[_awaitable] = _asynchronous


def _iterator(call: MethodCall) -> Any:
    if call.name == "__next__":
        return advance(call.obj)
    if call.name == "__iter__":
        return call.run()
    return _look(call)


def _look(call: MethodCall) -> Any:
    touched = Touched()
    touched.deeply(reads, (call.obj, *call.args), ANYTHING)
    return call.done(touched)


for _iterator_type in C_ITERATORS:
    entries_of_types[_iterator_type] = _iterator

# ---------------------------------------------------------------------- contexts


def _context(call: MethodCall) -> Any:
    """`run` enters the context, and leaves it after the call of a function, in which other threads may run: a step of
    its own."""
    if call.name != "run" or call.shared is None or not call.args or type(call.args[0]) not in _IN_PYTHON:
        return unknown(call)
    function, *args = call.args
    leave: Accesses = ((call.shared.location(STRUCTURE), WRITE),)

    def inside(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        finally:
            yield_before("leave", leave)

    touched = Touched()
    given = (*call.args, *call.kwargs.values())
    touched.deeply(writes, (call.obj, *given))
    call.prepare(touched, given)
    return call.plain(call.obj, inside, *args, **call.kwargs)


_IN_PYTHON: Final = frozenset({types.FunctionType, types.MethodType, functools.partial})
entries_of_types[Context] = _context

# ---------------------------------------------------------------------- streams

_ASKING: Final = frozenset({"isatty", "readable", "writable", "seekable", "fileno", "getvalue"})
"""Methods that only look at the stream."""
_OF_MEMORY: Final = _ASKING | {"tell", "flush"}
"""Those of streams in memory: of these nothing is ever flushed."""


def _stream(asking: frozenset[str]) -> Entry:
    def act(call: MethodCall) -> Any:
        if call.name not in asking or call.args or call.kwargs:
            return unknown(call)
        if call.shared is not None:
            yield_before(call.name, ((call.shared.location(STRUCTURE), READ),))
        return call.run()

    return act


entries_of_types.update(dict.fromkeys((io.StringIO, io.BytesIO), _stream(_OF_MEMORY)))
entries_of_types[io.TextIOWrapper] = _stream(_ASKING)
