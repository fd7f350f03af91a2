"""The base classes of rules."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import attrs

from dpor.core.operations import READ, UPDATE, Accesses, Effect, Mode, Rule, States, ThreadId


@attrs.frozen
class BaseRule:
    """A rule that is always enabled and always has the same modes, unless a subclass overrides that."""

    name: ClassVar[str]
    modes: ClassVar[tuple[Mode, ...]]
    blocking: ClassVar[bool] = False
    """True if there are states in which the operation is not enabled."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.blocking = cls.enabled is not BaseRule.enabled

    plain: ClassVar[Accesses] = ()
    """The accesses of other locations than its objects."""
    takes: ClassVar[tuple[int, ...]] = ()
    gives: ClassVar[tuple[int, ...]] = ()

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return True

    @abstractmethod
    def apply(self, states: States, thread: ThreadId) -> Effect: ...

    def succeeded(self, effect: Effect) -> bool:
        return effect.result is not False


@attrs.frozen
class AwaitWaking(BaseRule):
    """Wait until another thread has taken the caller out of the waiters. Objects: what has them as its state. Result:
    True."""

    modes = (UPDATE,)
    takes = (0,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return thread not in states[0]

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (UPDATE,), True)


@attrs.frozen
class Around(BaseRule):
    """A rule around another one, which touches more objects than that one does."""

    inner: Rule
    name: str = attrs.field(init=False)  # type: ignore[misc]
    modes: tuple[Mode, ...] = attrs.field(init=False)  # type: ignore[misc]

    @property
    def takes(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.inner.takes

    @property
    def gives(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.inner.gives

    def succeeded(self, effect: Effect) -> bool:
        return self.inner.succeeded(effect)


@attrs.frozen
class Look(BaseRule):
    """Read the state of one object. Result: its state."""

    name = "look"
    modes = (READ,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0])


@attrs.frozen
class LookAfter(Look):
    """A look that comes after what was done before the state came about, as under a lock."""

    takes = (0,)
