"""A hunt: runs of several random searches, mixed by what each has brought so far.

No random search is the best for all programs. `rff` finds what one unlikely read shows, `pct` what needs a few events
in a certain order, `pos` what many short orders show, `rev` what is one or two reversals away from a usual run. Which
of them is right for a program shows as it runs: what a run *brings* is a pair of a write and the read that sees it
(`reads_from`) which no run has shown before, or at least, for a small part, a new trace class. The next run is one of a
search that is drawn by how much its runs have brought on average. `rff` begins, and is the most likely as long as it
brings something: it alone asks for what is new. It learns from the runs of the others, too.

Reason: none of them is ever left out, so each keeps its guarantee, for the share of the runs that it has.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from random import Random
from typing import Final

from dpor.core.system import Run, System, Trace
from dpor.explorers.pct import Pct
from dpor.explorers.pos import Pos
from dpor.explorers.reads_from import Placed
from dpor.explorers.rev import Rev
from dpor.explorers.rff import Rff
from dpor.explorers.search import Stats, take_your_time
from dpor.explorers.walk import Walk, drawn

OF_RFF: Final = 8.0
OF_OTHERS: Final = 0.3
"""What a search is taken to have brought before its first run, ..."""
OF_CLASS: Final = 0.1
"""... and what a run brings that shows a new trace class, but no new pair (which brings 1)."""


class _Arm:
    """One of the searches: its runs, and what they have brought."""

    def __init__(self, walk: Walk, brought: float) -> None:
        self.walk = walk
        self.runs = walk.explore()
        self.brought = brought

    @property
    def weight(self) -> float:
        """How likely it is to be drawn: by the square, so that what brings little is tried, but seldom."""
        return (self.brought / (1 + self.walk.stats.executions)) ** 2


class Hunt:
    """A mixture of random searches. They share what they know of the program, not their runs."""

    def __init__(self, system: System, seed: int, depth: int) -> None:
        placed = Placed(system)
        self._placed = placed
        self._rff = Rff(placed, seed)
        others: tuple[Walk, ...] = Pos(placed, seed), Pct(placed, seed, depth), Rev(placed, seed)
        for walk in others:
            walk.classes = self._rff.classes
        self._arms = [_Arm(self._rff, OF_RFF), *[_Arm(walk, OF_OTHERS) for walk in others]]
        self._last = self._arms[0]
        self._random = Random(seed)
        self.stats = Stats()
        self.pace = take_your_time

    @property
    def trace(self) -> Trace:
        """The trace of the last run."""
        return self._last.walk.trace

    def learn(self, trace: Trace, places: Sequence[Hashable]) -> None:
        """Take note of a run of a search that is none of these, and of where its events were performed."""
        self._rff.learn(trace, places)

    def explore(self) -> Iterator[Run]:
        """Yield run after run, without end."""
        arm = self._last
        while True:
            run = next(arm.runs)
            self._last = arm
            self._count(arm)
            yield run
            arm = drawn(self._arms, [arm.weight for arm in self._arms], self._random)

    def is_finished(self) -> bool:
        """Return False: there is always another run."""
        return False

    def _count(self, arm: _Arm) -> None:
        rff, walk, stats, known = self._rff, arm.walk, self.stats, self.stats.classes
        stats.executions += 1
        stats.events = sum(one.walk.stats.events for one in self._arms)
        stats.replayed = sum(one.walk.stats.replayed for one in self._arms)
        stats.classes = len(rff.classes)
        new = rff.new if walk is rff else rff.learn(walk.trace, self._placed.places)
        arm.brought += 1 if new else OF_CLASS * (stats.classes - known)
