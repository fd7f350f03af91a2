"""How deep a program may recurse: to the same depth in every run, however deep the search's own calls are.

The interpreter's limit counts from where the program's threads begin, not from where the checker was called. But a
hook runs on the program's stack, and what it calls differs from run to run: the search is asked in one, only the trace
compared in another. Where recursion is no concern that costs nothing. A program that has come to the limit is run
again with `DEEP` known: then hooks have `ROOM` of their own (`with_room`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from sys import getrecursionlimit, setrecursionlimit
from typing import Any, Final

DEEP: Final = "deep recursion"
"""The fact that the program recurses to the limit."""

ROOM: Final = 500
"""Calls: for hooks, and the search that they ask."""

_base = 0
"""The depth at which threads begin."""
_limit = 0
"""The interpreter's, while code of the program runs."""
_before = 0


def begin(base: int) -> None:
    """A run begins. `base`: the depth at which threads begin."""
    global _base, _before
    _base, _before = base, getrecursionlimit()
    set_limit(_before)


def end() -> None:
    """The run is over: what it made of the limit is undone."""
    if _before:
        setrecursionlimit(_before)


def limit() -> int:
    """`sys.getrecursionlimit`, as the program sees it."""
    return _limit - _base


def set_limit(calls: int) -> None:
    """`sys.setrecursionlimit`, of the program."""
    global _limit
    setrecursionlimit(_base + calls)
    _limit = _base + calls


def here() -> int:
    """The present depth of calls, as the interpreter counts. It tells that where a limit is too low."""
    before = getrecursionlimit()
    try:
        setrecursionlimit(1)
        setrecursionlimit(before)
    except RecursionError as error:
        found = re.search(r"depth (\d+)", str(error))
        return int(found[1]) if found else 0
    return 0


def with_room(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; what it calls may be deeper than the program may."""

    def roomy(*args: Any, **kwargs: Any) -> Any:
        before = getrecursionlimit()
        try:
            setrecursionlimit(before)  # fails here, if it did below
        except RecursionError:
            raise RecursionError("maximum recursion depth exceeded") from None
        setrecursionlimit(_limit + ROOM)
        try:
            return function(*args, **kwargs)
        finally:
            setrecursionlimit(before)

    return roomy
