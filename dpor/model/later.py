"""What the threads of an abstract program may still access: the oracle of `dpor.explorers.sa` for these programs.

As coarse as `insensitive` without branches: all that stands after a point in the code, or anywhere in it if the thread
has a loop; and what the threads do that it may spawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dpor.core.operations import ThreadId
from dpor.model.machine import NOT_STARTED, Code


class ObjectsTouched(NamedTuple):
    """Names of objects."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()


class Later:
    """What each thread may still access."""

    def __init__(self, codes: Sequence[Code]) -> None:
        self._codes = codes
        self.touched = lru_cache(maxsize=None)(self._touched)

    def _touched(self, thread: ThreadId, pc: int) -> ObjectsTouched:
        """By this thread from this position on, and by those that it may spawn there."""
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
