"""Rules that only abstract programs need; all others are those of `dpor.primitives`."""

from __future__ import annotations

from functools import cache

import attrs

from dpor.core.errors import BadProgram
from dpor.core.operations import READ, WRITE, Effect, States, ThreadId
from dpor.model.expressions import Evaluate, Expression, Value
from dpor.primitives.rules import BaseRule


@attrs.frozen
class Await(BaseRule):
    """Wait until a condition on the variable holds. Result: the variable's value.

    condition  the text of the condition
    names      the registers that it reads
    registers  their values, so that equal waits are equal rules
    """

    name = "await"
    modes = (READ,)
    condition: str
    names: tuple[str, ...]
    registers: tuple[Value, ...]

    def enabled(self, states: States, thread: ThreadId) -> bool:
        try:
            return bool(_compiled(self.condition, self.names)((*self.registers, states[0])))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise BadProgram(f"T{thread} awaits {self.condition!r} of {states[0]!r}: {error}") from error

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, (READ,), states[0])


@cache
def _compiled(condition: str, names: tuple[str, ...]) -> Evaluate:
    """Return what evaluates the condition, given the values of these registers and then that of the variable."""
    return Expression(condition, names).compile({name: position for position, name in enumerate((*names, "_"))})


@attrs.frozen
class CompareAndSwap(BaseRule):
    """Replace the value of a variable by `new` if it is `old`. Result: 1; or 0 if the value is another one, which is
    then only read."""

    name = "cas"
    modes = (WRITE,)
    old: Value
    new: Value

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] == self.old:
            return Effect((self.new,), (WRITE,), 1)
        return Effect(states, (READ,), 0)


@attrs.frozen
class Unlock(BaseRule):
    """Free a plain lock, whoever holds it. This always writes, as is the convention of the litmus tests; Python's locks
    follow `dpor.primitives.locks.Release`. Result: True if the caller held the lock."""

    name = "unlock"
    modes = (WRITE,)
    gives = (0,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((None,), (WRITE,), states[0] == thread)

    def succeeded(self, effect: Effect) -> bool:
        return True
