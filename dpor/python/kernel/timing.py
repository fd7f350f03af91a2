"""The program's view of time: waits that may time out, sleeps, and looks at the clock. All of it is virtual.

With `timeouts="any"` a wait with a timeout may end at any moment, which is one more possible result of trying the
operation; with "idle" it ends only when nothing else can move. `dpor.python.kernel.virtual_time` says what the clocks
show.

A *long* wait is one of `max_delay` seconds or more. A step of another thread comes less than `max_delay` after the time
that the thread's clock shows. So the wait can time out before that step only if the clock shows more than the wait's
deadline less `max_delay`. It is assumed that no clock does while a thread waits, and a long wait ends as with "idle".
The first step that comes so late breaks the assumption (`TIME_PASSES`). If it wakes the thread, or leads to what does,
the thread has its clock from then on. If nothing wakes the thread, the step has been made when the wait times out, or
the program ends.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, Final, TypeAlias

from dpor.core.operations import Effect, Rule, States, ThreadId
from dpor.core.system import StatesMayTell
from dpor.primitives.rules import BaseRule
from dpor.python.kernel import assumptions, unwinding
from dpor.python.kernel.assumptions import CLOCKS, TIME_PASSES
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import EXPIRES, ModelThread
from dpor.python.kernel.performing import perform, without_control
from dpor.python.kernel.program_frames import program_frame
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.virtual_time import TICK

# ---------------------------------------------------------------------- waits that may time out


def perform_timed(blocking: Rule, timed: Rule, timeout: float, *objects: SyncObject, site: Site | None = None) -> Any:
    """Like `perform`, for an operation that may time out after `timeout` seconds. Returns False if it does.

    `timed` is the variant of the rule whose result is False if it times out; `blocking` the one that never times out.
    With `timeouts="any"` it may time out wherever it waits, but each call site in a thread only `timeout_limit` times
    for each object, and `OBJECTS` times as often in all, while something else can move. When nothing else can move, it
    always may. A long wait times out only then. Searches that store states need no limit, since what waits in a loop
    comes back to a state; but where one run times out `MANY` times, a site may do so `timeout_limit` times (`COUNTED`).
    """
    if run.unwinding:
        return without_control(timed, objects)
    me = run.current
    is_long = run.options.timeouts == "any" and TIME_PASSES not in run.facts and _is_long(me, timeout)
    if is_long:
        assumptions.note(CLOCKS)
    elif run.options.timeouts == "any":
        site = site or site_of(me, 2)
        if _may_time_out(site, objects[0]):
            result = perform(timed, *objects)
            if result is False:
                _timed_out(site, objects[0])
                run.timed_out |= EXPIRES not in me.data
                _advance(me, timeout)
            return result
        incomplete(_limited(site))
    me.timed, me.deadline = timed, now() + timeout
    try:
        result = perform(blocking, *objects)
        if is_long:
            woken = result is not False and timeout >= run.options.max_delay
            _note_lateness(me, now() if woken else run.virtual_time.of_others(me))
        return result
    finally:
        me.timed = me.deadline = None


def _is_long(me: ModelThread, timeout: float) -> bool:
    """True if the thread has waited, with this wait, for as long as no other is late. That several waits together are
    long matters if the program looks at the clock, as a loop with a deadline does; and it can be said if the clocks of
    all threads are part of the state."""
    if timeout >= run.options.max_delay:
        return True
    if not (run.stateful and CLOCKS in run.facts):
        return False
    return run.virtual_time.of_others(me) <= now() + timeout - run.options.max_delay


def _note_lateness(me: ModelThread, time: float) -> None:
    """The time of others when the thread's long wait ended, or the run did."""
    assert me.deadline is not None
    if time > me.deadline - run.options.max_delay:
        assumptions.broken(
            TIME_PASSES, "a timed wait of --max-delay or more can end because other threads wait or sleep as long"
        )


def run_over() -> None:
    """The run has ended: the daemon threads that still wait may have timed out before."""
    if run.options.timeouts == "any" and TIME_PASSES not in run.facts:
        for thread in run.threads:
            if thread.daemon and thread.deadline is not None:
                _note_lateness(thread, run.virtual_time.of_others(thread))


def perform_now(timed: Rule, *objects: SyncObject) -> Any:
    """Like `perform_timed` with no time to wait. A failure still advances the clock a little: otherwise a loop that
    waits for the rest of the time until a deadline would never end once that rest is nothing."""
    result = perform(timed, *objects)
    if result is False and not run.unwinding:
        _advance(run.current, TICK)
    return result


