"""Positions of frames: which variables are live there, and which slots of the operand stack certainly hold operands.

While a frame waits for what its instruction has called, the operands below those of the instruction itself are certain.
Those of the instruction are not: a Python function that is called directly takes them over as its arguments, and some
instructions release theirs before they call. `KEEP` lists the instructions whose operands are never taken over and stay
on the stack until the call returns, in all versions of Python that are known (3.11 to 3.15).
"""

from __future__ import annotations

import sys
from functools import cached_property, lru_cache
from types import CodeType
from typing import Final

from dpor.core.home import is_our_file
from dpor.statics.bytecode import Flow
from dpor.statics.liveness import liveness, slot_names


class StateUnknown(Exception):
    """The exact state of the program is unknown; the message says why."""


_FIXED: Final = {
    "FOR_ITER": 0,
    "WITH_EXCEPT_START": 0,
    "RETURN_GENERATOR": 0,
    "SEND": 1,
    "YIELD_VALUE": 1,
    "BEFORE_WITH": 1,
    "GET_ITER": 1,
    "GET_YIELD_FROM_ITER": 1,
    "LOAD_ATTR": 1,
    "LOAD_METHOD": 1,
    "DELETE_ATTR": 1,
    "STORE_ATTR": 2,
    "BINARY_OP": 2,
    "BINARY_SUBSCR": 2,
    "DELETE_SUBSCR": 2,
    "STORE_SUBSCR": 3,
    "COMPARE_OP": 2,
    "CONTAINS_OP": 2,
    "UNARY_NEGATIVE": 1,
    "UNARY_INVERT": 1,
    "UNARY_NOT": 1,
    "TO_BOOL": 1,
    "FORMAT_SIMPLE": 1,
    "POP_JUMP_IF_TRUE": 1,
    "POP_JUMP_IF_FALSE": 1,
    "POP_JUMP_FORWARD_IF_TRUE": 1,
    "POP_JUMP_FORWARD_IF_FALSE": 1,
    "POP_JUMP_BACKWARD_IF_TRUE": 1,
    "POP_JUMP_BACKWARD_IF_FALSE": 1,
    "JUMP_IF_TRUE_OR_POP": 1,
    "JUMP_IF_FALSE_OR_POP": 1,
}
"""How many operands an instruction may remove before what it calls returns."""

KEEP: Final = frozenset(
    {
        "CALL", "CALL_KW", "FOR_ITER", "WITH_EXCEPT_START", "BINARY_OP", "STORE_SUBSCR", "DELETE_SUBSCR", "COMPARE_OP",
        "CONTAINS_OP", "UNARY_NEGATIVE", "UNARY_INVERT", "FORMAT_SIMPLE",
    }
)  # fmt: skip
"""If such an instruction calls through C code, all its operands stay in their slots, alive, until the call returns."""


_SPREADS_ALWAYS: Final = sys.version_info >= (3, 14)
"""True if `CALL_FUNCTION_EX` has a slot for keyword arguments even where there are none."""


def _operands(name: str, arg: int) -> int:
    """Return how many operands the instruction takes. Raises `StateUnknown` for one that is not known to call
    anything."""
    if name == "CALL":
        return arg + 2
    if name == "CALL_KW":
        return arg + 3
    if name == "CALL_FUNCTION_EX":
        return 4 if _SPREADS_ALWAYS else 3 + (arg & 1)
    if name == "FORMAT_VALUE":
        return 1 + (arg >> 2 & 1)
    found = _FIXED.get(name)
    if found is None:
        raise StateUnknown(f"a thread waits at the instruction {name}, which is not known to call anything")
    return found


class FramePosition:
    """A position in a code object.

    index, name, arg   of the instruction
    live      slots of the variables that may still be read from here on; `dead`: the other variables
    encoded   the live slots, and those of the operands that are certain
    handles   True if an exception is being handled, which the interpreter keeps outside the frame
    shape     identifies the position among all code
    base      how many slots are certain: variables and the operands below those of the instruction
    top       how many slots are in use when the instruction begins
    """

    __slots__ = ("arg", "base", "dead", "encoded", "handles", "index", "live", "name", "shape", "top")

    def __init__(
        self,
        shape: tuple[int, int],
        name: str,
        arg: int,
        live: tuple[int, ...],
        dead: tuple[int, ...],
        base: int,
        top: int,
        handles: bool,
    ) -> None:
        self.shape = shape
        self.index = shape[1]
        self.handles = handles
        self.name = name
        self.arg = arg
        self.live = live
        self.encoded = (*live, *range(len(live) + len(dead), base))
        self.dead = dead
        self.base = base
        self.top = top


_OPTIMIZED: Final = 0x1
_GENERATOR: Final = 0x20


