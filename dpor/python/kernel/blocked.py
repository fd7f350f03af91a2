"""Who is left blocked when nobody can move."""

from __future__ import annotations

from dpor.core.operations import (
    States,
)
from dpor.core.system import Ending, Pending
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.program_frames import program_frame
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import is_enabled
from dpor.python.kernel.stuck import Stuck, name_of, stuck_in_words
from dpor.python.kernel.sync_objects import Counter, Fixed


def left_blocked() -> list[Pending]:
    """Return the pending operations of the threads that cannot run. If the run is complete, also describe them in
    `run.stuck`."""
    left = sorted([t for t in run.waiting if not is_enabled(t)], key=lambda t: t.id)
    if run.ending is Ending.COMPLETE:
        run.stuck[:] = [_in_words(t) for t in left]
    return [Pending(t.id, t.pending, _states_of(t)) for t in left if t.pending is not None]


def _in_words(thread: ModelThread) -> Stuck:
    glet = thread.greenlet
    frame = program_frame(glet.gr_frame) if glet else None
    place = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    objects = [o for o in thread.objects or () if not isinstance(o, Fixed)]
    names = {id(o): run.recorder.name_of(o, frame) for o in objects} if run.recorder is not None else {}
    stuck = stuck_in_words(thread, objects, place, run.threads, run.taken_at, names)
    if stuck.spins is None:
        return stuck
    return stuck._replace(reads=tuple(names.get(id(o), name_of(o)) for o in objects if not isinstance(o, Counter)))


def _states_of(thread: ModelThread) -> States:
    assert thread.pending is not None
    states = tuple(o.dpor_state for o in thread.objects or ())
    return states + (None,) * (len(thread.pending.accesses) - len(states))
