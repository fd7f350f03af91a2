"""A loop that waits by spinning goes on when something that it has read is written. States: those of synchronisation
objects, and of other locations how often they have been written."""

from __future__ import annotations

from typing import Any

import attrs

from dpor.core.operations import READ, Effect, Mode, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class Spin(BaseRule):
    """Comes after an iteration of a loop that only read. `seen`: the states that it saw."""

    seen: tuple[Any, ...]
    name = "spin"
    modes: tuple[Mode, ...] = attrs.field(init=False)  # type: ignore[misc]

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "modes", (READ,) * len(self.seen))

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return states != self.seen

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, self.modes, None)
