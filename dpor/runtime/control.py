"""The run under control: which model thread runs now, and how it stands before an operation until it is chosen.

Model threads are greenlets in one OS thread. A thread that reaches an operation *stands* before it: it decides, in its
own greenlet, who moves next (by the trace that is repeated, or else by asking the explorer), and switches only if that
is somebody else. So a thread that goes on costs no switch.

There is one run at a time in a process; its state lives in this module's globals, which is the fastest place that
Python has. `begin` sets them up, `drive` carries the run out, and `drive` leaves nothing behind.

How a run ends: nobody can move; the explorer says stop; the run is too long; a fact is withdrawn or a replay differs.
Whoever notices switches to the hub (the greenlet that called `drive`), which then unwinds what is left by
throwing `GuestExit` into it. While that goes on (`unwinding`) operations do nothing, so that every `finally` of the
program runs to its end without blocking; a program that catches even this is given up after some operations.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import attrs
from greenlet import getcurrent, greenlet

from dpor.errors import BadSchedule, FactWithdrawn, NotDeterministic, UserError
from dpor.happens_before import HappensBefore
from dpor.operations import (
    READ,
    THREAD_MASK,
    WRITE,
    Access,
    Effect,
    Location,
    Mode,
    Operation,
    OperationTable,
    Rule,
    States,
    ThreadId,
)
from dpor.primitives import threads as thread_rules
from dpor.primitives.rules import BaseRule
from dpor.runtime.options import RuntimeOptions
from dpor.system import STOP, Chooser, Ending, Pending, Trace

PATIENCE = 10_000
"""How many operations or loop iterations a program may make while it is unwound, before it is given up."""


class GuestExit(BaseException):
    """Unwinds a model thread that is no longer needed."""


class SyncObject:
    """Base of the stand-ins of synchronisation primitives.

    state      the immutable state that the rules of `dpor.primitives` read and replace
    location   its number, named by its maker and how many events that thread had then run
    made_at    (file, line) of the program
    """

    state: Any
    location: Location
    made_at: tuple[str, int] | None

    def __init__(self) -> None:
        self.made_at = None
        thread = current
        if thread is None:
            self.location = operations.location(("sync", type(self).__name__, -1, len(_early)))
            _early.append(self)
        else:
            self.location = operations.location(("sync", type(self).__name__, *thread.name_object()))
        if recorder is not None:
            frame = guest_frame(sys._getframe(1))
            if frame is not None:
                self.made_at = (frame.f_code.co_filename, frame.f_lineno)


class GuestThread:
    """One model thread of the present run.

    front     the program's Thread object, or None
    events    how many operations it has performed
    pending   the operation that it stands before; `objects`: those of its rule, or None for a plain access
    timed     the rule to use if the pending operation times out because nothing else can move; `deadline`: when
    ended     mask of the threads of which it knows that they ended, because it waited for that
    time      its virtual clock, in seconds
    """

    __slots__ = (
        "bit", "count", "daemon", "data", "deadline", "ended", "events", "front", "greenlet", "id", "name", "objects",
        "pending", "running", "standing_alone", "time", "timed", "yielding",
    )  # fmt: skip

    def __init__(self, number: ThreadId, name: str, daemon: bool, front: Any) -> None:
        self.id = number
        self.bit = 1 << number
        self.name = name
        self.daemon = daemon
        self.front = front
        self.data: dict[Any, Any] = {}
        self.events = 0
        self.count = 0
        self.pending: Operation | None = None
        self.objects: tuple[SyncObject, ...] | None = None
        self.timed: Rule | None = None
        self.deadline: float | None = None
        self.ended = 0
        self.time = 0.0
        self.running = True
        self.yielding = False  # goes round a loop without operations
        self.standing_alone = False  # started, and not yet at its first operation
        self.greenlet: greenlet = None

    def name_object(self) -> tuple[ThreadId, int, int]:
        """A name for an object that this thread now makes known: equal in equivalent runs."""
        self.count += 1
        return (self.id, self.events, self.count)


class _Process(SyncObject):
    """Is the program running? State: how many non-daemon threads are alive."""

    def __init__(self) -> None:
        self.state = 1
        self.made_at = None


class Recorder:
    """Told of every event of a run that is being explained. A Protocol in spirit; the default does nothing."""

    def event(self, thread: GuestThread, operation: Operation, objects: tuple[SyncObject, ...] | None) -> None: ...

    def finish(self) -> None: ...


# ---------------------------------------------------------------------- the state of the one run

multi = False
"""Can more than one thread act on shared data? While False, accesses are no operations."""
current: GuestThread = None  # type: ignore[assignment]
unwinding = False
threads: list[GuestThread] = []
operations = OperationTable()
options = RuntimeOptions()
recorder: Recorder | None = None
limits: dict[str, None] = {}
"""Why this run stands for less than everything, in order."""
exceptions: list[tuple[GuestThread, BaseException]] = []
timed_out = False
"""Has anything timed out in this run?"""
withdrawn: str | None = None
"""Set by `withdraw`: the search has to start again when the run has ended."""
dirty = False
"""Has this run changed something that outlives it (a module's global, a class, a function)?"""
facts: set[object] = set()
"""What runs of this search have shown and later runs rely on (see `dpor.runtime.sharing`)."""

_trace = Trace()
_choose: Chooser = lambda enabled: STOP
_position = 0
_replayed = 0
_hub: greenlet = None
_ending: Ending = Ending.COMPLETE
_error: Exception | None = None
_numbers: dict[tuple[ThreadId, int], ThreadId] = {}
_early: list[SyncObject] = []
_known: dict[tuple[int, ...], tuple[Rule, Operation]] = {}
_process = _Process()
_atomic = 0
_patience = 0
_timeouts: dict[tuple[ThreadId, object, int], int] = {}
_advances: list[tuple[ThreadId, int, float]] = []
is_guest_file: Callable[[str], bool] = lambda filename: False


class Search:
    """What all runs of one search share: numbers of operations, locations and threads, and facts learned."""

    def __init__(self) -> None:
        self.operations = OperationTable()
        self.facts: set[object] = set()
        self.numbers: dict[tuple[ThreadId, int], ThreadId] = {}
        self.known: dict[tuple[int, ...], tuple[Rule, Operation]] = {}


def begin(
    search: Search, runtime_options: RuntimeOptions, trace: Trace, choose: Chooser, hears: Recorder | None
) -> None:
    """Set up a run; `drive` carries it out. In between, module-level code of the program may run."""
    global multi, current, unwinding, operations, options, recorder, timed_out, withdrawn, facts, _trace, _choose
    global _position, _replayed, _ending, _error, _numbers, _known, _atomic, _patience
    if current is not None:
        raise UserError('a check was started inside a checked program: guard it with if __name__ == "__main__"')
    multi = unwinding = timed_out = False
    withdrawn = None
    operations, facts, _numbers, _known = search.operations, search.facts, search.numbers, search.known
    options, recorder = runtime_options, hears
    for container in (threads, limits, exceptions, _early, _timeouts, _advances):
        container.clear()
    _trace, _choose = trace, choose
    _position, _replayed = 0, len(trace)
    _ending, _error = Ending.COMPLETE, None
    _atomic = _patience = 0
    taken_at.clear()
    stuck.clear()
    _process.location = operations.location("process")
    _process.state = 1
    main = GuestThread(0, "MainThread", False, None)
    main.greenlet = getcurrent()
    threads.append(main)
    current = main


def drive(body: Callable[[], None]) -> tuple[Ending, list[Pending]]:
    """Carry out the run: `body` is the main thread's. Returns how it ended and who was left blocked."""
    global _hub
    _hub = getcurrent()
    main = threads[0]
    main.greenlet = greenlet(lambda: _bootstrap(main, body), _hub)
    try:
        main.greenlet.switch()
        blocked = _blocked() if _error is None else []
        if recorder is not None:
            recorder.finish()
        return _ending, blocked
    finally:
        error = _error
        _unwind()
        if error is not None:
            raise error
        if withdrawn is not None:
            raise FactWithdrawn(withdrawn)


def end() -> None:
    """The run is over, whatever happened."""
    global current
    current = None  # type: ignore[assignment]


def _bootstrap(thread: GuestThread, body: Callable[[], None]) -> None:
    """The life of a model thread. The last thing is to hand over to whoever moves next."""
    try:
        body()
    except GuestExit:
        if not unwinding:
            report_exception(RuntimeError("the thread was unwound outside of an unwinding"))
    thread.running = False
    thread.pending = None
    if not unwinding:
        successor = _decide()
        getcurrent().parent = _hub if successor is None else successor.greenlet
        if successor is not None:
            _make_current(successor)


# ---------------------------------------------------------------------- standing before operations


def _decide() -> GuestThread | None:
    """Who moves next; None if the run is over (then `_ending` says how)."""
    global _ending, _error
    if _position < _replayed:
        number = _trace.threads[_position]
        if number >= len(threads) or not threads[number].running:
            _error = _differs(f"thread {number} does not exist or has ended")
            return None
        thread = threads[number]
        if thread.objects is not None and not _trace.operations[_position].barrier and not _is_enabled(thread):
            _error = _differs(f"{thread.name} cannot run: it waits for {_describe(thread.pending)}")
            return None
        return thread
    enabled = yielding = 0
    for thread in threads:
        if thread.running and (thread.objects is None or _is_enabled(thread)):
            if thread.yielding:
                yielding |= thread.bit
            else:
                enabled |= thread.bit
    if not enabled:
        enabled, yielding = yielding, 0
        if not enabled:
            enabled = _could_time_out()
            if not enabled:
                return None
    if _position >= options.max_steps:
        _ending = Ending.CUT
        limit(f"a run was cut after {options.max_steps} events (--max-steps){_where_cut()}")
        return None
    action = _choose(enabled)
    if action == STOP and yielding:
        action = _choose(yielding)
    if action == STOP:
        _ending = Ending.STOPPED
        return None
    _trace.actions.append(action)
    return threads[action & THREAD_MASK]


def _is_enabled(thread: GuestThread) -> bool:
    operation, objects = thread.pending, thread.objects
    states = (objects[0].state,) if len(objects) == 1 else tuple([o.state for o in objects])  # type: ignore[arg-type,index,union-attr]
    return operation.rule.enabled(states, thread.id)  # type: ignore[union-attr]


def _could_time_out() -> int:
    """Nobody can move: the threads whose wait may end because time passes."""
    waiting = [t for t in threads if t.running and t.timed is not None and (not t.daemon or _process.state)]
    if not waiting:
        return 0
    if options.timeouts == "idle":
        first = min(t.deadline for t in waiting if t.deadline is not None)
        waiting = [t for t in waiting if t.deadline == first]
    return sum(t.bit for t in waiting)


def _stand(operation: Operation, objects: tuple[SyncObject, ...] | None) -> None:
    """Stand before the operation until it is chosen. Returns when the caller is to perform it, at once."""
    me = current
    me.pending = operation
    me.objects = objects
    if me.standing_alone:  # just started: back to the parent, who goes on with its own step
        me.standing_alone = False
        here = getcurrent()
        parent, here.parent = here.parent, _hub  # the parent may end before this thread does
        parent.switch()
    else:
        successor = _decide()
        if successor is not me:
            _switch(successor)
    if unwinding:
        raise GuestExit


def _switch(successor: GuestThread | None) -> None:
    if successor is None:
        _hub.switch()
    else:
        _make_current(successor)
        successor.greenlet.switch()


def _make_current(thread: GuestThread) -> None:
    global current
    current = thread


def _happened(me: GuestThread, operation: Operation, before: States | None) -> None:
    """Record the event, or compare it with the recorded one."""
    global _position
    position = _position
    if position < _replayed:
        if _trace.operations[position] is not operation:
            _fail(_differs(f"{me.name} now does: {_describe(operation)}"))
    else:
        _trace.threads.append(me.id)
        _trace.operations.append(operation)
        _trace.befores.append(before)
    _position = position + 1
    me.yielding = False
    me.events += 1
    me.count = 0
    me.pending = None
    me.objects = None


def access(operation: Operation) -> None:
    """Stand before a plain access to shared data until it is chosen; the caller then performs it at once."""
    if unwinding:
        _lose_patience()
        return
    if _atomic:
        limit(f"code of the program ran unseen inside one step (a __hash__ or __eq__, or an import){_where_cut()}")
        return
    me = current
    before = None
    if DAEMONS in facts:
        if me.daemon:
            perform(_DaemonAccess(operation.kind, operation.accesses), _process)
            return
        before = (None,) * len(operation.accesses)  # so that operations with a rule find it in the history
    _stand(operation, None)
    _happened(me, operation, before)
    if recorder is not None:
        recorder.event(me, operation, None)


def touch(kind: str, accesses: tuple[Access, ...]) -> None:
    """As `access`, for an operation named by what it touches."""
    access(operations.intern(kind, accesses))


def perform(rule: Rule, *objects: SyncObject) -> Any:
    """Stand before this operation until it is chosen; then apply the rule to the objects. Returns the rule's result."""
    me = current
    if unwinding:
        return _without_control(rule, objects)
    if len(threads) == 1 and not isinstance(rule, thread_rules.Start):
        states = tuple([o.state for o in objects])
        if rule.enabled(states, me.id):
            return _apply(rule, states, objects, me).result
    if _atomic:
        return _without_control(rule, objects)
    if DAEMONS in facts:
        rule, objects = _in_process(rule, objects, me)
    operation = _operation(rule, me, objects)
    _stand(operation, objects)
    states = tuple([o.state for o in objects])
    if me.timed is not None and not rule.enabled(states, me.id):
        return _time_out(me, operation, objects, states)
    effect = _apply(rule, states, objects, me)
    done = operation.outcome(effect.modes)
    missing = len(done.accesses) - len(states)
    _happened(me, done, states + (None,) * missing if missing else states)
    if rule.name == "join":
        _knows_ended(me, objects[0])
    if recorder is not None:
        recorder.event(me, done, objects)
    return effect.result


def _operation(rule: Rule, me: GuestThread, objects: tuple[SyncObject, ...]) -> Operation:
    """The interned operation. Looked up by the identity of the rule first: hashing rules and accesses costs more."""
    key = (id(rule), me.id, *[o.location for o in objects])
    known = _known.get(key)
    if known is not None and known[0] is rule:
        return known[1]
    accesses = tuple([(o.location, mode) for o, mode in zip(objects, rule.modes, strict=False)])
    if isinstance(rule, _DaemonAccess):
        accesses += rule.plain
    if isinstance(rule, (thread_rules.Start, _StartInProcess)):
        return operations.intern(rule.name, accesses, rule, me.id, starts=_next_child(me))
    operation = operations.intern(rule.name, accesses, rule, me.id)
    _known[key] = (rule, operation)
    return operation


def _apply(rule: Rule, states: States, objects: tuple[SyncObject, ...], me: GuestThread) -> Effect:
    effect = rule.apply(states, me.id)
    if len(objects) == 1:
        objects[0].state = effect.states[0]
    else:
        for o, state in zip(objects, effect.states, strict=False):
            o.state = state
    return effect


def _without_control(rule: Rule, objects: tuple[SyncObject, ...]) -> Any:
    """While unwinding, or inside a step that is not to be divided: do it if it can be done, else pretend."""
    if unwinding:
        _lose_patience()
    states = tuple([o.state for o in objects])
    if not rule.enabled(states, current.id):
        if not unwinding:
            limit("an operation that would block was met inside a step that cannot be divided")
        return True
    return _apply(rule, states, objects, current).result


def perform_timed(blocking: Rule, timed: Rule, timeout: float, *objects: SyncObject) -> Any:
    """As `perform`, for an operation that may time out.

    `timed` is the variant whose result is False where it times out; `blocking` the one that never does. Under
    `timeouts="any"` it may time out wherever it waits, but each call site in a thread only `timeout_limit` times while
    something else can move. When nothing else can move, it may always.
    """
    global timed_out
    if unwinding:
        return _without_control(timed, objects)
    me = current
    if options.timeouts == "any":
        site = _site(me)
        used = _timeouts.get(site, 0)
        if used < options.timeout_limit:
            result = perform(timed, *objects)
            if result is False:
                _timeouts[site] = used + 1
                timed_out = True
                _advance(me, timeout)
            return result
        _, code, line = site
        where = f"{code.co_filename}:{line}" if hasattr(code, "co_filename") else "a timed wait"
        limit(f"{where} may time out more often than {options.timeout_limit} times in a run (--timeout-limit)")
    me.timed, me.deadline = timed, now() + timeout
    try:
        return perform(blocking, *objects)
    finally:
        me.timed = me.deadline = None


def _site(me: GuestThread) -> tuple[ThreadId, Any, int]:
    frame = guest_frame(sys._getframe(2))
    return (me.id, None, 0) if frame is None else (me.id, frame.f_code, frame.f_lineno)


def _time_out(me: GuestThread, operation: Operation, objects: tuple[SyncObject, ...], states: States) -> Any:
    """Nothing else can move, and this thread was chosen to go on because time passes: an event after all others."""
    global timed_out
    assert me.timed is not None
    assert me.deadline is not None
    timed_out = True
    effect = _apply(me.timed, states[: len(me.timed.modes)], objects, me)
    modes = [*effect.modes, *[mode for _, mode in operation.accesses[len(effect.modes) :]]]
    accesses = tuple((location, mode) for (location, _), mode in zip(operation.accesses, modes, strict=True))
    done = operations.intern("time out", accesses, barrier=True)
    _happened(me, done, None)
    _set_time(me, me.deadline)
    if recorder is not None:
        recorder.event(me, done, objects)
    return effect.result


# ---------------------------------------------------------------------- daemon threads
#
# A program ends when its last non-daemon thread does, whatever its daemon threads are about to do. So every operation
# of a daemon thread reads the number of live non-daemon threads, which the start and end of those threads write.
# Programs without daemon threads (nearly all) are spared that: it begins, and the search starts again, when one is
# started.

DAEMONS = "daemon threads"


@attrs.frozen
class _DaemonRule(BaseRule):
    """An operation of a daemon thread on synchronisation objects: also needs the program to be running."""

    inner: Rule
    name: str = attrs.field(init=False)  # type: ignore[misc]
    modes: tuple[Mode, ...] = attrs.field(init=False)  # type: ignore[misc]

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (*self.inner.modes, READ))

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[-1]) and self.inner.enabled(states[:-1], thread)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = self.inner.apply(states[:-1], thread)
        return Effect((*effect.states, states[-1]), (*effect.modes, READ), effect.result)


