"""A timer that calls a function several times a second, whatever the main thread is doing.

Between two runs a search can read the clock itself; in a run that performs no more operations, only a signal gets
through. The timer fires as long as the interpreter executes instructions: not during a single call of a C function,
unless that function checks for signals (regular expressions do). For that, the command line has a second process
(`dpor.cli.guard`).

If the system has no such signal, if something else uses it, or outside the main thread, the timer does not run, and
budgets are checked only between runs.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, TypeAlias

SECONDS: Final = 0.1
"""Seconds between two calls."""

Beat: TypeAlias = Callable[[FrameType | None], None]
"""Called with the innermost frame. An exception that it raises comes out of that frame."""


@contextmanager
def beating(beat: Beat) -> Iterator[None]:
    """Call `beat` several times a second while the block runs."""
    if not is_free():
        yield
        return
    signal.signal(signal.SIGALRM, lambda number, frame: beat(frame))
    signal.setitimer(signal.ITIMER_REAL, SECONDS, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def is_free() -> bool:
    """True if the timer can run here."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
