"""The shape that all rules share."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import attrs

from dpor.operations import READ, Effect, Mode, States, ThreadId


@attrs.frozen
class BaseRule:
    """A rule that is always enabled and keeps its modes, unless a subclass says otherwise."""

    name: ClassVar[str]
    modes: ClassVar[tuple[Mode, ...]]

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return True

    @abstractmethod
    def apply(self, states: States, thread: ThreadId) -> Effect: ...


@attrs.frozen
class Look(BaseRule):
    """Looks at one object and changes nothing. Result: its state."""

    name = "look"
    modes = (READ,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0])
