"""Every interleaving with at most a given number of preemptions, depth first [MQ07]. The judge of `bounded_classic`."""

from __future__ import annotations

from dpor.core.operations import Action
from dpor.core.system import Run, System
from dpor.explorers import invariants
from dpor.explorers.none import NoReduction
from dpor.explorers.preemptions import START, PreemptionPoint
from dpor.explorers.search import threads_of


class BoundedNone(NoReduction):
    """Depth-first search over all schedules with at most `preemptions` preemptions."""

    def __init__(self, system: System, preemptions: int) -> None:
        super().__init__(system)
        self._most = preemptions
        self._points: list[PreemptionPoint] = []  # one for each event
        self._left_out: list[int] = []  # for each event, the threads that the bound left out there

    def check(self, start: int, run: Run) -> None:
        super().check(start, run)
        invariants.check_lengths(len(self.trace), points=self._points, left_out=self._left_out)

    def _choose(self, enabled: int) -> Action:
        trace, points, position = self.trace, self._points, len(self.trace)
        if self._resumed is None:
            del points[position:], self._left_out[position:]
            point = START
            if position:
                points[-1].happened(trace.operations[-1])
                point = points[-1].next(trace.actions[-1], enabled)
            within = point.within(self._most, enabled)
            points.append(point)
            self._left_out.append(enabled & ~within)
            enabled = within
        else:
            del points[position + 1 :], self._left_out[position + 1 :]
        return super()._choose(enabled)

    def _learn(self, start: int, run: Run) -> None:
        for position in range(start, len(self.trace)):
            if self._done[position] == 0:
                left_out = self._left_out[position]
                if self.trace.operations[position].barrier:
                    self._todo[position].extend(threads_of(left_out))
                    self._points[position].happened(self.trace.operations[position])
                else:
                    self.stats.left_out += left_out.bit_count()
        super()._learn(start, run)