@attrs.frozen
class _DaemonAccess(BaseRule):
    """A plain access by a daemon thread. Its states are those of the process, then one None for each location."""

    name: str  # type: ignore[misc]
    plain: tuple[Access, ...]
    modes: tuple[Mode, ...] = attrs.field(init=False)  # type: ignore[misc]

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "modes", (READ, *[mode for _, mode in self.plain]))

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0])

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, self.modes, None)


@attrs.frozen
class _InProcess(BaseRule):
    """The start or the end of a non-daemon thread, which changes how many there are."""

    inner: Rule
    change: int
    name: str = attrs.field(init=False)  # type: ignore[misc]
    modes: tuple[Mode, ...] = attrs.field(init=False)  # type: ignore[misc]

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (*self.inner.modes, WRITE))

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = self.inner.apply(states[:1], thread)
        change = 0 if effect.result is False else self.change
        return Effect((*effect.states, states[1] + change), (*effect.modes, WRITE), effect.result)


@attrs.frozen
class _StartInProcess(_InProcess):
    """Kept apart so that the operation is known to start a thread."""


def _in_process(rule: Rule, objects: tuple[SyncObject, ...], me: GuestThread) -> tuple[Rule, tuple[SyncObject, ...]]:
    if isinstance(rule, _DaemonAccess):
        return rule, objects
    if me.daemon and not isinstance(rule, thread_rules.Start):
        return _DaemonRule(rule), (*objects, _process)
    if isinstance(rule, thread_rules.Start) and not getattr(objects[0], "daemon", False):
        return _StartInProcess(rule, 1), (*objects, _process)
    if isinstance(rule, thread_rules.End):
        return _InProcess(rule, -1), (*objects, _process)
    return rule, objects


