"""Loops of the program that make no operation, and runs that take too long.

A loop may wait for what another thread writes, in a location that is silent because nobody has written it so far: so
others get a turn now and then. One that goes round for ever is ended, and so is a call that takes no end.
"""

from __future__ import annotations

import sys
from time import thread_time
from types import FrameType

from greenlet import getcurrent

from dpor.core.errors import Unsupported
from dpor.core.system import Ending
from dpor.python.kernel import control, timing
from dpor.python.kernel.model_thread import GuestExit

WAITING, IDLE = 50, 0.05
"""Beats without an event, and seconds of computing meanwhile: then a call is taken to wait for something real."""

# ---------------------------------------------------------------------- loops

_back_edges = 0
"""Since the present thread's last operation."""
SPIN = 1_000
"""So many loop iterations without an operation, and others get a turn: the loop may wait for what one of them writes,
in a location that is silent because nobody has written it so far."""


def tick() -> None:
    """A loop of the program goes round. One that makes no operation for very long is ended."""
    global _back_edges
    me = control.current
    if me is not None and me.ticked != me.events and control.observer is None:
        if control.multi:
            control.above.back_edge_taken(sys._getframe(1))
        me.ticked = me.events
        _back_edges = 0
    _back_edges += 1
    if _back_edges % SPIN == 0:
        goes_round(sys._getframe(1))


def goes_round(frame: FrameType) -> None:
    """A loop has gone round many times without an event: may another thread move, or has the run to be cut?"""
    global _back_edges
    if control.unwinding:
        control._lose_patience()
    if control.current is None or control.unwinding:
        return
    me, rounds = control.current, _back_edges
    stands = control.multi and not control._atomic and control.observer is None
    others = stands and bool(control._ready & ~me.bit or any(map(control._is_enabled, control._waiting)))
    may_pass = control.options.timeouts == "any" or not others
    if me.looked == control._position and control.observer is None and may_pass:
        timing.pass_time()
    elif control.multi and not control.stateful and control.observer is None:
        control.above.loops_without_operations(frame)
        if control.unwinding:
            return
    if rounds >= control.options.max_back_edges and not others:
        control._cut(f"a loop went round {rounds} times without an operation{control._where_cut()}", Ending.CUT)
    if others or (stands and control.stateful):
        control._yielding |= me.bit
        control.access(control.operations.intern("yield", ()))
        control._yielding &= ~me.bit
        if not others:  # the search sees whether this is the state before; if not, the rounds are counted on
            me.ticked, _back_edges = me.events, rounds


# ---------------------------------------------------------------------- runs that take too long

_still = (0, 0, 0, 0.0)
"""The run, how many events it had made when it last moved, the beats since, and the seconds of computing by then."""


def beat(frame: FrameType | None, patience: int | None) -> None:
    """Called by a signal handler, now and then, with the innermost frame: end a run that takes too long.

    That is one that has made no event since so many calls (None: any is given all the time that it wants). With a
    patience of 0 also one that moves, at its next decision. A run that makes no event ends where it stands, be it
    inside a C function: unless that is in the search, whose own books must not be torn.
    """
    global _still
    if control.current is None:
        return
    run, position, beats, since = _still
    if (run, position) == (control._nth, control._position):
        _still = run, position, beats + 1, since
    else:
        _still = control._nth, control._position, 0, thread_time()
    _, _, beats, since = _still
    may_end = _may_end(frame)
    if may_end and beats >= WAITING and control.multi and not control.unwinding and thread_time() - since < IDLE:
        control._fail(Unsupported(_waits(frame)))
    if patience is None:
        return
    if patience == 0:
        control._most = 0
    if beats < max(patience, 1) or not may_end:
        return
    if control.unwinding:
        control._leave()
        raise GuestExit
    reason = f"a run was ended after its event {control._position:,}{control._where_cut(frame)}"
    control._cut(reason, Ending.ENDED)


def _may_end(frame: FrameType | None) -> bool:
    """Is it the program that would be ended, and not what is done on its behalf?"""
    here = getcurrent()
    return here is not control._hub and here is control.current.greenlet and not _is_ours(frame)


def _waits(frame: FrameType | None) -> str:
    assert frame is not None
    module = str(frame.f_globals.get("__name__"))
    place = f"{module} ({frame.f_code.co_filename}:{frame.f_lineno})"
    cure = (
        "use those of threading"
        if control.is_guest_file(frame.f_code.co_filename)
        else f"add --instrument {module.partition('.')[0]}"
    )
    return f"{place} waits in C code, perhaps for a real lock that another thread of the program holds: {cure}"


def _is_ours(frame: FrameType | None) -> bool:
    """Does the search, or what carries out runs, work on behalf of the program?"""
    while frame is not None and not control.is_guest_file(frame.f_code.co_filename):
        if frame.f_globals.get("__name__", "").startswith(_BOOKS):
            return True
        frame = frame.f_back
    return False


_BOOKS = (
    *("dpor.python.kernel.control", "dpor.python.kernel.loops", "dpor.python.kernel.timing"),
    *("dpor.explorers", "dpor.core.happens_before", "dpor.findings"),
)
