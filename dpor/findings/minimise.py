"""From a schedule that fails to a small one: fewest context switches, then fewest events, then the smallest choices.

A candidate is a *guide*: a list of actions that `dpor.core.schedule.prefer` follows where possible. Each is run, and
counts only if the run shows the same failure; what is kept is the run itself, never the guide. There are three
searches, one after the other:

1. *Regroup.* In a window of the schedule, put each thread's events together, in the order in which the threads come
first (or last) in it; windows range from the whole schedule down to three blocks of consecutive events. This is quick,
and all that is affordable for long schedules, but it ends in local minima.
2. *Count up.* Try all schedules with 0, 1, 2, ... switches, forced ones included, until one fails or the best known is
proved to be least. [MQ07, with all switches counted instead of preemptions only]
3. *Shrink.* Try other values of each data choice; switches that come earlier; then, if runs differ in length at all,
all shorter schedules with as few switches.

The budget is in events, not seconds, so that the same failure gives the same schedule on every machine. Inputs other
than data choices are not minimised.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, pairwise
from typing import Protocol

import attrs

from dpor.core.dependence import dependent
from dpor.core.errors import UserError
from dpor.core.operations import THREAD_MASK, VALUE_SHIFT, Action, ThreadId
from dpor.core.outcome import Finding
from dpor.core.schedule import follow, prefer
from dpor.core.system import STOP, Ending, Run, System, Trace

BUDGET = 30_000
"""Events to spend on one finding; half as many again on shrinking."""
COST_OF_RUN = 40
"""The cost of a run besides its events, in events."""


@attrs.frozen
class Minimised:
    """A schedule that shows the finding.

    least   True if no schedule with fewer switches shows it (with the same data choices)
    first   the schedule as it was found
    """

    schedule: tuple[Action, ...]
    switches: int
    least: bool
    first: tuple[Action, ...]


def switches(schedule: Sequence[Action]) -> int:
    """Count the context switches.

    >>> switches([0, 0, 1, 1, 0])
    2
    """
    return sum((a ^ b) & THREAD_MASK != 0 for a, b in pairwise(schedule))


def size(schedule: Sequence[Action]) -> tuple[int, int, int, tuple[int, ...]]:
    """Return what is minimised: switches, then events, then the sum of the values chosen, then each of them.

    >>> size([0, 1, 1 | 2 << VALUE_SHIFT])
    (1, 3, 2, (0, 0, 2))
    """
    values = tuple(action >> VALUE_SHIFT for action in schedule)
    return switches(schedule), len(schedule), sum(values), values


def minimise(
    system: System,
    schedule: Sequence[Action],
    finding: Finding,
    budget: int = BUDGET,
    enough: Callable[[], bool] = lambda: False,
) -> Minimised:
    """Return the smallest schedule that still shows this finding, within the budget (in events), and until `enough()`.
    One that needs no timeout is not exchanged for one that does.

    Raises what `System.run` raises.
    """

    def shows(run: Run) -> bool:
        return any(f.group == finding.group and f.needs_timeout <= finding.needs_timeout for f in run.findings)

    return smaller(system, schedule, shows, budget, enough)


def smaller(
    system: System,
    schedule: Sequence[Action],
    shows: Callable[[Run], bool],
    budget: int,
    enough: Callable[[], bool],
) -> Minimised:
    """Return the smallest schedule whose run still shows what this one's does, as `shows` tells."""
    attempt = _Attempt(system, shows, budget, tuple(schedule), enough)
    try:
        _regroup(attempt)
        least = _count_up(attempt)
    except _OutOfBudget:
        least = False
    attempt.budget = budget // 2
    with suppress(_OutOfBudget):
        _shrink(attempt)
    return Minimised(attempt.best, switches(attempt.best), least, tuple(schedule))


class _OutOfBudget(Exception):
    pass


