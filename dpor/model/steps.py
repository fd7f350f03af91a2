"""The visible instructions of abstract programs, as closures.

Each function returns an instruction that performs the operation which `find` gives, and puts its result into a
register. Registers are given by their positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from dpor.core.errors import InternalError
from dpor.core.operations import Operation, ThreadId
from dpor.model.expressions import Evaluate
from dpor.model.machine import AbstractMachine, Find, Registers, Step

Note: TypeAlias = Callable[[AbstractMachine], None]
"""Records a failure in the machine."""


def read(find: Find, register: int) -> Step:
    """Load the variable into the register."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        act = find(registers)
        registers[register] = machine.memory[act.location]
        return act.operation

    return step


def write(find: Find, value: Evaluate) -> Step:
    """Store the value in the variable."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        act = find(registers)
        machine.memory[act.location] = value(registers)
        return act.operation

    return step


def read_modify_write(find: Find, register: int, value: Evaluate) -> Step:
    """Load the variable into the register and store the value, which may use it, in one event."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        act = find(registers)
        registers[register] = machine.memory[act.location]
        machine.memory[act.location] = value(registers)
        return act.operation

    return step


def perform(find: Find) -> Step:
    """Perform an operation whose result is not used."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        return find(registers).perform(machine.memory).operation

    return step


def perform_into(find: Find, register: int) -> Step:
    """Perform an operation and put the result of its rule into the register."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        done = find(registers).perform(machine.memory)
        registers[register] = done.result
        return done.operation

    return step


def attempt(find: Find, register: int, timed: bool) -> Step:
    """Perform an operation that may fail, and put 1 into the register if it has succeeded, else 0. `timed`: if it
    fails, it has timed out."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        done = find(registers).perform(machine.memory)
        registers[register] = 1 if done.result else 0
        if timed and not done.result:
            machine.timed_out = True
        return done.operation

    return step


def succeed(find: Find, note: Note) -> Step:
    """Perform an operation that should succeed. If it does not, `note` records the failure."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        done = find(registers).perform(machine.memory)
        if not done.result:
            note(machine)
        return done.operation

    return step


def begin_wait(find: Find, thread: ThreadId, levels: int | None) -> Step:
    """Begin a wait: give the lock up. `levels`: the register that keeps how often a re-entrant lock was held, so that
    the end of the wait can restore it; None for a plain lock."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        done = find(registers).perform(machine.memory)
        if levels is not None:
            match done.result:
                case (owner, count) if owner == thread:
                    registers[levels] = count
                case _:
                    registers[levels] = 1
        return done.operation

    return step


def end_wait(find: Find, levels: int | None, register: int | None = None) -> Step:
    """End a wait: take the lock again, or time out. `levels`: see `begin_wait`. `register` gets 1 if the thread was
    notified, 0 if it timed out; None for a wait without a timeout."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        done = find(registers).perform(machine.memory)
        if register is not None:
            registers[register] = 1 if done.result else 0
            if not done.result:
                machine.timed_out = True
                return done.operation
        if levels is not None:
            registers[levels] = 0
        return done.operation

    return step


def spawn(find: Find, thread: ThreadId, failed: Operation, note: Note) -> Step:
    """Start a thread. If it has been started before, the operation is `failed`, and `note` records the failure."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        done = find(registers).perform(machine.memory)
        if done.result:
            machine.start(thread)
            return done.operation
        note(machine)
        return failed

    return step


def choose(operations: Sequence[Operation], register: int) -> Step:
    """Put the value that the chooser has chosen into the register. `operations` has an operation for each value."""

    def step(registers: Registers, machine: AbstractMachine) -> Operation:
        value = machine.value
        if value >= len(operations):
            raise InternalError(f"value {value} was chosen, of {len(operations)}")
        registers[register] = value
        return operations[value]

    return step
