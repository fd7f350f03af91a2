"""Compiles the operands of one thread's statements: registers, expressions, and the objects that are accessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from dpor.core.operations import Location, Mode, OperationTable, ThreadId
from dpor.model.expressions import Evaluate, Expression
from dpor.model.machine import Act, Find, Registers
from dpor.model.tree import ObjectReference
from dpor.primitives.rules import BaseRule

Names: TypeAlias = tuple[str, ...]
Values: TypeAlias = tuple[Any, ...]

Bind: TypeAlias = Callable[[Names, Values], Act]
"""Takes the names of objects and the values that a rule depends on, and returns the act on these objects."""


class Operands:
    """The operands of one thread.

    positions   by name, the position of each register
    watched     the variables whose states are recorded
    """

    def __init__(self, table: OperationTable, thread: ThreadId, watched: frozenset[Location]) -> None:
        self._table = table
        self._thread = thread
        self._watched = watched
        self.positions: dict[str, int] = {}

    def register(self, name: str) -> int:
        return self.positions.setdefault(name, len(self.positions))

    def expression(self, expression: Expression) -> Evaluate:
        for name in expression.names:
            self.register(name)
        return expression.compile(self.positions)

    def values(self, expressions: Sequence[Expression]) -> Evaluate | Values:
        """Return a function that evaluates several expressions to a tuple; the tuple itself if they read no
        register."""
        evaluates = [self.expression(e) for e in expressions]
        if not any(e.names for e in expressions):
            return tuple(evaluate(()) for evaluate in evaluates)
        return lambda registers: tuple([evaluate(registers) for evaluate in evaluates])

    # ------------------------------------------------------------------ acts

    def data(self, kind: str, mode: Mode) -> Bind:
        """Return how to make the act of a plain access of a variable."""

        def bind(names: Names, values: Values) -> Act:
            location = self._table.location(names[0])
            return Act(self._table.intern(kind, ((location, mode),)), recorded=location in self._watched)

        return bind

    def ruled(self, kind: str, rule: Callable[[Names, Values], BaseRule], starts: ThreadId = -1) -> Bind:
        """Return how to make the act of an operation that follows a rule."""

        def bind(names: Names, values: Values) -> Act:
            its = rule(names, values)
            accesses = tuple((self._table.location(n), mode) for n, mode in zip(names, its.modes, strict=True))
            return Act(self._table.intern(kind, accesses, its, self._thread, starts=starts), recorded=True)

        return bind

    def find(self, references: Sequence[ObjectReference], bind: Bind, values: Evaluate | Values = ()) -> Find:
        """Return a function that finds what the thread is about to do. Each different act is made once."""
        lookups = [self._lookup(reference) for reference in references]
        if isinstance(values, tuple):
            if all(isinstance(lookup, str) for lookup in lookups):
                names = tuple(lookup for lookup in lookups if isinstance(lookup, str))
                act = bind(names, values)
                return lambda registers: act
            constant = values
            values = lambda registers: constant
        evaluate = values
        acts: dict[tuple[Names, Values], Act] = {}

        def find(registers: Registers) -> Act:
            key = tuple([n if isinstance(n, str) else n(registers) for n in lookups]), evaluate(registers)
            act = acts.get(key)
            if act is None:
                act = acts[key] = bind(*key)
            return act

        return find

    def _lookup(self, reference: ObjectReference) -> str | Callable[[Registers], str]:
        """Return the name of the object, or a function that finds it."""
        if reference.subscript is None:
            return reference.elements[0]
        number = self.expression(reference.subscript)
        elements: Mapping[int, str] = reference.elements

        def lookup(registers: Registers) -> str:
            element = number(registers)
            if element not in elements:
                raise ValueError(f"there is no element {element!r}")
            return elements[element]

        return lookup


def direct(name: str) -> ObjectReference:
    """Return a reference to the object with this name."""
    return ObjectReference(name, {0: name})
