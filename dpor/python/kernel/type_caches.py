"""Caches by type that last as long as the process. They keep alive the classes that a run has made, so these are taken
out when the run is over."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, TypeVar

_Cache = TypeVar("_Cache", bound=dict[Any, Any])

MOST_TYPES: Final = 5000
"""How many types a cache remembers: classes that a program makes anew in every run must not be kept for ever."""

_caches: Final[list[dict[Any, Any]]] = []


def type_cache(cache: _Cache) -> _Cache:
    """Note a cache whose keys are types, or tuples that begin with one; return it."""
    _caches.append(cache)
    return cache


def forget_types(kinds: Collection[type]) -> None:
    """Take these types out of all caches."""
    numbers = {*map(id, kinds)}  # classes may define `__eq__` and `__hash__` in their metaclass
    for cache in _caches:
        for key in [key for key in cache if id(key[0] if type(key) is tuple else key) in numbers]:
            del cache[key]
