"""How deep a program may recurse: to the same depth in every run, however deep the search's own calls are.

The interpreter's limit counts from where the program's threads begin, not from where the checker was called. But a
hook runs on the program's stack, and what it calls differs from run to run: the search is asked in one, only the trace
compared in another. Where recursion is no concern that costs nothing. A program that has come to the limit is run
again with `DEEP` known: then hooks have `ROOM` of their own (`with_room`).
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrecursionlimit, setrecursionlimit
from typing import Any, Final

from dpor.python.kernel.run import run

DEEP: Final = "deep recursion"
"""The fact that the program recurses to the limit."""

ROOM: Final = 500
"""Calls: for hooks, and the search that they ask."""


def begin(base: int) -> None:
    """A run begins. `base`: the depth at which threads begin."""
    run.base_depth, run.host_limit = base, getrecursionlimit()
    set_limit(run.host_limit)


def end() -> None:
    """The run is over: what it made of the limit is undone."""
    if run.host_limit:
        setrecursionlimit(run.host_limit)


def limit() -> int:
    """`sys.getrecursionlimit`, as the program sees it."""
    return run.recursion_limit - run.base_depth


def set_limit(calls: int) -> None:
    """`sys.setrecursionlimit`, of the program."""
    setrecursionlimit(run.base_depth + calls)
    run.recursion_limit = run.base_depth + calls


def with_room(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; what it calls may be deeper than the program may."""

    def roomy(*args: Any, **kwargs: Any) -> Any:
        before = getrecursionlimit()
        try:
            setrecursionlimit(before)  # fails here, if it did below
        except RecursionError:
            raise RecursionError("maximum recursion depth exceeded") from None
        setrecursionlimit(run.recursion_limit + ROOM)
        try:
            return function(*args, **kwargs)
        finally:
            setrecursionlimit(before)

    return roomy
