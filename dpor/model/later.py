"""Finds what the threads of an abstract program may still access: the oracle of `dpor.explorers.sa` for these programs.

It is as coarse as the analysis `insensitive` without branches: it takes all accesses that come after a point in the
code, or all of the code if the thread has a loop, and those of the threads that it may spawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dpor.core.operations import ThreadId
from dpor.model.machine import NOT_STARTED, Code


class ObjectsTouched(NamedTuple):
    """The names of the objects that are read, and of those that are written."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()


class Later:
    """The accesses that each thread may still make.

    touched   takes a thread and its position, and returns the objects that it may still access
    """

    def __init__(self, codes: Sequence[Code]) -> None:
        self._codes = codes
        self.touched = lru_cache(maxsize=None)(self._touched)

    def _touched(self, thread: ThreadId, pc: int) -> ObjectsTouched:
        """Return the objects that the thread may access from this position on, and those that threads may access which
        it may spawn from there on."""
        read: set[str] = set()
        written: set[str] = set()
        seen: set[ThreadId] = set()
        todo = [] if pc == NOT_STARTED else [(thread, pc)]
        while todo:
            thread, pc = todo.pop()
            code = self._codes[thread]
            for position, statement in code.statements:
                if position < pc and not code.has_loops:
                    continue
                names = {name for reference in statement.objects for name in reference.elements.values()}
                (read if statement.word in ("r", "await") else written).update(names)
                if statement.word == "spawn" and statement.number not in seen:
                    seen.add(statement.number)
                    todo.append((statement.number, 0))
        return ObjectsTouched(frozenset(read), frozenset(written))
