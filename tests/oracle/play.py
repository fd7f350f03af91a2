"""Runs an abstract program along a given schedule."""

from __future__ import annotations

from typing import Any

import attrs

from dpor.core.operations import THREAD_MASK, VALUE_SHIFT, Action
from dpor.core.system import STOP, Run, Trace
from dpor.model import AbstractSystem, Outcome


@attrs.frozen
class Played:
    system: AbstractSystem
    trace: Trace
    run: Run

    @property
    def told(self) -> list[str]:
        """An event a line: thread, statement, kind if it is not the statement's first word, value."""
        lines = []
        for event in self.system.describe(self.trace):
            kind = "" if event.statement.startswith(event.kind) else f" ({event.kind})"
            lines.append(f"{event.thread} {event.statement}{kind}" + (f": {event.value}" if event.value else ""))
        return lines

    def register(self, thread: int, name: str) -> object:
        assert isinstance(self.run.outcome, Outcome)
        return self.run.outcome.registers[thread][self.system.semantics.codes[thread].registers.index(name)]

    def state(self, name: str) -> object:
        assert isinstance(self.run.outcome, Outcome)
        return self.run.outcome.memory[self.system.table.location(name)]


def play(spec: dict[str, Any] | AbstractSystem, schedule: str, *, stop: bool = False) -> Played:
    """Let the threads run as the schedule says ("0 1 0=2": thread 0, thread 1, thread 0 with value 2 for its choice),
    each of which must be enabled; then stop, or go on with the lowest enabled thread."""
    system = spec if isinstance(spec, AbstractSystem) else AbstractSystem(spec)
    actions = [_action(word) for word in schedule.split()]
    trace = Trace()

    def choose(enabled: int) -> Action:
        if len(trace) < len(actions):
            action = actions[len(trace)]
            assert enabled >> (action & THREAD_MASK) & 1, (
                f"T{action & THREAD_MASK} cannot run after {len(trace)} events"
            )
            return action
        return STOP if stop else (enabled & -enabled).bit_length() - 1

    run = system.run(trace, choose)
    assert len(trace) >= len(actions), f"nothing could run after {len(trace)} events"
    return Played(system, trace, run)


def _action(word: str) -> Action:
    thread, _, value = word.partition("=")
    return int(thread) | int(value or 0) << VALUE_SHIFT
