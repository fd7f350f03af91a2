"""Who moves next, and how a thread waits before an operation until it is chosen.

Model threads are greenlets in one OS thread. A thread that reaches an operation is at a *scheduling point*: it decides,
in its own greenlet, who moves next (the trace that is repeated says so, or the explorer is asked), and switches only if
that is another thread. So a thread that goes on costs no switch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

from dpor.core.errors import Unsupported
from dpor.core.operations import (
    THREAD_MASK,
    Accesses,
    Operation,
)
from dpor.core.system import STOP, Ending
from dpor.python.kernel import assumptions, unwinding
from dpor.python.kernel.depth import DEEP, ROOM
from dpor.python.kernel.events import differs
from dpor.python.kernel.incomplete import incomplete, why_cut
from dpor.python.kernel.model_thread import ModelThread, UnwindThread
from dpor.python.kernel.program_frames import last_place
from dpor.python.kernel.run import ABLE_UNKNOWN, run


def decide() -> ModelThread | None:
    """Return the thread that moves next; None if the run is over (`run.ending` then says how)."""
    position = run.position
    if position < run.replayed:
        number = run.event_threads[position]
    else:
        if run.able == ABLE_UNKNOWN:
            able = 0
            for thread in run.waiting:
                if is_enabled(thread):
                    able |= thread.bit
            run.able = able
        enabled = run.ready | run.able
        yielding = 0
        if run.yielding:
            yielding = enabled & run.yielding
            enabled &= ~yielding
        if not enabled:
            enabled, yielding = yielding, 0
            if not enabled:
                enabled = _could_time_out()
                if not enabled:
                    return None
        if position >= run.most_events:
            run.ending = Ending.CUT if run.most_events == run.options.max_steps else Ending.ENDED
            incomplete(f"{why_cut()}{run.above.loops_unseen()}")
            return None
        try:
            action = run.choose(enabled)
            if action == STOP and yielding:
                action = run.choose(yielding)
        except RecursionError:
            raise
        except Exception as error:  # must not reach the program, in whose greenlet the search is asked
            run.error = error
            return None
        if action == STOP:
            run.ending = Ending.STOPPED
            return None
        run.trace.actions.append(action)
        number = action & THREAD_MASK
    try:
        chosen = run.threads[number]
        if chosen.running:
            return chosen
    except IndexError:
        pass
    run.error = differs(f"thread {number} does not exist or has ended")
    return None


def is_enabled(thread: ModelThread) -> bool:
    """True if the thread, whose pending operation may block, could perform it now."""
    assert thread.pending is not None
    assert thread.objects is not None
    return thread.pending.applied(tuple([o.dpor_state for o in thread.objects])) is not None


def _could_time_out() -> int:
    """When no thread can move: return the mask of the threads whose wait may end because time passes."""
    waiting = [t for t in run.threads if t.running and t.timed is not None and (not t.daemon or run.process.dpor_state)]
    if not waiting:
        return 0
    first = min(t.deadline for t in waiting if t.deadline is not None)
    latest = first if run.options.timeouts == "idle" else first + run.options.max_delay
    return sum(t.bit for t in waiting if t.deadline is not None and t.deadline <= latest)


def yield_before_pending(me: ModelThread) -> None:
    """Yield to other threads until the pending operation is chosen. The caller must then perform it at once.

    Raises `UnwindThread` if the run ends first.
    """
    calls = sys.getrecursionlimit() if run.deep else 0
    starter = me.starter
    try:
        if starter is not None:  # just started: the starter goes on with its own step
            run.make_current(me)  # it is already; the call only shows that the stack has room for another one
            me.starter = None
            starter.switch()
        else:
            successor = decide()
            if successor is not me:
                if successor is None:
                    run.hub.switch()
                else:
                    run.current = successor
                    successor.greenlet.switch()
    except RecursionError:
        # If the decision was begun, there is room for this call; if not, nothing has happened, and the program gets the
        # error.
        sys.setrecursionlimit(sys.getrecursionlimit() + ROOM)
        _too_deep()
    if run.unwinding:
        raise UnwindThread
    if run.deep:
        sys.setrecursionlimit(calls)


def _too_deep() -> NoReturn:
    """The program recurses so deep that the search, called on top of its stack, has hit the limit while it updates its
    own data: end the run."""
    if run.deep:
        unwinding.fail(Unsupported(f"the program recurses so deeply that no room is left for the search{last_place()}"))
    assumptions.broken(
        DEEP, "the program recurses to the limit: hooks get room of their own on the stack", at_once=True
    )
    raise UnwindThread


def yield_before_changing(me: ModelThread, reread: Callable[[], Accesses]) -> Operation:
    """Yield before an operation whose accesses others may change; return the operation as it is now. What has to be
    remembered is kept in the thread object: a variable of this frame would be part of the state."""
    assert me.pending is not None
    me.reread, me.yielded_at = reread, run.position
    yield_before_pending(me)
    operation = me.pending if me.yielded_at == run.position else pending_of(me)
    me.reread = None
    assert operation is not None
    return operation


def unsettled(kind: str, accesses: Accesses) -> Operation:
    """Return an operation whose accesses other threads may change before it is performed."""
    operation = run.operations.intern(kind, accesses)
    operation.unsettled = True
    return operation


def pending_of(thread: ModelThread) -> Operation | None:
    """Return the thread's pending operation with its current accesses."""
    if thread.reread is None or thread.pending is None:
        return thread.pending
    me, run.current = run.current, thread
    try:
        operation = unsettled(thread.pending.kind, thread.reread())
        return operation if run.specifications is None else run.specifications.ordered(operation)
    finally:
        run.current = me


def yield_before_blocking(me: ModelThread) -> None:
    """Like `yield_before_pending`, before an operation that may block."""
    run.ready ^= me.bit
    run.waiting.append(me)
    run.able = ABLE_UNKNOWN
    try:
        yield_before_pending(me)
    except RecursionError:  # it has not yielded: nobody else has moved
        del run.waiting[-1]
        run.ready ^= me.bit
        raise
    run.ready ^= me.bit
    run.waiting.remove(me)
    run.able = ABLE_UNKNOWN


@contextmanager
def atomic() -> Iterator[None]:
    """Make the code inside one step: its operations are no scheduling points."""
    run.atomic += 1
    run.update_careful()
    try:
        yield
    finally:
        run.atomic -= 1
        run.update_careful()


@contextmanager
def divided(why: str) -> Iterator[None]:
    """Let the code inside be steps of its own, also in the middle of an indivisible step; `why`: what it does."""
    depth, run.atomic = run.atomic, 0
    run.update_careful()
    if depth:
        incomplete(f"{why} inside one step of code without hooks{last_place()}: the rest of it is not seen")
    try:
        yield
    finally:
        run.atomic = depth
        run.update_careful()


STATELESS: Final = (decide, yield_before_pending, yield_before_blocking)
"""Functions whose frames are left out of states: what remains of them follows from the pending operation."""
