"""What is silent in a Python program: its `Discipline`, and a contradiction in words.

Only data can be silent. A search that stores states needs names that are the same along all ways to a state: those of
globals, and of what the main thread had made or shared while it had done nothing but start threads.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from itertools import islice
from typing import Any

from dpor.core.discipline import Contradiction, Discipline
from dpor.core.errors import AssumptionBroken
from dpor.core.guarding import Guarding
from dpor.core.operations import Location, OperationTable
from dpor.python.kernel import assumptions
from dpor.python.kernel.program_frames import last_place
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_object
from dpor.python.sharing.sharing_state import sharing

_DATA = shared_object.NAMES - {"process"}


class SilentAccesses(Discipline):
    """The discipline of the program whose operations are in this table."""

    def __init__(self, table: OperationTable) -> None:
        super().__init__(self._may_be, self._guards, self._kinds_of, self._began_again)
        self._table = table
        self._named_in = -1

    def _may_be(self, location: Location) -> bool:
        name = self._name_of_object(location)
        return isinstance(name, tuple) and name[0] in _DATA and (not run.stateful or self._lasts(location))

    def _guards(self, lock: Location) -> bool:
        return not run.stateful or _is_made_early(self._table.name_of(lock))

    def _kinds_of(self, location: Location) -> Collection[Hashable]:
        name: Any = self._table.name_of(location)
        if isinstance(name[0], int):
            return ("object", name[0]), ("part", name[1])
        return (name[:-1],)

    def _name_of_object(self, location: Location) -> Any:
        name = self._table.name_of(location)
        return self._table.name_of(name[0]) if isinstance(name, tuple) and isinstance(name[0], int) else name

    def _lasts(self, location: Location) -> bool:
        name: Any = self._table.name_of(location)
        part = name[-1]
        return not isinstance(part, (tuple, frozenset)) and _is_made_early(self._name_of_object(location))

    def _began_again(self, contradiction: Contradiction) -> None:
        said = self.in_words(contradiction, self._place(contradiction.location), self._lock)
        if run.current is None:  # two parts of the search contradict each other
            raise AssumptionBroken(said)
        if self._named_in != run.number:  # the first of each run
            self._named_in = run.number
            assumptions.start_again(f"{said}{last_place()}")

    def _place(self, location: Location) -> str:
        name: Any = self._table.name_of(location)
        if not isinstance(name[0], int):
            return f"{name[-1]}"
        kind = next((type(shared.obj).__qualname__ for shared in sharing.used if shared.number == name[0]), "container")
        part = name[1]
        if part == shared_object.STRUCTURE:
            return f"the structure of a {kind}"
        if part == shared_object.ELEMENTS:
            return f"an element of a {kind}"
        return f"{kind}.{part}" if isinstance(part, str) and part.isidentifier() else f"the item {part!r} of a {kind}"

    def _lock(self, location: Location) -> str:
        for reference in run.made:
            lock = reference()
            if lock is not None and lock.dpor_location == location:
                return f"{type(lock).__name__} {lock.dpor_made_as}"
        return "a lock"


class GuardedAccesses(SilentAccesses, Guarding):
    """On what a search relies that runs threads alone."""


def _is_made_early(name: Any) -> bool:
    """True if the name is that of what the main thread made or shared before it did anything but start threads, or
    that of something that every run has."""
    if name[0] == "dict of" and isinstance(name[1], tuple):
        return _is_made_early(name[1])
    match name:
        case ("object", thread, events, _) | ("sync", _, thread, events, _):
            own = (o for t, o in zip(run.event_threads, run.event_operations, strict=False) if t == 0)
            return bool(thread == 0) and all(operation.starts >= 0 for operation in islice(own, events))
    return True