class Layout:
    """The layout of the frames of one code object.

    number   the code's number, in order of first sight
    slots    how many variables, cells and free variables there are
    is_ours  True if it belongs to the runtime
    is_generator  True if it is a generator's; `is_optimized`: if its variables are in the frame, not in a mapping
    places   positions asked for so far, by `f_lasti`
    inits    for each class asked for: True if the code is its `__init__`
    start    the offset at which a generator waits to be started
    """

    def __init__(self, code: CodeType, number: int, without: frozenset[str] = frozenset()) -> None:
        self.code = code
        self.number = number
        self.names = slot_names(code)
        self.slots = len(self.names)
        self.is_ours = is_our_file(code.co_filename)
        self.is_generator = bool(code.co_flags & _GENERATOR)
        self.is_optimized = bool(code.co_flags & _OPTIMIZED)
        self.inits: dict[type, bool] = {}
        self._flow = Flow(code)
        self._live = liveness(code)
        self._depths = self._flow.depths()
        self._handling = self._flow.handling()
        self._without = sum(1 << i for i, name in enumerate(self.names) if name in without)
        self.places: dict[int, FramePosition] = {}
        names_ = [instruction.name for instruction in self._flow.instructions]
        self.start = self._flow.offsets[names_.index("RETURN_GENERATOR")] if "RETURN_GENERATOR" in names_ else -1

    @cached_property
    def keeps_first(self) -> bool:
        """True if the first parameter (there must be one) is never rebound, here or in a nested function."""
        return _keeps_first(self.code)

    def index(self, lasti: int) -> int:
        """Return the index of the instruction that a frame with this `f_lasti` is executing."""
        return self._flow.at(lasti)

    def place(self, lasti: int) -> FramePosition:
        """Return the position of a frame with this `f_lasti`. Raises `StateUnknown`."""
        return self.places.get(lasti) or self._new_place(lasti)

    def _new_place(self, lasti: int) -> FramePosition:
        index = self._flow.at(lasti)
        instructions = self._flow.instructions
        if instructions[index].name == "PRECALL":  # which may carry out the call that follows it
            index += 1
        depth = self._depths[index]
        if depth < 0:
            raise StateUnknown(f"{self.code.co_qualname} is at an instruction that cannot be reached")
        name, arg = instructions[index].name, instructions[index].arg
        if (name, arg) == _SUBSCRIPT:
            name = "BINARY_SUBSCR"
        live = self._live.after[index] & ~self._without
        place = self.places[lasti] = FramePosition(
            (self.number, index),
            name,
            arg,
            tuple(slot for slot in range(self.slots) if live >> slot & 1),
            tuple(slot for slot in range(self.slots) if not live >> slot & 1),
            self.slots + depth - _operands(name, arg),
            self.slots + depth,
            self._handling[index],
        )
        return place

    def suspended(self, lasti: int) -> int:
        """Return the `f_lasti` that a suspended generator would have if it pointed, in all versions, to where it
        stopped."""
        return self._flow.offsets[self._flow.at(lasti) - _POINTS_BEHIND]

    def closing_runs_code(self, lasti: int) -> bool:
        """True if closing a generator that is suspended here would run code of the program."""
        stopped = self.suspended(lasti)
        return stopped != self.start and _handles_closing(self._flow, stopped)


@lru_cache(maxsize=1024)
def cleans_up(code: CodeType) -> bool:
    """True if a generator of this code may be suspended where closing it would run code of the program."""
    flow = Flow(code)
    return any(i.name == "YIELD_VALUE" and _handles_closing(flow, i.offset) for i in flow.instructions)


def _handles_closing(flow: Flow, offset: int) -> bool:
    row = flow.row_at(offset)
    if row is None:
        return False
    handler = flow.instructions[flow.at(row.target)]
    return (handler.name, handler.arg) != _STOPS_GENERATORS


_SUBSCRIPT: Final = ("BINARY_OP", 26)
"""How `a[b]` is compiled from 3.14 on."""

_POINTS_BEHIND: Final = sys.version_info >= (3, 13)
_STOPS_GENERATORS: Final = ("CALL_INTRINSIC_1", 3)
"""The first instruction of the handler that the compiler puts around every generator (3.12)."""

_CHANGES_FAST: Final = {
    "STORE_FAST": ((0, -1),),
    "DELETE_FAST": ((0, -1),),
    "LOAD_FAST_AND_CLEAR": ((0, -1),),
    "STORE_FAST_LOAD_FAST": ((4, -1),),
    "STORE_FAST_STORE_FAST": ((4, -1), (0, 15)),
}
"""Where an instruction's argument has the slots that it changes: (shift, mask)."""


def _keeps_first(code: CodeType) -> bool:
    for instruction in Flow(code).instructions:
        places = _CHANGES_FAST.get(instruction.name, ())
        if any((instruction.arg >> shift) & mask == 0 for shift, mask in places):
            return False
    return not _rebinds(code, code.co_varnames[0])


def _rebinds(code: CodeType, name: str) -> bool:
    """True if the code, or a function in it that shares the variable, stores to the cell of this name."""
    if name not in code.co_cellvars and name not in code.co_freevars:
        return False
    slot = slot_names(code).index(name)
    changes = ("STORE_DEREF", "DELETE_DEREF")
    if any(i.name in changes and i.arg == slot for i in Flow(code).instructions):
        return True
    return any(isinstance(inner, CodeType) and _rebinds(inner, name) for inner in code.co_consts)
