"""`Queue`, `JoinableQueue` and `SimpleQueue` of `multiprocessing`, for the threads of one process. Who gets an item
gets a copy of it, as through the pipe that CPython has there.

What is put into a `SimpleQueue` is there at once. A `Queue` has a thread that feeds the pipe, the *feeder*: it pickles
what was put, some time later and in the order of the puts. So a put has returned while `get_nowait` still finds
nothing, and a change of an object after it was put may or may not be received. As long as nobody could notice, because
only values that never change are put and every `get` waits, there is no feeder, and a put or a get is one step. Facts
say what programs do to notice (`POLLED`, `OBJECTS`).

A blocking `get` keeps its lock while it waits, so others that do not wait find nothing: it is several steps once
anybody polls. A `get` that polls is one step if only one thread does so, since only others that poll could see it have
the lock.

How many items there is room for is a semaphore, an object of its own, taken before an item is put and released after
one was received; it is left out while it has no bound and nobody asks for it (`SIZED`).

This holds as long as nobody uses the private attributes, or derives a class that has some of its own. That somebody
does is a fact (`OPENED`): from then on the queues are CPython's own, instrumented. A run is incomplete if its pipe may
be full, or a thread gets from a queue that is closed meanwhile.
"""

from __future__ import annotations

import io
import pickle
import sys
import traceback
import types
from collections import deque
from queue import Empty, Full
from typing import Any, Final

from dpor.core.operations import Rule
from dpor.primitives.locks import Acquire, Release, Try
from dpor.primitives.queues import (
    CLOSED,
    NO_FEEDER,
    AwaitTasks,
    Close,
    Feed,
    GetUnlessTaken,
    HandOver,
    Put,
    SendOff,
    WhileOpen,
)
from dpor.primitives.rules import Look, LookAfter
from dpor.primitives.semaphores import P, TryP, V
from dpor.python.dropins import queues
from dpor.python.dropins.internals import open_up, private_to
from dpor.python.dropins.listing import LISTED
from dpor.python.dropins.presentation import address, presented_as
from dpor.python.dropins.threads import Thread
from dpor.python.dropins.timeouts import duration
from dpor.python.hooks.calls import call
from dpor.python.hooks.calls.unknown import yield_before_call
from dpor.python.kernel import timing
from dpor.python.kernel.incomplete import incomplete, incomplete_if_multithreaded
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import shared_objects

OPENED: Final = "queues of multiprocessing are opened"
"""A fact: the program uses more of these queues than their public methods."""
POLLED: Final = "queues of multiprocessing are polled"
"""A fact: a thread looks whether a `Queue` has items, without waiting for one as long as it takes."""
SEVERAL: Final = "queues of multiprocessing are polled by several threads"
OBJECTS: Final = "queues of multiprocessing pass objects"
"""A fact: something is put into a `Queue` that could change, or whose pickling could be noticed."""
SIZED: Final = "sizes of queues of multiprocessing are seen"
CLOSES: Final = "queues of multiprocessing are closed while there are several threads"

_ROOM: Final = 2**31 - 1
"""For how many items a queue without a bound has room."""
_PIPE: Final = 32 * 1024
"""So many bytes, headers included, a pipe holds in any case, however they are cut into pages."""
_HEADER: Final = 4

_V, _P, _TRY_P, _LOOK, _LOOK_AFTER = V(), P(), TryP(), Look(), LookAfter()
_ACQUIRE, _TRY, _RELEASE = Acquire(), Try(), Release()
_PUT, _HAND_OVER, _HAND_OVER_FIRST, _SEND_OFF, _FEED = Put(), HandOver(), HandOver(True), SendOff(), Feed()
_GET, _GET_NOW, _CLOSE, _JOIN = GetUnlessTaken(), GetUnlessTaken(True), Close(), AwaitTasks()
_WHILE_OPEN: Final[dict[Rule, Rule]] = {rule: WhileOpen(rule) for rule in (_P, _TRY_P, _GET, _GET_NOW)}

_private = private_to("a queue of multiprocessing", OPENED)


def _pickled(obj: Any) -> bytes:
    """Pickle it as `multiprocessing` does."""
    if not _is_plain(obj):
        yield_before_call(pickle.dumps, (obj,))
    written = io.BytesIO()
    sys.modules["multiprocessing.reduction"].ForkingPickler(written).dump(obj)
    return written.getvalue()


