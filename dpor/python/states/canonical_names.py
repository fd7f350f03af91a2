"""Canonical names: names of locations that do not depend on how the current state was reached.

A location is named by the thread that published the object, and after how many events it did so: equivalent runs agree
on this name, other runs do not. What the main thread publishes before it does anything but start threads has the same
name in all runs: such a name is *canonical*, and is part of the state, because a search remembers other states by these
names. All other objects of a kind that one thread published share one name, coarse but sound; which thread that was is
part of the state, too.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from dpor.core.operations import WRITE, Location, Mode, Operation, OperationTable
from dpor.core.system import Trace
from dpor.python.dropins import process_queues, queues
from dpor.python.dropins.future import Future
from dpor.python.dropins.simple_queue import SimpleQueue
from dpor.python.hooks.attributes import RULES
from dpor.python.kernel.assumptions import IDENTITIES
from dpor.python.kernel.run import run

_WITH_DATA: Final = frozenset(
    kind.__name__
    for kind in (
        Future,
        SimpleQueue,
        queues.Queue,
        queues.LifoQueue,
        queues.PriorityQueue,
        process_queues.JoinableQueue,
    )
)
"""The classes of synchronisation objects that also hold data of the program."""

HIDDEN: Final = -2
"""Replaces a name that is not part of the state; `HIDDEN - 1 - n` if thread n published the object."""


class CanonicalNames:
    """The canonical names of one search.

    `_fixed`: how many events at the start of the main thread are the same in every run, because it only starts threads
    until then; -1 until that is `settled`.
    """

    def __init__(self, table: OperationTable) -> None:
        self._table = table
        self._fixed = -1
        self._looked_at = -1
        self.settled = False
        self.known: dict[Location, Location] = {}
        self._canonical: dict[Location, Location] = {}
        self._operations: dict[Operation, Operation] = {}

    def look_at(self, trace: Trace) -> bool:
        """Called before each question until names are settled: takes the trace so far. True if this settles them."""
        if len(trace) == self._looked_at:
            return False
        self._looked_at = len(trace)
        own = [o for thread, o in zip(trace.threads, trace.operations, strict=True) if thread == 0]
        other = next((i for i, operation in enumerate(own) if operation.starts < 0), None)
        if other is None:
            return False
        self._fixed, self.settled = other, True
        self.known.clear()
        self._canonical.clear()
        self._operations.clear()
        return True

    def is_canonical(self, location: Location) -> bool:
        """True if the location's own name is canonical. A location of another search (in a library module that this
        program does not use) has none."""
        return location < self._table.size and self.location(location) == location

    def shown(self, location: Location) -> Location:
        """Return what of the name is part of the state: a canonical name, or any name if the program looks at
        identities."""
        counts = IDENTITIES in run.facts or self.is_canonical(location)
        answer = self.known[location] = location if counts else self._hidden(location)
        return answer

    def _hidden(self, location: Location) -> int:
        match self._table.name_of(self.location(location)) if location < self._table.size else None:
            case ("any", *_, int(publisher)):
                return HIDDEN - 1 - publisher
        return HIDDEN

    def location(self, location: Location) -> Location:
        """Return the location itself if its name is canonical, else the one that it shares with others of its kind."""
        known = self._canonical.get(location)
        if known is None:
            known = self._canonical[location] = self._table.location(self._name(self._table.name_of(location)))
        return known

    def is_data(self, location: Location) -> bool:
        """True if it is data of the program, and not a lock or the like. (A queue in C is both.)"""
        name: Any = self._table.name_of(location)
        if type(name) is not tuple:
            return bool(name == RULES)
        if name[0] == "any" and name[1] == "sync":
            return name[2] in _WITH_DATA
        return name[0] not in ("sync", "module") or name[1] in _WITH_DATA

    def operation(self, operation: Operation) -> Operation:
        """See `dpor.core.system.StatefulSystem.canonical`."""
        known = self._operations.get(operation)
        if known is None:
            known = self._operations[operation] = self._renamed(operation)
        return known

    def _renamed(self, operation: Operation) -> Operation:
        modes: dict[Location, Mode] = {}
        for location, mode in operation.accesses:
            canonical = self.location(location)
            modes[canonical] = mode if modes.get(canonical, mode) is mode else WRITE
        if modes == dict(operation.accesses):
            return operation
        return self._table.intern(
            operation.kind,
            tuple(modes.items()),
            None,
            operation.thread,
            operation.value,
            operation.alternatives,
            operation.barrier,
            operation.starts,
        )

    def _name(self, name: Hashable) -> Hashable:
        """Return the name itself if it is canonical, else the shared one."""
        match name:
            case (int(owner), part):
                return self.location(owner), self._part(part)
            case ("dict of", owner):
                return "dict of", self._name(owner)
            case (("object" | "sync"), *kind, int(thread), int(events), _) if thread or 0 <= self._fixed < events:
                return "any", name[0], *kind, thread
        return name

    def _part(self, part: Any) -> Hashable:
        """Rename a part of a container: its key may stand for an object (`dpor.python.effects.keys`)."""
        if type(part) is tuple:
            if len(part) == 2 and part[0] == "object" and type(part[1]) is int and part[1] < self._table.size:
                return "object", self.location(part[1])
            return tuple(map(self._part, part))
        return frozenset(map(self._part, part)) if type(part) is frozenset else part