# ---------------------------------------------------------------------- threads

_by_front: dict[int, GuestThread] = {}
before_spawn: Callable[[Any], None] = lambda front: None


def _next_child(me: GuestThread) -> ThreadId:
    """The number of the thread that `me` starts next."""
    key = (me.id, me.data.get("started", 0))
    number = _numbers.get(key)
    if number is None:
        number = _numbers[key] = len(_numbers) + 1
    return number


def spawn(front: Any, body: Callable[[], None]) -> None:
    """Begin a model thread that runs `body` (called by `Thread.start`, just after its `Start` rule was performed)."""
    global multi, current
    if unwinding:
        return
    me = current
    number = _next_child(me)
    me.data["started"] = me.data.get("started", 0) + 1
    daemon = bool(front.daemon)
    if daemon and DAEMONS not in facts:
        withdraw(
            DAEMONS, "a daemon thread is started: from now on the end of the program is an operation", at_once=True
        )
    before_spawn(front)
    multi = True
    child = GuestThread(number, front.name, daemon, front)
    child.time = me.time
    while len(threads) <= number:
        threads.append(_Absent)
    threads[number] = child
    _by_front[id(front)] = child
    child.greenlet = greenlet(lambda: _bootstrap(child, body), getcurrent())
    child.standing_alone = True
    current = child
    child.greenlet.switch()
    current = me
    if unwinding:
        raise GuestExit


