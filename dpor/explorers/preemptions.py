"""Counting preemptions: context switches away from a thread that could have gone on [MQ07].

Where time passes because nothing else can move, nobody is preempted. Whether an event is of this kind
(`Operation.barrier`) is known only once it has happened, so a search tells a point then (`PreemptionPoint.happened`).
"""

from __future__ import annotations

from dpor.core.operations import THREAD_MASK, Action, Operation, ThreadId
from dpor.explorers.tree import Node

NOBODY: ThreadId = -1
"""In place of a thread: no thread could go on."""


class PreemptionPoint:
    """A point of a trace, before one event.

    running   the thread that ran last, if it can go on; else `NOBODY`
    before    the number of preemptions in the trace up to here
    """

    __slots__ = ("before", "running")

    def __init__(self, running: ThreadId, before: int) -> None:
        self.running = running
        self.before = before

    def cost(self, action: Action) -> int:
        """Return how many preemptions (0 or 1) this action is here."""
        return int(self.running not in (NOBODY, action & THREAD_MASK))

    def within(self, most: int, enabled: int) -> int:
        """Return the mask of those enabled threads that may come next without exceeding `most` preemptions in all."""
        return enabled if self.running == NOBODY or self.before < most else 1 << self.running

    def happened(self, operation: Operation) -> None:
        """Called with the operation that has come next."""
        if operation.barrier:
            self.running = NOBODY

    def next(self, action: Action, enabled: int) -> PreemptionPoint:
        """Return the point after this action, at which the threads of the mask `enabled` can run."""
        thread = action & THREAD_MASK
        return PreemptionPoint(thread if enabled >> thread & 1 else NOBODY, self.before + self.cost(action))


START = PreemptionPoint(NOBODY, 0)
"""The point before the first event. It never changes, because no thread is running."""


def preemptions(node: Node) -> int:
    """Return the number of preemptions on the way to a node of the tree, its own step included."""
    count = 0
    for later in node.way():
        before = later.parent
        if before is not None and before.parent is not None and not later.operation.barrier:
            running = before.action & THREAD_MASK
            count += running != later.action & THREAD_MASK and before.enabled >> running & 1
    return count
