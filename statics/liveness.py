"""Live variables of a function at each instruction: a backward dataflow over bytecode.

A variable is live where its present value may be read before it is replaced; an exception is one more successor. Slots
are numbered as in the interpreter's frame: parameters and locals, then cells, then free variables. A store to a cell
counts as a read of it, since other functions see the store. Deleting a variable reads whether it is bound.

    x = f()        x is not live before this line
    g(x)           x is live up to here, and no longer while g runs, unless it is read further on
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Final, NamedTuple

from dpor.statics.bytecode import Flow

_READS: Final = frozenset(
    {
        "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_CLOSURE", "LOAD_DEREF", "LOAD_CLASSDEREF",
        "LOAD_FROM_DICT_OR_DEREF", "STORE_DEREF", "DELETE_DEREF",
    }
)  # fmt: skip
_READS_AND_REPLACES: Final = frozenset({"DELETE_FAST", "LOAD_FAST_AND_CLEAR", "MAKE_CELL"})

_SEE_ALL: Final = frozenset(
    {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack", "f_locals", "breakpoint"}
)
"""A function that uses one of these names may read any of its variables by name."""


class Live(NamedTuple):
    """For each instruction, by its index in `Flow`, bit masks of the live slots: when it begins, and after what it
    calls returns or raises."""

    before: list[int]
    after: list[int]


@lru_cache(maxsize=4096)
def liveness(code: CodeType) -> Live:
    """The live slots of the function."""
    flow = Flow(code)
    instructions = flow.instructions
    always = _always(code)
    free = sum(1 << slot for slot in range(slots(code) - len(code.co_freevars), slots(code)))
    changes = [_change(i.name, i.arg, free) for i in instructions]
    before, after = [always] * len(instructions), [always] * len(instructions)
    leading_to: list[list[int]] = [[] for _ in instructions]
    for i, instruction in enumerate(instructions):
        for to in _next(instruction.following, instruction.handler):
            leading_to[to].append(i)
    todo = list(range(len(instructions)))
    while todo:
        i = todo.pop()
        instruction = instructions[i]
        out = always
        for to in instruction.following:
            out |= before[to]
        raised = before[instruction.handler] if instruction.handler >= 0 else 0
        reads, replaces = changes[i]
        after[i] = out | raised
        entering = out & ~replaces | reads | raised | always
        if entering != before[i]:
            before[i] = entering
            todo.extend(leading_to[i])
    return Live(before, after)


def slots(code: CodeType) -> int:
    """How many slots a frame of this code has before its operand stack."""
    return len(slot_names(code))


def slot_names(code: CodeType) -> tuple[str, ...]:
    """The names of the slots."""
    variables = code.co_varnames
    return (*variables, *(name for name in code.co_cellvars if name not in variables), *code.co_freevars)


def _next(following: tuple[int, ...], handler: int) -> Iterator[int]:
    yield from following
    if handler >= 0:
        yield handler


def _always(code: CodeType) -> int:
    if not _SEE_ALL.isdisjoint(code.co_names):
        return (1 << slots(code)) - 1
    if "super" in code.co_names:  # without arguments it takes the first of its caller, and `__class__`
        return 1 | sum(1 << i for i, name in enumerate(slot_names(code)) if name == "__class__")
    return 0


def _change(name: str, arg: int, free: int) -> tuple[int, int]:
    """Masks of the slots that the instruction reads, and of those that it overwrites."""
    if name in _READS:
        return 1 << arg, 0
    if name == "STORE_FAST":
        return 0, 1 << arg
    if name in _READS_AND_REPLACES:
        return 1 << arg, 1 << arg
    if name == "COPY_FREE_VARS":
        return 0, free
    if name in ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"):
        return 1 << (arg >> 4) | 1 << (arg & 15), 0
    if name == "STORE_FAST_STORE_FAST":
        return 0, 1 << (arg >> 4) | 1 << (arg & 15)
    if name == "STORE_FAST_LOAD_FAST":
        stored, loaded = 1 << (arg >> 4), 1 << (arg & 15)
        return loaded & ~stored, stored
    return 0, 0
