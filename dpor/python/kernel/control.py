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
import sys
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NoReturn

from greenlet import getcurrent, greenlet

from dpor.core.errors import BadSchedule, FactWithdrawn, NotDeterministic, Unsupported, UserError
from dpor.core.operations import (
    READ,
    THREAD_MASK,
    UNKNOWN,
    Accesses,
    Effect,
    Location,
    Operation,
    OperationTable,
    Rule,
    States,
    ThreadId,
)
from dpor.core.plural import plural
from dpor.core.system import STOP, Chooser, Ending, Pending, Trace
from dpor.primitives import threads as thread_rules
from dpor.primitives.daemons import DaemonAccess, DaemonRule, InProcess, StartInProcess
from dpor.primitives.rules import BaseRule
from dpor.python.kernel import depth
from dpor.python.kernel.above import Above
from dpor.python.kernel.assumptions import DAEMONS, INSTRUMENTED, SPINS, STARTS, Following, about
from dpor.python.kernel.depth import DEEP, ROOM, with_room
from dpor.python.kernel.library import CLOSED, package_of
from dpor.python.kernel.listeners import Observer, Recorder, Specifications, ThreadFailure
from dpor.python.kernel.model_thread import GuestExit, GuestThread
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.kernel.stuck import Stuck, in_words
from dpor.python.kernel.virtual_time import VirtualTime
from dpor.python.kernel.workers import Workers

PATIENCE = 10_000
"""How many operations or loop iterations a program may make while it is unwound, before it is given up."""


_set_by_program = False
"""Has a program made a class derived from a drop-in with a `__setattr__`? What the control sets goes past that."""


class SyncObject:
    """Base of the drop-ins of synchronisation primitives.

    dpor_state      the immutable state that the rules of `dpor.primitives` read and replace
    dpor_location   its number, named by its maker and how many events that thread had then run
    dpor_made_at    (file, line) of the program

    Programs derive classes from some of these, with attributes of their own: no name of ours may be one of theirs.
    """

    dpor_state: Any
    dpor_location: Location
    dpor_made_at: tuple[str, int] | None

    def __init_subclass__(cls, **others: Any) -> None:
        global _set_by_program
        super().__init_subclass__(**others)
        _set_by_program = _set_by_program or cls.__setattr__ is not object.__setattr__

    def __init__(self) -> None:
        self.dpor_made_at = None
        made.append(self)
        thread = current
        if thread is None:
            self.dpor_location = operations.location(("sync", type(self).__name__, -1, len(_early)))
            _early.append(self)
        else:
            self.dpor_location = operations.location(("sync", type(self).__name__, *thread.name_object()))
        if recorder is not None:
            frame = guest_frame(sys._getframe(1))
            if frame is not None:
                self.dpor_made_at = (frame.f_code.co_filename, frame.f_lineno)

    @property
    def dpor_made_as(self) -> str:
        """What tells it from others of its kind, equal in equivalent runs and for all strategies: its maker, after how
        many events, the number of the object since then; that alone of what the main thread makes before all events."""
        name: Any = operations.name_of(self.dpor_location)
        maker, events, count = name[2:] if name[0] == "sync" and len(name) == 5 else (0, 0, self.dpor_location)
        return f"{maker}.{events}.{count}" if maker or events else str(count)


class _Process(SyncObject):
    """Is the program running? That is its state."""

    def __init__(self) -> None:
        self.dpor_made_at = None


class _Alive(_Process):
    """How many non-daemon threads are alive: that is its state."""


class _Written(SyncObject):
    """How often a location of plain accesses has been written, which its state is."""

    def __init__(self, location: Location) -> None:
        self.dpor_location = location
        self.dpor_state = 0
        self.dpor_made_at = None


# ---------------------------------------------------------------------- the state of the one run

