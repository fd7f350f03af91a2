"""Event loops of `asyncio`. A loop consists of three objects: its callbacks that are ready (which have no state), its
waking (state: has the loop been woken?) and its end (state: is it closed?).

Callbacks run in the order in which they were added, so adding one is a write. A loop looks for callbacks if its own
thread has added none, and before it runs one that another thread has added. If there are none, it waits until it is
woken. `call_soon` from another thread does not wake the loop, so a loop that waits stays where it is.
`call_soon_threadsafe` also wakes it.
"""

from __future__ import annotations

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class CallSoon(BaseRule):
    """Add a callback. Works on the callbacks."""

    name = "call soon"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (WRITE,), None)


@attrs.frozen
class LookForCalls(BaseRule):
    """Look whether there are callbacks to run. Works on the callbacks."""

    name = "look for calls"
    modes = (READ,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), None)


@attrs.frozen
class Wake(BaseRule):
    """Wake the loop. Works on the waking."""

    name = "wake"
    modes = (UPDATE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((True,), (UPDATE,), None)


@attrs.frozen
class AwaitWakingOrTimeout(BaseRule):
    """Wait for a limited time until the loop is woken. Works on the waking; the result is True if it was woken."""

    name = "await waking"
    modes = (WRITE,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((False,), (WRITE,), states[0])


@attrs.frozen
class AwaitWaking(AwaitWakingOrTimeout):
    """Wait until the loop is woken. Works on the waking."""

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0])


@attrs.frozen
class CloseLoop(BaseRule):
    """Close the loop. Works on the end."""

    name = "close"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((True,), (WRITE,), None)
