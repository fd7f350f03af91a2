"""Estimates how many trace classes a program has, by random schedules.

A schedule that is drawn at random, each enabled thread as likely as the others, falls into a class with a certain
probability p. The mean of 1/p over such schedules is the number of classes, whatever their probabilities are: each
class adds p times 1/p. (It is Knuth's way to estimate the size of a tree, with classes in place of leaves.)

The p of a class is the sum over all its schedules. These all go through the *cuts* of the run's partial order: the sets
of events that contain what happens before any of them. So p is found by going through the cuts once, from the empty one
to the whole run. Which threads are enabled at a cut follows from the states that the run has recorded. That there are
fewer cuts, a thread that is about to start or join another, or to end, does so at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from typing import Final, TypeAlias

from dpor.core.happens_before import HappensBefore
from dpor.core.operations import Location, Operation, ThreadId
from dpor.core.results import Estimate
from dpor.core.system import Ending, Pending, Run, System, Trace
from dpor.explorers.random_walk import RandomWalk
from dpor.explorers.search import take_your_time, threads_of

WALKS: Final = 60
"""Schedules that are drawn for one estimate, ..."""
MOST_WALKS: Final = 300
"""... and how many at most, if few of them make up most of the sum."""
STEADY: Final = 0.15
"""The standard error, as a share of the mean, from which on no more are drawn."""
FEWEST_WALKS: Final = 5
MOST_LOOKS: Final = 600_000
"""How often it is asked for one estimate whether a thread is enabled at a cut. If that is not enough, there are fewer
schedules."""
ERRORS: Final = 3
"""How many standard errors a range goes down. (Where few classes are rare, two are too few.)"""
ERRORS_ABOVE: Final = 6
"""How many it goes up: what is drawn is far from symmetric, as the samples that are large are rare."""
LEAST: Final = 1e-100
"""The least probability that matters."""
AT_ONCE: Final = frozenset({"start", "end", "join"})
"""The kinds of operation that other threads hardly ever look at."""

Cut: TypeAlias = tuple[int, ...]
"""How many events of each thread have happened."""


def estimate(samples: Sequence[float]) -> Estimate | None:
    """Return the estimate from the 1/p of some schedules, with its range; None if they are too few."""
    count = len(samples)
    if count < FEWEST_WALKS:
        return None
    mean = sum(samples) / count
    error = sqrt(sum((sample - mean) ** 2 for sample in samples) / (count * (count - 1)))
    return Estimate(max(mean - ERRORS * error, mean / 10, 1.0), mean, mean + ERRORS_ABOVE * error)


class _Draw(RandomWalk):
    """Schedules of which `_Order` can tell how probable they are."""

    def pick(self, enabled: int) -> ThreadId:
        ready = {thread for thread, operation, _ in self.system.pending() if operation.kind in AT_ONCE}
        return next((thread for thread in threads_of(enabled) if thread in ready), super().pick(enabled))


def walks(
    system: System, seed: int, pace: Callable[[], None] = take_your_time
) -> Iterator[tuple[Run, Trace, float | None]]:
    """Yield schedules drawn at random, and 1/p for the class of each; None if the schedule did not come to an end.

    pace   see `dpor.explorers.strategy.Explorer`
    """
    draw, looks, samples = _Draw(system, seed), 0, list[float]()
    for number, run in enumerate(draw.explore(), 1):
        sample = None
        if run.ending is Ending.COMPLETE:
            order = _Order(draw.trace, run.blocked, MOST_LOOKS - looks, pace)
            sample = order.inverse_probability()
            looks += order.looks
            if sample is not None:
                samples.append(sample)
        yield run, draw.trace, sample
        if number >= MOST_WALKS or looks >= MOST_LOOKS or (number >= WALKS and is_steady(samples)):
            return


def is_steady(samples: Sequence[float]) -> bool:
    """True if more samples would hardly change the mean."""
    guess = estimate(samples)
    return guess is not None and guess.high - guess.likely <= ERRORS_ABOVE * STEADY * guess.likely


class _Order:
    """The partial order of a run, and what is known of the states along it.

    looks    how often it has been asked whether a thread is enabled at a cut
    events   by thread: its events, then the operation that it waits for at the end, if any
    needs    by event: how many events of each thread happen before it
    """

    def __init__(self, trace: Trace, blocked: Sequence[Pending], most: int, pace: Callable[[], None]) -> None:
        self.looks, self._most, self._pace = 0, most, pace
        clocks = HappensBefore(trace)
        clocks.clocks_only = True
        clocks.extend()
        waiting = {pending.thread: pending for pending in blocked}
        threads = 1 + max([0, *trace.threads, *waiting, *(operation.starts for operation in trace.operations)])
        self._length = len(trace)
        self._events: list[list[Operation]] = [[] for _ in range(threads)]
        self._needs: list[list[Cut]] = [[] for _ in range(threads)]
        self._starts: dict[ThreadId, tuple[ThreadId, int]] = {}
        self._states: dict[Location, list[tuple[ThreadId, int, object]]] = defaultdict(list)
        self._last: dict[Location, object] = {}
        for thread, index, clock, operation, before in zip(
            trace.threads, clocks.indices, clocks.clocks, trace.operations, trace.befores, strict=True
        ):
            need = [*clock[:threads], *([0] * (threads - len(clock)))]
            need[thread] -= 1
            self._events[thread].append(operation)
            self._needs[thread].append(tuple(need))
            if operation.starts >= 0:
                self._starts[operation.starts] = thread, index
            if before is not None:
                for (location, _), state in zip(operation.accesses, before, strict=True):
                    self._states[location].append((thread, index, state))
        for thread, (_, operation, states) in waiting.items():
            self._events[thread].append(operation)
            self._last.update(zip((location for location, _ in operation.accesses), states, strict=True))

    def inverse_probability(self) -> float | None:
        """Return one divided by the probability of the run's class; None if there are too many cuts."""
        level: dict[Cut, float] = {(0,) * len(self._events): 1.0}
        for _ in range(self._length):
            after: dict[Cut, float] = defaultdict(float)
            for cut, probability in level.items():
                enabled = self._drawn_from(cut)
                for thread in enabled:
                    index, needs = cut[thread], self._needs[thread]
                    if index < len(needs) and all(map(int.__ge__, cut, needs[index])):
                        share = len(enabled) * self._events[thread][index].alternatives
                        after[(*cut[:thread], index + 1, *cut[thread + 1 :])] += probability / share
            level = after
            self._pace()
            self.looks += len(level) * len(self._events)
            if self.looks > self._most or not level:
                return None
        return 1 / max(sum(level.values()), LEAST)

    def _drawn_from(self, cut: Cut) -> list[ThreadId]:
        """Return the threads of which one is drawn at the cut, each with the same probability."""
        enabled = [thread for thread in range(len(cut)) if self._is_enabled(thread, cut)]
        at_once = [thread for thread in enabled if self._events[thread][cut[thread]].kind in AT_ONCE]
        return at_once[:1] or enabled

    def _is_enabled(self, thread: ThreadId, cut: Cut) -> bool:
        events, index = self._events[thread], cut[thread]
        if index == len(events):
            return False
        starter, at = self._starts.get(thread, (0, 0))
        if cut[starter] < at:
            return False
        operation = events[index]
        if operation.rule is None:
            return not operation.barrier or all(map(int.__ge__, cut, self._needs[thread][index]))
        return operation.enabled(tuple(self._state(location, cut) for location, _ in operation.accesses))

    def _state(self, location: Location, cut: Cut) -> object:
        """Return the state of a synchronisation object at the cut: what the first event that is not in it has seen."""
        for thread, index, state in self._states[location]:
            if cut[thread] < index:
                return state
        return self._last.get(location)