multi = False
"""Can more than one thread act on shared data? While False, accesses are no operations."""
current: GuestThread = None  # type: ignore[assignment]
os_thread = 0
"""The thread of the host in which the run is carried out."""
unwinding = False
threads: list[GuestThread] = []
operations = OperationTable()
options = RuntimeOptions()
recorder: Recorder | None = None
specifications: Specifications | None = None
observer: Observer | None = None
"""While code of a specification runs: its operations are no events."""
limits: dict[str, None] = {}
"""Why this run stands for less than everything, in order."""
_latent: dict[str, None] = {}
"""Such reasons, if a thread is started."""
exceptions: list[ThreadFailure] = []
timed_out = False
"""Has anything timed out in this run?"""
withdrawn: str | None = None
"""Set by `withdraw`: the search has to start again when the run has ended."""
dirty = False
"""Has this run changed something that outlives it (a module's global, a class, a function)?"""
facts: set[object] = set()
"""What runs of this search have shown and later runs rely on (see `dpor.python.sharing.shared_objects`)."""
stateful = False
"""Does this search ask for the state? Then it learns what states alone depend on, by `note`."""
made: list[SyncObject] = []
"""All synchronisation objects of this run. Kept alive until it ends, as all that threads share is."""

_trace = Trace()
_threads: list[ThreadId] = []
_operations: list[Operation] = []
"""Of the trace: what is repeated, and then grows."""
_choose: Chooser = lambda enabled: STOP
_position = 0
_replayed = 0
_most = 0
_nth = 0
"""Which run it is."""
_hub: greenlet = None
_ending: Ending = Ending.COMPLETE
_error: Exception | None = None
_numbers: dict[tuple[ThreadId, int], ThreadId] = {}
_early: list[SyncObject] = []
_known: dict[tuple[int, ...], tuple[Rule, tuple[Operation, bool]]] = {}
_process, _alive = _Process(), _Alive()
_workers: Workers
_ready = 0
"""Mask of the threads that run, or stand before an operation that can never block."""
_waiting: list[GuestThread] = []
"""The threads that stand before an operation that may be blocked."""
_able = 0
"""Mask of those of them that are not blocked; `_UNKNOWN` when a state has changed since."""
_UNKNOWN = -1
_yielding = 0
"""Mask of the threads that go round a loop without operations."""
_everybody = 0
"""Mask of all threads there have been."""
_written: dict[Location, _Written] = {}
_spins = False
"""Does a loop of the program wait by spinning? Then writes are counted."""
_has_spinning: Final = Following(lambda facts: any(about(facts, SPINS)))
_deep = False
"""Does the program recurse to the limit? Then what happens at an operation has room of its own."""
_atomic = 0
_careful = False
"""Is an access more than to stand before it: while `unwinding`, in `atomic` code, with a recorder, daemon threads,
spinning loops or deep recursion?"""
_patience = 0
_timeouts: dict[tuple[ThreadId, object, int], int] = {}
virtual_time = VirtualTime()
above: Above
"""What this layer and the next ones need of those above them: see `serve`."""
is_guest_file: Callable[[str], bool]


class Search:
    """What all runs of one search share: numbers of operations, locations and threads, facts learned, and greenlets."""

    def __init__(self) -> None:
        self.operations = OperationTable()
        self.facts: set[object] = set()
        self.numbers: dict[tuple[ThreadId, int], ThreadId] = {}
        self.known: dict[tuple[int, ...], tuple[Rule, tuple[Operation, bool]]] = {}
        self.workers = Workers(_live)


def refuse_nesting() -> None:
    """There is one run at a time."""
    if current is not None:
        raise UserError('a check was started inside a checked program: guard it with if __name__ == "__main__"')


def serve(program: Above) -> None:
    """The next run is one of this program."""
    global above, is_guest_file
    above, is_guest_file = program, program.is_guest_file


def begin(
    search: Search, runtime_options: RuntimeOptions, trace: Trace, choose: Chooser, hears: Recorder | None
) -> None:
    """Set up a run; `drive` carries it out. In between, module-level code of the program may run."""
    global multi, current, unwinding, operations, options, recorder, timed_out, withdrawn, facts, _trace, _choose
    global _position, _replayed, _most, _nth, _hub, _ending, _error, _numbers, _known, _atomic, _patience, _threads
    global _operations, _ready, _able, _yielding, _everybody, _workers, os_thread, _spins, _deep
    forget()
    multi = unwinding = timed_out = False
    withdrawn = None
    operations, facts, _numbers, _known = search.operations, search.facts, search.numbers, search.known
    options, recorder = runtime_options, hears
    _workers = search.workers
    _trace, _choose = trace, choose
    _threads, _operations = trace.threads, trace.operations
    _position, _replayed, _most = 0, len(_threads), runtime_options.max_steps
    _nth += 1
    _ending, _error = Ending.COMPLETE, None
    _atomic = _patience = 0
    _spins = not stateful and _has_spinning(facts)
    _deep = DEEP in facts
    _be_careful()
    _process.dpor_location = operations.location("process")
    _process.dpor_state = True
    _alive.dpor_location = operations.location("alive")
    _alive.dpor_state = 1
    main = GuestThread(0, "MainThread", False, None)
    main.greenlet = _hub = getcurrent()
    _ready = _everybody = main.bit
    _able = _yielding = 0
    threads.append(main)
    os_thread = get_ident()
    current = main


