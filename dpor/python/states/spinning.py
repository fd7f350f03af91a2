"""Loops that wait by spinning (`while not self.ready: pass`): the thread is blocked until what it reads is written.

A round of a loop, from one back edge to the next, *spins* if all operations of the thread in it only read (the failed
try of a lock does), and all that only this thread can reach is the same at both ends: then the next round is the same
again, for as long as nobody writes what it read. So the thread waits at a `Spin`, which is enabled by such a write.
Whether a round spins depends only on what its own thread did and read, so equivalent runs agree on it.

That a loop spins is a fact: the search starts again, counts the writes of locations (`sync_objects.count_writes`), and
captures the private state whenever that loop begins a round. Before that, a round costs only a look at its operations;
more is done only if these were reads, and the live variables of the frame hold the same objects as a round before.

A loop that also reads the clock may wait for a deadline: time passes for it, as for a wait that times out.

Stateful searches do not use this: they notice that a state is reached again.
"""

from __future__ import annotations

from types import FrameType
from typing import Any, Final

from dpor.core.operations import READ, Location, Operation
from dpor.core.system import IfEndless
from dpor.primitives.spinning import Spin
from dpor.python.kernel import assumptions, timing
from dpor.python.kernel.assumptions import CLOCKS, IDENTITIES, SPINS
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.stuck import short_place
from dpor.python.kernel.sync_objects import SyncObject, counter_of
from dpor.python.sharing import shared_object
from dpor.python.states import Capture
from dpor.python.states.memory import why_unreadable

_MOST_LOOPS: Final = 16
"""How many nested loops of a thread are watched; if there are more, the outermost are not."""


_LOOK_EVERY: Final = 16
"""In each sequence of this many rounds with only reads, the state is compared at the ends of the last three."""


class Loop:
    """A loop that a thread is in.

    start       length of the trace at the last back edge
    rounds      how many rounds with only reads there were up to then
    variables   addresses of the objects in the frame's live variables, when they were last compared
    private     encoding of all that only this thread can reach, at the last back edge; None: not captured
    time        the thread's virtual clock then
    """

    __slots__ = ("private", "rounds", "start", "time", "variables")

    def __init__(self, start: int, time: float) -> None:
        self.start = start
        self.rounds = 0
        self.time = time
        self.variables: tuple[int, ...] | None = None
        self.private: bytes | None = None


_reads: dict[Operation, bool] = {}
"""For each operation examined: True if it is a plain read."""
_MOST_KNOWN: Final = 10_000
_rules: dict[tuple[Any, ...], Spin] = {}
"""The rules made so far: other caches look up operations by the identity of their rules."""


def begin_run(capture: Capture) -> None:
    """Called before each run."""
    run.frame_states = None if why_unreadable() else capture
    if len(_reads) > _MOST_KNOWN:
        _reads.clear()


def loops_unseen() -> str:
    """See `dpor.python.kernel.above.Above`."""
    reason = why_unreadable()
    return f" (loops that wait by spinning are not recognised here: {reason})" if reason else ""


def back_edge_taken(frame: FrameType) -> None:
    """Called at a back edge in this frame, if the thread has performed operations since the last one."""
    me = run.current
    if run.unwinding or run.atomic:
        return
    if run.stateful:
        _look_at_clocks(me, frame)
        return
    if run.frame_states is None:
        return
    if run.spins and _site(frame) in run.facts:
        _back_edge_of_spinning_loop(me, frame)
        return
    key = (id(frame.f_code), frame.f_lasti)
    loop: Loop | None = me.loops.get(key)
    if loop is None:
        _enter(me, key)
        return
    start, loop.start = loop.start, run.position
    if not _only_reads(me, start):
        loop.rounds = 0
        loop.variables = loop.private = None
        return
    loop.rounds += 1
    if loop.rounds % _LOOK_EVERY >= _LOOK_EVERY - 3:
        variables, before = run.frame_states.variables(frame), loop.variables
        loop.variables = variables
        if variables != before:
            loop.private = None
            return
        if _is_as_before(me, frame, loop):
            site = _site(frame)
            what = f"a loop waits by spinning ({short_place((site[1], site[3]))}): what it reads is watched"
            assumptions.broken(site, what, at_once=True)


def _back_edge_of_spinning_loop(me: ModelThread, frame: FrameType) -> None:
    """Like `back_edge_taken`, for a loop that is known to spin."""
    key = ("spins", id(frame.f_code), frame.f_lineno)
    loop = me.loops.get(key) or _enter(me, key)
    start, loop.start = loop.start, run.position
    if not _only_reads(me, start):
        loop.private = None
    if _is_as_before(me, frame, loop):
        _spin(me, start)
        loop.start = run.position


