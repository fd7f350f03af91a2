"""Event loops of `asyncio`. Three objects: the callbacks that are ready (no state), the waking (state: has the loop
been woken?) and the end (state: is it closed?).

Callbacks run in the order in which they were added, so each that is added writes. A loop looks for callbacks when its
own thread has added none, and before it runs one that another thread has added; if there are none, it waits until it
is woken. `call_soon` from another thread wakes nobody: a loop that waits stays where it is. `call_soon_threadsafe`
wakes it after that.
"""

from __future__ import annotations

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class CallSoon(BaseRule):
    """Of the callbacks."""

    name = "call soon"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (WRITE,), None)


@attrs.frozen
class LookForCalls(BaseRule):
    """Of the callbacks."""

    name = "look for calls"
    modes = (READ,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), None)


@attrs.frozen
class Wake(BaseRule):
    """Of the waking."""

    name = "wake"
    modes = (UPDATE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((True,), (UPDATE,), None)


@attrs.frozen
class AwaitWakingOrTimeout(BaseRule):
    """Of the waking. Result: was the loop woken?"""

    name = "await waking"
    modes = (WRITE,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((False,), (WRITE,), states[0])


@attrs.frozen
class AwaitWaking(AwaitWakingOrTimeout):
    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0])


@attrs.frozen
class Close(BaseRule):
    """Of the end."""

    name = "close"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((True,), (WRITE,), None)
