"""The drop-in for `time`: virtual, and the same in every run. A thread's clock advances by its own sleeps and timeouts,
and by those of what it waited for; reading it is no operation.
"""

from __future__ import annotations

import time as real
from collections.abc import Callable
from typing import Any

from dpor.core.operations import READ
from dpor.python.dropins.timeouts import check_lock_arguments, on_grid
from dpor.python.hooks.calls.process import LOCALE, ZONE, yield_before_effects
from dpor.python.kernel import timing
from dpor.python.kernel.host_modules import DropInModule, shadow

EPOCH = 1_700_000_000.0
"""What `time()` returns when a run begins (14 November 2023, 22:13:20 UTC)."""

BOOT = 1_000.0
"""What `monotonic()` returns when a run begins. Not 0, which programs take for "never"."""


def sleep(seconds: float, /) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    check_lock_arguments(True, seconds)
    timing.sleep(on_grid(seconds))


def time() -> float:
    return EPOCH + timing.look_at_clock()


def monotonic() -> float:
    return BOOT + timing.look_at_clock()


def process_time() -> float:
    return timing.look_at_clock()


def _in_nanoseconds(clock: Callable[[], float]) -> Callable[[], int]:
    def clock_ns() -> int:
        return round(clock() * 1_000_000_000)

    return clock_ns


def clock_gettime(clk_id: int, /) -> float:
    return time() if clk_id == real.CLOCK_REALTIME else monotonic()


def clock_gettime_ns(clk_id: int, /) -> int:
    return round(clock_gettime(clk_id) * 1_000_000_000)


def gmtime(seconds: float | None = None, /) -> real.struct_time:
    return real.gmtime(time() if seconds is None else seconds)


def localtime(seconds: float | None = None, /) -> real.struct_time:
    yield_before_effects("localtime", [(ZONE, READ)])
    return real.localtime(time() if seconds is None else seconds)


def ctime(seconds: float | None = None, /) -> str:
    yield_before_effects("ctime", [(ZONE, READ)])
    return real.ctime(time() if seconds is None else seconds)


def asctime(t: Any = None, /) -> str:
    return real.asctime(localtime() if t is None else t)


def strftime(format: str, t: Any = None, /) -> str:
    given = localtime() if t is None else t
    yield_before_effects("strftime", [(ZONE, READ), (LOCALE, READ)])
    return real.strftime(format, given)


def module() -> DropInModule:
    clocks = {
        "time": time,
        "monotonic": monotonic,
        "perf_counter": monotonic,
        "process_time": process_time,
        "thread_time": process_time,
    }
    in_nanoseconds = {f"{name}_ns": _in_nanoseconds(clock) for name, clock in clocks.items()}
    others = (sleep, clock_gettime, clock_gettime_ns, gmtime, localtime, ctime, asctime, strftime)
    return shadow(real, **clocks, **in_nanoseconds, **{function.__name__: function for function in others})
