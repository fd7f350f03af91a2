"""Threads. State: NEW, RUNNING or ENDED."""

from __future__ import annotations

from typing import Final

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import BaseRule

NEW: Final = "new"
RUNNING: Final = "running"
ENDED: Final = "ended"


@attrs.frozen
class Start(BaseRule):
    """Start a thread. Result: True; False if it was started before."""

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
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((ENDED,), (WRITE,), None)


@attrs.frozen
class Join(BaseRule):
    """Block until the thread has ended. (For a thread that was never started, the drop-in raises the error.)"""

    name = "join"
    modes = (READ,)
    takes = (0,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0] == ENDED)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), True)


@attrs.frozen
class JoinOrTimeout(BaseRule):
    """Join with a timeout. Result: True if the thread had ended."""

    name = "join"
    modes = (READ,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0] == ENDED)


@attrs.frozen
class JoinStarted(Join):
    """A join that checks in the same step whether the thread was started. Result: True, or NEW if it was not."""

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0] != RUNNING)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), NEW if states[0] == NEW else True)


@attrs.frozen
class JoinStartedOrTimeout(JoinOrTimeout):
    """Result: True if the thread had ended, False if it is running, NEW if it was never started."""

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), NEW if states[0] == NEW else states[0] == ENDED)


@attrs.frozen
class List(BaseRule):
    """Add a thread to the set of threads that are alive, or remove it. Threads may come and go in any order."""

    name = "list"
    modes = (UPDATE,)
    thread: ThreadId
    alive: bool

    def apply(self, states: States, thread: ThreadId) -> Effect:
        others = states[0] - {self.thread}
        return Effect((others | {self.thread} if self.alive else others,), (UPDATE,), None)


@attrs.frozen
class Status(BaseRule):
    """Read the state of the thread. Result: NEW, RUNNING or ENDED."""

    name = "alive?"
    modes = (READ,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0])

    def succeeded(self, effect: Effect) -> bool:
        return bool(effect.result == ENDED)  # then it is as good as a join
