"""The discipline on which a search relies where it runs a thread alone (`dpor.explorers.alone`).

It is that of `dpor.core.discipline`, with two differences. A contradiction matters only if the search has relied on
what is contradicted. And a search may rely on less than the whole discipline: on how threads use a location, on the
common lock, or on both.

The search also relies on locks: that nobody but their holder can tell whether they are held, since everybody else waits
for them. A lock of which this is true is *reserved*.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable

from dpor.core.discipline import Contradiction, Discipline, Kept
from dpor.core.operations import Accesses, Location, ThreadId


class Guarding(Discipline):
    """What one search relies on, and what earlier ones have withdrawn. The arguments are those of `Discipline`.

    by_use     True if a location keeps to the discipline that one thread alone accesses, or with no conflict
    by_locks   True if one does that is only accessed under a common lock
    """

    by_use = True
    by_locks = True

    def __init__(
        self,
        may_be_silent: Callable[[Location], bool],
        may_guard: Callable[[Location], bool],
        alike: Callable[[Location], Collection[Hashable]],
        contradicted: Callable[[Contradiction], None],
    ) -> None:
        super().__init__(may_be_silent, may_guard, alike, self._if_relied_on)
        self.contradicted = contradicted
        self._relied: set[Location] = set()  # the data on which the present search relies
        self._reserved: set[Location] = set()  # the locks on which it relies
        self._told: set[Location] = set()  # what cannot be reserved, in any search

    def begin(self) -> None:
        super().begin()
        self._relied.clear()
        self._reserved.clear()

    @property
    def withdrawn(self) -> Collection[Location]:
        """The locations that do not keep to the discipline."""
        return self._visible

    def keeps(self, location: Location) -> bool:
        """True if all accesses so far have kept to the discipline. The search then relies on it."""
        if self._kept.get(location) is None:
            return False
        self._relied.add(location)
        return True

    def is_reserved(self, lock: Location) -> bool:
        """True if nobody but its holder has been able to tell whether the lock is held. The search then relies on
        it."""
        if lock in self._told or not self._may_guard(lock):
            return False
        self._reserved.add(lock)
        return True

    def told(self, lock: Location) -> None:
        """Take note that a thread which does not hold the lock is about to do something with it, without waiting."""
        if lock not in self._told:
            self._told.add(lock)
            if lock in self._reserved:
                self.contradicted(Contradiction(lock, (), (), True))

    def take_note(self, thread: ThreadId, accesses: Accesses, held: Collection[Location]) -> None:
        super().take_note(thread, accesses, held if self.by_locks else ())

    def _holds(self, kept: Kept) -> bool:
        return bool(kept.locks) or (self.by_use and super()._holds(kept))

    def _if_relied_on(self, contradiction: Contradiction) -> None:
        if contradiction.location in self._relied:
            self.contradicted(contradiction)
