"""Locks. State of a plain lock: its owner's thread number, or None. Of a re-entrant one: (owner, count), or None.

An operation that fails (a try of a lock that is held, a release of a free one) only reads.
"""

from __future__ import annotations

import attrs

from dpor.core.operations import READ, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class Acquire(BaseRule):
    name = "lock"
    modes = (WRITE,)
    takes = (0,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return states[0] is None

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((thread,), (WRITE,), True)


@attrs.frozen
class Try(BaseRule):
    """`acquire(blocking=False)`; also a timed acquire if time may pass at any point. Result: True if acquired."""

    name = "try"
    modes = (WRITE,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] is None:
            return Effect((thread,), (WRITE,), True)
        return Effect(states, (READ,), False)


@attrs.frozen
class Release(BaseRule):
    """Release the lock. Result: True if it was held, by any thread."""

    name = "unlock"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] is None:
            return Effect(states, (READ,), False)
        return Effect((None,), (WRITE,), True)


@attrs.frozen
class Locked(BaseRule):
    name = "locked?"
    modes = (READ,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0] is not None)


@attrs.frozen
class AcquireAgain(BaseRule):
    """Acquire a re-entrant lock, for the first time or once more. `count`: by how much (more than 1 after a wait)."""

    name = "lock"
    modes = (WRITE,)
    takes = (0,)
    count: int = 1

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return states[0] is None or states[0][0] == thread

    def apply(self, states: States, thread: ThreadId) -> Effect:
        held = states[0]
        return Effect(((thread, self.count if held is None else held[1] + self.count),), (WRITE,), True)


@attrs.frozen
class TryAgain(BaseRule):
    name = "try"
    modes = (WRITE,)
    takes = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        held = states[0]
        if held is None or held[0] == thread:
            return Effect(((thread, 1 if held is None else held[1] + 1),), (WRITE,), True)
        return Effect(states, (READ,), False)


@attrs.frozen
class ReleaseAgain(BaseRule):
    """Release a re-entrant lock once. Result: True if the caller was the owner."""

    name = "unlock"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        held = states[0]
        if held is None or held[0] != thread:
            return Effect(states, (READ,), False)
        return Effect((None if held[1] == 1 else (thread, held[1] - 1),), (WRITE,), True)


@attrs.frozen
class ReleaseAll(BaseRule):
    """Release a re-entrant lock entirely. Result: its count; 0 if the caller was not the owner."""

    name = "unlock"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        held = states[0]
        if held is None or held[0] != thread:
            return Effect(states, (READ,), 0)
        return Effect((None,), (WRITE,), held[1])

    def succeeded(self, effect: Effect) -> bool:
        return bool(effect.result)
