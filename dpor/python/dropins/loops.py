"""The running event loop of `asyncio`: each OS thread has one, and model threads share theirs, so each gets its own
when it goes on. (A loop that waits for another thread waits in C code, and is refused as all that does.)"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from greenlet import gettrace, greenlet, settrace

_running: Final[dict[greenlet, Any]] = {}
"""The loops of those that do not run now. Empty between runs."""


@contextmanager
def apart(imported: bool) -> Iterator[None]:
    """While a program runs. `imported`: it has imported `asyncio` in an earlier run. Of others every switch would cost
    a call, for which there is none left where a program recurses to the limit. The loop of whoever checks rests."""
    before = gettrace()
    asyncio = sys.modules.get("_asyncio")  # in C: never one of the program's modules
    outside = None if asyncio is None else asyncio._get_running_loop()
    if asyncio is not None:
        asyncio._set_running_loop(None)
    if imported:
        begin()
    try:
        yield
    finally:
        settrace(before)
        _running.clear()
        if asyncio is not None:
            asyncio._set_running_loop(outside)


def begin() -> None:
    """The program imports `asyncio`."""
    from _asyncio import _get_running_loop, _set_running_loop

    settrace(_switching(_get_running_loop, _set_running_loop))


def _switching(get: Callable[[], Any], put: Callable[[Any], None]) -> Callable[[str, Any], None]:
    def switched(event: str, way: tuple[greenlet, greenlet]) -> None:
        left, entered = way
        loop = get()
        if loop is not None:
            _running[left] = loop
        if loop is not None or _running:
            put(_running.pop(entered, None))

    return switched
