"""The base of the random searches: they try one random schedule after another, are never exhaustive and never end.

The value of a data choice can be drawn only when it is known how many there are. So the choice is first made with value
0; if another value is drawn, the run is repeated up to there and goes on with that one. So all values are equally
likely.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

from dpor.core.happens_before import HappensBefore
from dpor.core.operations import VALUE_SHIFT, Action, ThreadId
from dpor.core.system import STOP, Run, System, Trace
from dpor.explorers import invariants
from dpor.explorers.search import Stats, take_your_time

T = TypeVar("T")


def drawn(choices: Sequence[T], weights: Sequence[float], random: Random) -> T:
    """Draw one of the choices, each with a probability in proportion to its weight."""
    left = random.random() * sum(weights)
    for choice, weight in zip(choices, weights, strict=True):
        left -= weight
        if left < 0:
            return choice
    return choices[-1]


class Walk:
    """A random search: it makes another run whenever it is asked for one. The same seed gives the same runs everywhere.
    `Random.random` is the only method of the standard generator that promises this, so every draw uses it.

    classes   the numbers of the classes seen (`class_of`)
    """

    def __init__(self, system: System, seed: int) -> None:
        self.system = system
        self.trace = Trace()
        self.stats = Stats()
        self.pace = take_your_time
        self._random = Random(seed)
        self._is_checked = invariants.are_wanted()
        self.classes: set[int] = set()
        self._drawn = 0  # the values of data choices have been drawn for this many events of the run
        self._other: Action = STOP  # the action to be made in place of the last event
        self._first: Action = STOP  # the action with which the run goes on when it has been repeated

    def explore(self) -> Iterator[Run]:
        """Explore the system: yield run after run, without end."""
        stats, trace = self.stats, self.trace
        while True:
            self.begin()
            trace.cut(0)
            run = self._run()
            if self._is_checked:
                invariants.check_trace(trace)
            stats.executions += 1
            stats.events += len(trace)
            self.classes.add(class_of(trace))
            stats.classes = len(self.classes)
            yield run

    def is_finished(self) -> bool:
        """Return False: there is always another run."""
        return False

    @abstractmethod
    def begin(self) -> None:
        """Called when a new run begins. The trace is still that of the last one."""

    @abstractmethod
    def pick(self, enabled: int) -> ThreadId:
        """Choose one of the threads in the mask."""

    def below(self, bound: int) -> int:
        """Draw a number from 0 to `bound` - 1, each with the same probability."""
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
        """If the last event is a data choice, draw its value. Returns True if the choice must be made again, because
        the value is not 0."""
        trace = self.trace
        if self._drawn < len(trace):
            self._drawn = len(trace)
            operation = trace.operations[-1]
            if operation.alternatives > 1:
                value = self.below(operation.alternatives)
                if value:
                    self._other = trace.threads[-1] | value << VALUE_SHIFT
        return self._other != STOP


def class_of(trace: Trace) -> int:
    """Return a number that is the same for equivalent runs, and almost always different for others: a hash of which
    events happen before which."""
    clocks = HappensBefore(trace)
    clocks.clocks_only = True
    clocks.extend()
    return class_in(trace, clocks)


def class_in(trace: Trace, clocks: HappensBefore) -> int:
    """Return the same, given the clocks of the trace."""
    events = [
        (thread, index, action >> VALUE_SHIFT, _known(clock))
        for thread, index, action, clock in zip(
            trace.threads, clocks.indices, trace.actions, clocks.clocks, strict=True
        )
    ]
    return hash(tuple(sorted(events)))


def _known(clock: list[int]) -> tuple[int, ...]:
    """Return the clock without the zeros at its end, since how many threads a clock lists means nothing."""
    end = len(clock)
    while end and not clock[end - 1]:
        end -= 1
    return tuple(clock[:end])
