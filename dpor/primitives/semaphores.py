"""Counting semaphores. State: the value. Every successful operation writes, also one V after another (the convention of
the litmus tests); a failed try only reads.
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
    """Result: taken?"""

    name = "try P"
    modes = (WRITE,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] > 0:
            return Effect((states[0] - 1,), (WRITE,), True)
        return Effect(states, (READ,), False)


@attrs.frozen
class V(BaseRule):
    """Adds `n`, unless that exceeds `bound`. Result: added?"""

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
    """Without a bound: two of them may come in either order."""

    modes = (UPDATE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((states[0] + self.n,), (UPDATE,), True)
