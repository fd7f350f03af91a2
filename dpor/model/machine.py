"""The state of one run of an abstract program, and how it changes.

This module knows no statements. They are compiled to functions (`dpor.model.semantics`) that work on an
`AbstractMachine`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from dpor.core.errors import BadProgram, NotDeterministic
from dpor.core.operations import Location, Operation, States, ThreadId
from dpor.core.outcome import Finding
from dpor.model.expressions import Value
from dpor.model.tree import Simple

Memory: TypeAlias = list[Any]
"""The state of each object, by its location."""

Registers: TypeAlias = list[Value]

NOT_STARTED: Final = -1
"""The position of a thread that another has yet to spawn. As an index it is that of the last instruction, the end."""

LOCAL_LIMIT: Final = 100_000
"""This many local instructions in a row are taken for a loop that does not end."""


class AppliedRule(NamedTuple):
    """The effect of an operation with a rule in given states.

    operation  the operation with its outcome
    changes    the new states of the objects that it has changed
    result     the result of the rule
    """

    operation: Operation
    changes: tuple[tuple[Location, Any], ...]
    result: Any


class Act:
    """An operation bound to its objects: what a thread at some instruction is about to do.

    operation  the operation
    read       takes the memory and returns the states of its objects
    location   the location of its first object, for operations that have only one
    guard      takes the memory and returns True if the operation is enabled; None if it always is
    recorded   True if its events carry states (`Trace.befores`)

    Rules are pure, so a rule is applied once for each combination of states, and its effect is remembered.
    """

    __slots__ = ("_done", "guard", "location", "operation", "read", "recorded")

    def __init__(self, operation: Operation, recorded: bool) -> None:
        locations = [location for location, _ in operation.accesses]
        self.operation = operation
        self.location = locations[0] if locations else -1
        self.read = _reader(locations)
        self.recorded = recorded
        self.guard: Callable[[Memory], bool] | None = None
        self._done: dict[States, AppliedRule] = {}
        rule = operation.rule
        if rule is not None and rule.blocking:
            self.guard = lambda memory: rule.enabled(self.read(memory), operation.thread)

    def perform(self, memory: Memory) -> AppliedRule:
        """Apply the rule to the memory, which changes, and return the effect."""
        states = self.read(memory)
        done = self._done.get(states)
        if done is None:
            done = self._done[states] = self._apply(states)
        for location, state in done.changes:
            memory[location] = state
        return done

    def _apply(self, states: States) -> AppliedRule:
        operation, rule = self.operation, self.operation.rule
        assert rule is not None
        effect = rule.apply(states, operation.thread)
        changes = tuple(
            (location, after)
            for (location, _), before, after in zip(operation.accesses, states, effect.states, strict=True)
            if after is not before
        )
        return AppliedRule(operation.outcome(effect.modes), changes, effect.result)


def _reader(locations: Sequence[Location]) -> Callable[[Memory], States]:
    if len(locations) == 1:
        (only,) = locations
        return lambda memory: (memory[only],)
    return lambda memory: tuple([memory[location] for location in locations])


Find: TypeAlias = Callable[[Registers], Act]
"""Takes the registers of a thread and returns what it is about to do."""

Step: TypeAlias = Callable[[Registers, "AbstractMachine"], Operation]
"""Performs one visible instruction and returns the operation with its outcome."""

Local: TypeAlias = Callable[[Registers, "AbstractMachine"], int]
"""Performs one local instruction and returns the position of the next."""


class StatementPlace(NamedTuple):
    """The place of the statement that an instruction comes from ("T0:3"), and the statement's text."""

    where: str
    text: str


