"""Condition variables. State: the waiting threads, first come first woken. Objects of a wait: (condition, lock).

A wait is two operations: `Wait` releases the lock and joins the queue; once a notify has taken the thread out of the
queue, `Rewait` acquires the lock again. A timed wait is followed by `RewaitOrTimeout`: a thread still in the queue may
time out, and then acquires the lock again by `Retake`. Until then it stays in the queue and may use up a notify, as in
CPython (`threading.Condition.wait` removes the waiter only when it has the lock again).

Every step writes what it touches, even a notify that no thread waits for: the convention of the litmus tests.

Python programs wait by `WaitHolding`. Their timed waits have one more step and far fewer races: whether the time is up
before a notify comes (`AwaitNotifyOrTimeout`) concerns only the condition, and then the lock is acquired (by `GiveUp`
if the time was up). Entering the queue, leaving it, and asking whether one is still in it are UPDATEs of it: they
commute with each other but not with a notify, and the lock orders any two that change the queue.
"""

from __future__ import annotations

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import AwaitWaking, BaseRule


def _held(thread: ThreadId, count: int | None) -> object:
    """The state of a lock that was just acquired: of a plain lock if `count` is None, else of a re-entrant one."""
    return thread if count is None else (thread, count)


@attrs.frozen
class Wait(BaseRule):
    name = "wait"
    modes = (WRITE, WRITE)
    gives = (1,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(((*states[0], thread), None), (WRITE, WRITE), states[1])


@attrs.frozen
class WaitHolding(Wait):
    """A wait that checks in the same step, as CPython does, whether the lock is held: a lock that is `reentrant` by the
    caller, a plain one by any thread. Result: whether it was held. If not, nothing has changed.
    """

    modes = (UPDATE, WRITE)
    reentrant: bool = False

    def apply(self, states: States, thread: ThreadId) -> Effect:
        held = states[1]
        if held is None or (self.reentrant and held[0] != thread):
            return Effect(states, (UPDATE, READ), False)
        return Effect(((*states[0], thread), None), (UPDATE, WRITE), True)


@attrs.frozen
class Rewait(BaseRule):
    """Acquire the lock after a notify. `count`: that of the re-entrant lock before the wait; None for a plain lock.

    Result: True (notified).
    """

    name = "rewait"
    modes = (WRITE, WRITE)
    takes = (0, 1)
    count: int | None = None

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return states[1] is None and thread not in states[0]

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((states[0], _held(thread, self.count)), (WRITE, WRITE), True)


@attrs.frozen
class RewaitOrTimeout(BaseRule):
    """Acquire the lock after a notify, or time out. Result: True if notified (the lock is then acquired), False if
    timed out (then `Retake` must follow)."""

    name = "rewait"
    modes = (WRITE, WRITE)
    takes = (0, 1)
    count: int | None = None

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return states[1] is None or thread in states[0]

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if thread in states[0]:
            return Effect(states, (READ, READ), False)
        return Effect((states[0], _held(thread, self.count)), (WRITE, WRITE), True)


@attrs.frozen
class AwaitNotify(AwaitWaking):
    """Wait for a notify. Result: True."""

    name = "await notify"


@attrs.frozen
class AwaitNotifyOrTimeout(BaseRule):
    """Wait for a notify, or time out. Result: True if notified, False if timed out (then `GiveUp` must follow)."""

    name = "await notify"
    modes = (UPDATE,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (UPDATE,), thread not in states[0])


@attrs.frozen
class Retake(BaseRule):
    """After a timeout: acquire the lock again and leave the queue. Result: False."""

    name = "rewait"
    modes = (WRITE, WRITE)
    takes = (1,)
    count: int | None = None

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return states[1] is None

    def apply(self, states: States, thread: ThreadId) -> Effect:
        queue = tuple(t for t in states[0] if t != thread)
        return Effect((queue, _held(thread, self.count)), (WRITE, WRITE), False)

    def succeeded(self, effect: Effect) -> bool:
        return True  # it takes the lock


@attrs.frozen
class GiveUp(Retake):
    """A `Retake` that commutes with what other waiters do to the queue."""

    modes = (UPDATE, WRITE)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return super().apply(states, thread)._replace(modes=(UPDATE, WRITE))


@attrs.frozen
class Notify(BaseRule):
    """Wake the `n` threads that came first; None: all."""

    name = "notify"
    modes = (WRITE,)
    gives = (0,)
    n: int | None = 1

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((() if self.n is None else states[0][self.n :],), (WRITE,), None)
