"""What programs store in modules, classes and functions that they share with the host (`math.hits = 0`,
`json.JSONEncoder.seen = set()`): it is part of states, and undone after each run.

The namespace of such a holder is remembered when the program stores something there for the first time, or looks at its
`__dict__`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Final

ABSENT: Final = object()
_first: Final[dict[int, tuple[Any, dict[str, Any]]]] = {}


def remember(holder: Any) -> None:
    """Called before a module, class or function changes: remember its namespace if it is the host's."""
    if id(holder) not in _first and _is_of_host(holder):
        _first[id(holder)] = holder, dict(vars(holder))


def _is_of_host(holder: Any) -> bool:
    """True if it belongs neither to the program nor to a drop-in."""
    if type(holder) is ModuleType:
        return ".call" not in vars(holder) and sys.modules.get(holder.__name__) is holder
    if type(holder) is FunctionType:
        return True  # harmless for functions of the program
    home = sys.modules.get(str(vars(holder).get("__module__"))) if issubclass(type(holder), type) else None
    return type(home) is ModuleType and ".call" not in vars(home) and not home.__name__.startswith("dpor.")


def changed() -> Iterator[tuple[str, str, Any]]:
    """Yield (holder, name, value) of each attribute that differs from before; the value is None if it was deleted."""
    for holder, first in _first.values():
        where = holder.__name__ if type(holder) is ModuleType else f"{holder.__module__}.{holder.__qualname__}"
        for name, value in vars(holder).items():
            if first.get(name, ABSENT) is not value:
                yield where, name, value
        for name in sorted(first.keys() - vars(holder).keys()):
            yield where, name, None


def forget(is_restored: Callable[[Any], bool]) -> None:
    """Forget the old attributes of holders that somebody else restores. `is_restored` returns True for these."""
    for number, (holder, _) in [*_first.items()]:
        if is_restored(holder):
            del _first[number]


def stored() -> Iterator[tuple[Any, str, Any]]:
    """Yield (holder, name, value) of attributes that have changed; the value is `ABSENT` if the attribute is gone."""
    for holder, first in _first.values():
        now = vars(holder)
        for name in [*now, *(first.keys() - now.keys())]:
            if first.get(name, ABSENT) is not now.get(name, ABSENT):
                yield holder, name, now.get(name, ABSENT)


def is_changed(holder: ModuleType, name: str) -> bool:
    """True if the module's attribute is not as it was when the run began."""
    known = _first.get(id(holder))
    return known is not None and known[1].get(name, ABSENT) is not vars(holder).get(name, ABSENT)


def roots() -> Iterator[tuple[tuple[str, str, str], Any]]:
    """Yield the name and the value of each attribute that the program has stored in a module of the host: these are
    roots, since every thread can reach them."""
    for holder, first in _first.values():
        if type(holder) is ModuleType:
            for name, value in vars(holder).items():
                if first.get(name, ABSENT) is not value:
                    yield ("process", holder.__name__, name), value


def restore() -> None:
    """After a run: undo all changes."""
    for holder, first in _first.values():
        now = vars(holder)
        for name in now.keys() - first.keys():
            delattr(holder, name)
        for name, value in first.items():
            if now.get(name, ABSENT) is not value:
                setattr(holder, name, value)
    _first.clear()