def drive(body: Callable[[], None]) -> tuple[Ending, list[Pending]]:
    """Carry out the run: `body` is the main thread's. Returns how it ended and who was left blocked."""
    global _hub
    _hub = getcurrent()
    _workers.prepare(_hub, len(_numbers) + 1)
    main = threads[0]
    depth.begin(_workers.base)
    try:
        _workers.begin(main, body)
        blocked = _blocked() if _error is None else []
        if recorder is not None:
            recorder.finish()
        return _ending, blocked
    finally:
        error = _error
        _unwind()
        depth.end()
        if withdrawn is not None and (error is None or isinstance(error, NotDeterministic)):
            raise FactWithdrawn(withdrawn)  # what is an operation has changed during the run: no wonder that it differs
        if error is not None:
            raise error


def end() -> None:
    """The run is over, whatever happened. What the program's finalisers do from now on is done without control."""
    global current, unwinding
    current = None  # type: ignore[assignment]
    unwinding = True
    _be_careful()


def forget() -> None:
    """What is left of the run before: what it holds dies now, and not when the next run has begun."""
    for container in _OF_A_RUN:
        container.clear()


def _be_careful() -> None:
    """To be called when something has changed that `_careful` depends on."""
    global _careful
    _careful = bool(
        unwinding
        or _atomic
        or recorder is not None
        or DAEMONS in facts
        or _spins
        or _deep
        or specifications is not None
        or observer is not None
    )


def _live(thread: GuestThread, body: Callable[[], None]) -> greenlet:
    """The life of a model thread. Returns whom to switch to afterwards."""
    global _ready, _error
    try:
        body()
    except GuestExit:
        if not unwinding:
            error = RuntimeError("the thread was unwound outside of an unwinding")
            exceptions.append(ThreadFailure(current, error, f"RuntimeError: {error}"))
    thread.running = False
    if unwinding:
        return _hub
    if specifications is not None:
        specifications.settle()
    _ready ^= thread.bit
    try:
        successor = _decide()
    except RecursionError as error:  # the search's own, here where the program has ended
        _error, successor = error, None
    if successor is None:
        return _hub
    _make_current(successor)
    return successor.greenlet


# ---------------------------------------------------------------------- standing before operations


def _decide() -> GuestThread | None:
    """Who moves next; None if the run is over (then `_ending` says how)."""
    global _ending, _error, _able
    if _position < _replayed:
        number = _threads[_position]
        if number < len(threads) and threads[number].running:
            return threads[number]
        _error = _differs(f"thread {number} does not exist or has ended")
        return None
    if _able == _UNKNOWN:
        able = 0
        for thread in _waiting:
            if _is_enabled(thread):
                able |= thread.bit
        _able = able
    enabled = _ready | _able
    yielding = 0
    if _yielding:
        yielding = enabled & _yielding
        enabled &= ~yielding
    if not enabled:
        enabled, yielding = yielding, 0
        if not enabled:
            enabled = _could_time_out()
            if not enabled:
                return None
    if _position >= _most:
        _ending = Ending.CUT if _most == options.max_steps else Ending.ENDED
        limit(f"{_why_cut()}{above.loops_unseen()}")
        return None
    try:
        action = _choose(enabled)
        if action == STOP and yielding:
            action = _choose(yielding)
    except RecursionError:
        raise
    except Exception as error:  # not for the program, in whose greenlet the search is asked
        _error = error
        return None
    if action == STOP:
        _ending = Ending.STOPPED
        return None
    _trace.actions.append(action)
    return threads[action & THREAD_MASK]


def _is_enabled(thread: GuestThread) -> bool:
    assert thread.pending is not None
    assert thread.objects is not None
    return thread.pending.applied(tuple([o.dpor_state for o in thread.objects])) is not None


def _could_time_out() -> int:
    """Nobody can move: the threads whose wait may end because time passes."""
    waiting = [t for t in threads if t.running and t.timed is not None and (not t.daemon or _process.dpor_state)]
    if not waiting:
        return 0
    if options.timeouts == "idle":
        first = min(t.deadline for t in waiting if t.deadline is not None)
        waiting = [t for t in waiting if t.deadline == first]
    return sum(t.bit for t in waiting)


