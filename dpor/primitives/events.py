"""Events. Two objects: the flag (state: is it set?) and the waiters (state: the threads that wait).

A wait that finds the flag unset joins the waiters and is woken by `Set` alone: a waiter that was woken goes on even if
the event is cleared before it runs, as in CPython. Waiters come and go in any order: for them the waiters are UPDATEd,
so that it takes one run, not N!, until N threads wait for one event. A `Clear` concerns the flag alone.
"""

from __future__ import annotations

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class IsSet(BaseRule):
    """Of the flag."""

    name = "is set?"
    modes = (READ,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0])


@attrs.frozen
class Set(BaseRule):
    """Of the flag and the waiters."""

    name = "set"
    modes = (WRITE, WRITE)
    gives = (0, 1)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((True, frozenset()), (WRITE, WRITE), None)


@attrs.frozen
class Clear(BaseRule):
    """Of the flag."""

    name = "clear"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((False,), (WRITE,), None)


@attrs.frozen
class BeginWait(BaseRule):
    """Of the flag and the waiters. Result: was it set? If not, `AwaitSet` (or `AwaitSetOrTimeout`) must follow."""

    name = "wait"
    modes = (READ, UPDATE)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        is_set, waiting = states
        return Effect((is_set, waiting if is_set else waiting | {thread}), (READ, UPDATE), is_set)


@attrs.frozen
class AwaitSet(BaseRule):
    """Of the waiters. Result: True."""

    name = "await set"
    modes = (UPDATE,)
    takes = (0,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return thread not in states[0]

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (UPDATE,), True)


@attrs.frozen
class AwaitSetOrTimeout(BaseRule):
    """Of the waiters. Result: True if woken, False if timed out."""

    name = "await set"
    modes = (UPDATE,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((states[0] - {thread},), (UPDATE,), thread not in states[0])
