"""How model threads begin and end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from greenlet import getcurrent, greenlet

from dpor.core.operations import (
    ThreadId,
)
from dpor.primitives import threads as thread_rules
from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import DAEMONS, STARTS
from dpor.python.kernel.listeners import ThreadFailure
from dpor.python.kernel.model_thread import ModelThread, UnwindThread, Waited
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import decide


def live(thread: ModelThread, body: Callable[[], None]) -> greenlet:
    """Run a model thread from its start to its end. Return the greenlet to switch to afterwards."""
    try:
        body()
    except UnwindThread:
        if not run.unwinding:
            error = RuntimeError("the thread was unwound outside of an unwinding")
            run.exceptions.append(ThreadFailure(run.current, error, f"RuntimeError: {error}"))
    thread.running = False
    if run.unwinding:
        return run.hub
    if run.specifications is not None:
        run.specifications.settle()
    run.ready ^= thread.bit
    try:
        successor = decide()
    except RecursionError as error:  # raised by the search: the thread's own code has ended
        run.error, successor = error, None
    if successor is None:
        return run.hub
    run.current = successor
    return successor.greenlet


def next_child(me: ModelThread) -> ThreadId:
    """Return the number of the thread that `me` starts next."""
    return run.numbers[me.id, me.started]


def spawn(thread_object: Any, body: Callable[[], None]) -> None:
    """Begin a model thread that runs `body`. Called by `Thread.start`, just after its `Start` rule was performed.

    Raises `UnwindThread` if the run ends by it.
    """
    if run.unwinding:
        return
    me = run.current
    number = next_child(me)
    me.started += 1
    daemon = bool(thread_object.daemon)
    if daemon and DAEMONS not in run.facts:
        assumptions.broken(
            DAEMONS, "a daemon thread is started: from now on the end of the program is an operation", at_once=True
        )
    if run.watched or not run.multi:
        _note_modules()
    _watch(False)
    run.above.publish_roots(thread_object)
    run.incomplete.update(run.incomplete_if_multithreaded)
    run.multi = True
    child = ModelThread(number, thread_object.name, daemon, thread_object)
    child.time = me.time
    while len(run.threads) <= number:
        run.threads.append(_ABSENT)
    run.threads[number] = child
    run.ready |= child.bit
    run.everybody |= child.bit
    run.by_thread_object[id(thread_object)] = child
    child.starter = getcurrent()
    run.current = child
    calls = sys.getrecursionlimit() if run.deep else 0
    if run.dying:
        run.above.step_begins(child)
    run.workers.begin(child, body)
    run.current = me
    if run.dying:
        run.above.step_begins(me)
    if run.unwinding:
        raise UnwindThread
    if run.deep:
        sys.setrecursionlimit(calls)


def _note_modules() -> None:
    """Note each module of the program that is still being imported, as one that starts a thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and run.is_program_file(frame.f_code.co_filename):
            fact = (STARTS, frame.f_globals.get("__name__"))
            if fact not in run.facts:
                assumptions.broken(
                    fact, f"the import of {fact[1]} starts a thread: its globals are written while others run"
                )
        frame = frame.f_back


class _AbsentThread(ModelThread):
    """Takes the place of a thread that other runs have and this one does not have (yet)."""


_ABSENT = _AbsentThread(0, "", False, None)
_ABSENT.running = False
_ABSENT.bit = 0


def thread_of(thread_object: Any) -> ModelThread | None:
    """Return the model thread of the program's Thread object, or None if it was not started."""
    return run.by_thread_object.get(id(thread_object))


def knows_ended(me: ModelThread, thread_object: Waited) -> None:
    """Note that `me` has waited for the end of a thread. When it has done so for all, it is alone, and its accesses are
    no longer operations."""
    other = run.by_thread_object.get(id(thread_object))
    if other is None or thread_object.dpor_state is not thread_rules.ENDED:
        return
    me.ended |= other.bit | other.ended
    if run.multi and not run.watched and me.ended | me.bit == run.everybody:
        if run.above.is_to_be_watched():
            _watch(True)
        else:
            run.multi = False
            run.above.alone()


def _watch(watched: bool) -> None:
    """Watch the current thread from now on, because it is alone, or do so no longer."""
    if watched is not run.watched:
        run.watched = watched
        run.update_careful()
