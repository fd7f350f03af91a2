"""The numbers and names that a program sees of its threads: the same in every run."""

from __future__ import annotations

from typing import Final

from dpor.core.operations import ThreadId
from dpor.python.kernel import assumptions
from dpor.python.kernel.run import run

POOLS_OPENED: Final = "pools are opened"
"""A fact: the program can tell the threads of a pool apart, or uses more of pools than their public methods."""
IN_TASK: Final = "in a task"
"""Key in the data of a thread that does nothing but a task of a pool (see `pools`)."""


def look_at_thread() -> None:
    """Called when the program asks which thread it is in."""
    if run.current is not None and IN_TASK in run.current.data:
        assumptions.broken(POOLS_OPENED, "a task of a pool asks which thread it is in", at_once=True)


def ident_of(thread: ThreadId) -> int:
    """What `get_ident()` returns in this thread: never 0, and not used again within a run."""
    return thread + 1


def get_ident() -> int:
    """What `threading.get_ident` returns, for drop-ins."""
    return ident_of(0 if run.current is None else run.current.id)


def seen_ident() -> int:
    """The program's `threading.get_ident`, and `get_native_id`."""
    look_at_thread()
    return get_ident()


class Numbering:
    """Numbers that CPython takes from one counter for the whole process ("Thread-7"), without making their order an
    event.

    A number belongs to (purpose, asking thread, how often it has asked) for the whole search, and is assigned when it
    is first needed. So equivalent runs use equal numbers, two things never have the same number, and if only one thread
    asks, the numbers are CPython's. Not covered are the other orders in which threads that ask at the same time could
    be served.
    """

    def __init__(self) -> None:
        self._asked: dict[tuple[str, ThreadId], int] = {}
        self._numbers: dict[tuple[str, ThreadId, int], int] = {}
        self._given: dict[str, int] = {}

    def next(self, purpose: str, first: int) -> int:
        thread = run.current.id
        asked = self._asked.get((purpose, thread), 0)
        self._asked[purpose, thread] = asked + 1
        number = self._numbers.get((purpose, thread, asked))
        if number is None:
            number = self._given.get(purpose, first)
            self._given[purpose] = number + 1
            self._numbers[purpose, thread, asked] = number
        return number

    def is_asked(self) -> bool:
        """Has the run been given a number?"""
        return bool(self._asked)

    def begin_run(self) -> None:
        self._asked.clear()

    def begin_search(self) -> None:
        self._asked.clear()
        self._numbers.clear()
        self._given.clear()


numbering = Numbering()
