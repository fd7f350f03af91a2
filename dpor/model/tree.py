"""Abstract programs as checked values. `dpor.model.syntax` reads them, and `dpor.model.semantics` compiles them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final, TypeAlias

import attrs

from dpor.model.expressions import Expression, Value


class Sort(Enum):
    """The sorts of shared objects."""

    VARIABLE = "variable"
    LOCK = "lock"
    RLOCK = "re-entrant lock"
    SEMAPHORE = "semaphore"
    CONDITION = "condition"


@attrs.frozen
class Object:
    """A declared object.

    name     "x", or "x[2]" for an element
    sort     its sort
    initial  the initial value of a variable or semaphore
    """

    name: str
    sort: Sort
    initial: Value = None


@attrs.frozen
class ObjectReference:
    """The name of an object in a statement: a direct one, or an element whose number an expression gives.

    text       the name as it is written
    elements   the names of the objects that it may mean, by number; a direct name has number 0
    subscript  the expression for the number; None for a direct name
    """

    text: str
    elements: Mapping[int, str]
    subscript: Expression | None = None


@attrs.frozen
class Simple:
    """A statement that is one line.

    place        its place in the thread: the indices that lead to it in the JSON form, "3" or "3.2.0"
    text         the statement as it is written
    word         its first word, a key of `OPERANDS`, which says which operands it has
    objects      the shared objects that it names
    register     the register that it names; "" if it names none
    expressions  its expressions
    number       the number of a thread or of alternatives
    """

    place: str
    text: str
    word: str
    objects: tuple[ObjectReference, ...] = ()
    register: str = ""
    expressions: tuple[Expression, ...] = ()
    number: int = 0


@attrs.frozen
class If:
    place: str
    condition: Expression
    then: Body
    otherwise: Body


@attrs.frozen
class While:
    place: str
    condition: Expression
    body: Body


@attrs.frozen
class Repeat:
    times: int
    body: Body


Statement: TypeAlias = Simple | If | While | Repeat
Body: TypeAlias = tuple[Statement, ...]


@attrs.frozen
class Program:
    """A checked program.

    name       its name; "" if it has none
    objects    the shared objects
    threads    the statements of each thread
    registers  by name, the initial values of a register, one for each thread
    """

    name: str
    objects: tuple[Object, ...]
    threads: tuple[Body, ...]
    registers: Mapping[str, tuple[Value, ...]]

    def statements(self, thread: int) -> Iterator[Simple]:
        """Yield the simple statements of a thread in order, each once."""
        return _simple(self.threads[thread])


OPERANDS: Final[Mapping[str, str]] = {
    "r": "variable register",
    "w": "variable expression",
    "rmw": "variable register expression",
    "cas": "variable expression expression register",
    "await": "variable expression",
    "lock": "lock",
    "unlock": "lock",
    "try": "lock register",
    "tlock": "lock register",
    "P": "semaphore",
    "V": "semaphore",
    "tP": "semaphore register",
    "wait": "condition lock",
    "twait": "condition lock register",
    "notify": "condition",
    "notifyall": "condition",
    "spawn": "thread",
    "join": "thread",
    "choose": "register count",
    "let": "register expression",
    "assert": "expression",
    "halt": "expression",
}
"""The words that begin a statement, and the operands that each takes. (A "lock" may be a re-entrant lock.)"""


def _simple(body: Body) -> Iterator[Simple]:
    for statement in body:
        match statement:
            case Simple():
                yield statement
            case If():
                yield from _simple(statement.then)
                yield from _simple(statement.otherwise)
            case While() | Repeat():
                yield from _simple(statement.body)
