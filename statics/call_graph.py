"""Records of the call graph: function instances, call sites, arguments, and accesses to fields."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from dpor.statics.ir import Call, Function, Nothing, Parameters, Position, Return
from dpor.statics.objects import ObjectKind
from dpor.statics.solver import Node

Site: TypeAlias = tuple[int, int]
"""Numbers of a function instance, and of an instruction in it."""
NATIVE: Final = 0
"""The function instance that stands for all native code."""
FRESH: Final = "%fresh"
"""Bound to `self` of a constructor: the object that the call itself makes."""


HAVE_FIELDS: Final = frozenset(
    {
        *(ObjectKind.INSTANCE, ObjectKind.CONTAINER, ObjectKind.MODULE, ObjectKind.NATIVE_INSTANCE),
        *(ObjectKind.CLASS, ObjectKind.FUNCTION, ObjectKind.GENERATOR, ObjectKind.WRAPPER),
    }
)


class How(StrEnum):
    """How control passes along a call edge."""

    CALL = "call"
    RESUME = "resume"
    """The body of a generator or coroutine is resumed."""
    SPAWN = "spawn"
    """Another thread starts; this one does not wait for it."""


class CallEdge(NamedTuple):
    """An edge of the call graph.

    binding   pairs: parameter of the target, variable of the caller ("" if it comes from the heap, or FRESH)
    result    whether what the target returns may be the instruction's result
    """

    target: int
    how: How
    binding: tuple[tuple[str, str], ...]
    result: bool


class Touch(NamedTuple):
    """A field of an abstract object that an instruction reads ("r") or writes ("w").

    through   the variable that holds the object; "" if it is reached in some other way
    """

    mode: str
    thing: int
    name: str
    through: str = ""


class Instance(NamedTuple):
    """A function in a context: the number of the receiver's object, or -1."""

    function: Function
    context: int


class Argument(NamedTuple):
    """An argument of a call: the node with its set, and the caller's variable ("" if from the heap)."""

    node: Node
    variable: str


class Arguments(NamedTuple):
    """The arguments of a call.

    `starred` has nodes of containers (or of anything, for native callers) whose elements may be passed to any
    parameter.
    """

    plain: tuple[Argument, ...] = ()
    keywords: tuple[tuple[str, Argument], ...] = ()
    anything: tuple[Argument, ...] = ()
    receiver: str = ""

    def all(self) -> tuple[Argument, ...]:
        return (*self.plain, *(argument for _, argument in self.keywords), *self.anything)


def outside(name: str) -> Function:
    """Make a function that stands for code outside the program: it calls again and again, at instruction 1, then
    returns."""
    function = Function("", name, 0, Parameters())
    function.instructions = [Nothing(""), Call("", "", ()), Return("", "")]
    function.positions = [Position(0, 0, 0, 0)] * 3
    function.following = [[1, 2], [1, 2], []]
    function.handlers = [-1] * 3
    return function
