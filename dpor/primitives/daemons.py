"""Daemon threads move only while the process runs. Its state: how many non-daemon threads are alive."""

from __future__ import annotations

from typing import ClassVar

import attrs

from dpor.operations import READ, WRITE, Access, Effect, Mode, States, ThreadId
from dpor.primitives.rules import Around, BaseRule


@attrs.frozen
class _WithProcess(Around):
    """An operation on synchronisation objects that also touches the process, whose state comes last."""

    of_process: ClassVar[Mode]
    """How it touches the process."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (*self.inner.modes, self.of_process))


@attrs.frozen
class DaemonRule(_WithProcess):
    """An operation of a daemon thread on synchronisation objects: also needs the program to be running."""

    of_process = READ

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[-1]) and self.inner.enabled(states[:-1], thread)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = self.inner.apply(states[:-1], thread)
        return Effect((*effect.states, states[-1]), (*effect.modes, READ), effect.result)


@attrs.frozen
class DaemonAccess(BaseRule):
    """A plain access by a daemon thread. Its states are those of the process, then one None for each location."""

    name: str  # type: ignore[misc]
    plain: tuple[Access, ...]  # type: ignore[misc]
    modes: tuple[Mode, ...] = attrs.field(init=False)  # type: ignore[misc]

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "modes", (READ, *[mode for _, mode in self.plain]))

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0])

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, self.modes, None)


@attrs.frozen
class InProcess(_WithProcess):
    """The start or the end of a non-daemon thread, which changes how many there are."""

    change: int
    of_process = WRITE

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = self.inner.apply(states[:1], thread)
        change = 0 if effect.result is False else self.change
        return Effect((*effect.states, states[1] + change), (*effect.modes, WRITE), effect.result)


@attrs.frozen
class StartInProcess(InProcess):
    """Kept apart so that the operation is known to start a thread."""
