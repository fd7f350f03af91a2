"""Queues. The state of a queue is how many items it has; that of a second object, how many of the items that were ever
put into it are not yet done with. Where a thread feeds a queue with what is put into it, the state of a third object is
how many items that thread has still to move.
"""

from __future__ import annotations

from typing import Final

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, Mode, States, ThreadId
from dpor.primitives.rules import Around, BaseRule


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


# ---------------------------------------------------------------------- queues that a thread feeds

NO_FEEDER: Final = -2
STARTING: Final = -1
"""States of a buffer that no thread empties yet; else it is how many items are in it."""


@attrs.frozen
class HandOver(BaseRule):
    """Append an item to the buffer from which the feeder takes. Objects: the buffer, the unfinished tasks. Result:
    False if the caller has to start the feeder first; the others wait until it has done so.

    has_started   True if the caller has just started the feeder
    """

    name = "put"
    modes = (WRITE, UPDATE)
    gives = (0,)
    has_started: bool = False

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return self.has_started or states[0] != STARTING

    def apply(self, states: States, thread: ThreadId) -> Effect:
        count, unfinished = states
        if count == NO_FEEDER:
            return Effect((STARTING, unfinished), (WRITE, UPDATE), False)
        return Effect((max(count, 0) + 1, unfinished + 1), (WRITE, UPDATE), True)


@attrs.frozen
class SendOff(BaseRule):
    """Append to the buffer what makes the feeder end. Result: False if there is no feeder."""

    name = "send off"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] < 0:
            return Effect(states, (READ,), False)
        return Effect((states[0] + 1,), (WRITE,), True)


@attrs.frozen
class Feed(BaseRule):
    """Move an item from the buffer to the other side. Objects: the buffer, the queue."""

    name = "feed"
    modes = (WRITE, WRITE)
    takes = (0,)
    gives = (1,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0] > 0)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((states[0] - 1, states[1] + 1), (WRITE, WRITE), True)


@attrs.frozen
class GetUnlessTaken(BaseRule):
    """Take an item if nobody has the lock of those who get. Objects: the queue, the lock. Result: False if there is no
    item, or somebody has the lock."""

    name = "get"
    modes = (WRITE, READ)
    takes = (0, 1)
    or_timeout: bool = False

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return self.or_timeout or (states[0] > 0 and states[1] is None)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        count, owner = states
        if not count or owner is not None:
            return Effect(states, (READ, READ), False)
        return Effect((count - 1, owner), (WRITE, READ), True)


@attrs.frozen
class Close(BaseRule):
    """Close the queue. Object: whether it is closed. Result: False if it was."""

    name = "close"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((True,), (READ if states[0] else WRITE,), not states[0])


CLOSED: Final = "closed"


@attrs.frozen
class WhileOpen(Around):
    """Get from a queue that others may close. Objects: those of `inner`, and whether it is closed. Result: CLOSED if it
    is."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (*self.inner.modes, READ))

    @property
    def blocking(self) -> bool:  # type: ignore[override]
        return self.inner.blocking

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[-1]) or self.inner.enabled(states[:-1], thread)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[-1]:
            return Effect(states, (READ,) * len(states), CLOSED)
        effect = self.inner.apply(states[:-1], thread)
        return Effect((*effect.states, states[-1]), (*effect.modes, READ), effect.result)

    def succeeded(self, effect: Effect) -> bool:
        return effect.result is not CLOSED and self.inner.succeeded(effect)