def _stand(me: GuestThread) -> None:
    """Stand before the pending operation until it is chosen. Returns when the caller is to perform it, at once."""
    limit = sys.getrecursionlimit() if _deep else 0
    starter = me.starter
    try:
        if starter is not None:  # just started: the other goes on with its own step
            _make_current(me)  # (which it is: there is room for another call)
            me.starter = None
            starter.switch()
        else:
            successor = _decide()
            if successor is not me:
                if successor is None:
                    _hub.switch()
                else:
                    _make_current(successor)
                    successor.greenlet.switch()
    except RecursionError:
        # If the decision was begun, there is room for this call; if not, nothing has happened, and the program hears.
        sys.setrecursionlimit(sys.getrecursionlimit() + ROOM)
        _too_deep()
    if unwinding:
        raise GuestExit
    if _deep:
        sys.setrecursionlimit(limit)


def _too_deep() -> NoReturn:
    """The program recurses so deep that the search, asked on top of it, has come to the limit while it updates its own
    data."""
    if _deep:
        _fail(Unsupported(f"the program recurses so deep that nothing is left for the search{_where_cut()}"))
    withdraw(DEEP, "the program recurses to the limit: what is done at an operation has room of its own", at_once=True)
    raise GuestExit


def _stand_anew(me: GuestThread, reread: Callable[[], Accesses]) -> Operation:
    """Returns what the pending operation has become. What there is to remember is kept by the thread: in a variable of
    this frame it would be part of the state."""
    assert me.pending is not None
    me.reread, me.stood_at = reread, _position
    _stand(me)
    operation = me.pending if me.stood_at == _position else pending_of(me)
    me.reread = None
    assert operation is not None
    return operation


def _make_current(thread: GuestThread) -> None:
    global current
    current = thread


def _happened(me: GuestThread, operation: Operation, before: States | None) -> None:
    """Record the event, or compare it with the recorded one."""
    global _position
    if specifications is not None:
        specifications.happened(me, operation)
    position = _position
    if position < _replayed:
        if _operations[position] is not operation:
            _take_up(me, operation, before)
    else:
        _threads.append(me.id)
        _operations.append(operation)
        _trace.befores.append(before)
    _position = position + 1
    me.events += 1


def _take_up(me: GuestThread, operation: Operation, before: States | None) -> None:
    """What is repeated is not the operation recorded: none was, or the run differs."""
    if _operations[_position] is not UNKNOWN:
        _fail(_differs(f"{me.name} now does: {_describe(operation)}"))
    _operations[_position] = operation
    _trace.befores[_position] = before


def access(operation: Operation, reread: Callable[[], Accesses] | None = None) -> None:
    """Stand before a plain access to shared data until it is chosen; the caller then performs it at once.

    reread   returns what it touches once others have moved; None if they cannot change that
    """
    global _position
    if _careful:
        _access_carefully(operation, reread)
        return
    me = current
    position = _position
    if position >= _replayed or _threads[position] != me.id or me.starter is not None:
        me.pending = operation
        if reread is None:
            _stand(me)
        else:
            operation = _stand_anew(me, reread)
        position = _position
    # As `_happened`, here because this is where an execution spends its time: a tenth of it.
    if position < _replayed:
        if _operations[position] is not operation:
            _take_up(me, operation, None)
    else:
        _threads.append(me.id)
        _operations.append(operation)
        _trace.befores.append(None)
    _position = position + 1
    me.events += 1


def _access_carefully(operation: Operation, reread: Callable[[], Accesses] | None) -> None:
    if unwinding:
        _lose_patience()
    elif _deep:
        with_room(_access_observed)(operation, reread)
    else:
        _access_observed(operation, reread)


def _access_observed(operation: Operation, reread: Callable[[], Accesses] | None) -> None:
    if observer is not None:
        observer.access(operation)
        return
    if _atomic:
        limit(f"code of the program ran unseen inside one step (a __hash__ or __eq__, or an import){_where_cut()}")
        return
    me = current
    before = None
    if specifications is not None:
        specifications.settle()
        operation = specifications.ordered(operation)
    if DAEMONS in facts and me.daemon:
        _access_of_daemon(operation, reread)
        return
    me.pending = operation
    if reread is None:
        _stand(me)
    else:
        operation = _stand_anew(me, reread)
        if specifications is not None:
            operation = specifications.ordered(operation)
    if DAEMONS in facts or specifications is not None:
        before = (None,) * len(operation.accesses)  # so that operations with a rule find it in the history
    if _spins:
        before = _count(operation.accesses)
    _happened(me, operation, before)
    if recorder is not None:
        recorder.event(me, operation, None)


