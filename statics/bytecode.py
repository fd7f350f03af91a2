"""The control flow of a code object: its instructions, their successors, and the depth of the operand stack at each.

As `dis` shows it, with the exception table as edges. The depths are those that the interpreter has when it begins an
instruction: a dataflow over `dis.stack_effect`, which is the compiler's own.
"""

from __future__ import annotations

import dis
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Final, NamedTuple

_LEADS_NOWHERE: Final = frozenset({"RETURN_VALUE", "RETURN_CONST", "RERAISE", "RAISE_VARARGS", "INTERPRETER_EXIT"})
_JUMPS_ALWAYS: Final = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
_JUMPS: Final = frozenset({*dis.hasjrel, *dis.hasjabs})


class Covered(NamedTuple):
    """A row of the exception table.

    From `start` up to `end` (offsets in bytes), an exception goes to `target`, with the operand stack cut to `depth`,
    then the offset of the instruction if `lasti`, then the exception.
    """

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


class BytecodeInstruction(NamedTuple):
    """An instruction.

    offset      in bytes, as `frame.f_lasti`
    name, arg   arg is -1 if there is none
    following   indices of the instructions that may come next, exceptions apart
    jump        the index among them that it jumps to, or -1
    handler     index of the handler of an exception that it raises, or -1
    """

    offset: int
    name: str
    arg: int
    following: tuple[int, ...]
    jump: int
    handler: int


class Flow:
    """The instructions of a code object, in order, without inline caches."""

    def __init__(self, code: CodeType) -> None:
        plain = list(dis.get_instructions(code))
        self.offsets = [instruction.offset for instruction in plain]
        index = {offset: i for i, offset in enumerate(self.offsets)}
        self.covered = list(exception_table(code))
        self.instructions: list[BytecodeInstruction] = []
        for i, instruction in enumerate(plain):
            name = instruction.opname
            jump = index[instruction.argval] if instruction.opcode in _JUMPS else -1
            following = (i + 1,) if name not in _LEADS_NOWHERE and name not in _JUMPS_ALWAYS else ()
            row = self.row_at(instruction.offset)
            self.instructions.append(
                BytecodeInstruction(
                    instruction.offset,
                    name,
                    -1 if instruction.arg is None else instruction.arg,
                    (*following, jump) if jump >= 0 else following,
                    jump,
                    -1 if row is None else index[row.target],
                )
            )
        self._opcodes = [instruction.opcode for instruction in plain]

    def row_at(self, offset: int) -> Covered | None:
        """The row of the exception table for this offset, or None."""
        return next((row for row in self.covered if row.start <= offset < row.end), None)

    def at(self, lasti: int) -> int:
        """Index of the instruction that a frame with this `f_lasti` is executing (it may point into the inline
        caches)."""
        return bisect_right(self.offsets, lasti) - 1

    def depths(self) -> list[int]:
        """For each instruction, how many operands are on the stack when it begins; -1 if it is never reached."""

        def in_handler(i: int, depth: int) -> int:
            row = self.row_at(self.instructions[i].offset)
            assert row is not None
            return row.depth + row.lasti + 1

        return self._passed_on(
            lambda i, depth, following: depth + self._effect(i, following == self.instructions[i].jump), in_handler
        )

    def handling(self) -> list[bool]:
        """For each instruction, whether this code is handling an exception when it begins."""
        handled = self._passed_on(
            lambda i, depth, following: depth + _HANDLES.get(self.instructions[i].name, 0), lambda i, depth: depth
        )
        return [depth > 0 for depth in handled]

    def _passed_on(self, onward: Callable[[int, int, int], int], in_handler: Callable[[int, int], int]) -> list[int]:
        """Propagate a value forward from 0 at the first instruction; returns it for each, -1 if it is not reached.

        `onward(i, depth, following)`: the value after instruction i, on the edge to `following`; `in_handler(i,
        depth)`: in the handler, if i raises.
        """
        depths = [-1] * len(self.instructions)
        todo = [(0, 0)] if depths else []
        while todo:
            i, depth = todo.pop()
            if depths[i] >= 0:
                continue
            depths[i] = depth
            instruction = self.instructions[i]
            todo += [(following, onward(i, depth, following)) for following in instruction.following]
            if instruction.handler >= 0:
                todo.append((instruction.handler, in_handler(i, depth)))
        return depths

    def _effect(self, i: int, jumps: bool) -> int:
        name, arg = self.instructions[i].name, self.instructions[i].arg
        if name == "RETURN_GENERATOR":
            return 1  # what is sent first
        if _SPLIT_CALLS:
            if name == "PRECALL":
                return 0  # the compiler counts the arguments as gone after it; they stay for `CALL`
            if name == "CALL":
                return -arg - 1
        opcode = self._opcodes[i]
        return dis.stack_effect(opcode, arg if opcode >= dis.HAVE_ARGUMENT else None, jump=jumps)


_HANDLES: Final = {"PUSH_EXC_INFO": 1, "POP_EXCEPT": -1}
_SPLIT_CALLS: Final = sys.version_info < (3, 12)


def exception_table(code: CodeType) -> Iterator[Covered]:
    """Yield the rows of `co_exceptiontable`, as `Objects/exception_handling_notes.txt` of CPython describes it."""
    numbers = _numbers(code.co_exceptiontable)
    for start in numbers:
        length, target, depth_lasti = next(numbers), next(numbers), next(numbers)
        yield Covered(2 * start, 2 * (start + length), 2 * target, depth_lasti >> 1, bool(depth_lasti & 1))


def _numbers(table: bytes) -> Iterator[int]:
    """Decode numbers: six bits a byte, the highest first; another byte follows if bit 6 is set."""
    value = 0
    for byte in table:
        value = value << 6 | byte & 0x3F
        if not byte & 0x40:
            yield value
            value = 0
