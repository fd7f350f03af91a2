"""The part of virtual time that the future depends on: each thread's clock, and for each location the time that an
access of it passes on."""

from __future__ import annotations

from typing import Any

from dpor.core.operations import READ, UPDATE, Location, ThreadId
from dpor.python.kernel.run import run


def clocks() -> list[Any]:
    """List the threads' times, and for each location the time that a read, update or write of it passes on to its
    thread.

    Empty while nobody's clock has moved.
    """
    if not run.virtual_time.advances:
        return []
    now: dict[ThreadId, float] = {}
    done: dict[ThreadId, int] = {}
    left: dict[Location, list[float]] = {}  # by mode: the latest time of an access of that mode
    trace = run.trace
    for thread, operation in zip(trace.threads[: run.position], trace.operations[: run.position], strict=True):
        index = done[thread] = done.get(thread, 0) + 1
        time = max(now.values(), default=0.0) if operation.barrier else now.get(thread, 0.0)
        for location, mode in operation.accesses:
            for other, passed in enumerate(left.get(location, ())):
                if mode != other or (mode is not READ and mode is not UPDATE):
                    time = max(time, passed)
        for at, moved in run.virtual_time.advances.get(thread, ()):
            if at <= index:
                time = max(time, moved)
        now[thread] = time
        if operation.starts >= 0:
            now[operation.starts] = time
        if time:
            for location, mode in operation.accesses:
                times = left.setdefault(location, [0.0, 0.0, 0.0])
                times[mode] = max(times[mode], time)
    for thread, advances in run.virtual_time.advances.items():
        now[thread] = max(now.get(thread, 0.0), *[moved for _, moved in advances])
    return [sorted(now.items()), sorted((location, *times) for location, times in left.items())]
