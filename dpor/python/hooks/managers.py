"""What `with` does: it calls `__enter__` and `__exit__` of a context manager without a look-up that could have a hook.

Methods in Python have hooks in their own code, unless their module has none yet. Context managers whose methods are in
C (a view of memory, a stream, a connection) are given to `with` inside a `_Managed`, so that what is done to them is an
operation, as if the program called the methods.
"""

from __future__ import annotations

import types
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Final

from dpor.python.hooks import attributes
from dpor.python.kernel import opaque_code
from dpor.python.kernel.classes import attributes_of_class
from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing.fields import is_instrumented

_exits: Final[dict[type, Any]] = type_cache({})
"""By the type of a context manager: what `with` must know of its `__exit__`, see `_exit_of`."""
_IN_C: Final = "in C"
_SEEN: Final = ""
_OF_GENERATORS: Final = type(contextmanager(lambda: iter(()))()).__exit__


def managed(manager: Any) -> Any:
    """Return the context manager that `with` gets in place of this one."""
    kind = type(manager)
    found = _exits.get(kind)
    if found is None:
        found = _exits[kind] = _exit_of(kind)
    if found is _SEEN:
        return manager
    if found is _IN_C:
        return _Managed(manager)
    if run.multi:
        opaque_code.demand(found, f"threads use {found}.{kind.__qualname__}")
    return manager


def _exit_of(kind: type) -> str:
    """Return `_IN_C`, or the module of the method if it is in Python and has no hooks, or else `_SEEN`."""
    for base in kind.__mro__:
        method = attributes_of_class(base).get("__exit__")
        if method is not None:
            if type(method) is not types.FunctionType:
                return _IN_C
            return _SEEN if method in _HARMLESS or is_instrumented(method) else str(method.__module__)
    return _SEEN


_HARMLESS: Final = (AbstractContextManager.__exit__, nullcontext.__exit__, suppress.__exit__, _OF_GENERATORS)
"""Those that touch nothing but a generator of the program."""


class _Managed:
    """Calls the methods of a context manager in C with their effects."""

    __slots__ = ("manager",)

    def __init__(self, manager: Any) -> None:
        self.manager = manager

    def __enter__(self) -> Any:
        return attributes.meth(self.manager, "__enter__").__enter__()

    def __exit__(self, *raised: Any) -> Any:
        return attributes.meth(self.manager, "__exit__").__exit__(*raised)
