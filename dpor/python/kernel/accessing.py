"""Turns plain accesses of shared data into events: reads and writes of fields, elements and globals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dpor.core.operations import (
    READ,
    Accesses,
    Operation,
)
from dpor.primitives.daemons import DaemonAccess
from dpor.python.kernel import unwinding
from dpor.python.kernel.depth import with_room
from dpor.python.kernel.events import fill_in, happened
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.performing import perform
from dpor.python.kernel.program_frames import last_place
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import unsettled, yield_before_changing, yield_before_pending
from dpor.python.kernel.sync_objects import count_writes


def access(operation: Operation, reread: Callable[[], Accesses] | None = None) -> None:
    """Yield before a plain access to shared data until it is chosen; the caller then performs it at once.

    reread   returns the accesses once other threads have moved; None if they cannot change them
    """
    if run.careful:
        _access_carefully(operation, reread)
        return
    me = run.current
    if operation.visible is not run.discipline and _is_silent(me, operation):
        return
    position = run.position
    if position >= run.replayed or run.event_threads[position] != me.id or me.starter is not None:
        me.pending = operation
        if reread is None:
            yield_before_pending(me)
        else:
            operation = yield_before_changing(me, reread)
            if run.discipline is not None:  # no variable: it would be part of the state of a thread that waits here
                run.discipline.take_note(me.id, operation.accesses, me.held)
        position = run.position
    # The same as `events.happened`, inlined: a tenth of the time of an execution is spent here.
    if position < run.replayed:
        if run.event_operations[position] is not operation:
            fill_in(me, operation, None)
    else:
        run.event_threads.append(me.id)
        run.event_operations.append(operation)
        run.trace.befores.append(None)
    run.position = position + 1
    me.events += 1


def _is_silent(me: ModelThread, operation: Operation) -> bool:
    """True if the operation is no event, by `run.discipline`: then it is performed without yielding before."""
    if run.discipline is None or not run.discipline.is_silent(me.id, operation, me.held):
        return False
    run.silent.append((run.position, me.id))
    me.silent += 1
    if any(mode is not READ for _, mode in operation.accesses):
        me.changed_at = run.position
    return True


def _is_silent_to_all(me: ModelThread, operation: Operation) -> bool:
    """As `_is_silent`, where there may be others than threads that can tell when the operation is performed."""
    if run.discipline is not None and _is_seen_by_others(me, operation):
        run.discipline.take_note(me.id, operation.accesses, me.held)
        return False
    return _is_silent(me, operation)


def _is_seen_by_others(me: ModelThread, operation: Operation) -> bool:
    """True if specifications read what it writes, or if the thread is a daemon thread, which may not live to do so."""
    specifications = run.specifications
    if specifications is not None and specifications.ordered(operation) is not operation:
        return True
    return run.daemons and me.daemon


def _access_carefully(operation: Operation, reread: Callable[[], Accesses] | None) -> None:
    if run.unwinding:
        unwinding.lose_patience()
    elif run.deep:
        with_room(_access_observed)(operation, reread)
    else:
        _access_observed(operation, reread)


def _access_observed(operation: Operation, reread: Callable[[], Accesses] | None) -> None:
    if run.observer is not None:
        run.observer.access(operation)
        return
    if run.watched:
        return
    if run.atomic:
        incomplete(f"code of the program ran unseen inside one step (a __hash__ or __eq__, or an import){last_place()}")
        return
    me = run.current
    before = None
    if run.dying and run.multi:
        run.above.step_ends()
    if run.specifications is not None:
        run.specifications.settle()
    if operation.visible is not run.discipline and _is_silent_to_all(me, operation):
        return
    if run.specifications is not None:
        operation = run.specifications.ordered(operation)
    if run.daemons and me.daemon:
        _access_of_daemon(operation, reread)
        return
    me.pending = operation
    if reread is None:
        yield_before_pending(me)
    else:
        operation = yield_before_changing(me, reread)
        if run.discipline is not None:
            run.discipline.take_note(me.id, operation.accesses, me.held)
    if run.dying:
        run.above.step_begins(me, operation)
    if run.daemons or run.specifications is not None:
        before = (None,) * len(operation.accesses)  # operations with a rule expect a state for each access
    if run.spins:
        before = count_writes(operation.accesses)
    happened(me, operation, before)
    if run.recorder is not None:
        run.recorder.event(me, operation, None)


def _access_of_daemon(operation: Operation, reread: Callable[[], Accesses] | None) -> None:
    """Perform the access of a daemon thread; repeat it if its accesses changed before it happened."""
    while True:
        perform(DaemonAccess(operation.kind, operation.accesses), run.process)
        now = operation if reread is None else unsettled(operation.kind, reread())
        if now is operation:
            return
        if run.discipline is not None:
            run.discipline.take_note(run.current.id, now.accesses, run.current.held)
        operation = now


def touch(kind: str, accesses: Accesses, reread: Callable[[], Accesses] | None = None) -> None:
    """Like `access`, for the operation of this kind with these accesses."""
    access(run.operations.intern(kind, accesses) if reread is None else unsettled(kind, accesses), reread)


STATELESS: Final = (access, _access_carefully, touch)
"""Functions whose frames are left out of states: what remains of them follows from the pending operation."""