def _unpickled(data: Any) -> Any:
    return None if data is None else call(pickle.loads)(data)  # None: the run is being unwound


def _is_plain(obj: Any) -> bool:
    """True if nobody can change the object or notice that it is pickled."""
    kind = type(obj)
    return kind in (int, float, str, bytes, bool, type(None)) or (kind is tuple and all(map(_is_plain, obj)))


class _Pipe(SyncObject):
    """The state: how many items a `get` finds.

    dpor_items   the items, pickled
    dpor_bytes   how much room they take in the pipe, with those that are still to come
    """

    dpor_is_data = True

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = 0
        self.dpor_items: deque[bytes] = deque()
        self.dpor_bytes = 0

    def dpor_weigh(self, data: bytes) -> None:
        self.dpor_bytes += len(data) + _HEADER
        if self.dpor_bytes > _PIPE:
            incomplete("what is put into a queue of multiprocessing may have to wait for room in its pipe")

    def dpor_next(self) -> bytes | None:
        if not self.dpor_items:
            return None  # the run is being unwound
        data = self.dpor_items.popleft()
        self.dpor_bytes -= len(data) + _HEADER
        return data

    def __reduce__(self) -> Any:
        kind = type(self).__name__
        raise RuntimeError(f"{kind} objects should only be shared between processes through inheritance")

    def __repr__(self) -> str:
        kind = type(self)
        return f"<{kind.__module__}.{kind.__qualname__} object at {address(self)}>"


@presented_as("multiprocessing.queues")
class SimpleQueue(_Pipe):
    _reader, _writer, _rlock, _wlock, _poll = map(_private, ("_reader", "_writer", "_rlock", "_wlock", "_poll"))

    def __init__(self, *, ctx: Any) -> None:
        super().__init__()
        self.dpor_closed = False

    def close(self) -> None:
        incomplete_if_multithreaded("a SimpleQueue of multiprocessing is closed while there are several threads")
        self.dpor_closed = True

    def dpor_check(self) -> None:
        if self.dpor_closed:
            raise OSError("handle is closed")

    def empty(self) -> bool:
        self.dpor_check()
        return not perform(_LOOK, self)

    def get(self) -> Any:
        self.dpor_check()
        perform(_P, self)
        return _unpickled(self.dpor_next())

    def put(self, obj: Any) -> None:
        data = _pickled(obj)
        self.dpor_check()
        self.dpor_weigh(data)
        perform(_V, self)
        self.dpor_items.append(data)

    __class_getitem__: Any = classmethod(types.GenericAlias)


class _Part(SyncObject):
    """A part of a queue, of which programs see only what it does."""

    dpor_is_part = True

    def __init__(self, state: Any) -> None:
        super().__init__()
        self.dpor_state = state


_Part.__name__ = "Queue"  # reports call it so

_INTERNALS: Final = (
    "_after_fork",
    "_buffer",
    "_close",
    "_closed",
    "_feed",
    "_finalize_close",
    "_finalize_join",
    "_ignore_epipe",
    "_joincancelled",
    "_jointhread",
    "_maxsize",
    "_notempty",
    "_on_queue_feeder_error",
    "_opid",
    "_poll",
    "_reader",
    "_recv_bytes",
    "_reset",
    "_rlock",
    "_sem",
    "_send_bytes",
    "_start_thread",
    "_terminate_broken",
    "_thread",
    "_wlock",
    "_writer",
)


