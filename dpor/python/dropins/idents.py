"""The numbers and names that a program sees of its threads: the same in every run."""

from __future__ import annotations

from dpor.core.operations import ThreadId
from dpor.python.kernel.run import run


def ident_of(thread: ThreadId) -> int:
    """What `get_ident()` returns in this thread: never 0, and not used again within a run."""
    return thread + 1


def get_ident() -> int:
    """Like `threading.get_ident`."""
    return ident_of(0 if run.current is None else run.current.id)


def get_native_id() -> int:
    """Like `threading.get_native_id`."""
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
