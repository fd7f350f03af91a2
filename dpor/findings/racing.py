"""Which orders of a failing run matter: its races, each tried in the other order; and which two events to mark.

The races of the run are tried, latest first: the run is repeated with the later event of the race before the earlier
one, and the rest unchanged as far as possible. The first race whose reversal makes the failure disappear is marked; if
none does, the latest race. This only helps the reader: no verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dpor.core.explanation import EventOrder, Explanation, Reordering
from dpor.core.happens_before import HappensBefore
from dpor.core.operations import Action
from dpor.core.outcome import Finding, Kind
from dpor.core.system import Run, System, Trace
from dpor.findings.edges import edges
from dpor.findings.whenever import Schedules, learn_condition

TRIES = 24
"""The number of races to try."""


class RacingPair(NamedTuple):
    """Positions of two events of the trace; `later` is None if the later operation stayed blocked."""

    earlier: int
    later: int | None


def orders_of(
    system: System, trace: Trace, run: Run, finding: Finding, enough: Callable[[], bool] = lambda: False
) -> tuple[RacingPair | None, Explanation]:
    """Return the pair to mark in this failing run (None if it has no race), and what its orders show."""
    happens_before = HappensBefore(trace)
    races = _races(happens_before, trace, run)
    if finding.events is not None:  # a data race: the finding is that the two are not ordered
        return RacingPair(*finding.events), Explanation(edges(happens_before))
    if finding.kind is Kind.LIVELOCK:  # the finding is the cycle, not an order
        return None, Explanation(edges(happens_before))
    schedules = Schedules(system, trace, run, finding, enough)
    tried: list[Reordering] = []
    for order, action in races[:TRIES]:
        if schedules.is_over():
            break
        tried.append(Reordering(order, schedules.guide(_reversed(happens_before, trace, order, action))))
    marked = next((one.order for one in tried if one.fails is False), races[0][0] if races else None)
    pair = None if marked is None else RacingPair(marked.earlier, marked.later)
    whenever = learn_condition(schedules) if races else ()
    return pair, Explanation(
        edges=edges(happens_before),
        reorderings=tuple(tried),
        untried=len(races) - len(tried),
        whenever=whenever,
        held=(schedules.all_hold(whenever) & schedules.fails).bit_count() if whenever else 0,
        schedules=schedules.count,
        failing=schedules.fails.bit_count(),
    )


def _races(happens_before: HappensBefore, trace: Trace, run: Run) -> list[tuple[EventOrder, Action]]:
    """Return the races, latest first, each with the action that performs the later operation."""
    found = [
        (EventOrder(race.first, later, trace.threads[later]), trace.actions[later])
        for later, races in enumerate(happens_before.extend())
        for race in races
    ]
    for thread, operation, states in run.blocked:
        races = happens_before.races_of(thread, operation, states)
        found += [(EventOrder(race.first, None, thread), thread) for race in races]
    found.reverse()
    return found


def _reversed(happens_before: HappensBefore, trace: Trace, order: EventOrder, action: Action) -> list[Action]:
    """Make a guide: first what does not come after the earlier event, then the later event, then the rest."""
    earlier, later = order.earlier, order.later
    end = len(trace) if later is None else later
    free = happens_before.not_after(earlier, end)
    placed = {*range(earlier), *free} | ({later} if later is not None else set())
    first = [trace.actions[i] for i in [*range(earlier), *free]]
    rest = [trace.actions[i] for i in range(len(trace)) if i not in placed]
    return [*first, action, *rest]