class _AbsentThread(GuestThread):
    """Stands in the list for a thread that other runs have and this one has not (yet)."""


_Absent = _AbsentThread(0, "", False, None)
_Absent.running = False
_Absent.bit = 0


def _knows_ended(me: GuestThread, front: SyncObject) -> None:
    """`me` has waited for the end of a thread. When it has for all, it is alone and its accesses need no care."""
    global multi
    other = _by_front.get(id(front))
    if other is None or front.state is not thread_rules.ENDED:
        return
    me.ended |= other.bit | other.ended
    if multi and all(t is me or me.ended & t.bit or t.bit == 0 for t in threads):
        multi = False


# ---------------------------------------------------------------------- time


def now() -> float:
    """The present thread's virtual clock: the latest of what happened before, moved on by its own sleeps."""
    me = current
    if me is None or not _advances:
        return 0.0 if me is None else me.time
    seen = Trace()
    seen.threads, seen.operations = _trace.threads[:_position], _trace.operations[:_position]
    seen.befores = [None] * _position
    seen.actions = _trace.actions[:_position]
    clocks = HappensBefore(seen)
    clocks.clocks_only = True
    clocks.extend()
    clock = clocks.clock_of(me.id)
    me.time = max([me.time, *[t for thread, index, t in _advances if thread < len(clock) and clock[thread] >= index]])
    return me.time


