"""A run in which accesses that keep to the discipline of their variable are no steps of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from dpor.core.discipline import Discipline
from dpor.core.operations import READ, Location, Operation, ThreadId
from dpor.model.machine import AbstractMachine, Act, Code

MOST_SILENT: Final = 1_000
"""After this many silent accesses in a row, the next one is an event: a thread may go round for ever."""


class CoarseMachine(AbstractMachine):
    """Each step of a thread goes on through its silent accesses.

    events   how many steps there have been
    silent   the accesses that were no steps: see `dpor.core.system.Run`
    changed_at   how many events there had been when a silent access last changed something
    """

    __slots__ = ("_discipline", "_locks", "_variables", "changed_at", "events", "silent")

    def __init__(
        self,
        codes: Sequence[Code],
        memory: Sequence[Any],
        waiting: frozenset[ThreadId],
        discipline: Discipline,
        variables: Collection[Location],
        locks: Sequence[Location],
    ) -> None:
        self._discipline = discipline
        self._variables = variables
        self._locks = locks
        self.events = 0
        self.changed_at = -1
        self.silent: list[tuple[int, ThreadId]] = []
        super().__init__(codes, memory, waiting)

    def start(self, thread: ThreadId) -> None:
        super().start(thread)
        self._go_on(thread)

    def step(self, thread: ThreadId, value: int) -> Operation:
        self.events += 1
        before = [self.memory[lock] for lock in self._locks]
        operation = super().step(thread, value)
        for lock, state in zip(self._locks, before, strict=True):
            if self.memory[lock] != state and owner(state) not in (None, thread):
                self._discipline.released(lock)
        self._go_on(thread)
        return operation

    def _go_on(self, thread: ThreadId) -> None:
        """Let the thread perform the silent accesses that it comes to."""
        for _ in range(MOST_SILENT):
            if self.endless is not None:
                return
            act = self.act(thread)
            if act is None or not self._is_silent(thread, act):
                return
            done = super().step(thread, 0)
            self.silent.append((self.events, thread))
            if any(mode is not READ for _, mode in done.accesses):
                self.changed_at = self.events

    def _is_silent(self, thread: ThreadId, act: Act) -> bool:
        accesses = act.operation.accesses
        if not accesses or not all(location in self._variables for location, _ in accesses):
            return False
        held = [lock for lock in self._locks if owner(self.memory[lock]) == thread]
        return self._discipline.is_silent(thread, act.operation, held)


def owner(state: Any) -> ThreadId | None:
    """Return the thread that holds a lock in this state."""
    return state[0] if isinstance(state, tuple) else state  # type: ignore[no-any-return]
