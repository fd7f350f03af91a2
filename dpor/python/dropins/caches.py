"""`functools.lru_cache`, as its C version: a look-up and a store are one step each; the call between them is not.

A cached function has one location for the whole cache (f), and these:

    (f, key)   the entry of a call with these arguments
    KEY_SET    read by look-ups of one key, written by what may change keys that are not known beforehand
    STORES     updated by every store, read by look-ups of a key that could equal any other
    COUNTS     hits, misses and size: updated by every call, once the program asks for them while several threads exist

As with containers, what cannot change needs no operation: look-ups are operations only after a store has been seen
while several threads exist. Which entry is the oldest matters only when one is evicted; once that has been seen, every
look-up moves its entry to the front, and the whole cache is one location.
"""

from __future__ import annotations

import enum
import functools as real
import types
from collections.abc import Callable
from typing import Any, Final

from dpor.core.operations import READ, UPDATE, WRITE, Accesses
from dpor.python.effects.accesses import KEY_SET, Reread, Touched, yield_before
from dpor.python.effects.keys import ANY_KEY, PRIVATE, USER_EQ, part_of
from dpor.python.effects.reach import ANYTHING, reads
from dpor.python.hooks import attributes
from dpor.python.kernel import accessing, assumptions, scheduler
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import shared_objects

STORES: Final = "<stores>"
COUNTS: Final = "<counts>"
_ABSENT: Final = object()

_STORED, _EVICTS, _COUNTED = "cached function", "cached function throws out", "cached function is asked for its counts"


class _Mark(enum.Enum):
    """Separates positional from keyword arguments in a key."""

    KEYWORDS = enum.auto()


class _Place(SyncObject):
    """Gives a cache its location."""