def _look_at_clocks(me: ModelThread, frame: FrameType) -> None:
    """In searches that store states: note that the run is incomplete if the loop looks at the clock, unless the program
    comes to an end. A loop that does not ends there when it reaches a state again, although the clock might go on."""
    key = (id(frame.f_code), frame.f_lasti)
    loop = me.loops.get(key) or _enter(me, key)
    if me.clock_read_at >= loop.start and me.time == loop.time and run.options.timeouts == "any":
        place = short_place((frame.f_code.co_filename, frame.f_lineno))
        incomplete(IfEndless(f"the loop at {place} looks at the clock: only optimal tries that time passes meanwhile"))
    loop.start, loop.time = run.position, me.time


def _enter(me: ModelThread, key: object) -> Loop:
    if len(me.loops) >= _MOST_LOOPS:
        me.loops.clear()
    loop = me.loops[key] = Loop(run.position, me.time)
    return loop


def _site(frame: FrameType) -> tuple[str, str, str, int]:
    return (SPINS, frame.f_code.co_filename, frame.f_code.co_qualname, frame.f_lineno)


def loops_without_operations(frame: FrameType) -> None:
    """Called after very many rounds without an operation: if the loop reads anything, nobody writes it."""
    me = run.current
    if run.frame_states is None or run.stateful or run.atomic:
        return
    key = ("silent", id(frame.f_code), frame.f_lineno)
    loop = me.loops.get(key) or _enter(me, key)
    start, loop.start = loop.start, run.position
    if _has_accesses(me, start):
        loop.private = None
    if _is_as_before(me, frame, loop):
        _yield_before_spin(me, start, _rule(()))


def _is_as_before(me: ModelThread, frame: FrameType, loop: Loop) -> bool:
    """True if the thread's private state equals that at the last comparison."""
    before, time = loop.private, loop.time
    loop.private, loop.time = _private(me, frame), me.time
    return (
        before is not None
        and loop.private == before
        and (loop.time == time or CLOCKS not in run.facts)
        and IDENTITIES not in run.facts
    )


def _only_reads(me: ModelThread, start: int) -> bool:
    """True if all operations of the thread since position `start` were plain reads, and there was one."""
    if _has_changed_silently(me, start):
        return False
    threads, operations = run.event_threads, run.event_operations
    number, found = me.id, False
    for position in range(run.position - 1, start - 1, -1):
        if threads[position] == number:
            operation = operations[position]
            is_read = _reads.get(operation)
            if is_read is None:
                is_read = _reads[operation] = _is_read(operation)
            if not is_read:
                return False
            found = found or bool(operation.accesses)
    return found


def _has_changed_silently(me: ModelThread, start: int) -> bool:
    """True if the thread has changed data since position `start` by an access that is no event."""
    return me.changed_at >= start


def _has_accesses(me: ModelThread, start: int) -> bool:
    """True if the thread has done more since position `start` than let others run."""
    if _has_changed_silently(me, start):
        return True
    own = (run.event_operations[n] for n in range(start, run.position) if run.event_threads[n] == me.id)
    return any(operation.kind != "yield" for operation in own)


def _is_read(operation: Operation) -> bool:
    return operation.alternatives == 1 and not operation.barrier and all(mode is READ for _, mode in operation.accesses)


def _private(me: ModelThread, frame: FrameType) -> bytes | None:
    assert run.frame_states is not None
    return run.frame_states.private(me, frame)


def _spin(me: ModelThread, start: int) -> None:
    """Wait until something is written that the thread has read since position `start`."""
    seen: dict[Location, Any] = {}
    trace = run.trace
    for position in range(start, run.position):
        if trace.threads[position] == me.id:
            befores = trace.befores[position]
            assert befores is not None
            for (location, _), before in zip(trace.operations[position].accesses, befores, strict=True):
                if location != run.process.dpor_location:
                    seen.setdefault(location, before)
    locations = sorted(seen)
    objects = [found for location in locations if (found := _object_at(location)) is not None]
    if len(objects) == len(locations):
        _yield_before_spin(me, start, _rule(tuple([seen[n] for n in locations])), *objects)


def _yield_before_spin(me: ModelThread, start: int, spin: Spin, *objects: SyncObject) -> None:
    """Wait at the `Spin`. If the thread has looked at the clock since `start`, it may also go on because time passes,
    like a timed wait."""
    if me.clock_read_at < start:
        perform(spin, *objects)
    elif run.options.timeouts == "any":
        timing.pass_time()
    else:
        with timing.until(timing.guess_deadline()):
            perform(spin, *objects)


def _rule(seen: tuple[Any, ...]) -> Spin:
    rule = _rules.get(seen)
    if rule is None:
        rule = _rules[seen] = Spin(seen)
    return rule


def _object_at(location: Location) -> SyncObject | None:
    """Return the object whose state changes with what is at the location: a synchronisation object, or the counter of
    the writes if only plain accesses write it."""
    name: Any = run.operations.name_of(location)
    if isinstance(name, tuple) and isinstance(name[0], int):
        name = run.operations.name_of(name[0])
    if isinstance(name, tuple) and name[0] in shared_object.NAMES:
        return counter_of(location)
    living = (one() for one in run.made)
    return next((o for o in living if o is not None and o.dpor_location == location), None)