class Code:
    """The instructions of one thread, as parallel lists. At each position there is a step and its find, or a local
    instruction; the last position is the end.

    thread      the number of the thread
    finds       by position: returns what the thread is about to do there
    steps       by position: the visible instruction
    locals      by position: the local instruction; None if there is a visible one
    places      by position: the statement that the instruction comes from
    registers   the names of the registers
    initial     their initial values
    statements  the simple statements, with the positions where their instructions begin
    has_loops   True if the thread has a loop
    """

    def __init__(self, thread: ThreadId) -> None:
        self.thread = thread
        self.finds: list[Find | None] = []
        self.steps: list[Step] = []
        self.locals: list[Local | None] = []
        self.places: list[StatementPlace] = []
        self.registers: list[str] = []
        self.initial: list[Value] = []
        self.statements: list[tuple[int, Simple]] = []
        self.has_loops = False

    @property
    def end(self) -> int:
        return len(self.steps) - 1

    def add_step(self, place: StatementPlace, find: Find, step: Step) -> None:
        self._add(place, find, step, None)

    def add_local(self, place: StatementPlace, local: Local) -> None:
        self._add(place, None, _no_step, local)

    def add_end(self) -> None:
        self._add(StatementPlace(f"T{self.thread}:end", "end"), None, _no_step, None)

    def _add(self, place: StatementPlace, find: Find | None, step: Step, local: Local | None) -> None:
        self.places.append(place)
        self.finds.append(find)
        self.steps.append(step)
        self.locals.append(local)


def _no_step(registers: Registers, machine: AbstractMachine) -> Operation:
    raise NotDeterministic("a thread is to go on that has ended or not begun: the schedule is of another program")


class AbstractMachine:
    """One run.

    codes       the instructions of each thread
    memory      the state of each object
    registers   the registers of each thread
    pcs         the position of each thread: before a step, at its end, or `NOT_STARTED`
    failures    what has gone wrong, by label
    value       the value of the data choice that is to be made
    timed_out   True if a timed wait has timed out
    endless     the place of a loop in which a thread goes round without a visible operation; the run cannot go on
    """

    __slots__ = ("codes", "endless", "failures", "memory", "pcs", "registers", "timed_out", "value")

    def __init__(self, codes: Sequence[Code], memory: Sequence[Any], waiting: frozenset[ThreadId]) -> None:
        self.codes = codes
        self.memory = list(memory)
        self.registers = [code.initial.copy() for code in codes]
        self.pcs = [NOT_STARTED] * len(codes)
        self.failures: dict[str, Finding] = {}
        self.value = 0
        self.timed_out = False
        self.endless: StatementPlace | None = None
        for thread in range(len(codes)):
            if thread not in waiting:
                self.start(thread)

    def start(self, thread: ThreadId) -> None:
        """Let the thread run up to its first visible instruction. Raises `BadProgram` if an expression fails."""
        code = self.codes[thread]
        self.pcs[thread] = 0
        if code.locals[0] is not None:
            try:
                self._run_locals(code, 0)
            except (ArithmeticError, TypeError, ValueError) as error:
                raise self._bad(thread, error) from error

    def step(self, thread: ThreadId, value: int) -> Operation:
        """Let the thread perform its pending operation, which is enabled, and run up to its next one.

        `value`: the value of the operation if it is a data choice. Returns the operation with its outcome. Raises
        `BadProgram` if an expression fails.
        """
        code = self.codes[thread]
        pc = self.pcs[thread]
        self.value = value
        try:
            operation = code.steps[pc](self.registers[thread], self)
            pc += 1
            self.pcs[thread] = pc
            if code.locals[pc] is not None:
                self._run_locals(code, pc)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self._bad(thread, error) from error
        return operation

    def _run_locals(self, code: Code, pc: int) -> None:
        thread, instructions = code.thread, code.locals
        registers, pcs = self.registers[thread], self.pcs
        for _ in range(LOCAL_LIMIT):
            local = instructions[pc]
            if local is None:
                return
            pcs[thread] = pc = local(registers, self)
        self.endless = code.places[pc]

    def _bad(self, thread: ThreadId, error: Exception) -> BadProgram:
        place = self.codes[thread].places[self.pcs[thread]]
        return BadProgram(f"{place.where} {place.text!r}: {error}")

    def act(self, thread: ThreadId) -> Act | None:
        """Return what the thread is about to do; None if it has ended or not begun."""
        find = self.codes[thread].finds[self.pcs[thread]]
        if find is None:
            return None
        try:
            return find(self.registers[thread])
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self._bad(thread, error) from error

    def fail(self, label: str, finding: Finding) -> None:
        """Record a failure, unless there is one with this label already."""
        self.failures.setdefault(label, finding)
