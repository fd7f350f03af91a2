"""Counting preemptions: context switches away from a thread that could have gone on [MQ07].

Time that passes where nothing else can move preempts nobody: that an event was one (`Operation.barrier`) shows when it
has happened, so points are told then (`Point.happened`).
"""

from __future__ import annotations

from dpor.core.operations import THREAD_MASK, Action, Operation, ThreadId

NOBODY: ThreadId = -1


class Point:
    """A point of a trace, before one event.

    running   the thread that ran last and could go on; `NOBODY` if there is none
    before    preemptions of the trace up to here
    """

    __slots__ = ("before", "running")

    def __init__(self, running: ThreadId, before: int) -> None:
        self.running = running
        self.before = before

    def cost(self, action: Action) -> int:
        """How many preemptions (0 or 1) this action is here."""
        return int(self.running not in (NOBODY, action & THREAD_MASK))

    def within(self, most: int, enabled: int) -> int:
        """Those of the enabled threads that may come next with at most so many preemptions in all."""
        return enabled if self.running == NOBODY or self.before < most else 1 << self.running

    def happened(self, operation: Operation) -> None:
        """This came next."""
        if operation.barrier:
            self.running = NOBODY

    def next(self, action: Action, enabled: int) -> Point:
        """The point after this action, where these threads can run."""
        thread = action & THREAD_MASK
        return Point(thread if enabled >> thread & 1 else NOBODY, self.before + self.cost(action))


START = Point(NOBODY, 0)
"""Before the first event. Never changes: nobody is running."""
