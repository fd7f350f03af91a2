"""Arguments that say how long to wait: checked as CPython checks them, and brought onto the grid of virtual time."""

from __future__ import annotations

import _thread
import math
from typing import Any

from dpor.python.kernel.virtual_time import TICK


def on_grid(seconds: float) -> float:
    """The duration, rounded up to a whole number of ticks.

    Sums of such numbers are exact. Otherwise `deadline - time()` could be a rounding error above 0 after the
    time has run out, and code that waits in a loop until its deadline would wait once more.
    """
    return math.ceil(seconds / TICK) * TICK


def check_lock_arguments(blocking: Any, timeout: Any) -> None:
    """Raise what `Lock.acquire` of the running Python raises, by asking a real lock that is free."""
    _thread.allocate_lock().acquire(blocking, timeout)


def duration(timeout: Any) -> float:
    """The seconds of a timeout that is not None, for waits where anything up to 0 means not to wait: then 0."""
    if timeout > 0:
        check_lock_arguments(True, timeout)
        return on_grid(timeout)
    return 0.0
