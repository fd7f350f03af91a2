"""How deep a program may recurse: equally deep in every run, however deep the search's own calls are.

For the program, depth counts from where its threads begin, not from where the checker was called. But hooks run on the
program's stack, and how deep their own calls go differs between runs: one run asks the search, another only compares
with the trace. For most programs that does not matter. A program that reaches the limit is run again with the fact
`DEEP`: from then on hooks get `ROOM` calls of their own (`with_room`), and signals wait until a hook has that room,
because their handlers need calls, too.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from sys import getrecursionlimit, setrecursionlimit
from typing import Any, Final

from dpor.python.kernel.run import run

DEEP: Final = "deep recursion"
"""The fact that the program recurses to the limit."""

ROOM: Final = 500
"""Calls that hooks, and the search that they ask, may use beyond the program's limit."""


def begin_run(base: int) -> None:
    """Called when a run begins. `base`: the depth of calls at which threads begin."""
    run.base_depth, run.host_limit = base, getrecursionlimit()
    set_limit(run.host_limit)
    if run.deep:
        _hold_signals(True)


def end_run() -> None:
    """Restore the interpreter's limit after the run."""
    if run.host_limit:
        setrecursionlimit(run.host_limit)
    if run.deep:
        _hold_signals(False)


def _hold_signals(held: bool) -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK if held else signal.SIG_UNBLOCK, _SIGNALS)


_SIGNALS: Final = (signal.SIGINT, signal.SIGALRM) if hasattr(signal, "SIGALRM") else ()
"""Those that have handlers during a run."""


def limit() -> int:
    """`sys.getrecursionlimit`, as the program sees it."""
    return run.recursion_limit - run.base_depth


def set_limit(calls: int) -> None:
    """`sys.setrecursionlimit`, of the program."""
    setrecursionlimit(run.base_depth + calls)
    run.recursion_limit = run.base_depth + calls


def with_room(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function so wrapped that its calls may go deeper than the program's limit."""

    def roomy(*args: Any, **kwargs: Any) -> Any:
        before = getrecursionlimit()
        try:
            setrecursionlimit(before)  # fails here if the program is already too deep
        except RecursionError:
            raise RecursionError("maximum recursion depth exceeded") from None
        setrecursionlimit(run.recursion_limit + ROOM)
        try:
            if run.deep:
                _hold_signals(False)
                _hold_signals(True)
            return function(*args, **kwargs)
        finally:
            setrecursionlimit(before)

    return roomy


take_signals: Final = with_room(lambda: None)
"""Let signals come in that have been waiting. Called in long loops without operations."""
