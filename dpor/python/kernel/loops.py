"""Loops of the program that make no operation, and runs that take too long.

A loop may wait for what another thread writes, in a location that is silent because nobody has written it so far: so
others get a turn now and then. One that goes round for ever is ended, and so is a call that takes no end.
"""

from __future__ import annotations

import sys
from time import thread_time
from types import FrameType
from typing import Final

from greenlet import getcurrent

from dpor.core.errors import Unsupported
from dpor.core.system import Ending
from dpor.python.kernel import accessing, timing, unwinding
from dpor.python.kernel.incomplete import cut
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.program_frames import last_place
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import is_enabled

WAITING, IDLE = 50, 0.05
"""Beats without an event, and seconds of computing meanwhile: then a call is taken to wait for something real."""

# ---------------------------------------------------------------------- loops

SPIN = 1_000
"""So many loop iterations without an operation, and others get a turn: the loop may wait for what one of them writes,
in a location that is silent because nobody has written it so far."""


def tick() -> None:
    """A loop of the program goes round. One that makes no operation for very long is ended."""
    me = run.current
    if me is not None and me.ticked != me.events and run.observer is None:
        if run.multi:
            run.above.back_edge_taken(sys._getframe(1))
        me.ticked = me.events
        run.back_edges = 0
    run.back_edges += 1
    if run.back_edges % SPIN == 0:
        goes_round(sys._getframe(1))


def goes_round(frame: FrameType) -> None:
    """A loop has gone round many times without an event: may another thread move, or has the run to be cut?"""
    if run.unwinding:
        unwinding.lose_patience()
    if run.current is None or run.unwinding:
        return
    me, rounds = run.current, run.back_edges
    may_yield = run.multi and not run.atomic and run.observer is None
    others = may_yield and bool(run.ready & ~me.bit or any(map(is_enabled, run.waiting)))
    may_pass = run.options.timeouts == "any" or not others
    if me.looked == run.position and run.observer is None and may_pass:
        timing.pass_time()
    elif run.multi and not run.stateful and run.observer is None:
        run.above.loops_without_operations(frame)
        if run.unwinding:
            return
    if rounds >= run.options.max_back_edges and not others:
        cut(f"a loop went round {rounds} times without an operation{last_place()}", Ending.CUT)
    if others or (may_yield and run.stateful):
        run.yielding |= me.bit
        accessing.access(run.operations.intern("yield", ()))
        run.yielding &= ~me.bit
        if not others:  # the search sees whether this is the state before; if not, the rounds are counted on
            me.ticked, run.back_edges = me.events, rounds


# ---------------------------------------------------------------------- runs that take too long


def beat(frame: FrameType | None, patience: int | None) -> None:
    """Called by a signal handler, now and then, with the innermost frame: end a run that takes too long.

    That is one that has made no event since so many calls (None: any is given all the time that it wants). With a
    patience of 0 also one that moves, at its next decision. A run that makes no event ends where it stands, be it
    inside a C function: unless that is in the search, whose own books must not be torn.
    """
    if run.current is None:
        return
    number, position, beats, since = run.still
    if (number, position) == (run.number, run.position):
        beats += 1
    else:
        beats, since = 0, thread_time()
    run.still = run.number, run.position, beats, since
    may_end = _may_end(frame)
    if may_end and beats >= WAITING and run.multi and not run.unwinding and thread_time() - since < IDLE:
        unwinding.fail(Unsupported(_waits(frame)))
    if patience is None:
        return
    if patience == 0:
        run.most_events = 0
    if beats < max(patience, 1) or not may_end:
        return
    if run.unwinding:
        unwinding.leave()
        raise UnwindThread
    reason = f"a run was ended after its event {run.position:,}{last_place(frame)}"
    cut(reason, Ending.ENDED)


def _may_end(frame: FrameType | None) -> bool:
    """Is it the program that would be ended, and not what is done on its behalf?"""
    here = getcurrent()
    return here is not run.hub and here is run.current.greenlet and not _is_ours(frame)


def _waits(frame: FrameType | None) -> str:
    assert frame is not None
    module = str(frame.f_globals.get("__name__"))
    place = f"{module} ({frame.f_code.co_filename}:{frame.f_lineno})"
    cure = (
        "use those of threading"
        if run.is_program_file(frame.f_code.co_filename)
        else f"add --instrument {module.partition('.')[0]}"
    )
    return f"{place} waits in C code, perhaps for a real lock that another thread of the program holds: {cure}"


def _is_ours(frame: FrameType | None) -> bool:
    """Does the search, or what carries out runs, work on behalf of the program?"""
    while frame is not None and not run.is_program_file(frame.f_code.co_filename):
        if frame.f_globals.get("__name__", "").startswith(_BOOKS):
            return True
        frame = frame.f_back
    return False


_BOOKS: Final = ("dpor.python.kernel.", "dpor.explorers", "dpor.core.happens_before", "dpor.findings")


STATELESS: Final = (goes_round,)
"""Their frames are no part of states: what they have yet to do follows from the pending operation."""
