"""Names the program's objects in reports: a name says how to reach an object from the variables of the functions that
use it.

Locks and containers have no names of their own: from "lock Lock #2" or "append list" a reader could not tell which one
is meant. No code of the program is run, and no object is kept alive.
"""

from __future__ import annotations

import inspect
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from types import FrameType, MemberDescriptorType
from typing import Any, Final, TypeAlias

from dpor.python.kernel.classes import is_a, module_of_class
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import shared_objects

OWN_NAMES: Final = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""A function that uses one of these names may hold the dict of its variables. Python refills that dict whenever it is
asked for, so the function could notice."""
BUILT_IN: Final = frozenset({"builtins", "collections", "itertools"})
LIBRARY: Final = frozenset({"queue", "threading", "concurrent.futures._base", "concurrent.futures.thread"})
"""Modules whose classes do not show what their objects are for: these objects are named by where they are."""
_CALLERS: Final = 3
"""How many calling functions are searched."""
_DEPTH: Final = 3
_MOST: Final = 2000
"""How many objects are searched at each distance from the variables."""
_ELEMENTS: Final = 64
"""How many elements of a container are searched."""

Named: TypeAlias = "Iterable[tuple[str, Any]]"
"""Pairs of an object's name and the object."""


def variables(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a function by name; empty if the function could notice that they are read."""
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED or not OWN_NAMES.isdisjoint(frame.f_code.co_names):
        return {}
    found = frame.f_locals
    known = {name: found[name] for name in found if name.isidentifier()}
    if type(found) is dict:  # before 3.13 a copy that the frame keeps
        found.clear()
    return known


class ObjectNames:
    """The names of one run's objects. Each object keeps the name that it was given first.

    outer       returns the next frame further out that is the program's
    innermost   returns the innermost frames of the program in its threads
    """

    def __init__(
        self,
        outer: Callable[[FrameType | None], FrameType | None] = lambda frame: None,
        innermost: Callable[[], Iterable[FrameType]] = lambda: (),
    ) -> None:
        self._outer = outer
        self._innermost = innermost
        self._names: dict[int, str] = {}
        self._given: Counter[str] = Counter()
        self._instances: defaultdict[str, list[int]] = defaultdict(list)

    def of(self, obj: Any, frame: FrameType | None, otherwise: str) -> str:
        """Return the name of an object: `Account.lock`. The lock of a second account is `Account #2.lock`, and a second
        object under the same name `Account.lock #2`.

        frame      the frame of the program from which names are looked for
        otherwise  the name if none is found
        """
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

    def of_shared(self, obj: Any, frame: FrameType | None) -> str:
        """Name an object as `of` does if its class does not show what it is for, else as `of_instance`."""
        kind = type(obj)
        return (
            self.of(obj, frame, kind.__name__) if module_of_class(kind) in BUILT_IN | LIBRARY else self.of_instance(obj)
        )

    def of_value(self, obj: Any) -> str:
        """Name an object among values by its class, with a number if threads share it."""
        return type(obj).__name__ if is_a(obj, SyncObject) else self.of_instance(obj)

    def of_instance(self, obj: Any) -> str:
        """Name an object by its class: `Account`, and `Account #2` for a second account that threads share."""
        kind, number = type(obj).__name__, shared_objects.run_number(obj)
        if number is None:
            return kind
        known = self._instances[kind]
        if number not in known:
            known.append(number)
        place = known.index(number) + 1
        return kind if place == 1 else f"{kind} #{place}"

    def class_with(self, attribute: str, frame: FrameType | None) -> type | None:
        """Return the class with this attribute, if one of the objects in reach has one, else None."""
        found: set[type] = set()
        for each in self._functions(frame):
            for value in (*variables(each).values(), *each.f_globals.values()):
                kinds = value.__mro__ if is_a(value, type) else type(value).__mro__
                found.update(islice((kind for kind in kinds if attribute in vars(kind)), 1))
        return found.pop() if len(found) == 1 else None

    def _functions(self, frame: FrameType | None) -> list[FrameType]:
        """Return the frames of this function of the program and of those that have called it, innermost first."""
        found: list[FrameType] = []
        while frame is not None and len(found) <= _CALLERS:
            found.append(frame)
            frame = self._outer(frame.f_back)
        return found

    def _looked_up(self, obj: Any, frame: FrameType | None) -> Iterator[tuple[str, Any]]:
        """Yield names for where the object is: in an object in reach, a global, a variable, further away, or another
        thread's function."""
        functions = self._functions(frame)
        near = [pair for each in functions for pair in variables(each).items()]
        for known in (self._inside(near), _globals(functions), near):
            yield from _among(obj, known)
        others = [each for other in self._innermost() for each in self._functions(other)]
        far: Named = [*near, *_globals(functions), *(pair for each in others for pair in variables(each).items())]
        for _ in range(_DEPTH):
            yield from _among(obj, far)
            far = list(islice(self._inside(far), _MOST))
        yield from _among(obj, far)

    def _inside(self, owners: Named) -> Iterator[tuple[str, Any]]:
        """Yield the fields and elements of these objects, each once."""
        seen: set[int] = set()
        for name, owner in owners:
            if id(owner) not in seen:
                seen.add(id(owner))
                yield from self._parts(name, owner)

    def _parts(self, name: str, owner: Any) -> Iterator[tuple[str, Any]]:
        kind = type(owner)
        if is_a(owner, type):
            yield from ((f"{owner.__name__}.{field}", value) for field, value in vars(owner).items())
        elif is_a(owner, dict):
            elements = islice(dict.items(owner), _ELEMENTS)
            yield from ((f"{name}[{key!r}]", value) for key, value in elements if type(key) in (str, int))
        elif kind in (list, tuple, deque):
            yield from ((f"{name}[{at}]", value) for at, value in enumerate(islice(owner, _ELEMENTS)))
        elif module_of_class(kind) not in BUILT_IN and not is_a(owner, SyncObject):
            for base in kind.__mro__:
                yield from ((f"{base.__name__}.{field}", value) for field, value in vars(base).items())
            owned = name if module_of_class(kind) in LIBRARY else self.of_instance(owner)
            yield from ((f"{owned}.{field}", value) for field, value in _fields(owner))


def _fields(owner: Any) -> Iterator[tuple[str, Any]]:
    for base in type(owner).__mro__:
        for name, slot in vars(base).items():
            if type(slot) is MemberDescriptorType:
                with suppress(AttributeError):  # nothing is in it
                    yield name, slot.__get__(owner)
    with suppress(AttributeError):  # it has none
        fields = object.__getattribute__(owner, "__dict__")
        if type(fields) is dict:
            yield from fields.items()


def _globals(functions: Iterable[FrameType]) -> Iterator[tuple[str, Any]]:
    for each in functions:
        yield from each.f_globals.items()


def _among(obj: Any, known: Named) -> Iterator[tuple[str, Any]]:
    for name, value in known:
        if value is obj or (is_a(value, SyncObject) and vars(value).get("_lock") is obj):
            yield name, value
