"""Operations on synchronisation objects that a specification looks at. They are ordered with each other."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from dpor.core.operations import Accesses, Effect, States, ThreadId
from dpor.primitives.rules import Around


@attrs.frozen
class Ordered(Around):
    """An operation that also accesses locations without a state (`orders`). Its states are those of its objects, then
    None for each of these locations."""

    orders: Accesses

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (*self.inner.modes, *[mode for _, mode in self.orders]))

    @property
    def plain(self) -> Accesses:  # type: ignore[override]
        return (*self.inner.plain, *self.orders)

    @property
    def blocking(self) -> bool:  # type: ignore[override]
        return self.inner.blocking

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return self.inner.enabled(self._own(states), thread)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        own = self._own(states)
        effect = self.inner.apply(own, thread)
        return Effect(
            (*effect.states, *states[len(own) :]), (*effect.modes, *self.modes[len(self.inner.modes) :]), effect.result
        )

    def _own(self, states: Sequence[object]) -> States:
        """Return the states without those of `orders`. They are absent before the operation is performed."""
        return tuple(states[: len(self.inner.modes)])
