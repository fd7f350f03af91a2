"""Which accesses branch most: where a search that was not finished has most of its alternatives from."""

from __future__ import annotations

from collections import Counter
from typing import Final

from dpor.core.operations import Location
from dpor.core.results import Branching
from dpor.core.system import Trace
from dpor.findings.explain import Checkable

MOST: Final = 3
LEAST_SHARE: Final = 0.1
FEWEST: Final = 50
"""Alternatives. Of fewer, nothing is told."""


def branching_most(system: Checkable, counts: Counter[Location], trace: Trace) -> tuple[Branching, ...]:
    """Return the accesses with the largest shares of the alternatives.

    counts   how many alternatives are about each location
    trace    a run, which is repeated to describe accesses. Raises what that raises
    """
    total = counts.total()
    if total < FEWEST:
        return ()
    wanted = [(location, number) for location, number in counts.most_common(MOST) if number >= LEAST_SHARE * total]
    steps = system.describe(trace.copy()).steps
    found = []
    for location, number in wanted:
        at = _access(trace, location)
        if at is not None and at < len(steps):
            step = steps[at]
            found.append(Branching(round(number / total, 3), step.operation, step.file, step.line, step.source))
    return tuple(found)


def _access(trace: Trace, location: Location) -> int | None:
    """Return the position of an access to the location, of another thread than the first if there is one."""
    positions = [
        position
        for position, operation in enumerate(trace.operations)
        if any(each == location for each, _ in operation.accesses)
    ]
    return min(positions, key=lambda position: (trace.threads[position] == 0, position), default=None)