@attrs.define
class _Attempt:
    """The best schedule so far, and the remaining budget. Invariant: `best` shows what is wanted.

    shows     returns True if a run shows it
    lengths   the lengths of all complete runs so far, in events
    """

    system: System
    shows: Callable[[Run], bool]
    budget: int
    best: tuple[Action, ...]
    enough: Callable[[], bool]
    lengths: set[int] = attrs.field(factory=set)

    def spend(self, events: int) -> None:
        self.budget -= events + COST_OF_RUN
        if self.budget < 0 or self.enough():
            raise _OutOfBudget

    def guide(self, actions: Sequence[Action]) -> bool:
        """Run a candidate; keep its run if it is better. Return True if it is."""
        trace = Trace()
        try:
            run = self.system.run(trace, prefer(actions))
        except UserError:  # the guide led the program to something that is not supported
            return False
        better = self.take(trace, run)
        self.spend(len(trace))
        return better

    def take(self, trace: Trace, run: Run) -> bool:
        """Keep this run if it is better. Return True if it is. A run that was ended by the clock could not be
        repeated."""
        if run.ending in (Ending.COMPLETE, Ending.SPINNING, Ending.DROPPED):
            self.lengths.add(len(trace))
        elif run.ending is not Ending.CUT:
            return False
        if not self.shows(run) or size(trace.actions) >= size(self.best):
            return False
        self.best = tuple(trace.actions)
        return True


# ---------------------------------------------------------------------- regroup

Block = list[Action]
"""Consecutive events of one thread."""


def _regroup(attempt: _Attempt) -> None:
    improved = True
    while improved:
        improved = False
        blocks = _blocks(attempt.best)
        size = len(blocks)
        while size >= 3 and not improved:
            improved = any(attempt.guide(guide) for guide in _regrouped(blocks, size))
            size = size // 2 if size > 6 else size - 1


def _blocks(schedule: Sequence[Action]) -> list[Block]:
    return [list(block) for _, block in groupby(schedule, lambda action: action & THREAD_MASK)]


