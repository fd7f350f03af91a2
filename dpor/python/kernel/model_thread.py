"""What a run knows about a model thread, and about the objects that it waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from greenlet import greenlet

from dpor.core.operations import Accesses, Location, Operation, Rule, ThreadId

EXPIRES: Final = "expires"
"""Key in the data of a thread while it waits for nothing but the time: if its wait times out, that is no sign of a slow
machine."""


class UnwindThread(BaseException):
    """Thrown into a model thread that is no longer needed, to unwind it."""


class Waited(Protocol):
    """An object that a thread can wait for: see `dpor.python.kernel.sync_objects.SyncObject`."""

    dpor_state: Any
    dpor_location: Location
    dpor_made_at: tuple[str, int] | None

    @property
    def dpor_made_as(self) -> str: ...


class ModelThread:
    """One model thread of the current run.

    thread_object      the program's Thread object, or None
    events             how many operations it has performed that were events; `silent`: how many that were none
    changed_at         how many events the run had when it last performed a silent operation that is no read
    held               the locks that it holds, by their locations
    pending            the operation before which it waits
    objects            the objects of the rule of that operation; None for a plain access
    reread             returns the current accesses of the pending operation; None if other threads cannot change them
    yielded_at         how many events the run had when the thread yielded before an operation with `reread`
    starter            until it reaches its first operation: the greenlet that started it and waits for that
    timed              the rule to apply if the pending operation times out because nothing else can move
    deadline           when that happens, in seconds
    started            how many threads it has started
    ended              mask of the threads that it knows to have ended because it waited for their end
    time               its virtual clock, in seconds
    loops              the loops that it is in and that may spin (see `dpor.python.states.spinning`)
    clock_read_at      how many events the run had when it last looked at the clock
    last_back_edge_at  how many operations it had performed when one of its loops last went round
    """

    __slots__ = (
        "bit",
        "changed_at",
        "clock_read_at",
        "count",
        "daemon",
        "data",
        "deadline",
        "ended",
        "events",
        "greenlet",
        "held",
        "id",
        "last_back_edge_at",
        "loops",
        "name",
        "named_at",
        "objects",
        "pending",
        "reread",
        "running",
        "silent",
        "started",
        "starter",
        "thread_object",
        "time",
        "timed",
        "yielded_at",
    )  # fmt: skip

    def __init__(self, number: ThreadId, name: str, daemon: bool, thread_object: Any) -> None:
        self.id = number
        self.bit = 1 << number
        self.name = name
        self.daemon = daemon
        self.thread_object = thread_object
        self.data: dict[Any, Any] = {}
        self.events = self.silent = 0
        self.changed_at = -1
        self.held: dict[Location, Waited] = {}
        self.count = 0
        self.named_at = 0
        self.pending: Operation | None = None
        self.objects: tuple[Waited, ...] | None = None
        self.reread: Callable[[], Accesses] | None = None
        self.yielded_at = 0
        self.timed: Rule | None = None
        self.deadline: float | None = None
        self.ended = 0
        self.time = 0.0
        self.loops: dict[Any, Any] = {}
        self.clock_read_at = self.last_back_edge_at = -1
        self.running = True
        self.started = 0
        self.starter: greenlet = None
        self.greenlet: greenlet = None

    def name_object(self) -> tuple[ThreadId, int, int]:
        """Return a name for an object that this thread publishes now: the same name in equivalent runs, and whichever
        of its operations are events."""
        events = self.events + self.silent
        if events != self.named_at:
            self.named_at, self.count = events, 0
        self.count += 1
        return (self.id, events, self.count)
