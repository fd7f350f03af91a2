"""Functions that consume an iterable: all at once (`list`, `sum`), or item by item (`zip`, `next`)."""

from __future__ import annotations

import array
import collections
import collections.abc
import functools
import itertools
import math
import operator
import sys
import types
from collections.abc import Callable, Iterator
from sys import getrefcount
from typing import Any, Final

from dpor.core.operations import READ
from dpor.python.effects.accesses import Reread, Touched, yield_before
from dpor.python.effects.calls import as_dict
from dpor.python.effects.generators import resume_generator
from dpor.python.effects.iteration import (
    C_ITERATORS,
    advance,
    consume_view,
    consumes_atomically,
    consumes_pairs_atomically,
    container_behind,
    has_length_in_python,
    has_plain_items,
    iterator_of,
    materialised,
    stepwise,
    stepwise_with_length,
    uninstrumented_next,
)
from dpor.python.effects.key_order import looks
from dpor.python.effects.kinds import container_type_of, is_c_iterator, is_in_c, static
from dpor.python.effects.lists import is_built_in
from dpor.python.effects.reach import HASH, reads, views, yield_before_reading
from dpor.python.effects.set_order import agreed_order, stable_order
from dpor.python.hooks.calls.registry import set_class_wrapper, set_wrapper, wrap
from dpor.python.hooks.calls.unknown import reading_c
from dpor.python.hooks.operators import SCALARS, count_of_temporary
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_object, shared_objects

# ---------------------------------------------------------------------- all items at once


def consumer(function: Any, applied: str | None = None) -> Callable[..., Any]:
    """Wrap a function that consumes its first argument and calls the method `applied` of the items."""
    takes_sets = function in (set, frozenset)

    def consume(*args: Any, **kwargs: Any) -> Any:
        if function in _OF_MEMORY and args and _has_memory(type(args[0])):
            return reading_c(function)(*args, **kwargs)
        if not args or (not run.multi and type(args[0]) in _IN_ORDER):
            return function(*args, **kwargs)
        items, *rest = args
        kind = type(items)
        if kind in SCALARS:
            return function(*args, **kwargs)
        if kind is types.GeneratorType and getrefcount(items) <= _TEMPORARY:
            return _call_with(function, items, rest, kwargs)
        if not run.multi:
            if kind is set or kind is frozenset:
                order = None if takes_sets else agreed_order(items) if function in _ORDERLESS else stable_order(items)
                return function(items if order is None else order, *rest, **kwargs)
            return function(items if kind in _IN_ONE_STEP else stepwise_with_length(items), *rest, **kwargs)
        if kind in _IN_ORDER and shared_objects.shared_object_of(items) is None:
            if applied is None or SCALARS.issuperset(map(type, items)):
                return function(*args, **kwargs)
        return _consume(function, applied, items, rest, kwargs)

    return consume


def make_array(kind: type) -> Callable[..., Any]:
    """Wrap a class of arrays: `array(code, items)`."""

    def make(*args: Any) -> Any:
        if len(args) < 2:
            return kind(*args)

        def array(items: Any) -> Any:
            return kind(args[0], items)

        return consumer(array)(args[1])

    return make


_IN_ORDER: Final = frozenset({list, tuple, dict, collections.deque, range, str, int})
_IN_ONE_STEP: Final = _IN_ORDER | {set, frozenset}


def _counted(*args: object) -> int:
    items, *_ = args
    return getrefcount(items)


_TEMPORARY: Final = count_of_temporary(_counted)
"""The reference count, counted like this, of an argument to which nobody else refers."""


def _consume(function: Any, applied: str | None, items: Any, rest: list[Any], kwargs: dict[str, Any]) -> Any:
    touched = Touched()
    if not consumes_atomically(items, touched):
        return _call_with(function, stepwise_with_length(items), rest, kwargs)
    container_type = container_type_of(type(items))
    called = False
    if applied is not None and container_type is not None:
        called = touched.deeply(reads, Reread(lambda: container_type.contents(items)), applied)
    if called and function not in _SNAPSHOTS:
        return function(stepwise(items), *rest, **kwargs)
    yield_before(function.__name__, touched)
    if container_type is None or (function is not set and function is not frozenset):
        items = materialised(items, in_any_order=function in _ORDERLESS)
    if applied is not None and container_type is None and type(items) is list:
        yield_before_reading(function.__name__, items, applied)
    return function(items, *rest, **kwargs)


_OF_MEMORY: Final = (bytes, bytearray)
"""Types that may use the buffer of their argument instead of its items."""


def _has_memory(kind: type) -> bool:
    return is_in_c(kind) or issubclass(kind, (memoryview, bytearray, array.array))


