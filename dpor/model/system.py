"""The system that runs abstract programs (`dpor.core.system.System`)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from dpor.core.discipline import Contradiction, Discipline
from dpor.core.errors import AssumptionBroken, InternalError, NotDeterministic
from dpor.core.guarding import Guarding
from dpor.core.operations import READ, THREAD_MASK, UNKNOWN, VALUE_SHIFT, Location, Operation, OperationTable, ThreadId
from dpor.core.outcome import Finding
from dpor.core.plural import plural
from dpor.core.system import STOP, Chooser, Data, Ending, Pending, Run, StateKey, SyncChoices, Trace
from dpor.model.coarse import CoarseMachine, owner
from dpor.model.describe import EventText, deadlock_finding, describe, livelock_finding, terminal_state
from dpor.model.later import Later
from dpor.model.machine import AbstractMachine, Act, Memory
from dpor.model.semantics import Semantics
from dpor.model.syntax import parse
from dpor.model.telling import TellingMachine
from dpor.model.tree import Program, Sort
from dpor.primitives.threads import Join

MAX_STEPS: Final = 100_000


class Outcome(NamedTuple):
    """A terminal state.

    pcs        the position of each thread
    registers  the registers of each thread
    memory     the state of each object
    errors     the labels of the failures
    """

    pcs: tuple[int, ...]
    registers: tuple[tuple[Any, ...], ...]
    memory: tuple[Any, ...]
    errors: frozenset[str]


class AbstractSystem:
    """Runs an abstract program (checked, or in its JSON form). A run is cut after `max_steps` events.

    >>> from dpor.core.system import Trace
    >>> system = AbstractSystem({"vars": {"x": 0}, "threads": [["w x 1"], ["r x a", "assert a==1"]]})
    >>> trace = Trace()
    >>> run = system.run(trace, lambda enabled: (enabled & -enabled).bit_length() - 1)  # the lowest thread first
    >>> trace.operations, run.findings
    ([<write W0>, <read R0>], [])
    """

    def __init__(self, program: Program | Mapping[str, Any], max_steps: int = MAX_STEPS) -> None:
        self.program = program if isinstance(program, Program) else parse(program)
        self.max_steps = max_steps
        self.table = OperationTable()
        self.semantics = Semantics(self.program, self.table)
        self._later = Later(self.semantics.codes)
        self._withdrawn: set[str] = set()
        of_sort = {sort: [self.table.location(o.name) for o in self.program.objects if o.sort is sort] for sort in Sort}
        self._variables, self._locks = frozenset(of_sort[Sort.VARIABLE]), of_sort[Sort.LOCK] + of_sort[Sort.RLOCK]
        self._broken: list[str] = []
        self._discipline = Discipline(
            lambda location: location not in self.semantics.awaited,
            lambda lock: True,
            lambda location: (),
            lambda found: self._began_again(found),
        )
        self._guarded = self._variables.union(of_sort[Sort.CONDITION])
        self._guardings: dict[tuple[bool, bool], Guarding] = {}
        self._every_access = True
        self._present = self._machine(), []  # type: tuple[AbstractMachine, list[Act | None]]
        sorts, watched = self.semantics.sorts, self.semantics.watched
        self._synchronising = [
            location
            for location in range(len(self.semantics.initial))
            if location in watched or sorts.get(str(self.table.name_of(location))) is not Sort.VARIABLE
        ]

    def run(self, trace: Trace, choose: Chooser) -> Run:
        """See `dpor.core.system.System.run`."""
        machine = self._machine() if trace.data is None else self._telling_machine(trace.data)
        try:
            self._repeat(machine, trace)
            run = self._extend(machine, trace, choose)
        except (InternalError, NotDeterministic):
            if not self._broken:
                raise
        if self._broken:  # then steps are others than before, so a run that differs is no error
            raise AssumptionBroken(self._broken[0], runs=1)
        if isinstance(machine, CoarseMachine):
            run.silent = machine.silent
        return run

    def see_every_access(self, on: bool) -> None:
        """From now on, runs have an event for every access; or else only for those whose order can matter: then a
        search begins, for the first time or again."""
        self._every_access = on
        self._discipline.begin()
        self._broken.clear()

    def accesses(self) -> Any:
        """Return what the present search has shown of its accesses; None if each is an event."""
        return None if self._every_access else self._discipline.to_json()

    def recall_accesses(self, shown: Any) -> None:
        """Take note of what another part of the search has shown. Raises `AssumptionBroken` if that contradicts what
        is known."""
        self._discipline.recall(shown)
        if self._broken:
            raise AssumptionBroken(self._broken[0])

    def _began_again(self, found: Contradiction) -> None:
        self._broken.append(self._in_words(found))

    def _in_words(self, found: Contradiction) -> str:
        place = str(self.table.name_of(found.location))
        return self._discipline.in_words(found, place, lambda lock: str(self.table.name_of(lock)))

    def is_memory(self, location: Location) -> bool:
        """True if the location is a variable."""
        return self.semantics.sorts.get(str(self.table.name_of(location))) is Sort.VARIABLE

    def describe(self, trace: Trace) -> list[EventText]:
        """Describe the events of the trace in words, for reports."""
        return describe(self.semantics, self._machine(), trace)

    def labels(self) -> Mapping[str, str]:
        """See `dpor.findings.explain.Checkable`."""
        return {}

    def returned(self, outcome: Outcome) -> Outcome:
        """See `dpor.findings.explain.Checkable`."""
        return outcome

    def outcome_text(self, outcome: Outcome) -> str:
        """Describe an outcome in words."""
        memory = {str(self.table.name_of(location)): value for location, value in enumerate(outcome.memory)}
        return terminal_state(self.semantics, memory, outcome.registers, outcome.errors)

    def _machine(self) -> AbstractMachine:
        semantics = self.semantics
        given = semantics.codes, semantics.initial, semantics.spawned
        if self._every_access:
            return AbstractMachine(*given)
        return CoarseMachine(*given, self._discipline, self._variables, self._locks)

    def _telling_machine(self, data: Data) -> AbstractMachine:
        semantics = self.semantics
        return TellingMachine(semantics.codes, semantics.initial, semantics.spawned, data)

    def initial(self, location: Location) -> Any:
        """See `dpor.core.system.TellsData`."""
        return self.semantics.initial[location]

    # ------------------------------------------------------------------ the present state

    def state(self) -> StateKey:
        """Return the whole state, in the form of an outcome. See `dpor.core.system.StatefulSystem`."""
        return _outcome(self._present[0])

    def unstored(self) -> Mapping[str, int]:
        """Return no reasons: every state can be told."""
        return {}

    def failed(self) -> frozenset[str]:
        """Return the labels of the failures of the present run so far: thread and condition, "T1:a==0"."""
        return frozenset(self._present[0].failures)

    def pending(self) -> list[Pending]:
        machine, acts = self._present
        return [
            Pending(thread, act.operation, act.read(machine.memory))
            for thread, act in enumerate(acts)
            if act is not None
        ]

    def place(self, thread: ThreadId) -> Hashable:
        """Return the number of the thread and that of its instruction. See `dpor.core.system.PlacedSystem`."""
        return thread, self._present[0].pcs[thread]

    def sync_states(self) -> Mapping[Location, Any]:
        memory = self._present[0].memory
        return {location: memory[location] for location in self._synchronising}

    def is_choice(self, thread: ThreadId, sync_choices: SyncChoices) -> bool:
        """True unless the thread is about to join another. Every thread can reach all variables, so their accesses
        matter; but when a thread that has ended is joined, no other thread can tell."""
        act = self._present[1][thread]
        return act is not None and not isinstance(act.operation.rule, Join)

    def ruled_out(self, thread: ThreadId) -> Collection[str]:
        """Return a fact for each variable that the thread accesses, if no other thread will access it in conflict. See
        `dpor.core.system.OracleSystem`."""
        machine, acts = self._present
        act = acts[thread]
        if act is None or act.operation.rule is not None:
            return ()
        others = [self._later.touched(t, machine.pcs[t]) for t in range(len(acts)) if t != thread and acts[t]]
        facts = []
        for location, mode in act.operation.accesses:
            name = str(self.table.name_of(location))
            fact = f"nobody else will {'write' if mode is READ else 'access'} {name}"
            if fact in self._withdrawn or any(
                name in later.written or (mode is not READ and name in later.read) for later in others
            ):
                return ()
            facts.append(fact)
        return facts

    def withdraw_facts(self, facts: Collection[str]) -> None:
        self._withdrawn.update(facts)
        raise AssumptionBroken("; ".join(f"{fact}: not so" for fact in sorted(facts)))

    def guarding(self, by_use: bool, by_locks: bool) -> Guarding:
        """See `dpor.core.system.LockingSystem`. Conditions are data, too: they may be used under one lock."""
        guarding = self._guardings.get((by_use, by_locks))
        if guarding is None:
            guarding = Guarding(self._guarded.__contains__, self._locks.__contains__, lambda _: (), self._withdraw)
            guarding.by_use, guarding.by_locks = by_use, by_locks
            self._guardings[by_use, by_locks] = guarding
        return guarding

    def _withdraw(self, found: Contradiction) -> None:
        raise AssumptionBroken(self._in_words(found))

    def held(self, thread: ThreadId) -> Collection[Location]:
        memory = self._present[0].memory
        return [lock for lock in self._locks if owner(memory[lock]) == thread]

    def remembers_way(self) -> bool:
        """Return False: objects have the program's names, and there are no clocks."""
        return False

    def changes_data(self, operation: Operation) -> bool:
        sorts, name_of = self.semantics.sorts, self.table.name_of
        return any(
            mode is not READ and sorts.get(str(name_of(location))) is Sort.VARIABLE
            for location, mode in operation.accesses
        )

    def has_changed_silently(self) -> bool:
        machine = self._present[0]
        return isinstance(machine, CoarseMachine) and machine.changed_at == machine.events

    def livelock(self, moving: int) -> Finding:
        return livelock_finding(self._present[0], moving)

    def canonical(self, operation: Operation) -> Operation:
        """Return the operation itself: every object always has the same name."""
        return operation

    # ------------------------------------------------------------------ running

    def _repeat(self, machine: AbstractMachine, trace: Trace) -> None:
        step = machine.step
        for position, (action, recorded) in enumerate(zip(trace.actions, trace.operations, strict=True)):
            operation = step(action & THREAD_MASK, action >> VALUE_SHIFT)
            if recorded is UNKNOWN:
                trace.operations[position] = operation
            elif operation is not recorded:
                raise NotDeterministic(
                    f"T{action & THREAD_MASK} did {operation!r} where {recorded!r} is recorded:"
                    " the schedule is of another program"
                )

    def _extend(self, machine: AbstractMachine, trace: Trace, choose: Chooser) -> Run:
        memory = machine.memory
        acts = [machine.act(thread) for thread in range(len(machine.codes))]
        self._present = machine, acts
        while True:
            if machine.endless is not None:
                where, text = machine.endless
                return self._cut(machine, f"{where} {text!r} is in a loop without operations that does not end")
            enabled, bit = 0, 1
            for act in acts:
                if act is not None and (act.guard is None or act.guard(memory)):
                    enabled |= bit
                bit += bit
            if not enabled:
                return self._complete(machine, acts)
            if len(trace.actions) >= self.max_steps:
                return self._cut(machine, f"a run was cut after {plural(self.max_steps, 'event')} (--max-steps)")
            action = choose(enabled)
            if action == STOP:
                return Run(Ending.STOPPED, _blocked(acts, memory), findings=list(machine.failures.values()))
            thread = action & THREAD_MASK
            act = acts[thread] if enabled >> thread & 1 else None
            if act is None:
                raise InternalError(f"T{thread} was chosen, which cannot run")
            before = act.read(memory) if act.recorded else None
            operation = machine.step(thread, action >> VALUE_SHIFT)
            trace.actions.append(action)
            trace.threads.append(thread)
            trace.operations.append(operation)
            trace.befores.append(before)
            acts[thread] = machine.act(thread)
            if operation.starts >= 0:
                acts[operation.starts] = machine.act(operation.starts)

    # ------------------------------------------------------------------ how a run ends

    def _complete(self, machine: AbstractMachine, acts: Sequence[Act | None]) -> Run:
        blocked = _blocked(acts, machine.memory)
        outcome = _outcome(machine)
        findings = list(machine.failures.values())
        if blocked:
            findings.append(deadlock_finding(self.semantics, blocked, machine.timed_out))
        return Run(Ending.COMPLETE, blocked, outcome, outcome if blocked else None, findings)

    def _cut(self, machine: AbstractMachine, reason: str) -> Run:
        return Run(Ending.CUT, findings=list(machine.failures.values()), incomplete=[reason])


def _outcome(machine: AbstractMachine) -> Outcome:
    return Outcome(
        tuple(machine.pcs),
        tuple([tuple(registers) for registers in machine.registers]),
        tuple(machine.memory),
        frozenset(machine.failures),
    )


def _blocked(acts: Sequence[Act | None], memory: Memory) -> list[Pending]:
    """Return the pending operations of the blocked threads. (Threads that have ended or not begun have none.)"""
    return [
        Pending(thread, act.operation, act.read(memory))
        for thread, act in enumerate(acts)
        if act is not None and act.guard is not None and not act.guard(memory)
    ]
