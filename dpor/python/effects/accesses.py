"""Locations of a shared container, and the facts of a search about how containers change.

A container has these locations:

    (c, k)       one element: an index of a list, a key of a dict, an element of a set
    STRUCTURE    length, keys, order, the positions of elements
    ELEMENTS     all elements together, for operations that read all of them without asking for one
    KEY_SET      read by a lookup of one key, written by operations whose keys are not known beforehand

What cannot change needs no operation. So a search begins as if no shared container ever changed, and a read of one is
then no operation at all. The first time that an operation stores an element while several threads exist, or changes the
structure, or changes keys that are not known beforehand, the search learns this as a fact about that container and
starts again (as for fields, see `dpor.python.hooks.attributes`). In the runs in which nobody did it, its reads commute
with everything.

This also makes `d[k] = v` exact. As long as nobody changes the keys it is known beforehand whether the store inserts a
key or replaces a value; once somebody does, every store counts as an insertion. (Looking at the dict each time would be
unsound: another thread may insert or delete the key while this one waits at its scheduling point.)

A fact is about a container by the name of its `SharedObject`. That name contains a number of events, so it changes when
more operations become events, and a search may start again several times for one container. To bound that, after `MANY`
facts all containers are assumed to change in every way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, TypeVar

from dpor.core.operations import READ, WRITE, Access, Accesses, Location, Mode, Operation, OperationTable
from dpor.python.kernel import accessing, assumptions
from dpor.python.kernel.run import run
from dpor.python.sharing.shared_object import ELEMENTS, STRUCTURE, Namespace, SharedObject

T = TypeVar("T")

NOTHING: Final[Accesses] = ()

KEY_SET: Final = "<any key>"

CHANGES: Final = "container changes"
EVERYTHING: Final = (CHANGES, "all containers, in every way")
MANY: Final = 60

_WHAT: Final = {
    ELEMENTS: "an element of a shared container is replaced",
    STRUCTURE: "a shared container changes",
    KEY_SET: "a shared container loses or gains keys that are not known beforehand",
}


def changes(shared: SharedObject, part: str) -> bool:
    """True if this part (STRUCTURE, ELEMENTS or KEY_SET) is known to change in runs of this search."""
    facts = run.facts
    return (CHANGES, part, shared.name) in facts or EVERYTHING in facts or isinstance(shared, Namespace)


def learn(shared: SharedObject, part: str) -> None:
    """Record the fact that this part changes: an operation is about to change it. Starts the search again if it is
    new."""
    if not run.half_seen and not run.watched and not changes(shared, part):
        fact: tuple[object, ...] = (CHANGES, part, shared.name)
        if sum(type(known) is tuple and known[0] == CHANGES for known in run.facts) >= MANY:
            fact = EVERYTHING
        assumptions.broken(fact, f"{_WHAT[part]} while several threads exist")


def yield_before(kind: str, accesses: Accesses | Touched) -> None:
    """Yield before an operation with these accesses, if there are any. The caller performs it at once."""
    if not accesses:
        return
    if isinstance(accesses, Touched):
        accessing.touch(kind, accesses.accesses(), accesses.reread if accesses.goes_deep else None)
    else:
        accessing.touch(kind, accesses)


# ---------------------------------------------------------------------- cached operations
#
# The accesses of an operation are often the same for the whole search, whatever is in the container: `l[2]`, `len(d)`.
# Such an operation is computed once and cached until the search learns a new fact.

_made: dict[tuple[int, str, Hashable], Operation | None] = {}
_made_by: OperationTable | None = None
_made_with = 0
UNMADE: Final = object()


def made(shared: SharedObject, kind: str, part: Hashable = None) -> Any:
    """Return the cached operation, None if there is nothing to perform, or `UNMADE` if `make` has to make it first.

    The caller yields at one place for both cases: the place where a thread waits must not depend on earlier runs.
    """
    if run.operations is not _made_by or len(run.facts) != _made_with:
        return UNMADE
    return _made.get((shared.number, kind, part), UNMADE)


def make(shared: SharedObject, kind: str, part: Hashable, accesses: Accesses) -> Operation | None:
    """Make the operation and cache it for this part of the `SharedObject`, until the search learns a new fact."""
    global _made_by, _made_with
    table, known = run.operations, len(run.facts)
    if table is not _made_by or known != _made_with:
        _made.clear()
        _made_by, _made_with = table, known
    operation = table.intern(kind, accesses) if accesses else None
    if not run.half_seen and not run.watched:  # else nothing was learnt, as it must be when it is performed again
        _made[shared.number, kind, part] = operation
    return operation


# ---------------------------------------------------------------------- parts that all containers have


def reads_structure(shared: SharedObject) -> Accesses:
    """Return the accesses of what looks at the length, the order or the keys of a container."""
    return ((shared.location(STRUCTURE), READ),) if changes(shared, STRUCTURE) else NOTHING


def writes_structure(shared: SharedObject) -> Accesses:
    """Return the accesses of what changes the length, the order or the keys of a container."""
    learn(shared, STRUCTURE)
    return ((shared.location(STRUCTURE), WRITE),)


class Touched:
    """The accesses of one operation to several objects: one mode for each location, in a fixed order.

    Other threads may replace nested objects while the thread waits to perform the operation. So accesses to nested
    objects are collected by `deeply`, and `reread` collects them again from what is there by then.
    """

    __slots__ = ("_deep", "_gathered", "_modes")

    def __init__(self, accesses: Iterable[Access] = NOTHING) -> None:
        self._modes: dict[Location, Mode] = dict(accesses)
        self._deep: Touched | None = None
        self._gathered: list[tuple[Callable[..., object], tuple[Any, ...]]] = []

    def add(self, accesses: Iterable[Access]) -> None:
        modes = self._modes
        for location, mode in accesses:
            modes[location] = mode if modes.get(location, mode) is mode else WRITE

    def deeply(self, gather: Callable[..., T], *args: Any) -> T:
        """Call `gather(*args, touched)`, which adds accesses to nested objects; returns its result."""
        if self._deep is None:
            self._deep = Touched()
        self._gathered.append((gather, args))
        return gather(*args, self._deep)

    @property
    def goes_deep(self) -> bool:
        return self._deep is not None

    def reread(self) -> Accesses:
        """The accesses, with those to nested objects collected again now."""
        touched = Touched(self._modes.items())
        for gather, args in self._gathered:
            touched.deeply(gather, *args)
        return touched.accesses()

    def accesses(self) -> Accesses:
        if self._deep:
            whole = Touched(self._modes.items())
            whole.add(self._deep.accesses())
            return whole.accesses()
        return tuple(sorted(self._modes.items()))

    def __len__(self) -> int:
        return len(self._modes) + (len(self._deep) if self._deep is not None else 0)


class Reread:
    """An iterable that calls `now()` for its items each time that it is iterated over."""

    __slots__ = ("_now",)

    def __init__(self, now: Callable[[], Iterable[Any]]) -> None:
        self._now = now

    def __iter__(self) -> Iterator[Any]:
        return iter(self._now())
