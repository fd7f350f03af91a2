"""Container types, and questions about classes: who wrote a method, whether objects can change, whether they live in
C."""

from __future__ import annotations

import decimal
import re
import types
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar, Token
from functools import lru_cache
from typing import Any, Final

import attrs

from dpor.core.operations import Accesses
from dpor.python.kernel.classes import module_of_class
from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing.shared_object import SharedObject
from dpor.python.sharing.type_traits import ATOMIC

_MISSING: Final = object()


def static(kind: type, name: str, default: Any = None) -> Any:
    """Look up the name in the class and its bases, as an instance would. Runs no code of the program."""
    for base in kind.__mro__:
        found = base.__dict__.get(name, _MISSING)
        if found is not _MISSING:
            return found
    return default


def is_c_iterator(kind: type) -> bool:
    """True if iterators of this type are in C."""
    found = static(kind, "__next__")
    return found is not None and not isinstance(found, types.FunctionType)


def is_program(function: types.FunctionType) -> bool:
    """True if this Python function is instrumented. (Code that `dataclass` and the like generate has the program's
    globals, but is in none of its files.)"""
    code = function.__code__
    return run.is_program_file(code.co_filename) or (code.co_filename.startswith("<") and is_hooked(code))


@lru_cache(maxsize=4096)
def is_hooked(code: types.CodeType) -> bool:
    """True if the code, or code inside it, calls hooks."""
    return any(name.startswith(".") for name in code.co_names) or any(
        isinstance(const, types.CodeType) and is_hooked(const) for const in code.co_consts
    )


_IMMUTABLE: Final = frozenset(
    {"datetime", "decimal", "enum", "fractions", "ipaddress", "numbers", "pathlib", "pathlib._local", "re"}
    | {"typing", "uuid", "zoneinfo", "string.templatelib"}
)


_MUTABLE: Final = frozenset({decimal.Context, type(decimal.Context().flags), re.Scanner})  # type: ignore[attr-defined]
"""Classes in these modules whose objects do change."""


def is_immutable(kind: type) -> bool:
    """True if it is a class of the standard library whose objects never change.

    Context variables count: what one is set to belongs to the thread that sets it, and a context that threads share
    changes in a step of its own.
    """
    return (module_of_class(kind) in _IMMUTABLE and kind not in _MUTABLE) or kind in (ContextVar, Token)


def is_in_c(kind: type) -> bool:
    """True if objects of the class have state in C that their methods and attributes in C read and change.

    All of it is one location, the object's STRUCTURE. (Containers have locations of their own; exceptions consist of
    fields.)
    """
    answer = _in_c.get(kind)
    if answer is None:
        if len(_in_c) > 5000:  # do not keep classes that every run makes anew
            _in_c.clear()
        answer = _in_c[kind] = (
            container_type_of(kind) is None
            and not issubclass(kind, (BaseException, type, types.SimpleNamespace, tuple))
            and any(
                is_of_c(found)
                for base in kind.__mro__[:-1]
                if base not in ATOMIC and not is_immutable(base)
                for found in vars(base).values()
            )
        )
    return answer


_in_c: dict[type, bool] = type_cache({})
"""A cache, for the process: see `is_in_c`."""


def is_of_c(found: Any) -> bool:
    """True if this class attribute is implemented in C and is not a `__slots__` descriptor."""
    kind = type(found)
    if kind is types.GetSetDescriptorType or kind is types.MemberDescriptorType:
        return found.__name__ not in _OF_EVERY_CLASS and "__slots__" not in vars(found.__objclass__)
    return kind is types.MethodDescriptorType or module_of_class(kind) == "_ctypes"


_OF_EVERY_CLASS: Final = frozenset({"__dict__", "__weakref__"})


@attrs.frozen
class ContainerType:
    """A built-in container type and the classes derived from it.

    entries      for each method and operator, by name: how it is performed on a shared container
    reads_all    accesses of an operation that reads all of it
    writes_all   accesses of an operation that may change all of it
    reads_items  accesses of C code that consumes what iteration yields
    contents     returns the objects in it, without any operation
    step         accesses of one step of an iteration (shared, container, index of the item)
    value_step   accesses of one step of an iteration over the values of a dict
    """

    base: type
    entries: Mapping[str, Callable[[Any], Any]]
    reads_all: Callable[[SharedObject], Accesses]
    writes_all: Callable[[SharedObject], Accesses]
    reads_items: Callable[[SharedObject], Accesses]
    contents: Callable[[Any], Iterable[Any]]
    step: Callable[[SharedObject, Any, int], Accesses]
    value_step: Callable[[SharedObject, Any, int], Accesses]


def register_container_type(
    base: type,
    entries: Mapping[str, Callable[[Any], Any]],
    contents: Callable[[Any], Iterable[Any]],
    reads_all: Callable[[SharedObject], Accesses],
    writes_all: Callable[[SharedObject], Accesses],
    reads_items: Callable[[SharedObject], Accesses] | None = None,
    step: Callable[[SharedObject, Any, int], Accesses] | None = None,
) -> None:
    """Register a container type. A step of an iteration reads everything unless `step` is given."""

    def over_values(shared: SharedObject, obj: Any, index: int) -> Accesses:
        return reads_all(shared)

    container_types[base] = ContainerType(
        base, entries, reads_all, writes_all, reads_items or reads_all, contents, step or over_values, over_values
    )


container_types: dict[type, ContainerType] = type_cache({})


_known: dict[type, ContainerType | None] = type_cache({})
"""A cache, for the process: see `container_type_of`."""


def container_type_of(kind: type) -> ContainerType | None:
    """Return the container type of a class; None if its objects are not built-in containers."""
    container_type = _known.get(kind, _MISSING)
    if container_type is _MISSING:
        if len(_known) > 5000:  # do not keep classes that every run makes anew
            _known.clear()
        container_type = _known[kind] = next(
            (container_types[base] for base in kind.__mro__ if base in container_types), None
        )
    return container_type  # type: ignore[return-value]
