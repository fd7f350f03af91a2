"""The greenlets in which model threads run."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from sys import getrecursionlimit, setrecursionlimit
from typing import Any

from greenlet import error, getcurrent, greenlet

from dpor.python.kernel.model_thread import ModelThread

FEW, MOST_IDLE = 8, 64
"""How many greenlets are made before the first run, and how many idle ones are kept at most."""


class Workers:
    """The greenlets of a search. One whose model thread has ended waits for a thread of the next run.

    To start a greenlet costs as much as forty switches, because Python gives it a stack of its own. All are started in
    the hub, so that a thread has the same depth of recursion left in every run.

    live    runs a model thread to its end in the current greenlet, and returns the greenlet to switch to then
    base    the depth of calls at which they begin
    """

    def __init__(self, live: Callable[[ModelThread, Callable[[], None]], greenlet]) -> None:
        self._hub: greenlet = None
        self._live = live
        self._idle: list[greenlet] = []
        self._traced = False
        self.base = 0

    def prepare(self, hub: greenlet, number: int) -> None:
        """Make as many as the run will need, as far as that is known. All are made anew if a trace or profile function
        is set, or was, because a greenlet inherits it when it starts."""
        traced, self._traced = self._traced, sys.gettrace() is not None or sys.getprofile() is not None
        if hub is not self._hub or traced or self._traced:
            self._hub = hub
            self.end()
            self.base = _depth()
        for _ in range(min(max(number, FEW), MOST_IDLE) - len(self._idle)):
            worker = greenlet(_work, hub)
            worker.switch(weakref.ref(self), self._live)
            self._idle.append(worker)

    def end(self) -> None:
        """Let those that are idle return. (One that is dropped gets an exception, and Python 3.15 crashes if it was
        told to trace or profile while the greenlet waited.)"""
        for worker in self._idle:
            with suppress(error, ValueError):  # it belongs to another thread
                worker.parent = getcurrent()
                worker.switch(None)
        self._idle.clear()

    def begin(self, thread: ModelThread, body: Callable[[], None]) -> None:
        """Start the thread in an idle greenlet, or in a new one, and switch to it."""
        if self._idle:
            thread.greenlet = worker = self._idle.pop()
            worker.switch(thread, body)
        else:
            thread.greenlet = worker = greenlet(self._work_once, self._hub)
            worker.switch(worker, thread, body)

    def rest(self) -> None:
        """Called in a greenlet whose thread has ended: it can have another one."""
        me = getcurrent()
        if me.gr_context is not None:
            me.gr_context = None  # each thread begins in a new context
        self._idle.append(me)

    def _work_once(self, me: greenlet, thread: ModelThread, body: Callable[[], None]) -> None:
        me.parent = self._live(thread, body)


def _work(workers: weakref.ref[Workers], live: Callable[..., greenlet]) -> None:
    """What a greenlet does. While it waits, its frame refers neither to itself nor to the workers, whom it belongs to:
    as the garbage collector does not look into frames of greenlets, none of them would ever be freed."""
    job: Any = getcurrent().parent.switch()
    while job is not None:
        successor = live(*job)
        del job
        if (mine := workers()) is not None:
            mine.rest()
        del mine
        job = successor.switch()


def _depth() -> int:
    """Return the current depth of calls as the interpreter counts it: the error for too low a limit names it."""
    before = getrecursionlimit()
    try:
        setrecursionlimit(1)
        setrecursionlimit(before)
    except RecursionError as error:
        found = re.search(r"depth (\d+)", str(error))
        return int(found[1]) if found else 0
    return 0
