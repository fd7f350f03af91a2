"""Vector clocks: how many events of each thread have happened before. A list, indexed by thread; absent means 0."""

from __future__ import annotations

from typing import TypeAlias

from dpor.core.operations import ThreadId

Clock: TypeAlias = list[int]


def includes(clock: Clock, thread: ThreadId, index: int) -> bool:
    """True if the `index`-th event (from 1) of the thread is in the clock."""
    return thread < len(clock) and clock[thread] >= index


def join(clock: Clock, other: Clock) -> None:
    """Raise each component of `clock` to that of `other`, if it is smaller.

    >>> clock = [1, 5]
    >>> join(clock, [2, 3, 1])
    >>> clock
    [2, 5, 1]
    """
    if len(other) > len(clock):
        clock.extend([0] * (len(other) - len(clock)))
    for thread, index in enumerate(other):
        if index > clock[thread]:
            clock[thread] = index
