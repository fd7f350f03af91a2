"""Which two events to mark in a failing run: the race whose other order would have been fine.

The races of the run are tried, latest first: the run is repeated with the later event of the race before the earlier
one, and the rest as it was where possible. The first race whose reversal makes the failure vanish is the one to mark;
if none does, the latest race. Only an aid to reading: no verdict depends on it.
"""

from __future__ import annotations

from typing import NamedTuple

from dpor.errors import UserError
from dpor.happens_before import HappensBefore
from dpor.operations import Action
from dpor.outcome import Finding
from dpor.schedule import prefer
from dpor.system import Run, System, Trace

TRIES = 24
"""Races to try."""


class RacingPair(NamedTuple):
    """Numbers of events of the trace; `later` is None where the later operation stayed blocked."""

    earlier: int
    later: int | None


def racing_pair(system: System, trace: Trace, run: Run, finding: Finding) -> RacingPair | None:
    """The pair to mark in this run, which shows the finding; None if it has no race."""
    latest: RacingPair | None = None
    happens_before = HappensBefore(trace)
    for pair, action in _races(happens_before, trace, run)[:TRIES]:
        latest = latest or pair
        if not _fails(system, _reversed(happens_before, trace, pair, action), finding):
            return pair
    return latest


def _races(happens_before: HappensBefore, trace: Trace, run: Run) -> list[tuple[RacingPair, Action]]:
    found = [
        (RacingPair(race.first, later), trace.actions[later])
        for later, races in enumerate(happens_before.extend())
        for race in races
    ]
    for thread, operation, states in run.blocked:
        found += [(RacingPair(race.first, None), thread) for race in happens_before.races_of(thread, operation, states)]
    found.reverse()
    return found


def _reversed(happens_before: HappensBefore, trace: Trace, pair: RacingPair, action: Action) -> list[Action]:
    """A guide: what does not come after the earlier event, then the later one, then the rest."""
    earlier, later = pair
    end = len(trace) if later is None else later
    free = happens_before.not_after(earlier, end)
    placed = {*range(earlier), *free} | ({later} if later is not None else set())
    first = [trace.actions[i] for i in [*range(earlier), *free]]
    rest = [trace.actions[i] for i in range(len(trace)) if i not in placed]
    return [*first, action, *rest]


def _fails(system: System, guide: list[Action], finding: Finding) -> bool:
    try:
        run = system.run(Trace(), prefer(guide))
    except UserError:
        return True
    return any(other.group == finding.group for other in run.findings)
