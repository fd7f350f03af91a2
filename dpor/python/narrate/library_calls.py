"""Finds the call of the standard library that an event is part of: a `Barrier.wait` has several events, but is one
line of a report.

Frames are not kept, since they keep variables alive, which a program may notice. Two calls from the same place are
distinguished by their positions: a call that is at its first operation again is another one.
"""

from __future__ import annotations

from types import FrameType
from typing import Final, NamedTuple

from dpor.core.home import is_our_file
from dpor.core.operations import ThreadId
from dpor.python.kernel.run import run

_LOOPS: Final = frozenset({("concurrent.futures.thread", "_worker")})
"""Functions of the library that threads run as long as they live: the calls that these make are shown instead."""


_IN_ITS_PLACE: Final = frozenset({"run_task"})
"""Functions of ours that take the place of the library's: see `dpor.python.dropins.program_code`."""


class _Latest(NamedTuple):
    """A thread's latest call: its frame, the place in the program, its first and its last position, its number."""

    frame: int
    place: tuple[int, int]
    first: int
    last: int
    number: int


class LibraryCalls:
    """The calls of one run."""

    def __init__(self) -> None:
        self._latest: dict[ThreadId, _Latest] = {}
        self._count = 0

    def of(self, thread: ThreadId, frame: FrameType | None) -> tuple[FrameType, int] | None:
        """Return the call of the library that the thread is in at `frame`, and its number; None if it is in none.

        It is the call by the program, or by a thread that runs only library code.
        """
        called, caller = _outermost(frame)
        if called is None:
            return None
        place = (0, 0) if caller is None else (id(caller), caller.f_lasti)
        now, known = called.f_lasti, self._latest.get(thread)
        if known is None or known[:2] != (id(called), place) or (now == known.first != known.last):
            self._count += 1
            known = _Latest(id(called), place, now, now, self._count)
        self._latest[thread] = known._replace(last=now)
        return called, known.number


def _outermost(frame: FrameType | None) -> tuple[FrameType | None, FrameType | None]:
    """Return the library's frame nearest to the program's, and the program's frame, if there is one."""
    called = None
    while frame is not None and not run.is_program_file(frame.f_code.co_filename):
        code = frame.f_code
        is_library = not is_our_file(code.co_filename) or code.co_name in _IN_ITS_PLACE
        if is_library and _is_call(frame, called):
            called = frame
        frame = frame.f_back
    return called, frame


def _is_call(frame: FrameType, inner: FrameType | None) -> bool:
    return inner is None or (frame.f_globals.get("__name__"), frame.f_code.co_name) not in _LOOPS
