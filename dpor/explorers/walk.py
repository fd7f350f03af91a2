"""What the random searches share: one schedule after another from a seed, none exhaustive, none ever done.

The value of a data choice is drawn when it is known of how many: the choice is first made with value 0, and if another
is drawn the run is repeated up to there and goes on with that one. So every value is equally likely, too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from random import Random

from dpor.core.happens_before import HappensBefore
from dpor.core.operations import VALUE_SHIFT, Action, ThreadId
from dpor.core.system import STOP, Run, System, Trace
from dpor.explorers import invariants
from dpor.explorers.search import Stats


class Walk:
    """Run after run, for as long as one is asked for. The same seed gives the same runs everywhere: `Random.random` is
    the one method of the standard generator that promises that, so all is drawn by it."""

    def __init__(self, system: System, seed: int) -> None:
        self.system = system
        self.trace = Trace()
        self.stats = Stats()
        self._random = Random(seed)
        self._is_checked = invariants.are_wanted()
        self._classes: set[int] = set()
        self._drawn = 0  # the data choices among so many events of the run have been drawn
        self._other: Action = STOP  # what the last event is to be instead
        self._first: Action = STOP  # how the run goes on when it has been repeated

    def explore(self) -> Iterator[Run]:
        """Run after run; never ends."""
        stats, trace = self.stats, self.trace
        while True:
            self.begin()
            trace.cut(0)
            run = self._run()
            if self._is_checked:
                invariants.check_trace(trace)
            stats.executions += 1
            stats.events += len(trace)
            self._classes.add(_class(trace))
            stats.classes = len(self._classes)
            yield run

    def progress(self) -> None:
        """Nobody knows how much is left."""
        return

    @abstractmethod
    def begin(self) -> None:
        """A new run begins; the trace is still that of the last one."""

    @abstractmethod
    def pick(self, enabled: int) -> ThreadId:
        """One of the threads in the mask."""

    def below(self, bound: int) -> int:
        """A number from 0 to below the bound, each as likely."""
        return int(self._random.random() * bound)

    # ------------------------------------------------------------------ one run

    def _run(self) -> Run:
        trace, stats = self.trace, self.stats
        self._drawn = 0
        while True:
            run = self.system.run(trace, self._choose)
            if not self._to_be_other():
                return run
            trace.cut(self._drawn - 1)
            stats.replayed += len(trace)
            self._first, self._other = self._other, STOP

    def _choose(self, enabled: int) -> Action:
        action, self._first = self._first, STOP
        if action != STOP:
            return action
        return STOP if self._to_be_other() else self.pick(enabled)

    def _to_be_other(self) -> bool:
        """If the last event is a data choice, draw its value. Is it to be made again?"""
        trace = self.trace
        if self._drawn < len(trace):
            self._drawn = len(trace)
            operation = trace.operations[-1]
            if operation.alternatives > 1:
                value = self.below(operation.alternatives)
                if value:
                    self._other = trace.threads[-1] | value << VALUE_SHIFT
        return self._other != STOP


def _class(trace: Trace) -> int:
    """A number that equivalent runs share, and others all but never: which events happened before each."""
    clocks = HappensBefore(trace)
    clocks.clocks_only = True
    clocks.extend()
    events = [
        (thread, index, action >> VALUE_SHIFT, _known(clock))
        for thread, index, action, clock in zip(
            trace.threads, clocks.indices, trace.actions, clocks.clocks, strict=True
        )
    ]
    return hash(tuple(sorted(events)))


def _known(clock: list[int]) -> tuple[int, ...]:
    """The clock without the threads of which it knows nothing at its end: how many it lists says nothing."""
    end = len(clock)
    while end and not clock[end - 1]:
        end -= 1
    return tuple(clock[:end])
