"""The arrows between the threads of a run: happens-before without program order and without what follows by
transitivity."""

from __future__ import annotations

from dpor.core.explanation import Edge
from dpor.core.happens_before import HappensBefore
from dpor.core.operations import ThreadId


def edges(happens_before: HappensBefore) -> tuple[Edge, ...]:
    """Return the covering pairs of the relation that are of different threads, ordered by the later event.

    An event inherits what its thread's previous event knew. Of what it knows beyond that, the latest event of each
    other thread is a candidate, unless another candidate knows it.
    """
    threads, indices, clocks = happens_before.trace.threads, happens_before.indices, happens_before.clocks
    number: dict[tuple[ThreadId, int], int] = {}
    previous: dict[ThreadId, int] = {}
    found: list[Edge] = []
    for later, (thread, clock) in enumerate(zip(threads, clocks, strict=False)):
        known = clocks[previous[thread]] if thread in previous else []
        candidates = [
            number[other, index]
            for other, index in enumerate(clock)
            if other != thread and index > (known[other] if other < len(known) else 0)
        ]
        found += [
            Edge(one, later)
            for one in sorted(candidates)
            if not any(one != other and happens_before.before(one, other) for other in candidates)
        ]
        number[thread, indices[later]] = later
        previous[thread] = later
    return tuple(found)