@presented_as("multiprocessing.queues")
class Queue(_Pipe):
    """dpor_room        the semaphore that counts for how many items there is room; `dpor_size` at first
    dpor_reading     the lock of those who get
    dpor_buffer      how many items the feeder has still to move
    dpor_handed      these items; None is the last
    dpor_feeder      the feeder, once it is started
    dpor_unfinished  counts what is not done with, for `JoinableQueue`
    dpor_is_closed   whether the queue is closed
    dpor_let_go      whether nobody waits for the feeder
    dpor_pollers     the threads that have polled
    """

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        if any(name in vars(cls) for name in _INTERNALS):
            open_up(OPENED, f"{cls.__qualname__} changes how a queue of multiprocessing works")

    def __init__(self, maxsize: int = 0, *, ctx: Any) -> None:
        super().__init__()
        self.dpor_size = _ROOM if maxsize <= 0 else maxsize
        self.dpor_room = _Part(self.dpor_size)
        self.dpor_reading = _Part(None)
        self.dpor_buffer = _Part(NO_FEEDER)
        self.dpor_handed: deque[Any] = deque()
        self.dpor_feeder: _Feeder | None = None
        self.dpor_unfinished = queues.Unfinished()
        self.dpor_is_closed = _Part(False)
        self.dpor_let_go = _Part(False)
        self.dpor_pollers: set[int] = set()

    for _name in _INTERNALS:
        vars()[_name] = _private(_name)
    del _name

    # ------------------------------------------------------------------ put

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        self.dpor_check()
        if self.dpor_is_sized() and self.dpor_take_room(block, timeout) is False:
            raise Full
        if not _is_plain(obj) and OBJECTS not in run.facts:
            open_up(OBJECTS, OBJECTS)
        if LISTED in run.facts:
            incomplete("a thread that feeds a queue of multiprocessing is listed even if nobody refers to the queue")
        if self.dpor_is_fed():
            shared_objects.publish(obj)
            self.dpor_hand_over(obj)
        else:
            data = _pickled(obj)
            self.dpor_weigh(data)
            perform(_PUT, self, self.dpor_unfinished)
            self.dpor_items.append(data)

    def put_nowait(self, obj: Any) -> None:
        return self.put(obj, False)

    def dpor_take_room(self, block: bool, timeout: float | None) -> Any:
        if not block or timeout is None:
            return perform(_P if block else _TRY_P, self.dpor_room)
        seconds = duration(timeout)
        return _within(seconds, _P, _TRY_P, self.dpor_room)

    def dpor_hand_over(self, obj: Any) -> None:
        objects = self.dpor_buffer, self.dpor_unfinished
        if perform(_HAND_OVER, *objects) is False:
            self.dpor_feeder = _Feeder(self)
            self.dpor_feeder.start()
            perform(_HAND_OVER_FIRST, *objects)
        self.dpor_handed.append((obj,))

    # ------------------------------------------------------------------ get

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        self.dpor_check()
        if not block or timeout is not None:
            return self.dpor_poll(None if not block else duration(timeout))
        polled = POLLED in run.facts
        if polled:
            perform(_ACQUIRE, self.dpor_reading)
        data = self.dpor_receive(perform(*self.dpor_getting(_P, self)))
        if polled:
            perform(_RELEASE, self.dpor_reading)
        self.dpor_make_room()
        return _unpickled(data)

    def get_nowait(self) -> Any:
        return self.get(False)

    def dpor_poll(self, seconds: float | None) -> Any:
        """Get an item within that time; None: at once."""
        self.dpor_is_polled()
        if SEVERAL not in run.facts:
            self.dpor_pollers.add(run.current.id)
            if len(self.dpor_pollers) == 1:
                blocking, *objects = self.dpor_getting(_GET, self, self.dpor_reading)
                now, *objects = self.dpor_getting(_GET_NOW, self, self.dpor_reading)
                data = self.dpor_receive(_within(seconds, blocking, now, *objects))
                self.dpor_make_room()
                return _unpickled(data)
            open_up(SEVERAL, SEVERAL)
        deadline = timing.now() + (seconds or 0.0)
        if _within(seconds, _ACQUIRE, _TRY, self.dpor_reading) is False:
            raise Empty
        try:
            left = None if seconds is None else max(0.0, deadline - timing.now())
            blocking, *objects = self.dpor_getting(_P, self)
            now, *objects = self.dpor_getting(_TRY_P, self)
            data = self.dpor_receive(_within(left, blocking, now, *objects))
            self.dpor_make_room()
        finally:
            perform(_RELEASE, self.dpor_reading)
        return _unpickled(data)

    def dpor_getting(self, rule: Rule, *objects: SyncObject) -> tuple[Any, ...]:
        """Return the operation by which an item is received: rule and objects."""
        return (_WHILE_OPEN[rule], *objects, self.dpor_is_closed) if CLOSES in run.facts else (rule, *objects)

    def dpor_receive(self, found: Any) -> bytes | None:
        if found is False:
            raise Empty
        if found == CLOSED:
            incomplete("a queue of multiprocessing is closed while a thread gets from it")
            raise OSError("handle is closed")
        return self.dpor_next()

    def dpor_make_room(self) -> None:
        if self.dpor_is_sized():
            perform(_V, self.dpor_room)

    # ------------------------------------------------------------------ looks

    def qsize(self) -> int:
        return self.dpor_size - self.dpor_look_at_room()

    def full(self) -> bool:
        return not self.dpor_look_at_room()

    def empty(self) -> bool:
        self.dpor_is_polled()
        if CLOSES in run.facts and perform(_LOOK, self.dpor_is_closed):
            incomplete("a thread looks into a queue of multiprocessing that is closed")
        return not perform(_LOOK, self)

    def dpor_look_at_room(self) -> int:
        if SIZED not in run.facts:
            open_up(SIZED, SIZED)
        return perform(_LOOK, self.dpor_room)  # type: ignore[no-any-return]

    def dpor_is_sized(self) -> bool:
        return self.dpor_size != _ROOM or SIZED in run.facts

    def dpor_is_polled(self) -> None:
        if POLLED not in run.facts:
            open_up(POLLED, POLLED)

    def dpor_is_fed(self) -> bool:
        return POLLED in run.facts or OBJECTS in run.facts or LISTED in run.facts

    # ------------------------------------------------------------------ the end

    def dpor_check(self) -> None:
        """Raise the error of a queue that is closed."""
        if perform(_LOOK, self.dpor_is_closed) if CLOSES in run.facts else self.dpor_is_closed.dpor_state:
            raise ValueError(f"Queue {self!r} is closed")

    def close(self) -> None:
        if run.multi and CLOSES not in run.facts:
            open_up(CLOSES, CLOSES)
        if perform(_CLOSE, self.dpor_is_closed) is not False and self.dpor_is_fed():
            if perform(_SEND_OFF, self.dpor_buffer) is not False:
                self.dpor_handed.append(None)

    def join_thread(self) -> None:
        closed = perform(_LOOK, self.dpor_is_closed)
        assert closed, f"Queue {self!r} not closed"
        if self.dpor_feeder is not None and not perform(_LOOK_AFTER, self.dpor_let_go):
            self.dpor_feeder.join()

    def cancel_join_thread(self) -> None:
        perform(_CLOSE, self.dpor_let_go)


