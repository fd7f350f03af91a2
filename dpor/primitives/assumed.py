"""The rule of a thread whose `dpor.assume` has failed: it never goes on.

The other threads do, as far as they can without it. Had they been stopped too, what they do later would not be known,
and the orders in which the assumption holds might never be tried. As nothing comes after a failed assumption, what
others do in such a run could all have come before it.
"""

from __future__ import annotations

import attrs

from dpor.core.operations import Effect, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class NeverGoOn(BaseRule):
    """Wait for ever. Objects: none."""

    name = "assume"
    modes = ()

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return False

    def apply(self, states: States, thread: ThreadId) -> Effect:
        raise AssertionError("a thread that never goes on has gone on")
