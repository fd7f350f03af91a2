"""Daemon threads move only while the process runs, that is as long as non-daemon threads are alive.

The number of these threads and whether the process runs are two objects. If they were one, each end of a thread would
conflict with each operation of a daemon thread, though only the last end ends the process. Which end is the last is
decided by the order of the ends. So what an event touches depends only on events that it is dependent on.
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
    """The modes of the accesses that come after those of its own objects."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (*self.inner.modes, *self.of_process))


@attrs.frozen
class DaemonRule(_WithProcess):
    """An operation of a daemon thread on synchronisation objects: enabled only while the process runs, too."""

    of_process = (READ,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[-1]) and self.inner.enabled(states[:-1], thread)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = self.inner.apply(states[:-1], thread)
        return Effect((*effect.states, states[-1]), (*effect.modes, READ), effect.result)


@attrs.frozen
class DaemonAccess(BaseRule):
    """A plain access by a daemon thread. Its states are that of the process, then one None for each location."""

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
    """The start or the end of a non-daemon thread. It changes the number of these threads, and the last end also
    changes whether the process runs. Its states: the thread's, the number of threads alive, whether the process
    runs."""

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
    """A class of its own, which shows that the operation starts a thread."""
