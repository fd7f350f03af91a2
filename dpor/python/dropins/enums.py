"""Look-ups in enumerations, of programs that change them: `_missing_` may keep what it makes in `_value2member_map_`.

The classes are the library's own. While such a program runs, the methods of their metaclass first perform an operation.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from dpor.core.home import is_ours
from dpor.python.effects.class_state import yield_before_look
from dpor.python.kernel.run import run
from dpor.python.sharing.class_state import MEMBERS

_BY_NAME, _NAMES, _BY_VALUE = MEMBERS


def _looking(real: Callable[..., Any], *names: str) -> Callable[..., Any]:
    @wraps(real)
    def look(cls: Any, /, *args: Any, **kwargs: Any) -> Any:
        if run.multi and not is_ours(cls.__module__):
            yield_before_look(real.__name__.strip("_"), cls, names)
        return real(cls, *args, **kwargs)

    return look


def _in_steps(real: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(real)
    def steps(cls: Any) -> Iterable[Any]:
        members = real(cls)
        return members if not run.multi or is_ours(cls.__module__) else _members(cls, members)

    return steps


def _members(cls: Any, members: Iterator[Any]) -> Iterator[Any]:
    """Yield the members; each is looked up by its name when it comes to it."""
    while True:
        yield_before_look("next", cls, (_NAMES, _BY_NAME))
        try:
            member = next(members)
        except StopIteration:
            return
        yield member


def _by_attribute(real: Callable[..., Any]) -> Callable[..., Any]:
    look = _looking(real, _BY_NAME)

    @wraps(real)
    def find(cls: Any, name: str) -> Any:
        return (real if name.startswith("__") else look)(cls, name)

    return find


_METHODS: Final = dict(vars(enum.EnumMeta))
_CHANGED: Final = {
    "__call__": _looking(_METHODS["__call__"], _BY_VALUE, _BY_NAME),
    "__getitem__": _looking(_METHODS["__getitem__"], _BY_NAME),
    "__contains__": _looking(_METHODS["__contains__"], _BY_NAME, _BY_VALUE),
    "__len__": _looking(_METHODS["__len__"], _NAMES),
    "__iter__": _in_steps(_METHODS["__iter__"]),
    "__reversed__": _in_steps(_METHODS["__reversed__"]),
    **{name: _by_attribute(_METHODS[name]) for name in ("__getattr__",) if name in _METHODS},  # before 3.12
}
_REAL: Final = {name: _METHODS[name] for name in _CHANGED}


@contextmanager
def watched() -> Iterator[None]:
    """Context in which a program runs that names what enumerations keep."""
    for name, ours in _CHANGED.items():
        setattr(enum.EnumMeta, name, ours)
    try:
        yield
    finally:
        for name, real in _REAL.items():
            setattr(enum.EnumMeta, name, real)
