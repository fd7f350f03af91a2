"""Partial order sampling: random priorities of events, drawn anew where events race [YYG18].

Each pending event has a random priority, and of the enabled ones the event with the highest priority runs. Then the
pending events that conflict with it get new priorities: that they come after it is to say nothing about the order in
which they come among themselves.

Here              In the paper
_priorities       the priority of each thread's pending event
dependent()       two events race

Guarantee: if n threads have one event each, and all conflict, each order has probability 1 / n!. An event that follows
k others of its thread comes before a conflicting first event of another thread with probability 1 / (k + 2), if nothing
else conflicts; in a random walk, with probability 1 / 2^(k + 1).

Difference: a thread that has run `MOST_IN_A_ROW` steps in a row gets a priority below all others until it has run
again. Otherwise a loop that waits for another thread could go on for very long.
"""

from __future__ import annotations

from dpor.core.dependence import dependent
from dpor.core.operations import ThreadId
from dpor.core.system import System
from dpor.explorers.search import MOST_IN_A_ROW, threads_of
from dpor.explorers.walk import Walk


class Pos(Walk):
    """A random search with priorities of events."""

    def __init__(self, system: System, seed: int) -> None:
        super().__init__(system, seed)
        self._priorities: dict[ThreadId, float] = {}
        self._in_a_row = 0

    def begin(self) -> None:
        self._priorities.clear()
        self._in_a_row = 0

    def pick(self, enabled: int) -> ThreadId:
        priorities, trace = self._priorities, self.trace
        last = trace.threads[-1] if trace.threads else -1
        for thread, operation, _ in self.system.pending():
            if thread == last or thread not in priorities or dependent(trace.operations[-1], operation):
                priorities[thread] = self._random.random()
        first = max(threads_of(enabled), key=lambda thread: priorities[thread])
        self._in_a_row = self._in_a_row + 1 if first == last else 0
        if self._in_a_row >= MOST_IN_A_ROW:
            priorities[first] = -1.0
            first = max(threads_of(enabled), key=lambda thread: priorities[thread])
        return first