def _regrouped(blocks: list[Block], size: int) -> Iterator[list[Action]]:
    step = max(1, size // 4)
    for start in range(0, len(blocks) - size + step, step):
        window = blocks[start : start + size]
        rest = blocks[start + size :]
        if len(window) < 3:
            continue
        for order in (_by_first, _by_last):
            yield [action for block in [*blocks[:start], *order(window), *rest] for action in block]


def _by_first(window: list[Block]) -> list[Block]:
    together: dict[ThreadId, Block] = {}
    for block in window:
        together.setdefault(block[0] & THREAD_MASK, []).extend(block)
    return list(together.values())


def _by_last(window: list[Block]) -> list[Block]:
    together: dict[ThreadId, Block] = {}
    for block in window:
        thread = block[0] & THREAD_MASK
        together[thread] = together.pop(thread, []) + block
    return list(together.values())


# ---------------------------------------------------------------------- count up


def _count_up(attempt: _Attempt) -> bool:
    """Return True when every smaller number of switches has been ruled out."""
    values = values_of(attempt.best)
    threads = len({action & THREAD_MASK for action in attempt.best})
    bound = max(0, threads - 1)
    while bound < switches(attempt.best):
        if not _with_switches(attempt, bound, values):
            bound += 1
    return True


def values_of(schedule: Sequence[Action]) -> dict[tuple[ThreadId, int], Action]:
    """Return the actions that carry a data choice, by thread and the position of the event within the thread."""
    counts: dict[ThreadId, int] = {}
    found = {}
    for action in schedule:
        thread = action & THREAD_MASK
        counts[thread] = index = counts.get(thread, 0) + 1
        if action != thread:
            found[thread, index] = action
    return found


@attrs.define
class _Point:
    """A point of the trace: the threads that can run there, those still to be tried, and the switches so far."""

    enabled: int
    left: int
    switches: int


def _with_switches(attempt: _Attempt, bound: int, values: dict[tuple[ThreadId, int], Action]) -> bool:
    """Search all schedules with at most `bound` switches that could be better, depth first, until one fails. True if
    one does."""
    trace = Trace()
    points: list[_Point] = []
    longest = sys.maxsize if bound < switches(attempt.best) else len(attempt.best) - 1

    def action_of(thread: ThreadId) -> Action:
        if not values:
            return thread
        index = sum(other == thread for other in trace.threads) + 1
        return values.get((thread, index), thread)

    def choose(enabled: int) -> Action:
        position = len(trace)
        if position >= longest:
            return STOP
        if position < len(points):
            point = points[position]
        else:
            last = 1 << trace.threads[-1] if trace.threads else 0
            used = points[-1].switches if points else 0
            if enabled & last:
                # Going on comes first; a switch is tried only while one is left.
                point = _Point(enabled, enabled if used < bound else last, used)
            elif last and used == bound:
                return STOP
            else:
                point = _Point(enabled, enabled, used)
            if is_needless(trace, points):
                return STOP
            points.append(point)
        last = 1 << trace.threads[-1] if trace.threads else 0
        chosen = last if point.left & last else point.left & -point.left
        point.left &= ~chosen
        before = points[position - 1].switches if position else 0
        point.switches = before + (last != 0 and chosen != last)
        return action_of(chosen.bit_length() - 1)

    while True:
        run = attempt.system.run(trace, choose)
        if attempt.take(trace, run):
            return True
        attempt.spend(len(trace))
        while points and not points[-1].left:
            points.pop()
        if not points:
            return False
        trace.cut(len(points) - 1)


class Choice(Protocol):
    """What is known of a point of a trace: the mask of the threads that can run there."""

    @property
    def enabled(self) -> int: ...


def is_needless(trace: Trace, points: Sequence[Choice]) -> bool:
    """True if the last event could have come before the switch away from its thread, which could have gone on.
    `points`: of the trace.

    It could if it depends on nothing that came in between. That schedule has no more switches and is examined, too.
    """
    threads = trace.threads
    end = len(threads) - 1
    if end < 1 or threads[end - 1] == threads[end]:
        return False
    before = end - 1
    while before >= 0 and threads[before] != threads[end]:
        before -= 1
    if before < 0 or not points[before + 1].enabled >> threads[end] & 1:
        return False
    last = trace.operations[end]
    return not any(dependent(last, between) for between in trace.operations[before + 1 : end])


# ---------------------------------------------------------------------- shrink


def _shrink(attempt: _Attempt) -> None:
    while _other_values(attempt) or _earlier_switches(attempt):
        pass
    while len(attempt.lengths) > 1:
        if not _with_switches(attempt, switches(attempt.best), values_of(attempt.best)):
            return


def _other_values(attempt: _Attempt) -> bool:
    """Try each data choice with each of its values. Return True if that improves."""
    trace = Trace()
    attempt.system.run(trace, follow(attempt.best))
    attempt.spend(len(trace))
    best = attempt.best
    for position, (action, operation) in enumerate(zip(trace.actions, trace.operations, strict=True)):
        for value in range(operation.alternatives if operation.alternatives > 1 else 0):
            other = action & THREAD_MASK | value << VALUE_SHIFT
            if other != action and attempt.guide([*best[:position], other, *best[position + 1 :]]):
                return True
    return False


def _earlier_switches(attempt: _Attempt) -> bool:
    """Leave each block after 0, 1, 2, 4, ... events: so a loop that waits for another thread is left earlier. Return
    True if that improves."""
    blocks = _blocks(attempt.best)
    for number, block in enumerate(blocks):
        left = 0
        while left < len(block):
            kept = [*blocks[:number], block[:left], *blocks[number + 1 :], block[left:]]
            if attempt.guide([action for part in kept for action in part]):
                return True
            left = left * 2 or 1
    return False
