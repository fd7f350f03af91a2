"""Reversals: each run brings two conflicting operations of the last run into the other order, and goes on without
preemption.

Most bugs show as soon as one or two accesses come in another order than usual. So a walk in steps of one such pair
comes to them soon, also among very many events that do not matter, where random priorities would have to change at the
right places. Every second time the pair is a race, otherwise any two operations that conflict. It is drawn in two
steps, so that what is rare is as likely as what is frequent: first a kind (a location, and what the two do to it), then
a pair of that kind. Reads-from fuzzing [WSDMR24] draws what a read is to see by such kinds, too; to bring a read before
the earliest write is to let it see the initial value.

Here            In [ADJS14]
_reversed()     prefix . notdep(e, E) . p: the run up to the earlier event, then what does not happen after that, then
                the thread of the later one

Then the thread that ran last goes on as long as it can, and after it any other, all equally likely. There is no
guarantee, but every run can be reached from every other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from dpor.core.happens_before import HappensBefore
from dpor.core.operations import READ, UPDATE, Accesses, Location, Mode, Operation, ThreadId
from dpor.core.system import Pending, Run, System
from dpor.explorers.search import MOST_IN_A_ROW, threads_of
from dpor.explorers.walk import Walk

T = TypeVar("T")
What: TypeAlias = tuple[str, Mode]
"""What an operation does to a location: its kind, and the mode of the access."""
Pair: TypeAlias = tuple[int, int]
"""Two operations of a run: the number of an event, and that of a later one. Numbers beyond the last event denote
operations of blocked threads."""

DRAWS = 8
"""How many pairs are drawn until one can be reversed."""


class Rev(Walk):
    """A random walk over runs, each of which has one pair of operations in another order than the one before."""

    def __init__(self, system: System, seed: int) -> None:
        super().__init__(system, seed)
        self._blocked: Sequence[Pending] = ()
        self._planned: list[ThreadId] = []  # the threads to run first, the last one first
        self._in_a_row = 0

    def begin(self) -> None:
        self._planned = self._reversed()
        self._planned.reverse()
        self._in_a_row = 0

    def pick(self, enabled: int) -> ThreadId:
        if self._planned:
            thread = self._planned.pop()
            if enabled >> thread & 1:
                return thread
            self._planned.clear()  # the thread must wait there, or values of data choices are others
        last = self.trace.threads[-1] if self.trace.threads else -1
        self._in_a_row += 1
        if last >= 0 and enabled >> last & 1 and self._in_a_row < MOST_IN_A_ROW:
            return last
        self._in_a_row = 0
        threads = list(threads_of(enabled))
        return threads[self.below(len(threads))]

    def _run(self) -> Run:
        run = super()._run()
        self._blocked = run.blocked
        return run

    def _reversed(self) -> list[ThreadId]:
        """Return the threads of the last run's events, up to a pair drawn at random, with that reversed."""
        order = HappensBefore(self.trace)
        races = [(race.first, at) for at, found in enumerate(order.extend()) for race in found]
        end = len(self.trace)
        for at, (thread, operation, states) in enumerate(self._blocked, end):
            races += [(race.first, at) for race in order.races_of(thread, operation, states)]
        threads = [*self.trace.threads, *[thread for thread, _, _ in self._blocked]]
        operations = [*self.trace.operations, *[operation for _, operation, _ in self._blocked]]
        pair = self._race(races, operations) if self.below(2) else self._pair(threads, operations)
        if pair is None:
            return []
        first, second = pair
        kept = order.not_after(first, min(second, end))
        return [*threads[:first], *[threads[n] for n in kept], threads[second]]

    def _race(self, races: Sequence[Pair], operations: Sequence[Operation]) -> Pair | None:
        kinds: dict[tuple[Accesses, Accesses], list[Pair]] = defaultdict(list)
        for first, second in races:
            kinds[operations[first].accesses, operations[second].accesses].append((first, second))
        return self._one_of(self._one_of([*kinds.values()])) if kinds else None

    def _pair(self, threads: Sequence[ThreadId], operations: Sequence[Operation]) -> Pair | None:
        places: dict[Location, dict[What, list[int]]] = defaultdict(dict)
        kinds: dict[tuple[Location, What, What], list[int]] = defaultdict(list)
        for at, operation in enumerate(operations):
            for location, mode in operation.accesses:
                here, this = places[location], (operation.kind, mode)
                for what, events in here.items():
                    if what[1] != mode or (mode is not READ and mode is not UPDATE):
                        if self._could_be_at(events[-1], operation):
                            kinds[location, what, this].append(at)
                if at < len(self.trace):
                    here.setdefault(this, []).append(at)
        for _ in range(DRAWS if kinds else 0):
            location, what, _ = kind = self._one_of([*kinds])
            second = self._one_of(kinds[kind])
            events = [n for n in places[location][what] if n < second and threads[n] != threads[second]]
            if events:
                first = self._one_of([events[0], events[-1], self._one_of(events)])
                if self._could_be_at(first, operations[second]):
                    return first, second
        return None

    def _could_be_at(self, position: int, operation: Operation) -> bool:
        """False if the operation would have to wait there."""
        there, states = self.trace.operations[position], self.trace.befores[position]
        if operation.rule is None or states is None:
            return True
        alike = [n for n, _ in there.accesses] == [n for n, _ in operation.accesses]
        return not alike or operation.enabled(states)

    def _one_of(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]