def _access_of_daemon(operation: Operation, reread: Callable[[], Accesses] | None) -> None:
    """An operation that has become another before it happened is done once more."""
    while True:
        perform(DaemonAccess(operation.kind, operation.accesses), _process)
        now = operation if reread is None else operations.intern(operation.kind, reread())
        if now is operation:
            return
        operation = now


def touch(kind: str, accesses: Accesses, reread: Callable[[], Accesses] | None = None) -> None:
    """As `access`, for an operation named by what it touches."""
    access(operations.intern(kind, accesses), reread)


def pending_of(thread: GuestThread) -> Operation | None:
    """What the thread stands before, as it is now."""
    global current
    if thread.reread is None or thread.pending is None:
        return thread.pending
    me, current = current, thread
    try:
        return operations.intern(thread.pending.kind, thread.reread())
    finally:
        current = me


def perform(rule: Rule, *objects: SyncObject) -> Any:
    """Stand before this operation until it is chosen; then apply the rule to the objects. Returns the rule's result."""
    if _careful or len(threads) == 1:
        if unwinding:
            return _without_control(rule, objects)
        if observer is not None:
            return observer.perform(rule, objects)
        if len(threads) == 1 and not isinstance(rule, thread_rules.Start):
            applied = _apply(rule, objects)
            if applied is not None:
                return applied.result
        if _atomic:
            return _without_control(rule, objects)
        if DAEMONS in facts:
            rule, objects = _in_process(rule, objects, current)
        if specifications is not None:
            specifications.settle()
            rule = specifications.ordered_rule(rule, objects)
        if _deep:
            return with_room(_perform)(rule, objects)
    return _perform(rule, objects)


def _perform(rule: Rule, objects: tuple[SyncObject, ...]) -> Any:
    global _able
    me = current
    operation, blocks = _operation(rule, me, objects)
    position = _position
    if position >= _replayed or _threads[position] != me.id or me.starter is not None:
        me.pending, me.objects = operation, objects
        if blocks:
            _wait(me)
        else:
            _stand(me)
        me.objects = None
    states = (objects[0].dpor_state,) if len(objects) == 1 else tuple([o.dpor_state for o in objects])
    applied = operation.applied(states)
    if applied is None:
        if me.timed is not None:
            return _time_out(me, operation, objects, states)
        _fail(_differs(f"{me.name} cannot run: it waits for {_describe(operation)}"))
    _set_states(objects, applied.states)
    done = applied.operation
    missing = len(done.accesses) - len(states)
    if missing:
        states += _count(done.accesses[len(states) :]) if _spins else (None,) * missing
    _happened(me, done, states)
    if rule.name == "join":
        _knows_ended(me, objects[0])
    if recorder is not None:
        recorder.event(me, done, objects)
    return applied.result


def written(location: Location) -> _Written:
    found = _written.get(location)
    if found is None:
        found = _written[location] = _Written(location)
    return found


def _count(accesses: Accesses) -> States:
    """How often each location had been written, before these accesses happen."""
    global _able
    befores: list[int] = []
    for location, mode in accesses:
        counter = written(location)
        befores.append(counter.dpor_state)
        if mode is not READ:
            counter.dpor_state += 1
            _able = _UNKNOWN
    return tuple(befores)


def _wait(me: GuestThread) -> None:
    """As `_stand`, before an operation that may be blocked."""
    global _ready, _able
    _ready ^= me.bit
    _waiting.append(me)
    _able = _UNKNOWN
    try:
        _stand(me)
    except RecursionError:  # it has not come to stand: nobody else has moved
        del _waiting[-1]
        _ready ^= me.bit
        raise
    _ready ^= me.bit
    _waiting.remove(me)
    _able = _UNKNOWN


