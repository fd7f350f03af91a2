"""Counting semaphores. State: the value. Every successful operation writes, even one V after another (the convention of
the litmus tests); a try that fails only reads.
"""

from __future__ import annotations

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class P(BaseRule):
    name = "P"
    modes = (WRITE,)
    takes = (0,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0] > 0)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((states[0] - 1,), (WRITE,), True)


@attrs.frozen
class TryP(BaseRule):
    """Decrement the value if it is positive. Result: True if it was."""

    name = "try P"
    modes = (WRITE,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] > 0:
            return Effect((states[0] - 1,), (WRITE,), True)
        return Effect(states, (READ,), False)


@attrs.frozen
class V(BaseRule):
    """Add `n`, unless that exceeds `bound`. Result: True if it was added."""

    name = "V"
    modes = (WRITE,)
    gives = (0,)
    n: int = 1
    bound: int | None = None

    def apply(self, states: States, thread: ThreadId) -> Effect:
        value = states[0] + self.n
        if self.bound is not None and value > self.bound:
            return Effect(states, (READ,), False)
        return Effect((value,), (WRITE,), True)


@attrs.frozen
class CommutingV(V):
    """A `V` of a semaphore without a bound. Two of them commute."""

    modes = (UPDATE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((states[0] + self.n,), (UPDATE,), True)
