"""Estimates how many trace classes have a schedule within a bound on preemptions, as `estimate` does without a bound.

Schedules within the bound are drawn at random, and the p of a class is the sum over those of its schedules that are
within it. So at each cut it matters, besides, which thread would be preempted and how many have been.

Where a thread can go on, the others are drawn so seldom that the preemptions fall anywhere in the run, with equal
probabilities. One that is about to start or join another, or to end, is never preempted: the same class has a schedule
with no more preemptions in which it does that first.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from functools import cache
from math import sqrt
from typing import Any, Final, TypeAlias

from dpor.core.operations import ThreadId
from dpor.core.system import Pending, Run, System, Trace
from dpor.explorers.estimate import (
    AT_ONCE,
    CALM,
    FEWEST_WALKS,
    MOST_WALKS,
    Cut,
    Draw,
    Level,
    PartialOrder,
    Probable,
    drawn,
    label,
)
from dpor.explorers.preemptions import NOBODY, START
from dpor.explorers.search import take_your_time, threads_of
from dpor.explorers.walk import class_of

MANNERS: Final = (0.0, 0.3)
"""Each schedule is drawn in one of these manners: with at least this probability another thread is drawn."""

_Before: TypeAlias = tuple[ThreadId, int]
"""The thread that ran last before a cut, and the number of preemptions."""

VAGUE: Final = 0.3
"""The standard error, as a share of the mean, from which on nothing is told."""
MOST_SHARE: Final = 0.99
"""A search that has not ended has not explored everything."""


def share_of(explored: int, samples: Sequence[float]) -> float | None:
    """Return which share of some classes has been explored, given the samples of how many they are; None if these vary
    too much."""
    count = len(samples)
    if count < FEWEST_WALKS or not any(samples):
        return None
    mean = sum(samples) / count
    error = sqrt(sum((sample - mean) ** 2 for sample in samples) / (count * (count - 1)))
    return min(explored / mean, MOST_SHARE) if error <= VAGUE * mean else None


@cache
def switches(left: int, budget: int, is_calm: bool) -> tuple[float, ...]:
    """Return with which probability a thread is preempted that can go on, in each manner.

    left     how many events may be left of all threads
    budget   how many more preemptions are within the bound
    """
    evenly = budget / (budget + max(left, 1))
    return tuple([(max(least, evenly) if budget else 0.0) / (CALM if is_calm else 1) for least in MANNERS])


def walks_within(
    most: int,
    system: System,
    seen: Container[int],
    number: int = MOST_WALKS,
    pace: Callable[[], None] = take_your_time,
) -> Iterator[tuple[Run, Trace, float | None]]:
    """Yield at most so many schedules with at most `most` preemptions, each with 1/p for its class, or 0 if that is one
    of `seen` (see `class_of`): the mean is the number of other classes. None: the schedule did not come to an end."""
    return drawn(_Draw(system, most, seen), min(number, MOST_WALKS), pace)


class _Draw(Draw):
    """Schedules within a bound, but for classes that have been seen."""

    def __init__(self, system: System, most: int, seen: Container[int]) -> None:
        super().__init__(system, seed=0)
        self._most, self._seen = most, seen
        self._manner = 0
        self._point = START

    def begin(self) -> None:
        super().begin()
        self._manner = self.below(len(MANNERS))

    def draw(self, enabled: int) -> ThreadId:
        trace, point = self.trace, START
        if trace.threads:
            self._point.happened(trace.operations[-1])
            point = self._point.next(trace.actions[-1], enabled)
        self._point, running = point, point.running
        others = list(threads_of(enabled))
        waiting = {pending.thread: pending for pending in self.system.pending()}
        if running != NOBODY and _can_go_on(waiting[running]):
            others.remove(running)
            going_on = waiting[running].operation
            left = self.known.left_of_all([trace.threads.count(thread) for thread in range(len(self.known.lengths))])
            switch = switches(left, self._most - point.before, label(going_on) in self.known.calm)[self._manner]
            if not others or going_on.kind in AT_ONCE or self._random.random() >= switch:
                return running
        return others[self.below(len(others))]

    def sample(self, run: Run, pace: Callable[[], None]) -> float | None:
        return 0.0 if class_of(self.trace) in self._seen else super().sample(run, pace)

    def order(self, run: Run, most: int, pace: Callable[[], None]) -> PartialOrder[Any]:
        return _Order(self._most, self, run.blocked, most, pace)


def _can_go_on(pending: Pending) -> bool:
    """False if a thread that can run can only time out, because nothing else can move."""
    return pending.operation.rule is None or pending.operation.enabled(pending.states)


class _Order(PartialOrder[_Before]):
    """The order of a run that has at most `bound` preemptions."""

    def __init__(
        self,
        bound: int,
        draw: Draw,
        blocked: Sequence[Pending],
        most: int,
        pace: Callable[[], None],
    ) -> None:
        super().__init__(draw, blocked, most, pace)
        self._bound = bound

    def first(self) -> Probable[_Before]:
        return {(NOBODY, 0): (1.0,) * len(MANNERS)}

    def extend(self, cut: Cut, probable: Probable[_Before], after: Level[_Before]) -> None:
        enabled = self.enabled_at(cut)
        left = self.known.left_of_all(cut)
        for (last, preemptions), here in probable.items():
            for thread, shares in self._shares(cut, enabled, last, left, self._bound - preemptions):
                if self.is_next(thread, cut):
                    is_barrier = self.events[thread][cut[thread]].barrier
                    costs = last in enabled and thread != last and not is_barrier
                    self.go_on(cut, thread, (thread, preemptions + costs), here, shares, after)

    def _shares(
        self, cut: Cut, enabled: Sequence[ThreadId], last: ThreadId, left: int, budget: int
    ) -> Iterator[tuple[ThreadId, Sequence[float]]]:
        """Yield the threads that may be drawn at a cut, with the probabilities of that."""
        if last not in enabled or cut in self.idle:
            for thread in enabled:
                yield thread, [1 / len(enabled)] * len(MANNERS)
            return
        index = cut[last]
        at_once = len(enabled) == 1 or self.events[last][index].kind in AT_ONCE
        switch = switches(left, 0 if at_once else budget, self.calm[last][index])
        yield last, [1 - share for share in switch]
        if budget and not at_once:
            for thread in enabled:
                if thread != last:
                    yield thread, [share / (len(enabled) - 1) for share in switch]
