"""Operations on synchronisation objects that mean something to a specification: ordered with others that do."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from dpor.core.operations import Accesses, Effect, States, ThreadId
from dpor.primitives.rules import Around


@attrs.frozen
class Ordered(Around):
    """An operation that also accesses locations which have no state; behind the states of its objects come as many
    times None."""

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
        """Without those of the orders, which are left out where an operation is about to be performed."""
        return tuple(states[: len(self.inner.modes)])