OBJECTS: Final = 8
"""For how many objects, on average, each call of a thread may time out in a run of a search without states. A loop that
waits for one thread after the other ends; one that makes a new object each time may not."""
MANY: Final = 500
"""How often a wait times out in one run before it is counted."""
COUNTED: Final = "times out again and again"
"""A fact about a timed wait, named by file, function and line: no state comes back after it has timed out."""

Site: TypeAlias = tuple[ThreadId, Any, int]


def _may_time_out(site: Site, obj: SyncObject) -> bool:
    limit, used = run.options.timeout_limit, run.timeouts.get(site, 0)
    if run.stateful:
        return used < limit or (limit > 0 and not is_counted(site))
    return used < limit * OBJECTS and run.timeouts_on.get((site, obj.dpor_location), 0) < limit


def _timed_out(site: Site, obj: SyncObject) -> None:
    """Count it. (In a variable of the caller, the number would be part of the state.)"""
    used = run.timeouts[site] = run.timeouts.get(site, 0) + 1
    if not run.stateful:
        here = site, obj.dpor_location
        run.timeouts_on[here] = run.timeouts_on.get(here, 0) + 1
    if used >= MANY > run.options.timeout_limit and not is_counted(site):
        reason = f"{_where(site)} timed out {MANY} times in a run: from now on at most --timeout-limit times"
        assumptions.broken(_fact(site), reason, at_once=True)


def _limited(site: Site) -> StatesMayTell:
    limit = run.options.timeout_limit
    more = f"{_where(site)} may time out more often in a run than --timeout-limit {limit}"
    if not limit:
        return StatesMayTell(more)
    why = "something changes each time" if run.stateful else "strategies that store states need no limit"
    return StatesMayTell(f"{more}: {why}")


def is_counted(site: Site) -> bool:
    """True if it is part of the state how often the wait has timed out: then the number is limited."""
    return not run.stateful or _fact(site) in run.facts


def _fact(site: Site) -> tuple[object, ...]:
    _, code, line = site
    return (COUNTED, code.co_filename, code.co_qualname, line) if isinstance(code, CodeType) else (COUNTED,)


def _where(site: Site) -> str:
    _, code, line = site
    return f"{code.co_filename}:{line}" if isinstance(code, CodeType) else "a timed wait"


def site_of(me: ModelThread, callers: int = 1) -> Site:
    """Return the call site at which the thread is: (thread, code, line)."""
    frame = program_frame(sys._getframe(callers))
    return (me.id, None, 0) if frame is None else (me.id, frame.f_code, frame.f_lineno)


# ---------------------------------------------------------------------- clocks


def now() -> float:
    """Return the current thread's virtual clock, in seconds."""
    return 0.0 if run.current is None else run.virtual_time.now(run.current, run.trace, run.position)


def look_at_clock() -> float:
    """Return what `now` returns, to the program, and note that the program has read the clock."""
    assumptions.note(CLOCKS)
    time = now()
    if run.current is not None:
        run.current.clock_read_at = run.position
    if not time or run.clock_stands:
        return 0.0
    run.virtual_time.seen = True
    return time


@contextmanager
def standing_clock() -> Iterator[None]:
    """Within this block every look at the clock sees the time at the start of the run. It shows whether a failure needs
    time to pass."""
    run.clock_stands = True
    try:
        yield
    finally:
        run.clock_stands = False


def guess_deadline() -> float:
    """Return the time, in seconds, to which the clock of a thread is advanced that loops until a deadline which is not
    known. The guesses grow sixteenfold, so that any deadline is passed after a few of them."""
    return 16 * now() + 1


def pass_time() -> None:
    """Advance the current thread's clock: it is in a loop that only looks at the clock and at what does not change."""
    run.timed_out = True
    run.virtual_time.set(run.current, guess_deadline())
    run.current.clock_read_at = -1


@contextmanager
def until(time: float) -> Iterator[None]:
    """Within this block, waits of the current thread end at that time at the latest if nothing else can move."""
    me = run.current
    me.timed, me.deadline = _Sleep(), time
    try:
        yield
    finally:
        me.timed = me.deadline = None


def advance_to(time: float) -> None:
    """Advance the current thread's clock: what waited for this time is late."""
    run.timed_out = True
    run.virtual_time.set(run.current, time)


def _advance(me: ModelThread, seconds: float) -> None:
    run.virtual_time.set(me, now() + seconds)


class _Sleep(BaseRule):
    name = "sleep"
    modes = ()

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return False

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((), (), None)


def sleep(seconds: float) -> None:
    """`time.sleep`. It may last arbitrarily long, so it only advances the clock; with "idle" it ends when nothing else
    can move."""
    if run.unwinding:
        unwinding.lose_patience()
    elif run.options.timeouts == "any" or not run.multi or run.watched:
        _advance(run.current, seconds)
    else:
        with until(now() + seconds):
            perform(_Sleep())
