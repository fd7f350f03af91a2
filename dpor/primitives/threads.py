"""Threads. State: NEW, RUNNING or ENDED."""

from __future__ import annotations

from typing import Final

import attrs

from dpor.operations import READ, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import BaseRule

NEW: Final = "new"
RUNNING: Final = "running"
ENDED: Final = "ended"


@attrs.frozen
class Start(BaseRule):
    """Result: True; False if it was started before."""

    name = "start"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] != NEW:
            return Effect(states, (READ,), False)
        return Effect((RUNNING,), (WRITE,), True)


@attrs.frozen
class End(BaseRule):
    name = "end"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((ENDED,), (WRITE,), None)


@attrs.frozen
class Join(BaseRule):
    """Blocks until the thread has ended. (Joining a thread that was never started is the front's error.)"""

    name = "join"
    modes = (READ,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0] == ENDED)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), True)


@attrs.frozen
class JoinOrTimeout(BaseRule):
    """Result: had it ended?"""

    name = "join"
    modes = (READ,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0] == ENDED)


@attrs.frozen
class JoinStarted(Join):
    """A join that finds out, in the same step, that the thread was never started. Result: NEW or ENDED."""

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0] != RUNNING)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0])


@attrs.frozen
class JoinStartedOrTimeout(JoinOrTimeout):
    """Result: NEW, ENDED, or False if it is still running."""

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), False if states[0] == RUNNING else states[0])


@attrs.frozen
class Status(BaseRule):
    """Result: NEW, RUNNING or ENDED."""

    name = "alive?"
    modes = (READ,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0])