_ORDERLESS: Final = (sorted, sum, min, max, any, all)
"""Functions whose result does not depend on the order of the items, except among items that compare equal."""
_SNAPSHOTS: Final = (sorted, list, tuple)
"""Functions that copy all items before they call any method of them."""
_ASK_LENGTH: Final = (sorted, list, tuple) if sys.version_info < (3, 14) else (sorted, list)
"""Those of them that ask the iterable for its length first."""


def _call_with(function: Any, items: Any, rest: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function that consumes all of these items, which code of the program makes one after the other.

    If the function did that itself, it would hold the items taken so far in C, where searches that store states cannot
    see them. So they are taken here beforehand, where nobody can tell the difference.
    """
    if function is any or function is all:
        if not rest and not kwargs:
            return _decides(items, function is any)
    elif function in _SNAPSHOTS or function is collections.deque or function.__name__ == "join":
        if function in _ASK_LENGTH and has_length_in_python(type(items)):
            operator.length_hint(items)
        items = [item for item in items]  # noqa: C416 (as a comprehension, which has a Python frame)
    elif function in _HARMLESS and not rest:
        items = _materialised_while_harmless(items, function)
    return function(items, *rest, **kwargs)


def _decides(items: Any, truth: bool) -> bool:
    """Like `any` (truth=True) and `all` (truth=False)."""
    for item in items:
        if item:
            if truth:
                return True
        elif not truth:
            return False
    return not truth


def _materialised_while_harmless(items: Any, function: Any) -> Iterator[Any]:
    """Return an iterator over all items. They are taken at once, up to the first of a type with which the function
    might call code, or fail."""
    first: list[Any] = []
    for item in items:
        first.append(item)
        if type(item) not in _HARMLESS[function]:
            return itertools.chain(first, items)
    return iter(first)


_COUNTABLE: Final[frozenset[type]] = frozenset({int, bool})
_HASHABLE: Final[frozenset[type]] = frozenset({int, bool, float, str, bytes, type(None)})
_HARMLESS: Final[dict[Any, frozenset[type]]] = {
    **dict.fromkeys([sum, min, max], _COUNTABLE),
    **dict.fromkeys([set, frozenset], _HASHABLE),
}
"""For each function the types of items with which it calls nothing and does not fail."""


def _with_key(function: Any) -> Callable[..., Any]:
    """Wrap `sorted`, `min` or `max`, which may be given a key function, or several arguments."""
    plain = consumer(function, "__lt__")

    def select(*args: Any, **kwargs: Any) -> Any:
        key = kwargs.get("key")
        if key is not None:
            kwargs["key"] = run.above.call(key)
            if len(args) == 1 and function is not sorted:
                return function(stepwise(args[0]), **kwargs)
        if len(args) == 1:
            return plain(args[0], **kwargs)
        if run.multi and not SCALARS.issuperset(map(type, args)):
            yield_before_reading(function.__name__, args, "__lt__")
        return function(*args, **kwargs)

    return select


for _function, _applied in (
    *((list, None), (tuple, None), (set, HASH), (frozenset, HASH), (bytes, None), (bytearray, None)),
    *((sum, "__add__"), (any, "__len__"), (all, "__len__"), (math.fsum, None), (math.prod, "__mul__")),
    (collections.deque, None),
):
    set_wrapper(_function, consumer(_function, _applied))
for _selecting in (sorted, min, max):
    set_wrapper(_selecting, _with_key(_selecting))


@wrap(dict)
def _dict(*args: Any, **kwargs: Any) -> Any:
    return make_dict(dict, args, kwargs)


def make_dict(kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Perform `kind(...)` for a class of dicts."""
    if not args or (type(args[-1]) in SCALARS):
        return kind(*args, **kwargs)
    *first, items = args
    if hasattr(type(items), "keys"):
        items = as_dict(items)
        args = (*first, items)
        shared = shared_objects.shared_object_of(items)
        container_type = container_type_of(type(items))
        if shared is not None and container_type is not None:
            yield_before("dict", container_type.reads_all(shared))
        elif run.multi and type(items) in views:
            touched = Touched()
            consume_view(items, touched)
            yield_before("dict", touched)
        elif shared is not None and not isinstance(static(type(items), "keys"), types.FunctionType):
            yield_before("dict", ((shared.location(shared_object.STRUCTURE), READ),))
        return kind(*args, **kwargs)
    touched = Touched()
    if run.multi and consumes_pairs_atomically(items, touched):
        yield_before("dict", touched)
        return kind(*first, materialised(items), **kwargs)
    return kind(*first, items if type(items) in _IN_ONE_STEP else stepwise(items), **kwargs)


set_wrapper(collections.OrderedDict, lambda *args, **kwargs: make_dict(collections.OrderedDict, args, kwargs))
set_wrapper(collections.defaultdict, lambda *args, **kwargs: _default_dict(args, kwargs))
set_wrapper(collections.Counter, lambda *args, **kwargs: _counter(args, kwargs))


def _default_dict(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) < 2:
        return collections.defaultdict(*args, **kwargs)
    return make_dict(collections.defaultdict, args, kwargs)


def _counter(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and not is_a(args[0], collections.abc.Mapping):
        return consumer(collections.Counter, HASH)(*args, **kwargs)
    return make_dict(collections.Counter, args, kwargs)


set_class_wrapper(dict, "fromkeys", consumer(dict.fromkeys, HASH))


def _new_tuple(kind: Any, *items: Any) -> Any:
    """`tuple.__new__`, as classes derived from it call it."""
    return tuple.__new__(kind, *map(consumer(tuple), items))


set_class_wrapper(tuple, "__new__", _new_tuple)


# ---------------------------------------------------------------------- iterators over iterables


@wrap(enumerate)
def _enumerate(iterable: Any, start: int = 0) -> Any:
    return enumerate(stepwise(iterable), start)


@wrap(zip)
def _zip(*iterables: Any, **kwargs: Any) -> Any:
    return zip(*map(stepwise, iterables), **kwargs)  # noqa: B905


@wrap(map)
def _map(function: Any, *iterables: Any, **kwargs: Any) -> Any:
    return map(_callee(function), *map(stepwise, iterables), **kwargs)


@wrap(filter)
def _filter(function: Any, iterable: Any) -> Any:
    return filter(None if function is None else _callee(function), stepwise(iterable))


def _callee(function: Any) -> Any:
    """Return what C code is to call in place of the function. (Functions that only look at numbers and strings stay as
    they are, so that a chain of iterators is known to run no code of the program.)"""
    return function if function in _ON_SCALARS else run.above.call(function)


class _ById(frozenset[int]):
    def __contains__(self, function: object) -> bool:
        return frozenset.__contains__(self, id(function))


_ON_SCALARS: Final = _ById(map(id, (int, float, bool, ord, chr, abs)))


@wrap(iter)
def _iter(*args: Any) -> Any:
    if len(args) == 1:
        items = args[0]
        if is_a(items, (set, frozenset)):
            return iterator_of(items)
        _read_length(items)
        return iter(items)
    if len(args) == 2:
        return iter(_callee(args[0]), args[1])
    return iter(*args)


@wrap(reversed)
def _reversed(items: Any) -> Any:
    _read_length(items, "__reversed__")
    return reversed(items)


def _read_length(items: Any, method: str = "__iter__") -> None:
    """Yield before the length is read: iterators over containers and views store it when they are made."""
    if run.multi:
        container = container_behind(items) if type(items) in views else items
        shared, kind = shared_objects.shared_object_of(container), type(container)
        if shared is None or isinstance(static(kind, method), types.FunctionType):
            return
        if container_type_of(kind) is not None:
            yield_before("iter", looks(shared))
        elif is_in_c(kind):  # a file may be closed meanwhile
            yield_before("iter", ((shared.location(shared_object.STRUCTURE), READ),))


@wrap(next)
def _next(iterator: Any, *default: Any) -> Any:
    if not run.multi:
        return next(iterator, *default)
    kind = type(iterator)
    if kind is types.GeneratorType:
        return resume_generator(iterator, next, iterator, *default)
    if kind in C_ITERATORS or is_c_iterator(kind) or uninstrumented_next(kind):
        try:
            return advance(iterator)
        except StopIteration:
            if not default:
                raise
            return default[0]
    return next(iterator, *default)


def _chained(kind: Any) -> Callable[..., Iterator[Any]]:
    """Wrap a class of `itertools`: its objects get the items of their arguments step by step."""

    def make(*args: Any, **kwargs: Any) -> Any:
        return kind(*map(_stepwise_or_callee, args), **{k: _stepwise_or_callee(v) for k, v in kwargs.items()})

    return make


def _stepwise_or_callee(argument: Any) -> Any:
    kind = type(argument)
    if kind in SCALARS:
        return argument
    if is_a(argument, _FUNCTIONS):
        return _callee(argument)
    return stepwise(argument)


_FUNCTIONS: Final = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, type, functools.partial)

for _kind in vars(itertools).values():
    if is_a(_kind, type) and hasattr(_kind, "__next__") and _kind not in (itertools.repeat, itertools.count):
        set_wrapper(_kind, _chained(_kind))
set_wrapper(itertools.tee, lambda iterable, *n: itertools.tee(stepwise(iterable), *n))


set_class_wrapper(
    itertools.chain,
    "from_iterable",
    lambda iterables: itertools.chain.from_iterable(map(stepwise, stepwise(iterables))),
)


@wrap(functools.reduce)
def _reduce(function: Any, iterable: Any, *initial: Any, **named: Any) -> Any:
    if not (run.multi and is_built_in(function) and has_plain_items(iterable)):
        return functools.reduce(_callee(function), stepwise(iterable), *initial, **named)
    touched = Touched()
    consumes_atomically(iterable, touched)
    yield_before("reduce", touched)
    return functools.reduce(function, materialised(iterable), *initial, **named)
