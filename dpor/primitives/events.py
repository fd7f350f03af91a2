"""Events. State: (set?, waiting threads). A waiter that `set` has woken returns True even if `clear` comes before it
runs, as in CPython; so a wait that finds the event unset joins the waiting threads and is woken by `set` alone.
"""

from __future__ import annotations

import attrs

from dpor.operations import READ, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class IsSet(BaseRule):
    name = "is set?"
    modes = (READ,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0][0])


@attrs.frozen
class Set(BaseRule):
    name = "set"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(((True, frozenset()),), (WRITE,), None)


@attrs.frozen
class Clear(BaseRule):
    name = "clear"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(((False, states[0][1]),), (WRITE,), None)


@attrs.frozen
class BeginWait(BaseRule):
    """Result: was it set? If not, `AwaitSet` (or `AwaitSetOrTimeout`) must follow."""

    name = "wait"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        is_set, waiting = states[0]
        if is_set:
            return Effect(states, (READ,), True)
        return Effect(((False, waiting | {thread}),), (WRITE,), False)


@attrs.frozen
class AwaitSet(BaseRule):
    name = "await set"
    modes = (READ,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return thread not in states[0][1]

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), True)


@attrs.frozen
class AwaitSetOrTimeout(BaseRule):
    """Result: True if woken, False if timed out."""

    name = "await set"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        is_set, waiting = states[0]
        if thread in waiting:
            return Effect(((is_set, waiting - {thread}),), (WRITE,), False)
        return Effect(states, (READ,), True)
