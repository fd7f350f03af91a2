"""Queues. The state of a queue is how many items it has; that of a second object, how many of the items that were ever
put into it are not yet done with.
"""

from __future__ import annotations

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, Mode, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class Put(BaseRule):
    """Put an item into the queue. Objects: the queue, the unfinished tasks. Result: False if there is no room.

    size         how many items there is room for; 0: for any number
    or_timeout   the variant that never waits
    """

    name = "put"
    modes = (WRITE, UPDATE)
    gives = (0,)
    size: int = 0
    or_timeout: bool = False

    def has_room(self, states: States) -> bool:
        return self.size <= 0 or states[0] < self.size

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return self.or_timeout or self.has_room(states)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if not self.has_room(states):
            return Effect(states, (READ, UPDATE), False)
        count, unfinished = states
        return Effect((count + 1, unfinished + 1), (WRITE, UPDATE), True)


@attrs.frozen
class Get(BaseRule):
    """Take an item out of the queue. Result: False if there is none."""

    name = "get"
    modes = (WRITE,)
    takes = (0,)
    or_timeout: bool = False

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return self.or_timeout or states[0] > 0

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if not states[0]:
            return Effect(states, (READ,), False)
        return Effect((states[0] - 1,), (WRITE,), True)


@attrs.frozen
class TaskDone(BaseRule):
    """One task is done. Object: the unfinished tasks. Result: False if there are none.

    owed   True if the thread has taken an item for which it has not done this yet, and every thread only does it
           then. So there is an unfinished task whenever it does, and the order of these and of puts does not matter
    """

    name = "task done"
    gives = (0,)
    owed: bool

    @property
    def modes(self) -> tuple[Mode, ...]:  # type: ignore[override]
        return (UPDATE,) if self.owed else (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] <= 0:
            return Effect(states, (READ,), False)
        return Effect((states[0] - 1,), self.modes, True)


@attrs.frozen
class AwaitTasks(BaseRule):
    """Wait until no task is unfinished. Object: the unfinished tasks."""

    name = "await tasks"
    modes = (READ,)
    takes = (0,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return not states[0]

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), None)
