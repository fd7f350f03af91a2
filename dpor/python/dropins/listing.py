"""Which threads are alive, for `enumerate()` and `active_count()`.

Every start and end of a thread changes it, and hardly any program asks. So it is no operation until a program does;
then the search starts again, and each start and end is preceded by a step of its own that enters or removes the thread,
as in CPython. Threads that start and end at the same time are listed in the order in which they were made.
"""

from __future__ import annotations

from typing import Any, Final

from dpor.primitives.rules import Look
from dpor.primitives.threads import List
from dpor.python.dropins.copying import pinned
from dpor.python.dropins.idents import POOLS_OPENED
from dpor.python.dropins.state import library
from dpor.python.kernel import assumptions
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject

LISTED: Final = ("threads are listed",)
"""A fact: the program asks which threads are alive."""
_LOOK = Look()


class _Register(SyncObject):
    """Its state: the locations of the live threads, without the main thread."""

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = frozenset()
        pinned(self, "threads alive")


def begin_run() -> None:
    if LISTED in run.facts:
        library.register = _Register()


def enter(thread: SyncObject) -> None:
    if library.register is not None:
        library.listed[thread.dpor_location] = thread
        perform(List(thread.dpor_location, True), library.register)


def strike_out(thread: SyncObject) -> None:
    if library.register is not None:
        perform(List(thread.dpor_location, False), library.register)


def alive() -> list[Any]:
    """Return all live threads, without the main thread."""
    if LISTED not in run.facts:
        assumptions.broken(LISTED, "the program asks which threads are alive: that is part of its state", at_once=True)
    if library.ending is not None and POOLS_OPENED not in run.facts:
        assumptions.broken(POOLS_OPENED, "the program asks which threads are alive, and has a pool", at_once=True)
    return [library.listed[location] for location in sorted(perform(_LOOK, library.register))]
