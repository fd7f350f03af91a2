"""Data races of one run: conflicting accesses of a memory location by two threads that no synchronisation orders.

A vector clock of synchronisation only, beside the one of `dpor.core.happens_before` (in which the accesses themselves
order events, so that it knows no data races). What orders is what rules give and take (`Rule.gives`): a lock given
back and taken, a notify and who it wakes, an event set and seen set, the end of a thread and its join; and the start
of a thread. [FF09, with the last accesses of every thread for each location, so that all pairs are found]

A race of a run is one of all equivalent runs. So a search that visits every trace class finds every data race.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from dpor.core.clocks import Clock, includes, join
from dpor.core.operations import WRITE, Location, Mode, Operation, ThreadId
from dpor.core.system import Trace


class DataRace(NamedTuple):
    """Two events, by their numbers in the trace."""

    earlier: int
    later: int


ADDING: Final = frozenset({"append", "appendleft", "extend", "extendleft", "popleft", "add"})
"""Kinds of operations on a container that are made to be called by several threads at once: each is indivisible, and
works whatever the others have added or taken. Two of them are no data race; one of them with any other access is."""


def data_races(trace: Trace, is_memory: Callable[[Location], bool]) -> list[DataRace]:
    """The data races of the run; of several accesses of one thread, the last before the other thread's.

    is_memory   is the location one of data, not a lock or the like?
    """
    clocks: dict[ThreadId, Clock] = {}
    given: dict[Location, Clock] = {}
    latest: dict[Location, dict[tuple[ThreadId, Mode], tuple[int, int]]] = {}
    found: dict[DataRace, None] = {}
    for position, (thread, operation) in enumerate(zip(trace.threads, trace.operations, strict=True)):
        clock = clocks.setdefault(thread, [])
        join(clock, [0] * (thread + 1))
        clock[thread] += 1
        _synchronise(trace, position, clock, given)
        if operation.starts >= 0:
            clocks[operation.starts] = clock.copy()
        for location, mode in operation.accesses:
            if is_memory(location):
                accesses = latest.setdefault(location, {})
                for (other, other_mode), (index, earlier) in accesses.items():
                    if (
                        other != thread
                        and (mode is WRITE or mode is not other_mode)
                        and not includes(clock, other, index)
                        and not _only_add(operation, trace.operations[earlier])
                    ):
                        found[DataRace(earlier, position)] = None
                accesses[thread, mode] = clock[thread], position
    return list(found)


def _synchronise(trace: Trace, position: int, clock: Clock, given: dict[Location, Clock]) -> None:
    operation, states = trace.operations[position], trace.befores[position]
    rule = operation.rule
    if rule is None or states is None or not (rule.takes or rule.gives):
        return
    if rule.succeeded(rule.apply(states, trace.threads[position])):
        for number in rule.takes:
            join(clock, given.get(operation.accesses[number][0], []))
        for number in rule.gives:
            join(given.setdefault(operation.accesses[number][0], []), clock)


def _only_add(a: Operation, b: Operation) -> bool:
    return a.kind in ADDING and b.kind in ADDING
