"""Operations on synchronisation objects that a specification looks at: ordered with all else that it looks at."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from dpor.operations import WRITE, Access, Effect, Location, Mode, Rule, States, ThreadId
from dpor.primitives.rules import BaseRule


@attrs.frozen
class Ordered(BaseRule):
    """An operation that also writes a location which has no state; behind the states of its objects comes a None."""

    inner: Rule
    order: Location
    name: str = attrs.field(init=False)  # type: ignore[misc]
    modes: tuple[Mode, ...] = attrs.field(init=False)  # type: ignore[misc]

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (*self.inner.modes, WRITE))

    @property
    def plain(self) -> tuple[Access, ...]:  # type: ignore[override]
        return (*self.inner.plain, (self.order, WRITE))

    @property
    def blocking(self) -> bool:  # type: ignore[override]
        return self.inner.blocking

    @property
    def takes(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.inner.takes

    @property
    def gives(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.inner.gives

    def succeeded(self, effect: Effect) -> bool:
        return self.inner.succeeded(effect)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return self.inner.enabled(self._own(states), thread)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        own = self._own(states)
        effect = self.inner.apply(own, thread)
        return Effect((*effect.states, *states[len(own) :]), (*effect.modes, WRITE), effect.result)

    def _own(self, states: Sequence[object]) -> States:
        """Without that of the order, which is left out where an operation is about to be performed."""
        return tuple(states[: len(self.inner.modes)])
