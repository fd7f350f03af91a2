"""Probabilistic concurrency testing: random priorities, lowered at a few random points [BKMN10, Fig. 3].

Each thread has a random priority, and of the enabled threads the one with the highest priority runs. At d - 1 random
steps the thread that would run gets a priority below all others. A bug that shows if d events come in a certain order
(a bug of depth d) is found in a run with probability at least 1 / (n k^(d-1)), for n threads and k steps.

Here                In the paper
_priorities         p, the initial ones in 1..2 instead of d..d+n, since n is not known before
_changes            k_1, ..., k_(d-1); k is the length of the longest run so far

Difference: a thread that has run `MOST_IN_A_ROW` steps in a row gets a priority below all others. Otherwise a loop that
waits for a thread of lower priority would go on for ever.
"""

from __future__ import annotations

from dpor.core.operations import ThreadId
from dpor.core.system import System
from dpor.explorers.search import MOST_IN_A_ROW, threads_of
from dpor.explorers.walk import Walk


class Pct(Walk):
    """A random search with priorities of threads, `depth` - 1 of which change in each run."""

    def __init__(self, system: System, seed: int, depth: int) -> None:
        super().__init__(system, seed)
        self._depth = depth
        self._steps = 1
        self._priorities: dict[ThreadId, float] = {}
        self._changes: list[int] = []
        self._lowest = 0.0
        self._in_a_row = 0

    def begin(self) -> None:
        self._steps = max(self._steps, len(self.trace))
        self._priorities.clear()
        self._changes = [self.below(self._steps) for _ in range(self._depth - 1)]
        self._lowest = 0.0
        self._in_a_row = 0

    def pick(self, enabled: int) -> ThreadId:
        threads = self.trace.threads
        first = self._highest(enabled)
        for number, change in enumerate(self._changes, 1):
            if change == len(threads):
                self._priorities[first] = number / self._depth
                first = self._highest(enabled)
        self._in_a_row = self._in_a_row + 1 if threads and threads[-1] == first else 0
        if self._in_a_row >= MOST_IN_A_ROW:
            self._lowest -= 1
            self._priorities[first] = self._lowest
            first = self._highest(enabled)
        return first

    def _highest(self, enabled: int) -> ThreadId:
        priorities = self._priorities
        for thread in threads_of(enabled):
            if thread not in priorities:
                priorities[thread] = 1 + self._random.random()
        return max(threads_of(enabled), key=lambda thread: priorities[thread])
