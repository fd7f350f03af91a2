"""Futures, and pools of threads that nobody tells apart. See `dpor.python.dropins.futures` and `pools`.

The state of a future is one of those below; a failed one has finished with an exception.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, Mode, States, ThreadId
from dpor.primitives.rules import Around, BaseRule

PENDING: Final = "PENDING"
RUNNING: Final = "RUNNING"
CANCELLED: Final = "CANCELLED"
CANCELLED_AND_NOTIFIED: Final = "CANCELLED_AND_NOTIFIED"
FINISHED: Final = "FINISHED"
FAILED: Final = "FAILED"

DONE: Final = frozenset({CANCELLED, CANCELLED_AND_NOTIFIED, FINISHED, FAILED})
"""The states in which a future has, or never will have, a result."""
COMPLETED: Final = DONE - {CANCELLED}
"""Those in which who waits for several futures no longer waits for it."""


@attrs.frozen
class Complete(BaseRule):
    """Give the future a result or an exception. Result: the state before. Only reads if it is done.

    ordered   True if there is a second object, which all completions of futures write: it counts them
    """

    name = "complete"
    gives: ClassVar[tuple[int, ...]] = (0,)
    state: str
    ordered: bool = False

    @property
    def modes(self) -> tuple[Mode, ...]:  # type: ignore[override]
        return (WRITE, WRITE) if self.ordered else (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] in DONE:
            return Effect(states, (READ,) * len(states), states[0])
        return Effect((self.state, *[count + 1 for count in states[1:]]), self.modes, states[0])

    def succeeded(self, effect: Effect) -> bool:
        return effect.result not in DONE


@attrs.frozen
class BeginTask(BaseRule):
    """The task begins: the future is running, unless it was cancelled. Objects: the future, whether its task has begun,
    and perhaps what counts completions. Result: the state before.

    That it has begun is an object of its own, because who waits for the future does not look at it.

    ordered   see `Complete`
    """

    name = "begin task"
    ordered: bool = False

    @property
    def modes(self) -> tuple[Mode, ...]:  # type: ignore[override]
        return (WRITE, WRITE, WRITE) if self.ordered else (WRITE, WRITE)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        state, begun, *order = states
        if state == CANCELLED:
            after = (CANCELLED_AND_NOTIFIED, begun, *[count + 1 for count in order])
            return Effect(after, (WRITE, READ, *[WRITE] * len(order)), CANCELLED)
        if state != PENDING or begun:
            return Effect(states, (READ,) * len(states), state if state != PENDING else RUNNING)
        return Effect((state, True, *order), (READ, WRITE, *[READ] * len(order)), PENDING)

    def succeeded(self, effect: Effect) -> bool:
        return bool(effect.result == PENDING)


@attrs.frozen
class StateOf(BaseRule):
    """Look at a future. Objects: the future, whether its task has begun. Result: its state."""

    name = "look"
    modes = (READ, READ)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        state, begun = states
        return Effect(states, (READ, READ), RUNNING if state == PENDING and begun else state)


@attrs.frozen
class Cancel(BaseRule):
    """Objects: the future, whether its task has begun. Result: the state before. Only a pending future can be
    cancelled."""

    name = "cancel"
    modes = (WRITE, READ)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        state, begun = states
        if state != PENDING or begun:
            return Effect(states, (READ, READ), state if state != PENDING else RUNNING)
        return Effect((CANCELLED, begun), (WRITE, READ), PENDING)

    def succeeded(self, effect: Effect) -> bool:
        return bool(effect.result == PENDING)


@attrs.frozen
class AddCallback(BaseRule):
    """Add a function to be called when the future is done. Objects: the future, and what counts its functions. Result:
    True; False if it is done."""

    name = "add callback"
    modes = (READ, WRITE)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] in DONE:
            return Effect(states, (READ, READ), False)
        return Effect((states[0], states[1] + 1), (READ, WRITE), True)


@attrs.frozen
class AwaitDone(BaseRule):
    """Wait until the future is done. Result: its state."""

    name = "await result"
    modes = (READ,)
    takes = (0,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return states[0] in DONE

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0] if states[0] in DONE else False)


@attrs.frozen
class AwaitDoneOrTimeout(AwaitDone):
    """Result: False if it is not done."""

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return True


FIRST: Final = "FIRST_COMPLETED"
EXCEPTION: Final = "FIRST_EXCEPTION"
ALL: Final = "ALL_COMPLETED"


@attrs.frozen
class AwaitCompleted(BaseRule):
    """Wait for several futures. Result: their states.

    count        how many futures
    until        FIRST: one has completed; EXCEPTION: one has failed, or all have completed; ALL have completed
    or_timeout   the variant that never waits: False if it would have to
    """

    name = "await completed"
    count: int
    until: str
    or_timeout: bool = False

    @property
    def modes(self) -> tuple[Mode, ...]:  # type: ignore[override]
        return (READ,) * self.count

    @property
    def takes(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(range(self.count))

    def is_over(self, states: States) -> bool:
        completed = [state in COMPLETED for state in states]
        if self.until == FIRST:
            return any(completed)
        return all(completed) or (self.until == EXCEPTION and FAILED in states)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return self.or_timeout or self.is_over(states)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        result: Any = states if self.is_over(states) else False
        return Effect(states, self.modes, result)


# ---------------------------------------------------------------------- pools


@attrs.frozen
class Submit(BaseRule):
    """Submit a task. Objects: the pool (state: how many tasks it was given, whether it was shut down), and whether the
    interpreter is shutting down. Result: the number of tasks before this; -1 after the shutdown of the pool, -2 after
    that of the interpreter."""

    name = "submit"
    modes = (WRITE, READ)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        (count, shut), ending = states
        if shut or ending:
            return Effect(states, (READ, READ), -1 if shut else -2)
        return Effect(((count + 1, shut), ending), (WRITE, READ), count)

    def succeeded(self, effect: Effect) -> bool:
        return bool(effect.result >= 0)


@attrs.frozen
class ShutDown(BaseRule):
    """Shut down a pool."""

    name = "shutdown"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        count, shut = states[0]
        return Effect(((count, True),), (READ if shut else WRITE,), None)


@attrs.frozen
class BeginEnding(BaseRule):
    """The interpreter begins to shut down."""

    name = "shutdown"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((True,), (WRITE,), None)


@attrs.frozen
class BeginWithWorker(Around):
    """Wait for a worker of a pool, and begin a task. Objects: those of `BeginTask`, and what counts the tasks of the
    pool that have ended. That is enough: tasks begin in the order of their numbers, so the task with number n of a pool
    with w workers can begin when n - w + 1 of those before it have ended, and more than that only if they have begun.
    """

    ended: int

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", "begin task")
        object.__setattr__(self, "modes", (*self.inner.modes, READ))

    @property
    def takes(self) -> tuple[int, ...]:  # type: ignore[override]
        return (*self.inner.takes, len(self.inner.modes))

    @property
    def blocking(self) -> bool:  # type: ignore[override]
        return True

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[-1] >= self.ended)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = self.inner.apply(states[:-1], thread)
        return Effect((*effect.states, states[-1]), (*effect.modes, READ), effect.result)


@attrs.frozen
class TakeTask(BaseRule):
    """A worker takes a task out of the queue of a pool that cancels what is in there when it is shut down.

    Objects: what counts the tasks that have ended; the queue (its state: how many tasks were taken out of it, and how
    many of these to be cancelled). Result: False if the task was taken out to be cancelled.

    number    of the task: how many were submitted before
    workers   how many the pool has at most
    """

    name = "await worker"
    modes = (READ, WRITE)
    takes = (0, 1)
    gives = (1,)
    number: int
    workers: int

    def enabled(self, states: States, thread: ThreadId) -> bool:
        ended, (taken, cancelled) = states
        is_next: bool = taken == self.number and taken - cancelled - ended < self.workers
        return is_next or taken > self.number

    def apply(self, states: States, thread: ThreadId) -> Effect:
        ended, (taken, cancelled) = states
        if taken > self.number:
            return Effect(states, (READ, READ), False)
        return Effect((ended, (taken + 1, cancelled)), (READ, WRITE), True)


@attrs.frozen
class TakeToCancel(BaseRule):
    """Take the first task out of the queue of a pool, to cancel it. Objects: the queue; the pool. Result: the number of
    the task; -1 if the queue is empty."""

    name = "take to cancel"
    modes = (WRITE, READ)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        (taken, cancelled), (count, shut) = states
        if taken >= count:
            return Effect(states, (READ, READ), -1)
        return Effect(((taken + 1, cancelled + 1), (count, shut)), (WRITE, READ), taken)

    def succeeded(self, effect: Effect) -> bool:
        return bool(effect.result >= 0)


@attrs.frozen
class EndTask(BaseRule):
    """A task has ended: its worker is free. Tasks may end in any order."""

    name = "end task"
    modes = (UPDATE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((states[0] + 1,), (UPDATE,), None)


@attrs.frozen
class CompleteAndEnd(Around):
    """Complete the future of a task, and, unless it has functions to call, free the worker. Objects: those of
    `Complete`, what counts the functions, and those of `EndTask`.

    A worker that is free later only delays others. So every outcome is one of runs in which nothing lies between.
    """

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (*self.inner.modes, READ, UPDATE))

    @property
    def gives(self) -> tuple[int, ...]:  # type: ignore[override]
        return (*self.inner.gives, len(self.inner.modes) + 1)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        *own, functions, ended = states
        effect = self.inner.apply(tuple(own), thread)
        ends = not functions and self.inner.succeeded(effect)
        after = (*effect.states, functions, ended + 1 if ends else ended)
        return Effect(after, (*effect.modes, READ, UPDATE if ends else READ), effect.result)


@attrs.frozen
class IsIdle(BaseRule):
    """Look whether all tasks of a pool have ended. Objects: the pool; what counts those that have ended."""

    name = "look"
    modes = (READ, READ)
    takes = (1,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        (count, _), ended = states
        return Effect(states, (READ, READ), count == ended)

    def succeeded(self, effect: Effect) -> bool:
        return True
