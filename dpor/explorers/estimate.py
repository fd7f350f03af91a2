"""Estimates how many trace classes a program has, by random schedules.

A schedule that is drawn at random falls into a class with a certain probability p. The mean of 1/p over such schedules
is the number of classes, whatever their probabilities are: each class adds p times 1/p. (It is Knuth's way to estimate
the size of a tree, with classes in place of leaves.)

The p of a class is the sum over all its schedules. These all go through the *cuts* of the run's partial order: the sets
of events that contain what happens before any of them. So p is found by going through the cuts once, from the empty one
to the whole run. Which threads are enabled at a cut follows from the states that the run has recorded. That there are
fewer cuts, a thread that is about to start or join another, or to end, does so at once.

The more equal the probabilities are, the fewer schedules are enough. If each enabled thread is always as likely as the
others, threads seldom get far apart: what happens only if one runs on through a long critical section is so rare that
no schedule shows it. So threads are preferred whose next operation was never in a race before, and schedules are drawn
in several manners (`MANNERS`): evenly, by what threads have left to do, or so that each goes on for a while. All
manners are equally likely, so p is the mean of what each of them gives.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, zip_longest
from math import sqrt
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

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
MOST_LOOKS: Final = 400_000
"""How often it is asked for one estimate whether a thread is enabled at a cut. If that is not enough, there are fewer
schedules."""
ERRORS: Final = 3
"""How many standard errors a range goes down. (Where few classes are rare, two are too few.)"""
ERRORS_ABOVE: Final = 6
"""How many it goes up: what is drawn is far from symmetric, as the samples that are large are rare."""
MOST_TIMES: Final = 3
"""How often schedules are drawn in one search."""
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


Before = TypeVar("Before")
"""What matters of the events before a cut, such as the thread that ran last."""
Probable: TypeAlias = dict[Before, Sequence[float]]
"""How probable it is to come to a cut, by what matters before it, in each manner."""
Level: TypeAlias = dict[Cut, Probable[Before]]
"""How probable it is to come to some cuts."""
NOBODY: Final[ThreadId] = -1
"""In place of the thread that ran last, before the first event."""


class Manner(NamedTuple):
    """How schedules are drawn.

    stays       the probability with which the thread that ran last goes on if it can, come what may
    by_length   otherwise threads are drawn in proportion to the events that they have left; False: all equally
    """

    stays: float
    by_length: bool

    def shares(self, left: Sequence[int], calm: Sequence[bool], last: int) -> list[float]:
        """Return how probable each of some threads is to be drawn.

        left   how many events each has left
        calm   whether its next operation is calm
        last   the number in these lists of the thread that ran last, or -1
        """
        weights = [
            (events if self.by_length else 1) * (CALM if is_calm else 1)
            for events, is_calm in zip(left, calm, strict=True)
        ]
        moves = (1 - self.stays if last >= 0 else 1.0) / sum(weights)
        return [moves * weight + (self.stays if number == last else 0.0) for number, weight in enumerate(weights)]


CALM: Final = 100
"""How much more likely a thread is to be drawn if its next operation is calm: most of these then seem to belong to the
operation before them."""
MANNERS: Final = (Manner(0, False), Manner(0, True), Manner(0.75, False))
"""Each schedule is drawn in one of these manners, which are equally likely."""

Label: TypeAlias = tuple[str, Location]
"""What pending operations and those that have been performed have in common."""


def label(operation: Operation) -> Label:
    return operation.kind, operation.accesses[0][0] if operation.accesses else -1


class Known:
    """What earlier schedules tell of the next.

    lengths   the most events that each thread has had
    calm      operations that have been seen, and have never been in a race
    """

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.calm: set[Label] = set()
        self._racing: set[Label] = set()
        self._shares: dict[tuple[tuple[int, ...], tuple[bool, ...], int], list[tuple[float, ...]]] = {}

    def left(self, thread: ThreadId, events: int) -> int:
        """Return how many events may be left of a thread that has had so many."""
        return max(self.lengths[thread] - events, 1) if thread < len(self.lengths) else 1

    def left_of_all(self, events: Sequence[int]) -> int:
        """Return how many events may be left of all threads that have been seen, after so many of each."""
        return sum([max(length - had, 0) for length, had in zip(self.lengths, events, strict=False)])

    def shares(self, left: tuple[int, ...], calm: tuple[bool, ...], last: int) -> list[tuple[float, ...]]:
        """Return for each of some threads how probable it is to be drawn, in each manner: see `Manner.shares`."""
        shares = self._shares.get((left, calm, last))
        if shares is None:
            by_manner = [manner.shares(left, calm, last) for manner in MANNERS]
            shares = self._shares[left, calm, last] = [*zip(*by_manner, strict=True)]
        return shares

    def learn(self, trace: Trace) -> None:
        """Take note of a schedule."""
        threads, operations = trace.threads, trace.operations
        seen = [threads.count(thread) for thread in range(max(threads, default=-1) + 1)]
        self.lengths = [max(pair) for pair in zip_longest(self.lengths, seen, fillvalue=0)]
        for races in HappensBefore(trace).extend():
            for race in races:
                self._racing |= {label(operations[race.first]), label(race.operation)}
        self.calm |= {label(operation) for operation in operations}
        self.calm -= self._racing


class Draw(RandomWalk):
    """Schedules of which `PartialOrder` can tell how probable they are.

    looks     how often it has been asked for that whether a thread is enabled at a cut
    enabled   the threads that could run before each event of the trace
    """

    def __init__(self, system: System, seed: int) -> None:
        super().__init__(system, seed)
        self.known = Known()
        self.looks = 0
        self.enabled: list[int] = []

    def begin(self) -> None:
        self.known.learn(self.trace)

    def pick(self, enabled: int) -> ThreadId:
        del self.enabled[len(self.trace) :]
        self.enabled.append(enabled)
        return self.draw(enabled)

    @abstractmethod
    def draw(self, enabled: int) -> ThreadId:
        """Draw one of the threads in the mask."""

    def sample(self, run: Run, pace: Callable[[], None]) -> float | None:
        """Return 1/p for the class of a run that has just been drawn; None if that takes too many looks."""
        order = self.order(run, MOST_LOOKS - self.looks, pace)
        sample = order.inverse_probability()
        self.looks += order.looks
        return sample

    @abstractmethod
    def order(self, run: Run, most: int, pace: Callable[[], None]) -> PartialOrder[Any]:
        """Return the order of the run, with the probabilities with which threads are drawn. `most`: see `looks`."""


class _Draw(Draw):
    """Schedules drawn in several manners."""

    def __init__(self, system: System, seed: int) -> None:
        super().__init__(system, seed)
        self._manner = MANNERS[0]

    def begin(self) -> None:
        super().begin()
        self._manner = MANNERS[self.below(len(MANNERS))]

    def order(self, run: Run, most: int, pace: Callable[[], None]) -> PartialOrder[Any]:
        return _Order(self, run.blocked, most, pace)

    def draw(self, enabled: int) -> ThreadId:
        pending = {thread: operation for thread, operation, _ in self.system.pending()}
        threads = list(threads_of(enabled))
        for thread in threads:
            if pending[thread].kind in AT_ONCE:
                return thread
        ran = self.trace.threads
        last = threads.index(ran[-1]) if ran and ran[-1] in threads else -1
        left = [self.known.left(thread, ran.count(thread)) for thread in threads]
        calm = [label(pending[thread]) in self.known.calm for thread in threads]
        shares = self._manner.shares(left, calm, last)
        drawn = bisect(list(accumulate(shares)), self._random.random())
        return threads[min(drawn, len(threads) - 1)]


def walks(
    system: System, seed: int, pace: Callable[[], None] = take_your_time
) -> Iterator[tuple[Run, Trace, float | None]]:
    """Yield schedules drawn at random, and 1/p for the class of each; None if the schedule did not come to an end.

    pace   see `dpor.explorers.strategy.Explorer`
    """
    return drawn(_Draw(system, seed), MOST_WALKS, pace)


def drawn(draw: Draw, most: int, pace: Callable[[], None]) -> Iterator[tuple[Run, Trace, float | None]]:
    """Yield at most so many schedules and their samples: fewer if more would hardly change the mean."""
    samples: list[float] = []
    for number, run in enumerate(draw.explore(), 1):
        sample = draw.sample(run, pace) if run.ending in (Ending.COMPLETE, Ending.DROPPED) else None
        if sample is not None:
            samples.append(sample)
        yield run, draw.trace, sample
        if number >= most or draw.looks >= MOST_LOOKS or (number >= WALKS and is_steady(samples)):
            return


def is_to_be_repeated(guess: Estimate | None, executions: int, times: int) -> bool:
    """True if schedules should be drawn again, since the search has more executions than were estimated from those that
    have been drawn so many times."""
    return guess is not None and executions > guess.high and times < MOST_TIMES


def is_steady(samples: Sequence[float]) -> bool:
    """True if more samples would hardly change the mean."""
    guess = estimate(samples)
    return guess is not None and guess.likely > 0 and guess.high - guess.likely <= ERRORS_ABOVE * STEADY * guess.likely


class PartialOrder(Generic[Before]):
    """The partial order of a run, and what is known of the states along it.

    looks    how often it has been asked whether a thread is enabled at a cut; `most`, how often that may be
    length   of the run
    events   by thread: its events, then the operation that it waits for at the end, if any
    needs    by event: how many events of each thread happen before it
    calm     as `events`: whether the operation is calm
    idle     the cuts at which nothing can move and time passes, with the threads of which one may time out then
    """

    def __init__(self, draw: Draw, blocked: Sequence[Pending], most: int, pace: Callable[[], None]) -> None:
        self.looks, self.most, self.pace, self.known = 0, most, pace, draw.known
        trace = draw.trace
        clocks = HappensBefore(trace)
        clocks.clocks_only = True
        clocks.extend()
        waiting = {pending.thread: pending for pending in blocked}
        threads = 1 + max([0, *trace.threads, *waiting, *(operation.starts for operation in trace.operations)])
        self.length = len(trace)
        self.events: list[list[Operation]] = [[] for _ in range(threads)]
        self.needs: list[list[Cut]] = [[] for _ in range(threads)]
        self._starts: dict[ThreadId, tuple[ThreadId, int]] = {}
        self._states: dict[Location, list[tuple[ThreadId, int, object]]] = defaultdict(list)
        self._last: dict[Location, object] = {}
        self.idle: dict[Cut, list[ThreadId]] = {}
        for thread, index, clock, operation, before, enabled in zip(
            trace.threads, clocks.indices, clocks.clocks, trace.operations, trace.befores, draw.enabled, strict=True
        ):
            need = [*clock[:threads], *([0] * (threads - len(clock)))]
            need[thread] -= 1
            self.events[thread].append(operation)
            self.needs[thread].append(tuple(need))
            if operation.barrier:  # everything that can happen has happened
                self.idle[tuple(need)] = list(threads_of(enabled))
            if operation.starts >= 0:
                self._starts[operation.starts] = thread, index
            if before is not None:
                for (location, _), state in zip(operation.accesses, before, strict=True):
                    self._states[location].append((thread, index, state))
        for thread, (_, operation, states) in waiting.items():
            self.events[thread].append(operation)
            self._last.update(zip((location for location, _ in operation.accesses), states, strict=True))
        self.calm = [[label(operation) in self.known.calm for operation in events] for events in self.events]

    def inverse_probability(self) -> float | None:
        """Return one divided by the probability of the run's class; None if there are too many cuts."""
        first = self.first()
        level: Level[Before] = {(0,) * len(self.events): first}
        for _ in range(self.length):
            after: Level[Before] = {}
            for cut, probable in level.items():
                self.pace()
                self.looks += len(cut)
                if self.looks > self.most:
                    return None
                self.extend(cut, probable, after)
            level = after
        return _sum(first) / max(sum(map(_sum, level.values())), LEAST)

    @abstractmethod
    def first(self) -> Probable[Before]:
        """Return how probable the empty cut is."""

    @abstractmethod
    def extend(self, cut: Cut, probable: Probable[Before], after: Level[Before]) -> None:
        """Add to `after` the cuts that have one more event than a cut, which is so probable."""

    def go_on(
        self,
        cut: Cut,
        thread: ThreadId,
        before: Before,
        here: Sequence[float],
        shares: Sequence[float],
        after: Level[Before],
    ) -> None:
        """Add to `after` the cut that has the thread's next event, too.

        before   what matters before that cut
        here     how probable this one is in each manner, and `shares`, that the thread is drawn at it
        """
        index = cut[thread]
        many = self.events[thread][index].alternatives
        then = after.setdefault((*cut[:thread], index + 1, *cut[thread + 1 :]), {})
        more = [h * share / many for h, share in zip(here, shares, strict=True)]
        then[before] = [*map(float.__add__, then[before], more)] if before in then else more

    def is_next(self, thread: ThreadId, cut: Cut) -> bool:
        """True if the run has an event of the thread that can be the next after the cut."""
        index, needs = cut[thread], self.needs[thread]
        return index < len(needs) and all(map(int.__ge__, cut, needs[index]))

    def enabled_at(self, cut: Cut) -> list[ThreadId]:
        """Return the threads that can run at a cut."""
        idle = self.idle.get(cut)
        return [thread for thread in range(len(cut)) if self._is_enabled(thread, cut)] if idle is None else idle

    def _is_enabled(self, thread: ThreadId, cut: Cut) -> bool:
        events, index = self.events[thread], cut[thread]
        if index == len(events):
            return False
        starter, at = self._starts.get(thread, (0, 0))
        if cut[starter] < at:
            return False
        operation = events[index]
        if operation.rule is None:
            return not operation.barrier
        return operation.enabled(tuple(self._state(location, cut) for location, _ in operation.accesses))

    def _state(self, location: Location, cut: Cut) -> object:
        """Return the state of a synchronisation object at the cut: what the first event that is not in it has seen."""
        for thread, index, state in self._states[location]:
            if cut[thread] < index:
                return state
        return self._last.get(location)


def _sum(probable: Probable[Any]) -> float:
    return sum(map(sum, probable.values()))


class _Order(PartialOrder[ThreadId]):
    """The order of a run, without a bound. What matters before a cut is the thread that ran last."""

    def first(self) -> Probable[ThreadId]:
        return {NOBODY: (1.0,) * len(MANNERS)}

    def extend(self, cut: Cut, probable: Probable[ThreadId], after: Level[ThreadId]) -> None:
        drawn = self._drawn_from(cut)
        calm = tuple([self.calm[thread][cut[thread]] for thread in drawn])
        left = tuple([self.known.left(thread, cut[thread]) for thread in drawn])
        for number, thread in enumerate(drawn):
            if not self.is_next(thread, cut):
                continue
            for last, here in probable.items():
                shares = self.known.shares(left, calm, drawn.index(last) if last in drawn else -1)[number]
                self.go_on(cut, thread, thread, here, shares, after)

    def _drawn_from(self, cut: Cut) -> list[ThreadId]:
        """Return the threads of which one is drawn at the cut."""
        enabled = self.enabled_at(cut)
        at_once = [thread for thread in enabled if self.events[thread][cut[thread]].kind in AT_ONCE]
        return at_once[:1] or enabled