def _operation(rule: Rule, me: GuestThread, objects: tuple[SyncObject, ...]) -> tuple[Operation, bool]:
    """The interned operation, and whether it can ever block.

    Looked up by the identity of the rule first: hashing rules and accesses costs more.
    """
    key: tuple[int, ...]
    if len(objects) == 1:
        key = (id(rule), me.id, objects[0].dpor_location)
    else:
        key = (id(rule), me.id, *[o.dpor_location for o in objects])
    starts = -1
    if rule.name == "start":
        starts = _next_child(me)
        key += (starts,)
    known = _known.get(key)
    if known is not None and known[0] is rule:
        return known[1]
    accesses = tuple([(o.dpor_location, mode) for o, mode in zip(objects, rule.modes, strict=False)]) + rule.plain
    operation = operations.intern(rule.name, accesses, rule, me.id, starts=starts)
    found = operation, type(rule).enabled is not BaseRule.enabled
    _known[key] = (rule, found)
    return found


def _apply(rule: Rule, objects: tuple[SyncObject, ...]) -> Effect | None:
    """Do it, without an event. None if it is blocked."""
    states = tuple([o.dpor_state for o in objects])
    me = 0 if current is None else current.id
    if not rule.enabled(states, me):
        return None
    effect = rule.apply(states, me)
    _set_states(objects, effect.states)
    return effect


def _set_states(objects: tuple[SyncObject, ...], states: States) -> None:
    global _able
    _able = _UNKNOWN
    if _set_by_program:
        for o, state in zip(objects, states, strict=False):
            object.__setattr__(o, "dpor_state", state)
    elif len(objects) == 1:
        objects[0].dpor_state = states[0]
    else:
        for o, state in zip(objects, states, strict=False):
            o.dpor_state = state


def _without_control(rule: Rule, objects: tuple[SyncObject, ...]) -> Any:
    """While unwinding, or inside a step that is not to be divided: do it if it can be done, else pretend."""
    if unwinding:
        _lose_patience()
    effect = _apply(rule, objects)
    if effect is None:
        if not unwinding:
            limit("an operation that would block was met inside a step that cannot be divided")
        return True
    if unwinding and rule.gives:
        return True  # that it was taken may have been a pretence
    return effect.result


def _time_out(me: GuestThread, operation: Operation, objects: tuple[SyncObject, ...], states: States) -> Any:
    """Nothing else can move, and this thread was chosen to go on because time passes: an event after all others."""
    global timed_out
    assert me.timed is not None
    assert me.deadline is not None
    timed_out = True
    own = len(me.timed.modes)  # a daemon thread's operation has the process too
    effect = me.timed.apply(states[:own], me.id)
    _set_states(objects[:own], effect.states)
    modes = [*effect.modes, *[mode for _, mode in operation.accesses[len(effect.modes) :]]]
    accesses = tuple((location, mode) for (location, _), mode in zip(operation.accesses, modes, strict=True))
    done = operations.intern("time out", accesses, barrier=True)
    _happened(me, done, None)
    virtual_time.set(me, me.deadline)
    if recorder is not None:
        recorder.event(me, done, objects)
    return effect.result


# ---------------------------------------------------------------------- daemon threads
#
# A program ends when its last non-daemon thread does, whatever its daemon threads are about to do. So every operation
# of a daemon thread reads the number of live non-daemon threads, which the start and end of those threads write.
# Programs without daemon threads (nearly all) are spared that: it begins, and the search starts again, when one is
# started.


def _in_process(rule: Rule, objects: tuple[SyncObject, ...], me: GuestThread) -> tuple[Rule, tuple[SyncObject, ...]]:
    if isinstance(rule, DaemonAccess):
        return rule, objects
    if me.daemon and not isinstance(rule, thread_rules.Start):
        return DaemonRule(rule), (*objects, _process)
    if isinstance(rule, thread_rules.Start) and not getattr(objects[0], "daemon", False):
        return StartInProcess(rule, 1), (*objects, _alive, _process)
    if isinstance(rule, thread_rules.End):
        return InProcess(rule, -1), (*objects, _alive, _process)
    return rule, objects


# ---------------------------------------------------------------------- threads

_by_thread_object: dict[int, GuestThread] = {}


def _next_child(me: GuestThread) -> ThreadId:
    """The number of the thread that `me` starts next."""
    key = (me.id, me.started)
    number = _numbers.get(key)
    if number is None:
        number = _numbers[key] = len(_numbers) + 1
    return number


