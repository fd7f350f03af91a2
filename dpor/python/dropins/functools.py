"""The drop-in for `functools`: caches are not in C, because threads share them; Python code that works on objects of
the program is instrumented."""

from __future__ import annotations

import functools as real
from pathlib import Path
from types import FunctionType
from typing import Any

from dpor.python.dropins import caches, copying
from dpor.python.dropins.from_threading import only
from dpor.python.dropins.locks import RLock
from dpor.python.hooks import attributes
from dpor.python.kernel import accessing
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects

_AT_THE_FIELDS = ("cache = instance.__dict__", "cache = fields_of(instance)")
"""The replacement in CPython's source: that a property is cached in the `__dict__` must not make all fields one
location."""


class FieldsOfObject:
    """The `__dict__` of an object, of which only single fields are read and stored."""

    def __init__(self, obj: Any) -> None:
        self._obj = obj
        self._fields = obj.__dict__

    def get(self, name: str, default: Any) -> Any:
        attributes.attr(self._obj, name)
        return self._fields.get(name, default)

    def __setitem__(self, name: str, value: Any) -> None:
        if run.multi:
            shared = shared_objects.shared_object_of(self._obj)
            operation = None if shared is None else attributes.write_operation(shared, self._obj, name)
            if operation is not None:
                accessing.access(operation)
            if shared is not None:
                shared_objects.publish(value)
        self._fields[name] = value


_SOURCE = Path(real.__file__)


def _cached_property() -> Any:
    """Return CPython's own: with a lock up to 3.11, and without one later."""
    source = only(_SOURCE.read_text(), {"cached_property"}).replace(*_AT_THE_FIELDS)
    names = {
        "RLock": RLock,
        "GenericAlias": real.GenericAlias,  # type: ignore[attr-defined]
        "_NOT_FOUND": getattr(real, "_NOT_FOUND", None),
        "fields_of": FieldsOfObject,
    }
    return copying.execute("functools", source, str(_SOURCE), names, lambda name: None).cached_property


def _total_ordering() -> Any:
    """Return CPython's own. The methods that it adds to classes count as generated, because of the name of their
    file."""
    orderings = {name for name in vars(real) if name.startswith("_") and "_from_" in name}
    source = only(_SOURCE.read_text(), {"total_ordering", "_convert", *orderings})
    return copying.execute("functools", source, "<functools>", {}, lambda name: None).total_ordering


def _wrapping() -> tuple[Any, Any]:
    """Return drop-ins for `update_wrapper` and `wraps`. If the wrapper is an object that threads may share, each of its
    attributes is stored as by code of the program. (A function that is decorated has been made just before.)"""
    names = {name: getattr(real, name) for name in ("WRAPPER_ASSIGNMENTS", "WRAPPER_UPDATES")}
    source = only(_SOURCE.read_text(), {"update_wrapper"})
    copy = copying.execute("functools", source, str(_SOURCE), names, lambda name: None)
    update_wrapper = copying.in_steps(
        real.update_wrapper, copy.update_wrapper, lambda wrapper, *_, **__: type(wrapper) is not FunctionType
    )

    @real.wraps(real.wraps)
    def wraps(
        wrapped: Any, assigned: Any = real.WRAPPER_ASSIGNMENTS, updated: Any = real.WRAPPER_UPDATES
    ) -> real.partial[Any]:
        return real.partial(update_wrapper, wrapped=wrapped, assigned=assigned, updated=updated)

    return update_wrapper, wraps


def module() -> DropInModule:
    update_wrapper, wraps = _wrapping()
    return shadow(
        real,
        lru_cache=caches.lru_cache,
        cache=caches.cache,
        _lru_cache_wrapper=caches.CachedFunction,
        cached_property=_cached_property(),
        total_ordering=_total_ordering(),
        update_wrapper=update_wrapper,
        wraps=wraps,
    )
