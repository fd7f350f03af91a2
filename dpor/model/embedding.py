"""Systems of your own: anything whose threads perform one operation at a time can be explored, and is reported as
programs are.

Write a `Machine`: it is one run, from its start, and says what each thread does next and does it. `Embedded` makes a
target of it, for `dpor.check` and `dpor.replay`. All that the reduction needs to know is in the operations: the
locations that each touches, and in which mode (`dpor.core.operations`). docs/embedding.md has two examples.

Programs in Python need no machine: they are targets as they are.
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
from dpor.core.system import STOP, Asking, Chooser, Ending, Pending, Run, System, Trace
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
"""The default number of events after which a run is cut."""


class Machine(Protocol):
    """One run of a system, from its start. The same choices must lead to the same run."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the threads, by number. Threads may be added during the run, in an order that depends on the run
        alone.
        """
        ...

    def pending(self) -> Mapping[ThreadId, Operation]:
        """Return the next operation of each thread that has not ended, including blocked threads.

        The next operation of a thread may be changed only by the thread itself, or by an event that depends on the
        operation both as it was and as it then is. Only such events may enable or disable it. Otherwise the reduction
        misses interleavings.
        """
        ...

    def states_of(self, operation: Operation) -> States:
        """Return the present states of what the operation accesses, in the order of its accesses. They are hashable and
        immutable, and contain everything that the operation's rule looks at."""
        ...

    def perform(self, thread: ThreadId, done: Operation) -> tuple[str, str]:
        """Let the thread perform its pending operation, with the modes and the value that `done` has. Returns two texts
        for reports: what is done to which object, and the value that is read or written ("" if there is none)."""
        ...

    def outcome(self) -> Hashable:
        """Return the outcome of a run that has ended: equal for runs with the same result."""
        ...

    def findings(self) -> Sequence[Finding]:
        """Return what has gone wrong so far. (Threads that are blocked at the end are found without it.)"""
        ...


class Embedded:
    """A system that makes a machine for each run. It is a target of `dpor.check`, under all strategies that store no
    states.

    make       takes a table, by which the machine is to make its operations and locations, and returns a machine at its
               start
    name       the name of the target in reports and in saved schedules
    max_steps  a run is cut after this many events; the verdict is then inconclusive
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

    def _repeated(self, trace: Trace, texts: list[tuple[str, str]]) -> Machine:
        """Return a machine that has performed the trace. What it says of each event is added to the list `texts`."""
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
            texts.append(machine.perform(thread, done))
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
        """Describe the events of the trace in words."""
        texts: list[tuple[str, str]] = []
        names = self._repeated(trace, texts).names
        return Explained(
            tuple(
                Step(names[thread], None, None, "", operation, value)
                for thread, (operation, value) in zip(trace.threads, texts, strict=True)
            )
        )

    def see_every_access(self, on: bool) -> None:
        """Do nothing: every access is an event of a run."""

    def accesses(self) -> None:
        """Return None: every access is an event."""

    def recall_accesses(self, shown: Any) -> None:
        """Do nothing: no search is kept."""

    def labels(self) -> Mapping[str, str]:
        """See `dpor.findings.explain.Checkable`."""
        return {}

    def returned(self, outcome: Any) -> Hashable:
        """See `dpor.findings.explain.Checkable`."""
        return outcome  # type: ignore[no-any-return]

    def outcome_text(self, outcome: Any) -> str:
        """Describe an outcome in words."""
        return repr(outcome)

    def is_memory(self, location: Location) -> bool:
        """Return True: all locations count as data."""
        return True

    def aloud(self) -> AbstractContextManager[None]:
        """Return a context in which output of the target is shown; it is never held back."""
        return nullcontext()

    def sources(self) -> Mapping[str, str]:
        """Return no source files: a schedule does not depend on any."""
        return {}

    def imported(self) -> Mapping[str, str]:
        """Return nothing, likewise."""
        return {}

    def versions(self) -> Mapping[str, str]:
        """Return no versions: a schedule depends on the version of dpor alone."""
        return {}

    def facts(self) -> None:
        """Return None: nothing is learnt during a search."""

    def number_by(self, ask: Asking) -> None:
        """Do nothing: other processes do not search systems of one's own."""

    def agree(self, locations: Sequence[str], facts: Any) -> None:
        """Do nothing, likewise."""

    def states_are_common(self) -> bool:
        return True

    def locations(self) -> None:
        """Return None: what the machine calls its locations may mean nothing to another process."""


def _as_done(pending: Operation, states: States, value: int) -> Operation:
    if pending.alternatives > 1:
        if value >= pending.alternatives:
            raise UserError(f"alternative {value} of {pending.alternatives} was chosen")
        pending = pending.with_value(value)
    return pending.in_states(states)
