"""A run that tells what its events see of variables and write to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dpor.core.operations import Operation, ThreadId
from dpor.core.system import Data
from dpor.model.machine import AbstractMachine, Code

_SEE: Final = ("read", "rmw", "cas", "await")
_WRITE: Final = ("write", "rmw")
"""The kinds of operations that see a variable, and those that write it whatever they see. (What a `cas` writes follows
from its rule.)"""


class TellingMachine(AbstractMachine):
    """Each step adds to `data` what it has seen and written."""

    __slots__ = ("_data",)

    def __init__(self, codes: Sequence[Code], memory: Sequence[Any], waiting: frozenset[ThreadId], data: Data) -> None:
        self._data = data
        super().__init__(codes, memory, waiting)

    def step(self, thread: ThreadId, value: int) -> Operation:
        act, memory = self.act(thread), self.memory
        before = None if act is None else act.read(memory)
        operation = super().step(thread, value)
        self._data.observed.append(before if operation.kind in _SEE else None)
        self._data.written.append(
            tuple([memory[location] for location, _ in operation.accesses]) if operation.kind in _WRITE else None
        )
        return operation
