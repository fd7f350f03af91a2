"""Caches by type that last as long as the process. They keep alive the classes that a run has made, so these are taken
out when the run is over."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any, Final, TypeVar

from dpor.python.kernel.classes import can_be_changed

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


def forget_programs() -> None:
    """Take the classes of earlier programs, and of the packages that were instrumented for them, out of all caches:
    each keeps all modules of its program alive. They are those that nobody finds here by their names."""
    kinds = [key[0] if type(key) is tuple else key for cache in _caches for key in [*cache]]
    forget_types([kind for kind in kinds if can_be_changed(kind) and _found(kind) is not kind])


def _found(kind: type) -> object:
    found: object = sys.modules.get(str(type.__dict__["__module__"].__get__(kind)))
    for name in str(type.__dict__["__qualname__"].__get__(kind)).split("."):
        found = getattr(found, "__dict__", {}).get(name)
    return found
