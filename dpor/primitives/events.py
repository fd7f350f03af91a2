"""Events. Two objects: the flag (state: whether it is set) and the waiters (state: the threads that wait).

A wait that finds the flag unset joins the waiters, and only `Set` wakes it: a waiter that was woken goes on even if the
event is cleared before it runs, as in CPython. Waiters may come and go in any order: they UPDATE the waiters, so that
exploring N threads that begin to wait for one event takes one run, not N!. A `Clear` concerns only the flag.
"""

from __future__ import annotations

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import AwaitWaking, BaseRule


@attrs.frozen
class IsSet(BaseRule):
    """Look at the flag. Objects: the flag. Result: True if it is set."""

    name = "is set?"
    modes = (READ,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0])


@attrs.frozen
class Set(BaseRule):
    """Set the flag and wake the waiters. Objects: the flag, the waiters. Only reads if the flag is set, as nobody waits
    then."""

    name = "set"
    modes = (WRITE, WRITE)
    gives = (0, 1)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0]:
            return Effect(states, (READ, READ), None)
        return Effect((True, frozenset()), (WRITE, WRITE), None)


@attrs.frozen
class Clear(BaseRule):
    """Unset the flag. Objects: the flag. Only reads if it is not set."""

    name = "clear"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((False,), (WRITE if states[0] else READ,), None)


@attrs.frozen
class BeginWait(BaseRule):
    """Begin to wait. Objects: the flag, the waiters. Result: True if the flag was set; if not, `AwaitSet` (or
    `AwaitSetOrTimeout`) must follow."""

    name = "wait"
    modes = (READ, UPDATE)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        is_set, waiting = states
        return Effect((is_set, waiting if is_set else waiting | {thread}), (READ, UPDATE), is_set)


@attrs.frozen
class AwaitSet(AwaitWaking):
    """Wait until woken. Objects: the waiters. Result: True."""

    name = "await set"


@attrs.frozen
class AwaitSetOrTimeout(BaseRule):
    """Wait until woken or timed out. Objects: the waiters. Result: True if woken, False if timed out."""

    name = "await set"
    modes = (UPDATE,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((states[0] - {thread},), (UPDATE,), thread not in states[0])
