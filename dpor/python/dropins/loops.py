"""The running event loop of `asyncio`. Each OS thread has one; model threads share an OS thread, so each gets its own
loop when it is switched to. (A loop that waits for another thread waits in C code, and is refused like everything that
does.) The steps of tasks of one loop run in one order only; if other orders are possible, the run is incomplete."""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from greenlet import gettrace, greenlet, settrace

from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run
from dpor.python.kernel.unmodelled import give_up

_running: Final[dict[greenlet, Any]] = {}
"""The loops of the greenlets that are not running now. Empty between runs."""


@contextmanager
def apart(imported: bool) -> Iterator[None]:
    """Context in which a program runs. Meanwhile the host's own loop is suspended.

    imported   True if the program imported `asyncio` in an earlier run. Otherwise switches are not traced: a trace
               function costs a call at each, for which there is no room if a program recurses to the limit
    """
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
        _watched.clear()
        settrace(before)
        _running.clear()
        if asyncio is not None:
            asyncio._set_running_loop(outside)


def begin() -> None:
    """Called when the program imports `asyncio`."""
    import asyncio  # (before `_asyncio`, or there are two of that, each with tasks of its own)
    from _asyncio import _get_running_loop, _set_running_loop

    settrace(_switching(_get_running_loop, _set_running_loop))
    _watched.watch(asyncio.BaseEventLoop)


class _Watched:
    """Replaces methods of event loops while a program runs."""

    def __init__(self) -> None:
        self._kind: Any = None
        self._first: dict[str, Any] = {}

    def watch(self, kind: Any) -> None:
        if self._kind is None:
            self._kind = kind
            self._first = {name: vars(kind)[name] for name in ("create_task", "run_in_executor")}
            kind.create_task = _creating(self._first["create_task"])
            kind.run_in_executor = _refusing(self._first["run_in_executor"])

    def clear(self) -> None:
        for name, first in self._first.items():
            setattr(self._kind, name, first)
        self.__init__()  # type: ignore[misc]


_watched: Final = _Watched()


def _is_of_program() -> bool:
    return run.current is not None and get_ident() == run.os_thread


def _creating(create_task: Callable[..., Any]) -> Callable[..., Any]:
    from asyncio import all_tasks

    def create(loop: Any, *args: Any, **kwargs: Any) -> Any:
        task = create_task(loop, *args, **kwargs)
        if _is_of_program() and len(all_tasks(loop)) > 1:
            incomplete("an event loop has several tasks: their steps are tried in one order only, asyncio's own")
        return task

    return create


def _refusing(run_in_executor: Callable[..., Any]) -> Callable[..., Any]:
    def run(loop: Any, executor: Any, *args: Any) -> Any:
        if executor is not None and _is_of_program():
            give_up("an event loop waits in C code for a thread of an executor: use the executor without asyncio")
        return run_in_executor(loop, executor, *args)

    return run


def _switching(get: Callable[[], Any], put: Callable[[Any], None]) -> Callable[[str, Any], None]:
    def switched(event: str, way: tuple[greenlet, greenlet]) -> None:
        left, entered = way
        loop = get()
        if loop is not None:
            _running[left] = loop
        if loop is not None or _running:
            put(_running.pop(entered, None))

    return switched
