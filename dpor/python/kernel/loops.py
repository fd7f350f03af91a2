"""Loops of the program that perform no operation, and runs that take too long.

A loop without operations may wait for another thread to write a location that is still silent because no run has
written it. So such a loop gives other threads a turn now and then. A loop that goes on for ever is ended, and so is a
call that does not return.
"""

from __future__ import annotations

import sys
from time import thread_time
from types import FrameType
from typing import Final

from greenlet import getcurrent

from dpor.core.errors import Unsupported
from dpor.core.home import is_ours
from dpor.core.system import Ending
from dpor.python.kernel import accessing, depth, timing, unwinding
from dpor.python.kernel.incomplete import cut
from dpor.python.kernel.library import CLOSED, package_of
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.program_frames import last_place
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import is_enabled
from dpor.python.kernel.threads import live

WAITING, SOON, IDLE = 50, 3, 0.05
"""After `WAITING` beats without an event, in which the process computed for less than `IDLE` seconds, a call is taken
to wait for something real; after `SOON` if the run is over anyway."""

# ---------------------------------------------------------------------- loops

SPIN = 1_000
"""Loop iterations without an operation after which other threads get a turn: the loop may wait for one of them to write
a location that is still silent because no run has written it."""


def tick() -> None:
    """The hook at each iteration of a loop of the program. Ends a loop that performs no operation for very long."""
    me = run.current
    if me is not None and me.last_back_edge_at != me.events and run.observer is None:
        if run.multi and not run.watched:
            run.above.back_edge_taken(sys._getframe(1))
        me.last_back_edge_at = me.events
        run.back_edges = 0
    run.back_edges += 1
    if run.back_edges % SPIN == 0:
        many_rounds(sys._getframe(1))


def many_rounds(frame: FrameType) -> None:
    """Called when a loop has gone round many times without an event: let another thread move, let time pass, or cut the
    run."""
    if run.deep:
        depth.take_signals()
    if run.unwinding:
        unwinding.lose_patience()
    if run.current is None or run.unwinding:
        return
    me, rounds = run.current, run.back_edges
    may_yield = run.multi and not run.watched and not run.atomic and run.observer is None
    others = may_yield and bool(run.ready & ~me.bit or any(map(is_enabled, run.waiting)))
    may_pass = run.options.timeouts == "any" or not others
    if me.clock_read_at == run.position and run.observer is None and may_pass:
        timing.pass_time()
    elif run.multi and not run.watched and not run.stateful and run.observer is None:
        run.above.loops_without_operations(frame)
        if run.unwinding:
            return
    if rounds >= run.options.max_back_edges and not others:
        cut(f"a loop went round {rounds} times without an operation{last_place()}", Ending.CUT)
    if others or (may_yield and run.stateful):
        run.yielding |= me.bit
        accessing.access(run.operations.intern("yield", ()))
        run.yielding &= ~me.bit
        if not others:  # the search notices if the state is the same as before; if it is not, go on counting
            me.last_back_edge_at, run.back_edges = me.events, rounds


# ---------------------------------------------------------------------- runs that take too long


def beat(frame: FrameType | None, patience: int | None) -> None:
    """Called by a signal handler at regular intervals: end a run that takes too long.

    frame      the innermost frame of the interrupted code
    patience   calls without a new event after which the run ends; None: never. With 0, a run that makes events ends
               too, at its next decision

    A run without events ends where it is, even inside a C function, unless the search itself is at work there: its data
    must stay consistent. Raises `UnwindThread` where it ends the run.
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
    enough = WAITING if run.broken is None and not run.unwinding else SOON
    if may_end and beats >= enough and thread_time() - since < IDLE:
        if run.unwinding:  # for what a thread holds that is unwound later
            unwinding.leave()
            raise UnwindThread
        if run.multi and not run.watched:
            unwinding.fail(Unsupported(_waits(frame)))
    if patience is None:
        return
    if patience == 0:
        run.most_events = 0
    if patience and run.observer is not None:  # a specification may take as long as there is time
        if thread_time() - since >= IDLE:
            run.still = run.number, run.position, 0, thread_time()
        return
    if beats < max(patience, 1) or not may_end:
        return
    if run.unwinding:
        unwinding.leave()
        raise UnwindThread
    reason = f"a run was ended after its event {run.position:,}{last_place(frame)}"
    cut(reason, Ending.ENDED)


def _may_end(frame: FrameType | None) -> bool:
    """True if the interrupted code is the program, not something that runs on its behalf."""
    here = getcurrent()
    return here is not run.hub and here is run.current.greenlet and not _is_ours(frame)


def _waits(frame: FrameType | None) -> str:
    while frame is not None and is_ours(str(frame.f_globals.get("__name__"))):
        frame = frame.f_back  # a hook has called what waits
    assert frame is not None
    module = str(frame.f_globals.get("__name__"))
    place = f"{module} ({frame.f_code.co_filename}:{frame.f_lineno})"
    user: FrameType | None = frame
    while user is not None and package_of(str(user.f_globals.get("__name__"))) in CLOSED:
        user = user.f_back
    if user is None or run.is_program_file(user.f_code.co_filename):
        cure = "use those of threading"
    else:
        cure = f"add --instrument {package_of(str(user.f_globals.get('__name__')))}"
    return f"{place} waits in C code, perhaps for a real lock that another thread of the program holds: {cure}"


def _is_ours(frame: FrameType | None) -> bool:
    """True if the search, or the code that carries out runs, is working on behalf of the program."""
    while frame is not None and not run.is_program_file(frame.f_code.co_filename):
        if frame.f_code is live.__code__:  # a thread whose function has no hooks
            return False
        if frame.f_globals.get("__name__", "").startswith(_BOOKS):
            return True
        frame = frame.f_back
    return False


_BOOKS: Final = ("dpor.python.kernel.", "dpor.explorers", "dpor.core.happens_before", "dpor.findings")


STATELESS: Final = (many_rounds,)
"""Functions whose frames are left out of states: what remains of them follows from the pending operation."""
