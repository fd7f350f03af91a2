"""Virtual time: a thread's clock advances by its own sleeps and timeouts, and to the clocks of events that happened
before."""

from __future__ import annotations

import math
from bisect import bisect_right

from dpor.core.happens_before import HappensBefore
from dpor.core.operations import ThreadId
from dpor.core.system import Trace
from dpor.python.kernel.model_thread import ModelThread

TICK = 2.0**-20
"""The shortest time, in seconds. Sums of integer multiples of it are exact floats."""


class VirtualTime:
    """The clocks of one run.

    advances    by thread: the positions of its events at which its clock advanced, and the new times; both ascend
    seen        True if the program has seen that time passed
    """

    def __init__(self) -> None:
        self.advances: dict[ThreadId, list[tuple[int, float]]] = {}
        self.seen = False
        self._order: HappensBefore | None = None

    def clear(self) -> None:
        """Reset for a new run."""
        self.advances.clear()
        self.seen = False
        self._order = None

    def set(self, thread: ModelThread, time: float) -> None:
        """Advance the thread's clock to this time, which is when its next event ends."""
        thread.time = time
        self.advances.setdefault(thread.id, []).append((thread.events + 1, time))

    def of_others(self, thread: ModelThread) -> float:
        """Return the latest time to which other threads have advanced their clocks."""
        return max((times[-1][1] for other, times in self.advances.items() if other != thread.id), default=0.0)

    def now(self, thread: ModelThread, trace: Trace, length: int) -> float:
        """Return the thread's clock after `length` events of the trace: the latest of the clocks that happened before,
        and of its own sleeps."""
        if not self.advances:
            return thread.time
        if self._order is None:  # few programs ask, so the clocks are extended only up to the last question
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