@presented_as("multiprocessing.queues")
class JoinableQueue(queues.WithTasks, Queue):
    """CPython's has a semaphore for the tasks, and a condition. `join` waits there only once; but it may as well have
    come earlier or later, so the outcomes are the same."""

    def __init__(self, maxsize: int = 0, *, ctx: Any) -> None:
        super().__init__(maxsize, ctx=ctx)
        self.dpor_owed = {}

    _unfinished_tasks, _cond = _private("_unfinished_tasks"), _private("_cond")

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        item = super().get(block, timeout)
        self.dpor_owe()
        return item


class _Feeder(Thread):
    """The thread that moves what was put into a queue to where `get` finds it."""

    def __init__(self, queue: Queue) -> None:
        super().__init__(name="QueueFeederThread", daemon=True)
        self.dpor_queue = queue

    def run(self) -> None:
        queue = self.dpor_queue
        at_once = OBJECTS not in run.facts and CLOSES not in run.facts
        while not run.unwinding:
            if at_once:
                perform(_FEED, queue.dpor_buffer, queue)
                data = _pickled(*queue.dpor_handed.popleft())
                queue.dpor_weigh(data)
            else:
                perform(_P, queue.dpor_buffer)
                handed = queue.dpor_handed.popleft()
                if handed is None:
                    return
                try:
                    data = _pickled(*handed)
                except Exception:
                    queue.dpor_make_room()
                    call(traceback.print_exc)()
                    continue
                del handed
                queue.dpor_weigh(data)
                perform(_V, queue)
            queue.dpor_items.append(data)


_Feeder.__name__ = _Feeder.__qualname__ = "Thread"


def _within(seconds: float | None, blocking: Rule, now: Rule, *objects: SyncObject) -> Any:
    """Perform the rule within that time. `now`: the variant that does not wait. None: do not wait at all."""
    if seconds is None:
        return perform(now, *objects)
    if not seconds:
        return timing.perform_now(now, *objects)
    return timing.perform_timed(blocking, now, seconds, *objects)


REPLACED: Final = {kind.__name__: kind for kind in (Queue, JoinableQueue, SimpleQueue)}
