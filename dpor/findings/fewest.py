"""For each result of a program the schedule with the fewest context switches that gives it.

All schedules are tried that have 0 switches, then 1, 2, ... [MQ07, with all switches counted, forced ones too], with
every value of each data choice, until each result has come up: the first schedule to show one has the fewest. A switch
whose event could as well come before it is not tried (`minimise.is_needless`). One such search serves all results; for
those that it has not met when its budget is spent, the schedule under which they were found is made smaller, each by
itself (`minimise.smaller`).

The budget is in events, so that schedules are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from dpor.core.operations import THREAD_MASK, VALUE_SHIFT, Action
from dpor.core.system import STOP, Run, System, Trace
from dpor.findings.minimise import COST_OF_RUN, is_needless, smaller, switches

BUDGET = 100_000
"""Events for the common search, ..."""
BUDGET_ALONE = 60_000
"""... and for all results that are left."""


@attrs.frozen
class Fewest:
    """A schedule that gives a result. `least`: True if none with fewer switches does."""

    schedule: tuple[Action, ...]
    switches: int
    least: bool


def fewest(
    system: System,
    seen: Mapping[str, Sequence[Action]],
    result: Callable[[Run], str | None],
    enough: Callable[[], bool],
) -> dict[str, Fewest]:
    """Return a schedule for each result.

    seen     the results, each with a schedule that gives it
    result   returns the result of a run; None if it has none
    enough   returns True when the time is over: then schedules stay as they are

    Raises what `System.run` raises.
    """
    found: dict[str, Fewest] = {}
    missing = dict(seen)
    spent, bound = 0, 0
    while missing and spent <= BUDGET and not enough():
        for trace, run in within(system, bound):
            spent += len(trace) + COST_OF_RUN
            known = result(run)
            if known in missing:
                del missing[known]
                found[known] = Fewest(tuple(trace.actions), switches(trace.actions), least=True)
                if not missing:
                    break
            if spent > BUDGET or enough():
                break
        bound += 1
    for known, schedule in missing.items():
        if enough():
            small = tuple(schedule)
        else:
            small = smaller(system, schedule, _gives(known, result), BUDGET_ALONE // len(missing), enough).schedule
        found[known] = Fewest(small, switches(small), least=False)
    return found


def _gives(wanted: str, result: Callable[[Run], str | None]) -> Callable[[Run], bool]:
    return lambda run: result(run) == wanted


@attrs.define
class _Point:
    """A point of the trace: the threads that can run there, the actions still to be tried, the switches so far."""

    enabled: int
    left: list[Action]
    switches: int


def within(system: System, bound: int) -> Iterator[tuple[Trace, Run]]:
    """Run all schedules with at most `bound` switches, depth first, but for those with needless ones: yield each run
    with its trace, also one that was stopped because it would need more switches."""
    trace = Trace()
    points: list[_Point] = []

    def choose(enabled: int) -> Action:
        position = len(trace)
        if position == len(points):
            last = trace.threads[-1] if trace.threads else None
            used = points[-1].switches if points else 0
            goes_on = last is not None and enabled >> last & 1
            if used == bound and last is not None:
                if not goes_on:
                    return STOP
                enabled_now = 1 << last
            else:
                enabled_now = enabled
            if is_needless(trace, points):
                return STOP
            points.append(_Point(enabled, _actions(system, enabled_now, last), used))
        point = points[position]
        action = point.left.pop()
        before = points[position - 1].switches if position else 0
        switched = position and (action ^ trace.actions[position - 1]) & THREAD_MASK
        point.switches = before + bool(switched)
        return action

    while True:
        yield trace, system.run(trace, choose)
        while points and not points[-1].left:
            points.pop()
        if not points:
            return
        trace.cut(len(points) - 1)


def _actions(system: System, threads: int, last: int | None) -> list[Action]:
    """Return the actions of these threads, in the order in which they are to be tried from the end: going on comes
    first."""
    alternatives = {pending.thread: pending.operation.alternatives for pending in system.pending()}
    order = [thread for thread in range(threads.bit_length()) if threads >> thread & 1 and thread != last]
    if last is not None and threads >> last & 1:
        order.insert(0, last)
    tried = [thread | value << VALUE_SHIFT for thread in order for value in range(max(1, alternatives.get(thread, 1)))]
    return tried[::-1]
