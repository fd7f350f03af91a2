"""Timeouts as arguments: checked as CPython checks them, and rounded to the grid of virtual time."""

from __future__ import annotations

import _thread
import math
from typing import Any

from dpor.python.kernel.virtual_time import TICK


def on_grid(seconds: float) -> float:
    """Round the duration, in seconds, up to a whole number of ticks.

    Sums of such numbers are exact. Otherwise `deadline - time()` could be a rounding error above 0 after the time has
    run out, and code that waits in a loop until its deadline would wait once more.
    """
    return math.ceil(seconds / TICK) * TICK


def check_lock_arguments(blocking: Any, timeout: Any) -> None:
    """Raise what `Lock.acquire` of the running Python raises, by calling it on a free real lock."""
    _thread.allocate_lock().acquire(blocking, timeout)


def duration(timeout: Any) -> float:
    """Return the seconds of a timeout that is not None; 0.0, which means not to wait, if it is not positive."""
    if timeout > 0:
        check_lock_arguments(True, timeout)
        return on_grid(timeout)
    return 0.0
