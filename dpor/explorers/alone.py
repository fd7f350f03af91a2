"""Ample sets of one thread: where nobody else can interfere with a thread's next operation, it is explored alone.
[DHRR04]

Here                              In the paper
Escape.NONE, UNSHARED, DYNAMIC    every object is shared (B); static (S), dynamic escape analysis (D)
Locks.DISCIPLINE                  locking discipline (LD); with UNSHARED it is that of the paper
Store.CHOICES                     with DYNAMIC: DA
the thread that moved last        the one that is asked first

A thread is alone if, until it moves, no other thread can come to an operation that depends on its next one:

    nobody else reaches the objects that it accesses (`StatefulSystem.is_choice`), or
    each location that it accesses holds data that keep to the discipline (`dpor.core.guarding`), so that the others do
    not access it, or only read it too, or need a lock that the thread holds; or is a lock that the thread holds, and
    with which nobody else does anything but wait for it.

To acquire a lock is never alone, nor is anything that may have to wait. The discipline is what all runs have shown so
far. What contradicts it is withdrawn and named, and the search begins again.

The next operation of *every* thread is held against the discipline, in every state, be it enabled or not, and where
threads are blocked for good, too. So no contradiction can hide. Take the first in any schedule. What this search puts
before it, out of turn, are operations of other threads that do not depend on those in between. So the search comes to a
state in which the thread is about to do the same, and holds the same locks.

Differences from the paper. There, only the threads that are asked are held against the discipline; a thread that can
make an access only while another one runs alone is not looked at. There, an object needs no lock until a second thread
has accessed it; here, until a second thread can reach it, since the first may go on without the lock. There, all
operations on the lock of a guarded object are alone; here acquisitions are not, or else a deadlock of two locks would
be missed. And here cycles are broken afterwards (`StatefulSearch.complete`): searches are not depth first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from dpor.core.operations import Location
from dpor.core.system import Escape, LockingSystem, Locks, Pending, Run, Store, SyncChoices
from dpor.explorers.search import threads_of
from dpor.explorers.state_graph import StateNumber
from dpor.explorers.states import StatefulSearch

CONFIGURATIONS: Final[Mapping[str, tuple[Escape, Locks, Store]]] = {
    "B": (Escape.NONE, Locks.NONE, Store.EVENTS),
    "S": (Escape.UNSHARED, Locks.NONE, Store.EVENTS),
    "D": (Escape.DYNAMIC, Locks.NONE, Store.EVENTS),
    "DA": (Escape.DYNAMIC, Locks.NONE, Store.CHOICES),
    "LD": (Escape.UNSHARED, Locks.DISCIPLINE, Store.CHOICES),
    "D+LD": (Escape.DYNAMIC, Locks.DISCIPLINE, Store.CHOICES),
}
"""The configurations of the paper, by their names there. (In it, no object needs a lock that is D, for D+LD.)"""


class Alone(StatefulSearch):
    """A stateful search that plans one thread where that may be explored alone, and otherwise all enabled ones."""

    system: LockingSystem

    def __init__(
        self,
        system: LockingSystem,
        store: Store = Store.EVENTS,
        escape: Escape = Escape.UNSHARED,
        locks: Locks = Locks.DISCIPLINE,
    ) -> None:
        super().__init__(system, store)
        self._by_reach = escape is Escape.DYNAMIC
        by_use, self._by_locks = escape is Escape.UNSHARED, locks is Locks.DISCIPLINE
        self._guarding = system.guarding(by_use, self._by_locks) if by_use or self._by_locks else None
        if self._guarding is not None:
            self._guarding.begin()

    def first(self, enabled: int) -> int:
        pending = {one.thread: one for one in self.system.pending()}
        for one in pending.values():
            self.look_at(one)
        moved = self.trace.threads[-1:]
        for thread in (*moved, *threads_of(enabled)):
            if enabled >> thread & 1 and self.is_alone(pending[thread]):
                return 1 << thread
        return enabled

    def ended(self, state: StateNumber, run: Run) -> None:
        for one in run.blocked:
            rule = one.operation.rule
            if rule is not None and rule.blocking:  # what spins has been looked at before it went round
                self.look_at(one)

    # ------------------------------------------------------------------ the rules

    def is_alone(self, pending: Pending) -> bool:
        """True if the thread's next operation, which is enabled, may be explored alone in the present state."""
        if self._by_reach and not self.system.is_choice(pending.thread, SyncChoices.SHARED):
            return True
        operation, guarding = pending.operation, self._guarding
        if guarding is None or not operation.accesses or (operation.rule is not None and operation.rule.blocking):
            return False
        held = self._held(pending)
        return all(
            guarding.is_reserved(location) if location in held else guarding.keeps(location)
            for location, _ in operation.accesses
        )

    def look_at(self, pending: Pending) -> None:
        """Hold a thread's next operation against the discipline, whether it is enabled or not."""
        guarding = self._guarding
        if guarding is None:
            return
        thread, operation, _ = pending
        rule, held = operation.rule, self._held(pending)
        if rule is not None and rule.blocking:
            taken = [operation.accesses[position][0] for position in rule.takes]
            guarding.take_note(thread, operation.accesses, [*held, *taken])
            return
        guarding.take_note(thread, operation.accesses, held)
        for position, (location, _) in enumerate(operation.accesses):
            if location not in held:
                guarding.told(location)
                if rule is not None and position in rule.gives:
                    guarding.released(location)

    def _held(self, pending: Pending) -> Collection[Location]:
        return self.system.held(pending.thread) if self._by_locks else ()
