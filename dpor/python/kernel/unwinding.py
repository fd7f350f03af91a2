"""Ends a run before its threads have ended.

Whoever notices that the run is over (no thread can move, the explorer says stop, an assumption is broken, a replay
differs) switches to the hub, the greenlet that called `drive`. The hub then unwinds the remaining threads by throwing
`UnwindThread` into them. Meanwhile (`run.unwinding`) operations do nothing, so that every `finally` of the program runs
to its end without blocking; a thread that catches even this exception is given up after some operations.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from greenlet import getcurrent

from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.run import run

MOST_UNWINDING = 10_000
"""Operations or loop iterations that a thread may make while it is unwound, before it is given up."""


def fail(error: Exception) -> NoReturn:
    """End the run; `drive` raises this exception. Raises `UnwindThread` in the thread."""
    run.error = error
    run.hub.switch()
    raise UnwindThread


def lose_patience() -> None:
    """Called when the program acts while it is being unwound: after a while its thread is left where it is, for good. A
    finaliser that acts between runs, where there is no thread to leave, gets an exception that Python ignores."""
    run.patience += 1
    if run.patience > MOST_UNWINDING:
        if run.current is None:
            run.patience = 0
            raise UnwindThread
        leave()


def leave() -> None:
    """Leave the current greenlet where it is, for good."""
    run.left_behind.append(getcurrent())
    run.hub.switch()


def unwind() -> None:
    """Let `UnwindThread` end each thread that has not ended, so that nothing of it is left in its greenlet."""
    run.unwinding = True
    run.multi = run.watched = False
    run.update_careful()
    for thread in run.threads:
        glet = thread.greenlet
        if thread.running and glet is not None and not glet.dead and glet is not run.hub:
            run.current = thread
            run.patience = 0
            glet.throw(UnwindThread)
    run.unwinding = False
    run.by_thread_object.clear()
    run.threads.clear()


class Quietly:
    """Context in which the unwinding of a thread in a `__del__` is not reported as an ignored exception."""

    def __enter__(self) -> None:
        self._before = sys.unraisablehook
        sys.unraisablehook = self._report

    def __exit__(self, *_: object) -> None:
        sys.unraisablehook = self._before

    def _report(self, unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, UnwindThread):
            self._before(unraisable)
