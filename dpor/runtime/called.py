"""What the program calls an object, for reports: looked up in the variables of the functions that use it.

Locks and containers have no names of their own: "lock Lock #2" and "append list" would leave it to the reader to find
out which. Runs no code of the program and keeps no object alive.
"""

from __future__ import annotations

import inspect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, Final

from dpor.runtime import sharing
from dpor.runtime.control import SyncObject

OWN_NAMES: Final = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""A function that names one of these may hold the dict of its variables, which Python fills anew when asked for it."""
BUILT_IN: Final = ("builtins", "collections")
"""Modules whose types say nothing about what their objects are for."""
_CALLERS: Final = 3
"""How many functions further out are looked at."""


def variables(frame: FrameType) -> dict[str, Any]:
    """The variables of a function by name; none where it would notice."""
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED or not OWN_NAMES.isdisjoint(frame.f_code.co_names):
        return {}
    found = frame.f_locals
    told = {name: found[name] for name in found if name.isidentifier()}
    if type(found) is dict:  # before 3.13 a copy that the frame keeps
        found.clear()
    return told


class Names:
    """The names of one run's objects. Each keeps that under which it was first met.

    outer   the next frame further out that is the program's
    """

    def __init__(self, outer: Callable[[FrameType | None], FrameType | None]) -> None:
        self._outer = outer
        self._names: dict[int, str] = {}
        self._given: Counter[str] = Counter()
        self._instances: defaultdict[str, list[int]] = defaultdict(list)

    def of(self, obj: Any, frame: FrameType | None, otherwise: str) -> str:
        """`Account.lock`, and of another account `Account #2.lock`; of a second object that would be called so,
        `Account.lock #2`."""
        name = self._names.get(id(obj))
        if name is None:
            name, found = next(self._looked_up(obj, frame), (otherwise, None))
            if found is obj:
                self._given[name] += 1
                name += f" #{self._given[name]}" if self._given[name] > 1 else ""
            elif found is not None:  # the condition that it is the lock of
                name = self.of(found, frame, name)
            self._names[id(obj)] = name
        return name

    def of_instance(self, obj: Any) -> str:
        """`Account`, and of a second account that threads share, `Account #2`."""
        kind, number = type(obj).__name__, sharing.run_number(obj)
        if number is None:
            return kind
        known = self._instances[kind]
        if number not in known:
            known.append(number)
        place = known.index(number) + 1
        return kind if place == 1 else f"{kind} #{place}"

    def _looked_up(self, obj: Any, frame: FrameType | None) -> Iterator[tuple[str, Any]]:
        """As a field of something at hand, as a global, as a variable: in this order, the innermost function first."""
        frames: list[FrameType] = []
        while frame is not None and len(frames) <= _CALLERS:
            frames.append(frame)
            frame = self._outer(frame.f_back)
        for each in frames:
            for value in variables(each).values():
                yield from self._as_field(obj, value)
        for each in frames:
            yield from _among(obj, each.f_globals)
        for each in frames:
            yield from _among(obj, variables(each))

    def _as_field(self, obj: Any, owner: Any) -> Iterator[tuple[str, Any]]:
        kind = type(owner)
        if kind.__module__ in BUILT_IN or SyncObject in kind.__mro__:
            return
        for base in kind.__mro__:
            yield from ((f"{base.__name__}.{name}", value) for name, value in _among(obj, vars(base)))
        try:
            fields = object.__getattribute__(owner, "__dict__")
        except AttributeError:
            return
        if type(fields) is dict:
            yield from ((f"{self.of_instance(owner)}.{name}", value) for name, value in _among(obj, fields))


def _among(obj: Any, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if value is obj or (SyncObject in type(value).__mro__ and vars(value).get("_lock") is obj):
            yield name, value