def spawn(thread_object: Any, body: Callable[[], None]) -> None:
    """Begin a model thread that runs `body` (called by `Thread.start`, just after its `Start` rule was performed)."""
    global multi, current, _ready, _everybody
    if unwinding:
        return
    me = current
    number = _next_child(me)
    me.started += 1
    daemon = bool(thread_object.daemon)
    if daemon and DAEMONS not in facts:
        withdraw(
            DAEMONS, "a daemon thread is started: from now on the end of the program is an operation", at_once=True
        )
    if not multi:
        _note_modules()
    above.publish_roots(thread_object)
    limits.update(_latent)
    multi = True
    child = GuestThread(number, thread_object.name, daemon, thread_object)
    child.time = me.time
    while len(threads) <= number:
        threads.append(_Absent)
    threads[number] = child
    _ready |= child.bit
    _everybody |= child.bit
    _by_thread_object[id(thread_object)] = child
    child.starter = getcurrent()
    current = child
    limit = sys.getrecursionlimit() if _deep else 0
    _workers.begin(child, body)
    current = me
    if unwinding:
        raise GuestExit
    if _deep:
        sys.setrecursionlimit(limit)


def _note_modules() -> None:
    """A thread is started by these modules of the program, whose import is not over."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and is_guest_file(frame.f_code.co_filename):
            fact = (STARTS, frame.f_globals.get("__name__"))
            if fact not in facts:
                withdraw(fact, f"the import of {fact[1]} starts a thread: its globals are written while others run")
        frame = frame.f_back


class _AbsentThread(GuestThread):
    """Stands in the list for a thread that other runs have and this one has not (yet)."""


_Absent = _AbsentThread(0, "", False, None)
_Absent.running = False
_Absent.bit = 0


def thread_of(thread_object: Any) -> GuestThread | None:
    """The model thread of the program's object, if that has been started."""
    return _by_thread_object.get(id(thread_object))


def _knows_ended(me: GuestThread, thread_object: SyncObject) -> None:
    """`me` has waited for the end of a thread. When it has for all, it is alone and its accesses need no care."""
    global multi
    other = _by_thread_object.get(id(thread_object))
    if other is None or thread_object.dpor_state is not thread_rules.ENDED:
        return
    me.ended |= other.bit | other.ended
    if multi and me.ended | me.bit == _everybody:
        multi = False


# ---------------------------------------------------------------------- what else a run does


def choose(n: int) -> int:
    """A data choice: one of 0..n-1, each explored."""
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"choose({n}): there must be at least one alternative")
    if current is None:
        return 0
    if unwinding or _atomic or n == 1 or observer is not None:
        return 0
    if specifications is not None:
        specifications.settle()
        specifications.begin_calls()
    me = current
    pending = operations.intern("choose", (), alternatives=n)
    me.pending = pending
    _stand(me)
    value = _trace.actions[_position] >> 16
    if value >= n:
        _fail(BadSchedule(f"the schedule takes alternative {value} of {n} in {me.name}"))
    done = pending.with_value(value)
    _happened(me, done, None)
    if recorder is not None:
        recorder.event(me, done, None)
    return value


def limit(reason: str) -> None:
    """This run stands for less than everything: the verdict cannot be "pass"."""
    limits[reason] = None


def incomplete_if_multithreaded(reason: str) -> None:
    """As `limit`, if another thread exists by now or will be started."""
    (limits if multi else _latent)[reason] = None


def opaque(name: str) -> None:
    """Code that is not instrumented ran as one step on shared objects."""
    _opaque(name, limit)


def opaque_if_multithreaded(name: str) -> None:
    """As `opaque`, if another thread exists by now or will be started."""
    _opaque(name, incomplete_if_multithreaded)


def demand(module: str, why: str, *, at_once: bool = False) -> bool:
    """Code of this module, which is not instrumented, acts while several threads can act. True if it will be
    instrumented from now on; False if it cannot be, or is to be trusted."""
    package = package_of(module)
    if package in CLOSED or package in options.trusted or not above.can_instrument(package):
        return False
    if options.closed:
        limit(f"{why}: it is outside of --only; add --only {package}, or --trust {package}")
        return True
    fact = (INSTRUMENTED, package)
    if fact not in facts:
        withdraw(fact, f"{why}: {package} is instrumented", at_once=at_once)
    return True


def _opaque(name: str, limited: Callable[[str], None]) -> None:
    package = package_of(name)
    if demand(package, f"{name} runs while several threads exist") or package in options.trusted:
        return
    limited(f"{name} ran as one step, which in Python it is not")