def _set_time(me: GuestThread, time: float) -> None:
    me.time = time
    _advances.append((me.id, me.events + 1, time))


def _advance(me: GuestThread, seconds: float) -> None:
    _set_time(me, now() + seconds)


class _Sleep(BaseRule):
    name = "sleep"
    modes = ()

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return False

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((), (), None)


def sleep(seconds: float) -> None:
    """`time.sleep`: may last arbitrarily long, so it only moves the clock; under "idle" it ends when nothing moves."""
    if unwinding:
        _lose_patience()
    elif options.timeouts == "any" or not multi:
        _advance(current, seconds)
    else:
        current.timed, current.deadline = _Sleep(), now() + seconds
        try:
            perform(_Sleep())
        finally:
            current.timed = current.deadline = None


# ---------------------------------------------------------------------- what else a run does


def choose(n: int) -> int:
    """A data choice: one of 0..n-1, each explored."""
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"choose({n}): there must be at least one alternative")
    if current is None:
        return 0
    if unwinding or _atomic or n == 1:
        return 0
    me = current
    pending = operations.intern("choose", (), alternatives=n)
    _stand(pending, None)
    value = _trace.actions[_position] >> 16
    if value >= n:
        _fail(BadSchedule(f"the schedule takes alternative {value} of {n} in {me.name}"))
    done = pending.with_value(value)
    _happened(me, done, None)
    if recorder is not None:
        recorder.event(me, done, None)
    return value


