"""Data races of one run: conflicting accesses of a memory location by two threads that no synchronisation orders.

They are found with a second vector clock beside that of `dpor.core.happens_before`, where the accesses themselves order
events, so that no two conflicting accesses are unordered. In this one, only synchronisation orders events: what rules
give and take (`Rule.gives`), such as a lock released and acquired, a notify and the thread that it wakes, an event set
and seen set, the end of a thread and its join; and the start of a thread. [FF09, with the last accesses of every thread
for each location, so that all pairs are found]

All equivalent runs have the same data races. So a search that visits every trace class finds every data race.
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
"""Kinds of operations on a container that are meant to be called by several threads at once: each is indivisible, and
correct whatever the others have added or taken. Two of them are no data race; one of them and any other access are."""


def data_races(trace: Trace, is_memory: Callable[[Location], bool]) -> list[DataRace]:
    """Return the data races of the run. Of several accesses of one thread, the last before the other thread's is taken.

    is_memory   tells whether a location holds data, as opposed to a lock or the like
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
