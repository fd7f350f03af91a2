"""Systems of one's own: whatever has threads that do one operation at a time is explored and reported as programs are.

Write a `Machine`: one run, from its start, that can be asked what each thread does next and told to do it. `Embedded`
makes a target of it, for `dpor.check` and `dpor.replay`. What the reduction needs to know is in the operations alone:
the locations that each touches, and how (`dpor.core.operations`). docs/embedding.md has two examples.

Not for programs in Python: those are targets as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, Protocol

from dpor.core.errors import NotDeterministic, UserError
from dpor.core.operations import (
    READ,
    THREAD_MASK,
    UPDATE,
    VALUE_SHIFT,
    WRITE,
    Access,
    Effect,
    Location,
    Mode,
    Operation,
    OperationTable,
    States,
    ThreadId,
)
from dpor.core.outcome import Finding, Kind
from dpor.core.plural import plural
from dpor.core.steps import Explained, Step
from dpor.core.system import STOP, Chooser, Ending, Pending, Run, System, Trace
from dpor.primitives.rules import BaseRule

__all__ = [
    "READ",
    "UPDATE",
    "WRITE",
    "Access",
    "BaseRule",
    "Effect",
    "Embedded",
    "Finding",
    "Kind",
    "Location",
    "Machine",
    "Mode",
    "Operation",
    "OperationTable",
    "States",
    "System",
    "ThreadId",
]

MAX_STEPS: Final = 20_000


class Machine(Protocol):
    """One run of a system, from its start. The same choices must lead to the same run."""

    @property
    def names(self) -> Sequence[str]:
        """The threads' names, by number. Threads may be added, in an order that the run alone decides."""
        ...

    def pending(self) -> Mapping[ThreadId, Operation]:
        """The next operation of each thread that has not ended, blocked ones too.

        An operation may change only by what its thread does, or by an event that depends on it as it was and as it
        then is; nothing else may enable or disable it. Else the reduction misses interleavings.
        """
        ...

    def states_of(self, operation: Operation) -> States:
        """The present states, hashable and immutable, of what the operation accesses, in the order of its accesses. All
        that its rule asks for must be in them."""
        ...

    def perform(self, thread: ThreadId, done: Operation) -> tuple[str, str]:
        """The thread does its pending operation, with the modes and the value that it now has. Returns it in words for
        reports: what is done to what, and the value read or written ("" if there is none)."""
        ...

    def outcome(self) -> Hashable:
        """What tells the result of a run that has ended from those of others."""
        ...

    def findings(self) -> Sequence[Finding]:
        """What has gone wrong so far. (That threads are left blocked in the end is found without.)"""
        ...


class Embedded:
    """A system that makes a machine for each run: a target of `dpor.check`, under all strategies that store no states.

    make       makes a machine at its start, whose operations and locations are made by the table given
    name       in reports and in saved schedules
    max_steps  a run of more events is cut; the verdict is then inconclusive
    """

    def __init__(
        self, make: Callable[[OperationTable], Machine], name: str | None = None, max_steps: int = MAX_STEPS
    ) -> None:
        self.name: str = name or str(getattr(make, "__name__", type(make).__name__))
        self.table = OperationTable()
        self._make = make
        self._max_steps = max_steps
        self._pending: list[Pending] = []

    def run(self, trace: Trace, choose: Chooser) -> Run:
        """See `dpor.core.system.System.run`."""
        machine = self._repeated(trace, [])
        while True:
            pending = machine.pending()
            states = {thread: machine.states_of(operation) for thread, operation in pending.items()}
            enabled = {thread for thread, operation in pending.items() if operation.enabled(states[thread])}
            if not enabled:
                blocked = [Pending(thread, operation, states[thread]) for thread, operation in pending.items()]
                return self._ended(machine, blocked)
            self._pending = [Pending(thread, operation, states[thread]) for thread, operation in pending.items()]
            if len(trace) >= self._max_steps:
                reason = f"a run was cut after {plural(self._max_steps, 'event')} (max_steps of Embedded)"
                return Run(Ending.CUT, findings=machine.findings(), incomplete=[reason])
            action = choose(sum(1 << thread for thread in enabled))
            if action == STOP:
                blocked = [
                    Pending(thread, operation, states[thread])
                    for thread, operation in pending.items()
                    if thread not in enabled
                ]
                return Run(Ending.STOPPED, blocked, findings=machine.findings())
            thread = action & THREAD_MASK
            done = _as_done(pending[thread], states[thread], action >> VALUE_SHIFT)
            machine.perform(thread, done)
            trace.actions.append(action)
            trace.threads.append(thread)
            trace.operations.append(done)
            trace.befores.append(states[thread])

    def pending(self) -> Sequence[Pending]:
        """See `dpor.core.system.System.pending`."""
        return self._pending

    def _repeated(self, trace: Trace, told: list[tuple[str, str]]) -> Machine:
        """A machine that has performed the trace; what it said of each event is put into the list."""
        machine = self._make(self.table)
        for action, recorded in zip(trace.actions, trace.operations, strict=True):
            thread = action & THREAD_MASK
            pending = machine.pending().get(thread)
            states = () if pending is None else machine.states_of(pending)
            if pending is None or not pending.enabled(states):
                raise NotDeterministic(
                    f"{self.name}: {recorded!r} of thread {thread} was recorded, which cannot run now"
                )
            done = _as_done(pending, states, action >> VALUE_SHIFT)
            if done is not recorded:
                raise NotDeterministic(f"{self.name}: thread {thread} does {done!r} where {recorded!r} was recorded")
            told.append(machine.perform(thread, done))
        return machine

    def _ended(self, machine: Machine, blocked: Sequence[Pending]) -> Run:
        outcome, findings = machine.outcome(), list(machine.findings())
        if not blocked:
            return Run(Ending.COMPLETE, outcome=outcome, findings=findings)
        waiting = [f"{machine.names[p.thread]} waits ({p.operation.kind})" for p in blocked]
        thread = machine.names[blocked[0].thread]
        findings.append(Finding(Kind.DEADLOCK, "nobody can go on: " + ", ".join(waiting), thread))
        return Run(Ending.COMPLETE, blocked, outcome, ("deadlock", outcome), findings)

    # ------------------------------------------------------------------ for reports

    def describe(self, trace: Trace) -> Explained:
        """The events of the trace in words."""
        told: list[tuple[str, str]] = []
        names = self._repeated(trace, told).names
        return Explained(
            tuple(
                Step(names[thread], None, None, "", operation, value)
                for thread, (operation, value) in zip(trace.threads, told, strict=True)
            )
        )

    def outcome_text(self, outcome: Any) -> str:
        """An outcome in words."""
        return repr(outcome)

    def is_memory(self, location: Location) -> bool:
        """All locations count as data."""
        return True

    def aloud(self) -> AbstractContextManager[None]:
        """Nothing that it prints is kept back."""
        return nullcontext()

    def sources(self) -> Mapping[str, str]:
        """A schedule is not held to source files."""
        return {}

    def versions(self) -> Mapping[str, str]:
        """No others than dpor's."""
        return {}

    def facts(self) -> None:
        """Nothing is learnt on the way."""


def _as_done(pending: Operation, states: States, value: int) -> Operation:
    if pending.alternatives > 1:
        if value >= pending.alternatives:
            raise UserError(f"alternative {value} of {pending.alternatives} was chosen")
        pending = pending.with_value(value)
    return pending.in_states(states)
