"""Daemon threads move only while the process runs, which is as long as non-daemon threads are alive.

How many are alive, and whether the process runs, are two objects: were they one, each end of a thread would conflict
with each operation of a daemon thread, though only the last one ends the process. Which one is the last is decided by
the order of the ends, so what an event touches depends on what it depends on, alone.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from dpor.core.operations import READ, WRITE, Accesses, Effect, Mode, States, ThreadId
from dpor.primitives.rules import Around, BaseRule


@attrs.frozen
class _WithProcess(Around):
    """An operation on synchronisation objects that also touches the process, whose state comes last."""

    of_process: ClassVar[tuple[Mode, ...]]
    """How it touches what comes after its own objects."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (*self.inner.modes, *self.of_process))


@attrs.frozen
class DaemonRule(_WithProcess):
    """An operation of a daemon thread on synchronisation objects: also needs the program to be running."""

    of_process = (READ,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[-1]) and self.inner.enabled(states[:-1], thread)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = self.inner.apply(states[:-1], thread)
        return Effect((*effect.states, states[-1]), (*effect.modes, READ), effect.result)


@attrs.frozen
class DaemonAccess(BaseRule):
    """A plain access by a daemon thread. Its states are those of the process, then one None for each location."""

    name: str  # type: ignore[misc]
    plain: Accesses  # type: ignore[misc]
    modes: tuple[Mode, ...] = attrs.field(init=False)  # type: ignore[misc]

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "modes", (READ, *[mode for _, mode in self.plain]))

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0])

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, self.modes, None)


@attrs.frozen
class InProcess(_WithProcess):
    """The start or the end of a non-daemon thread: changes how many there are, and the last end whether the process
    runs. Its states: the thread's, how many are alive, does the process run?"""

    change: int
    of_process = (WRITE, WRITE)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = self.inner.apply(states[:1], thread)
        alive = states[1] + (0 if effect.result is False else self.change)
        runs = alive > 0
        mode = READ if runs == states[2] else WRITE
        return Effect((*effect.states, alive, runs), (*effect.modes, WRITE, mode), effect.result)


@attrs.frozen
class StartInProcess(InProcess):
    """Kept apart so that the operation is known to start a thread."""
