"""Virtual time: a thread's clock is moved on by its own sleeps and timeouts, and takes along what happened before."""

from __future__ import annotations

import math
from bisect import bisect_right

from dpor.core.happens_before import HappensBefore
from dpor.core.operations import ThreadId
from dpor.core.system import Trace
from dpor.python.kernel.model_thread import ModelThread

TICK = 2.0**-20
"""The shortest time, in seconds. Sums of whole numbers of it are exact floats."""


class VirtualTime:
    """The clocks of one run.

    advances    by thread: at which of its events its clock was moved on, and to what; both ascend
    seen        has the program seen that time passed?
    """

    def __init__(self) -> None:
        self.advances: dict[ThreadId, list[tuple[int, float]]] = {}
        self.seen = False
        self._order: HappensBefore | None = None

    def clear(self) -> None:
        """A new run begins."""
        self.advances.clear()
        self.seen = False
        self._order = None

    def set(self, thread: ModelThread, time: float) -> None:
        """The thread's next event ends at this time."""
        thread.time = time
        self.advances.setdefault(thread.id, []).append((thread.events + 1, time))

    def now(self, thread: ModelThread, trace: Trace, length: int) -> float:
        """The thread's clock after that many events of the trace: the latest of what happened before, moved on by its
        own sleeps."""
        if not self.advances:
            return thread.time
        if self._order is None:  # only few programs ask: what happened before is kept up to where one last asked
            self._order = HappensBefore(Trace())
            self._order.clocks_only = True
        seen = self._order.trace
        new = slice(len(seen), length)
        seen.threads += trace.threads[new]
        seen.operations += trace.operations[new]
        seen.actions += trace.actions[new]
        seen.befores += [None] * (length - new.start)
        self._order.extend()
        clock = self._order.clock_of(thread.id)
        for other, advances in self.advances.items():
            if other < len(clock):
                known = bisect_right(advances, (clock[other], math.inf))
                if known:
                    thread.time = max(thread.time, advances[known - 1][1])
        return thread.time