def withdraw(fact: object, reason: str, *, at_once: bool = False) -> None:
    """Something that the search relied on does not hold: note it, and start again when this run has ended."""
    global withdrawn
    facts.add(fact)
    if withdrawn is None:
        withdrawn = reason
    if at_once:
        _fail(FactWithdrawn(reason))


def note(fact: object) -> None:
    """Something happens that makes more of what was before part of the state. Searches that look at none need not
    know."""
    if (stateful or _spins) and fact not in facts:
        withdraw(fact, f"{fact}: that is part of the state")


def facts_add(fact: object, what: str) -> None:
    """Learn a fact that runs so far did not know; start again if it is new."""
    if fact not in facts:
        withdraw(fact, f"{what} is used by several threads")


@contextmanager
def atomic() -> Iterator[None]:
    """Operations inside are no scheduling points: the code is one step."""
    global _atomic
    _atomic += 1
    _be_careful()
    try:
        yield
    finally:
        _atomic -= 1
        _be_careful()


def _cut(reason: str, ending: Ending) -> NoReturn:
    """End the run where it is, which then stands for less than everything."""
    global _ending
    limit(f"{reason}{above.loops_unseen()}")
    _ending = ending
    _hub.switch()
    raise GuestExit


def _why_cut() -> str:
    if _most < options.max_steps:
        return f"a run was ended after its event {_position:,}{_where_cut()}"
    return (
        f"a run was cut after {plural(options.max_steps, 'event')} (--max-steps){_where_cut()}: if it waits in a loop"
        " for another thread, a lower --max-steps comes sooner to the other schedules; if it is only long, give a"
        " higher one"
    )


def _where_cut(frame: FrameType | None = None) -> str:
    frame = guest_frame(frame or sys._getframe(1))
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


_MOST_PLACES = 3
"""Of one operation, in a message."""


def _describe(operation: Operation | None) -> str:
    if operation is None:
        return "nothing"
    places = [str(operations.name_of(location)) for location, _ in operation.accesses]
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return f"{operation.kind} of {', '.join(places[:_MOST_PLACES])}{more}"


stuck: list[Stuck] = []


def _blocked() -> list[Pending]:
    """What the threads that cannot run are about to do; in `stuck`, in words, if the program is over."""
    left = sorted([t for t in _waiting if not _is_enabled(t)], key=lambda t: t.id)
    if _ending is Ending.COMPLETE:
        stuck[:] = [_in_words(t) for t in left]
    return [Pending(t.id, t.pending, _states_of(t)) for t in left if t.pending is not None]


taken_at: dict[int, tuple[str, int]] = {}
"""Where each lock that is held was taken; kept by a recorder."""


def _in_words(thread: GuestThread) -> Stuck:
    glet = thread.greenlet
    frame = guest_frame(glet.gr_frame) if glet else None
    place = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    objects = [o for o in thread.objects or () if not isinstance(o, _Process)]
    names = {id(o): recorder.name_of(o, frame) for o in objects} if recorder is not None else {}
    return in_words(thread, objects, place, threads, taken_at, names)


def _states_of(thread: GuestThread) -> States:
    assert thread.pending is not None
    states = tuple(o.dpor_state for o in thread.objects or ())
    return states + (None,) * (len(thread.pending.accesses) - len(states))


def _lose_patience() -> None:
    """The program goes on while it is being unwound; after a while it is left where it is, for good. A finaliser that
    goes on between runs, where there is no thread to leave, gets an exception that is ignored."""
    global _patience
    _patience += 1
    if _patience > PATIENCE:
        if current is None:
            _patience = 0
            raise GuestExit
        _leave()


def _leave() -> None:
    """Leave the present greenlet where it is, for good."""
    _graveyard.append(getcurrent())
    _hub.switch()


def _unwind() -> None:
    global unwinding, multi, _patience
    unwinding = True
    multi = False
    _be_careful()
    for thread in threads:
        glet = thread.greenlet
        if thread.running and glet is not None and not glet.dead and glet is not _hub:
            _make_current(thread)
            _patience = 0
            glet.throw(GuestExit)
    unwinding = False
    _by_thread_object.clear()
    threads.clear()


_OF_A_RUN: tuple[Any, ...] = (
    *(threads, limits, exceptions, stuck, taken_at, made, virtual_time),
    *(_early, _latent, _waiting, _timeouts, _written),
)
"""What begins empty in each run."""