def report_exception(exc: BaseException) -> None:
    """An exception has ended the present thread: a finding."""
    if not isinstance(exc, GuestExit) and not unwinding:
        exceptions.append((current, exc))


def limit(reason: str) -> None:
    """This run stands for less than everything: the verdict cannot be "pass"."""
    limits[reason] = None


def opaque(name: str) -> None:
    """Code that is not instrumented ran as one step on shared objects."""
    package = name.partition(".")[0]
    limit(f"{name} ran as one step: add --instrument {package}")


def withdraw(fact: object, reason: str, *, at_once: bool = False) -> None:
    """Something that the search relied on does not hold: note it, and start again when this run has ended."""
    global withdrawn
    facts.add(fact)
    if withdrawn is None:
        withdrawn = reason
    if at_once:
        _fail(FactWithdrawn(reason))


def facts_add(fact: object, what: str) -> None:
    """Learn a fact that runs so far did not know; start again if it is new."""
    if fact not in facts:
        withdraw(fact, f"{what} is used by several threads")


@contextmanager
def atomic() -> Iterator[None]:
    """Operations inside are no scheduling points: the code is one step."""
    global _atomic
    _atomic += 1
    try:
        yield
    finally:
        _atomic -= 1


_back_edges = 0
_back_edges_at = 0
SPIN = 1_000
"""So many loop iterations without an operation, and others get a turn: the loop may wait for what one of them writes,
in a location that is silent because nobody has written it so far."""


