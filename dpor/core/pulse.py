"""A timer that beats several times a second, in whatever the main thread is doing.

Between two runs a search can look at the clock by itself; during a run that makes no operation any more only a signal
comes through. It beats as long as the interpreter carries out instructions: not while one call of a C function lasts,
except where that function looks for signals (regular expressions do). The command line has a second process for that
(`dpor.cli.guard`).

Where there is no such signal, or somebody else uses it, or not in the main thread, nothing beats, and budgets are
looked at between runs only.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, TypeAlias

SECONDS: Final = 0.1
"""Between two beats."""

Beat: TypeAlias = Callable[[FrameType | None], None]
"""Called with the innermost frame. An exception that it raises comes out of that frame."""


@contextmanager
def beating(beat: Beat) -> Iterator[None]:
    """Call `beat` several times a second meanwhile."""
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
    """Can it beat here?"""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