class CachedFunction:
    """The object that `lru_cache` returns. Its `__dict__` belongs to the program.

    _entries   the results by key, the oldest first
    _identity  names the function in facts, which outlive a run
    """

    __slots__ = (
        "__dict__", "__weakref__", "_entries", "_function", "_hits", "_identity", "_info", "_location", "_maxsize",
        "_misses", "_typed",
    )  # fmt: skip

    def __init__(self, function: Callable[..., Any], maxsize: int | None, typed: bool, info: Any) -> None:
        if not callable(function):
            raise TypeError("the first argument must be callable")
        self._location = _Place().dpor_location
        self._function = function
        self._maxsize = maxsize
        self._typed = typed
        self._info = info
        self._entries: dict[Any, Any] = {}
        self._hits = self._misses = 0
        self._identity = (
            getattr(function, "__module__", ""),
            getattr(function, "__qualname__", type(function).__name__),
        )

    # ------------------------------------------------------------------ calling

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._maxsize == 0:
            self._count(0)
            return self._function(*args, **kwargs)
        key = _key(args, kwargs, self._typed)
        hash(key)
        found = self._look_up(key)
        if found is not _ABSENT:
            return found
        result = self._function(*args, **kwargs)
        return self._store(key, result)

    def _look_up(self, key: Any) -> Any:
        foreign = self._yield_before("look up", key, READ)
        if foreign:
            with scheduler.atomic():
                found = self._entries.get(key, _ABSENT)
        else:
            found = self._entries.get(key, _ABSENT)
        if found is _ABSENT:
            self._misses += 1
        else:
            self._hits += 1
            if self._maxsize is not None:
                self._entries[key] = self._entries.pop(key)
        return found

    def _store(self, key: Any, result: Any) -> Any:
        if run.multi:
            assumptions.used_by_several((_STORED, *self._identity), f"the cache of {self._identity[1]}")
            shared_objects.publish(key)
            shared_objects.publish(result)
        foreign = self._yield_before("store", key, WRITE)
        if foreign:
            with scheduler.atomic():
                self._put(key, result)
        else:
            self._put(key, result)
        return result

    def _put(self, key: Any, result: Any) -> None:
        if self._maxsize is None:
            self._entries[key] = result
        elif key not in self._entries:
            if len(self._entries) >= self._maxsize:
                if len(run.threads) > 1 and not run.unwinding:
                    assumptions.used_by_several(
                        (_EVICTS, *self._identity), f"the order in the cache of {self._identity[1]}"
                    )
                del self._entries[next(iter(self._entries))]
            self._entries[key] = result

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    # ------------------------------------------------------------------ what it touches

    def _knows(self, fact: str) -> bool:
        return (fact, *self._identity) in run.facts

    def _part(self, part: Any) -> int:
        return run.operations.location((self._location, part))

    def _yield_before(self, kind: str, key: Any, mode: Any) -> bool:
        """Yield before a look-up (READ) or store (WRITE) of the key. Returns True if comparing the key runs Python
        code."""
        if not run.multi:
            return False
        touched = Touched()
        part = part_of(key) if self._knows(_STORED) else PRIVATE
        if self._knows(_EVICTS):
            touched.add(((self._location, WRITE),))
        elif part is ANY_KEY or part is USER_EQ:
            touched.add(self._irregular(mode))
        elif part is not PRIVATE:
            touched.add(((self._part(part), mode), (self._part(KEY_SET), READ)))
            if mode is WRITE:
                touched.add(((self._part(STORES), UPDATE),))
        if self._knows(_COUNTED):
            touched.add(((self._part(COUNTS), UPDATE),))
        if part is USER_EQ:
            others = Reread(lambda: (key, *[k for k in self._entries if part_of(k) is USER_EQ]))
            touched.deeply(reads, others, ANYTHING)
        yield_before(f"{kind} {self._identity[1]}", touched)
        return part is USER_EQ

    def _irregular(self, mode: Any) -> Accesses:
        if mode is READ:
            return ((self._part(STORES), READ),)
        return ((self._part(STORES), UPDATE), (self._part(KEY_SET), WRITE))

    def _count(self, hits: int) -> None:
        self._misses += 1 - hits
        if run.multi and self._knows(_COUNTED):
            accessing.touch(f"call {self._identity[1]}", ((self._part(COUNTS), UPDATE),))

    # ------------------------------------------------------------------ what else a program may ask for

    def cache_info(self) -> Any:
        if run.multi:
            assumptions.used_by_several((_COUNTED, *self._identity), f"the cache_info of {self._identity[1]}")
            accesses: Any = ((self._part(COUNTS), READ),)
            if self._knows(_EVICTS):
                accesses += ((self._location, READ),)
            accessing.touch("cache_info", tuple(sorted(accesses)))
        return self._info(self._hits, self._misses, self._maxsize, len(self._entries))

    def cache_clear(self) -> None:
        if run.multi:
            assumptions.used_by_several((_STORED, *self._identity), f"the cache of {self._identity[1]}")
            parts = (self._location, self._part(KEY_SET), self._part(STORES), self._part(COUNTS))
            accessing.touch("cache_clear", tuple(sorted((part, WRITE) for part in parts)))
        self._entries.clear()
        self._hits = self._misses = 0

    def __copy__(self) -> CachedFunction:
        return self

    def __deepcopy__(self, memo: Any) -> CachedFunction:
        return self

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined,no-any-return]

    def __repr__(self) -> str:
        return f"<functools._lru_cache_wrapper object of {self._identity[1]}>"


attributes.count_as_function(CachedFunction)


def _key(args: tuple[Any, ...], kwargs: dict[str, Any], typed: bool) -> Any:
    """Make the key as the C version does: calls that may share an entry have equal keys."""
    if not typed and not kwargs and len(args) == 1 and type(args[0]) in (int, str):
        return args[0]
    key = args
    if kwargs:
        key += (_Mark.KEYWORDS, *[part for item in kwargs.items() for part in item])
    if typed:
        key += (*map(type, args), *map(type, kwargs.values()))
    return key


def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
    if isinstance(maxsize, int):
        maxsize = max(maxsize, 0)
    elif callable(maxsize) and isinstance(typed, bool):
        return _cached(maxsize, 128, typed)
    elif maxsize is not None:
        raise TypeError("Expected first argument to be an integer, a callable, or None")
    return lambda function: _cached(function, maxsize, typed)


def cache(user_function: Callable[..., Any], /) -> Any:
    return lru_cache(maxsize=None)(user_function)


def _cached(function: Callable[..., Any], maxsize: int | None, typed: bool) -> Any:
    wrapper: Any = CachedFunction(function, maxsize, typed, real._CacheInfo)
    wrapper.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
    return real.update_wrapper(wrapper, function)