def tick() -> None:
    """A loop of the program goes round. One that makes no operation for very long is ended."""
    global _back_edges, _back_edges_at
    if _position != _back_edges_at:
        _back_edges, _back_edges_at = 0, _position
    _back_edges += 1
    if _back_edges % SPIN == 0:
        _goes_round()


def _goes_round() -> None:
    if current is None:
        return
    if unwinding:
        _lose_patience()
    elif multi and not _atomic and any(t is not current and _could_move(t) for t in threads):
        current.yielding = True
        access(operations.intern("yield", ()))
    elif _back_edges >= options.max_back_edges:
        _cut(f"a loop went round {_back_edges} times without an operation{_where_cut()}")


def _could_move(thread: GuestThread) -> bool:
    return thread.running and (thread.objects is None or _is_enabled(thread))


def _cut(reason: str) -> NoReturn:
    global _ending
    limit(reason)
    _ending = Ending.CUT
    _hub.switch()
    raise GuestExit


def _where_cut() -> str:
    frame = guest_frame(sys._getframe(1))
    return "" if frame is None else f", last in {frame.f_code.co_name} at {frame.f_code.co_filename}:{frame.f_lineno}"


def guest_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the program's own source."""
    while frame is not None and not is_guest_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


# ---------------------------------------------------------------------- the end of a run

_graveyard: list[greenlet] = []


def _fail(error: Exception) -> NoReturn:
    """End the run with an exception out of `drive`."""
    global _error
    _error = error
    _hub.switch()
    raise GuestExit


def _differs(what: str) -> NotDeterministic:
    recorded = _trace.operations[_position]
    where = _where_cut()
    return NotDeterministic(
        f"a repeated run differs at event {_position}: recorded was thread {_trace.threads[_position]} doing "
        f"{_describe(recorded)}; {what}{where}. Does the program depend on something that is not restored before each "
        f"run (a cache, the outside world, the real clock)?"
    )


