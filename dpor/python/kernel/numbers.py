"""The numbers of threads, which are the same in all runs of a search: each is found by the thread that starts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from dpor.core.operations import ThreadId

Child: TypeAlias = tuple[ThreadId, int]
"""A thread as the n-th that another one starts."""


class Numbers(dict[Child, ThreadId]):
    """The numbers of all threads but the main thread."""

    _ask: Callable[[Child], Mapping[Child, ThreadId]] | None = None

    def number_by(self, ask: Callable[[Child], Mapping[Child, ThreadId]]) -> None:
        """From now on another process gives the numbers. `ask` asks it for that of a thread, and returns all."""
        self._ask = ask

    def __missing__(self, child: Child) -> ThreadId:
        if self._ask is None:
            self[child] = len(self) + 1
        else:
            self.update(self._ask(child))
        return self[child]
