"""The visible instructions of abstract programs, as closures: each performs the operation that its `find` gives, and
puts what came of it into registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from dpor.core.errors import InternalError
from dpor.core.operations import Operation, ThreadId
from dpor.model.expressions import Evaluate
from dpor.model.machine import Find, Machine, Registers, Step

Note: TypeAlias = Callable[[Machine], None]
"""Notes a failure."""


def read(find: Find, register: int) -> Step:
    def step(registers: Registers, machine: Machine) -> Operation:
        act = find(registers)
        registers[register] = machine.memory[act.location]
        return act.operation

    return step


def write(find: Find, value: Evaluate) -> Step:
    def step(registers: Registers, machine: Machine) -> Operation:
        act = find(registers)
        machine.memory[act.location] = value(registers)
        return act.operation

    return step


def read_modify_write(find: Find, register: int, value: Evaluate) -> Step:
    def step(registers: Registers, machine: Machine) -> Operation:
        act = find(registers)
        registers[register] = machine.memory[act.location]
        machine.memory[act.location] = value(registers)
        return act.operation

    return step


def perform(find: Find) -> Step:
    """For operations whose result nobody looks at."""

    def step(registers: Registers, machine: Machine) -> Operation:
        return find(registers).perform(machine.memory).operation

    return step


def perform_into(find: Find, register: int) -> Step:
    """The result of the rule goes into a register."""

    def step(registers: Registers, machine: Machine) -> Operation:
        done = find(registers).perform(machine.memory)
        registers[register] = done.result
        return done.operation

    return step


def attempt(find: Find, register: int, timed: bool) -> Step:
    """1 or 0 into a register: did it succeed? A timed one that does not has timed out."""

    def step(registers: Registers, machine: Machine) -> Operation:
        done = find(registers).perform(machine.memory)
        registers[register] = 1 if done.result else 0
        if timed and not done.result:
            machine.timed_out = True
        return done.operation

    return step


def succeed(find: Find, note: Note) -> Step:
    """It should succeed; otherwise a failure is noted."""

    def step(registers: Registers, machine: Machine) -> Operation:
        done = find(registers).perform(machine.memory)
        if not done.result:
            note(machine)
        return done.operation

    return step


def begin_wait(find: Find, thread: ThreadId, levels: int | None) -> Step:
    """`levels`: the register that keeps how often a re-entrant lock was held, for when it is taken again."""

    def step(registers: Registers, machine: Machine) -> Operation:
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
    """The lock is taken again, or the wait times out. `register`: gets 1 for notified, 0 for timed out."""

    def step(registers: Registers, machine: Machine) -> Operation:
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
    """Start a thread. `failed`: what is done if it has been started before, which `note` notes."""

    def step(registers: Registers, machine: Machine) -> Operation:
        done = find(registers).perform(machine.memory)
        if done.result:
            machine.start(thread)
            return done.operation
        note(machine)
        return failed

    return step


def choose(operations: Sequence[Operation], register: int) -> Step:
    """The chooser's value. `operations`: one for each value."""

    def step(registers: Registers, machine: Machine) -> Operation:
        value = machine.value
        if value >= len(operations):
            raise InternalError(f"value {value} was chosen, of {len(operations)}")
        registers[register] = value
        return operations[value]

    return step