def _describe(operation: Operation | None) -> str:
    if operation is None:
        return "nothing"
    return f"{operation.kind} of {', '.join(str(operations.name_of(location)) for location, _ in operation.accesses)}"


class Stuck(NamedTuple):
    """A thread that can never go on, in words.

    waits_for  the kind of its operation and what it is on;  sentence   "at file:line waits to lock ..., held by ..."
    """

    thread: str
    daemon: bool
    waits_for: str
    place: tuple[str, int] | None
    sentence: str


stuck: list[Stuck] = []


def _blocked() -> list[Pending]:
    """What the threads that cannot run are about to do; in `stuck`, in words, if the program is over."""
    left = [t for t in threads if t.running and t.objects is not None and not _is_enabled(t)]
    if _ending is Ending.COMPLETE:
        stuck[:] = [_stuck(t) for t in left]
    return [Pending(t.id, t.pending, _states_of(t)) for t in left if t.pending is not None]


_WAITS_TO = {
    "lock": "waits to lock",
    "rewait": "waits for a notify of",
    "await notify": "waits for a notify of",
    "await set": "waits for the setting of",
    "join": "waits for the end of",
    "P": "waits to acquire",
}


def _stuck(thread: GuestThread) -> Stuck:
    assert thread.pending is not None
    glet = thread.greenlet
    frame = guest_frame(glet.gr_frame) if glet else None
    place = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    objects = [o for o in thread.objects or () if o is not _process]
    kind = thread.pending.kind
    notified = kind == "rewait" and thread.id not in objects[0].state
    verb = "waits to lock" if notified else _WAITS_TO.get(kind, f"waits ({kind})")
    awaited = objects[-1] if notified or kind == "lock" else objects[0] if objects else None
    sentence = verb if awaited is None else f"{verb} {name_of(awaited)}"
    if awaited is not None and awaited.made_at is not None and kind != "join":
        sentence += f" (made at {_short_place(awaited.made_at)})"
    if awaited is not None and verb == "waits to lock":
        sentence += _held(awaited, thread)
    return Stuck(
        thread.name,
        thread.daemon,
        f"{kind} {'' if awaited is None else name_of(awaited)}",
        place,
        sentence if place is None else f"at {_short_place(place)} {sentence}",
    )


def name_of(o: SyncObject) -> str:
    name = getattr(o, "_name", None)
    return name if isinstance(name, str) else f"{type(o).__name__} {_mark_of(o)}"


def _mark_of(o: SyncObject) -> str:
    """A short name that tells objects of one kind apart in a report: equal in equivalent runs."""
    return f"#{o.location}"


def _held(lock: SyncObject, waiting: GuestThread) -> str:
    owner = lock.state[0] if isinstance(lock.state, tuple) else lock.state
    if not isinstance(owner, int):
        return ""
    by = "itself" if owner == waiting.id else threads[owner].name
    taken = taken_at.get(id(lock))
    return f", held by {by}" + ("" if taken is None else f" since {_short_place(taken)}")


def _short_place(place: tuple[str, int]) -> str:
    return f"{os.path.basename(place[0])}:{place[1]}"


taken_at: dict[int, tuple[str, int]] = {}
"""Where each lock that is held was taken; kept by a recorder."""


def _states_of(thread: GuestThread) -> States:
    assert thread.pending is not None
    states = tuple(o.state for o in thread.objects or ())
    return states + (None,) * (len(thread.pending.accesses) - len(states))


def _lose_patience() -> None:
    """The program goes on while it is being unwound; after a while it is left where it is, for good."""
    global _patience
    _patience += 1
    if _patience > PATIENCE:
        _graveyard.append(getcurrent())
        _hub.switch()


def _unwind() -> None:
    global unwinding, multi, _patience
    unwinding = True
    multi = False
    for thread in threads:
        glet = thread.greenlet
        if glet is not None and not glet.dead and glet is not _hub:
            _make_current(thread)
            _patience = 0
            if glet:  # begun
                glet.parent = _hub
                glet.throw(GuestExit)
    unwinding = False
    _by_front.clear()
    threads.clear()
