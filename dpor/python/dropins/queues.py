"""`Queue`, `LifoQueue` and `PriorityQueue`: what a thread does to one is one step, where CPython takes a lock and three
conditions. The outcomes are the same, because who waits there looks at the queue again when it is woken.

This holds as long as nobody uses the lock, the conditions or the container, or derives a class that changes how items
are kept; and the items of a `PriorityQueue` have to be such that comparing them calls no code of the program. That one
of these is not so is a fact (`OPENED`): from then on queues are CPython's own, instrumented.
"""

from __future__ import annotations

import heapq
import queue as real
import types
from collections import deque
from typing import Any, Final

from dpor.primitives.queues import AwaitTasks, Get, Put, TaskDone
from dpor.primitives.rules import LookAfter
from dpor.python.dropins.internals import Count, open_up, private_to
from dpor.python.dropins.presentation import address, presented_as
from dpor.python.dropins.timeouts import duration
from dpor.python.kernel import assumptions, timing
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import shared_objects

OPENED: Final = "queues are opened"
"""A fact: the program uses more of queues than their public methods."""
_DONE: Final = "tasks of queues are done"
"""A fact: `task_done` is called."""
_NOT_OWED: Final = "tasks of queues are done that are not owed"
"""A fact: a thread calls `task_done` more often than it has called `get`."""

_PUT, _PUT_NOW, _GET, _GET_NOW, _LOOK = Put(), Put(or_timeout=True), Get(), Get(or_timeout=True), LookAfter()
_OWED, _ANYWAY, _JOIN = TaskDone(True), TaskDone(False), AwaitTasks()


class Unfinished(Count):
    """Counts the items that were put and are not done with."""


Unfinished.__name__ = "Queue"  # reports call it so


_private = private_to("a queue", OPENED)

_HOOKS: Final = ("_init", "_put", "_get", "_qsize")
"""Methods that derived classes may replace."""


class WithTasks:
    """The methods by which a queue counts what is not done with.

    dpor_unfinished  counts it
    dpor_owed        for how many items each thread has still to call `task_done`
    """

    dpor_unfinished: Unfinished
    dpor_owed: dict[int, int]

    def dpor_owe(self) -> None:
        """Called when the thread has taken an item."""
        if _DONE in run.facts and _NOT_OWED not in run.facts:
            self.dpor_owed[run.current.id] = self.dpor_owed.get(run.current.id, 0) + 1

    def task_done(self) -> None:
        if _DONE not in run.facts and run.multi:
            assumptions.broken(_DONE, "task_done is called")
        me = run.current.id
        rule = _ANYWAY
        if _DONE in run.facts and _NOT_OWED not in run.facts:
            if self.dpor_owed.get(me, 0):
                self.dpor_owed[me] -= 1
                rule = _OWED
            elif run.multi:
                assumptions.broken(_NOT_OWED, "a thread calls task_done without having called get")
        if perform(rule, self.dpor_unfinished) is False:
            raise ValueError("task_done() called too many times")

    def join(self) -> None:
        perform(_JOIN, self.dpor_unfinished)


@presented_as("queue")
class Queue(WithTasks, SyncObject):
    """dpor_items       what is in it"""

    dpor_is_data = True
    dpor_items: Any

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        if any(name in vars(cls) for name in _HOOKS):
            open_up(OPENED, f"{cls.__qualname__} changes how a queue keeps its items")

    def __init__(self, maxsize: int = 0) -> None:
        super().__init__()
        self.dpor_state = 0
        self.dpor_size = maxsize
        self.dpor_unfinished = Unfinished()
        self.dpor_owed = {}
        self.dpor_items = self.dpor_no_items()

    mutex = _private("mutex")
    queue = _private("queue")
    not_empty = _private("not_empty")
    not_full = _private("not_full")
    all_tasks_done = _private("all_tasks_done")
    unfinished_tasks = _private("unfinished_tasks")
    if hasattr(real.Queue, "shutdown"):  # from 3.13 on
        is_shutdown = _private("is_shutdown")
        shutdown = _private("shutdown")
    _init, _put, _get, _qsize = map(_private, _HOOKS)

    @property
    def maxsize(self) -> int:
        return self.dpor_size

    @maxsize.setter
    def maxsize(self, size: int) -> None:
        open_up(OPENED, "the program changes the size of a queue")

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        shared_objects.publish(item)
        size, objects = self.dpor_size, (self, self.dpor_unfinished)
        if size <= 0:
            perform(_PUT, *objects)
        elif not block:
            if perform(Put(size, True), *objects) is False:
                raise real.Full
        elif timeout is None:
            perform(Put(size), *objects)
        elif timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        else:
            seconds, now = duration(timeout), Put(size, True)
            timed = (
                timing.perform_timed(Put(size), now, seconds, *objects)
                if seconds
                else timing.perform_now(now, *objects)
            )
            if timed is False:
                raise real.Full
        self.dpor_keep(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if not block:
            found = perform(_GET_NOW, self)
        elif timeout is None:
            found = perform(_GET, self)
        elif timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        else:
            seconds = duration(timeout)
            found = (
                timing.perform_timed(_GET, _GET_NOW, seconds, self) if seconds else timing.perform_now(_GET_NOW, self)
            )
        if found is False:
            raise real.Empty
        self.dpor_owe()
        return self.dpor_take() if self.dpor_items else None

    def put_nowait(self, item: Any) -> None:
        return self.put(item, block=False)

    def get_nowait(self) -> Any:
        return self.get(block=False)

    def qsize(self) -> int:
        return perform(_LOOK, self)  # type: ignore[no-any-return]

    def empty(self) -> bool:
        return not self.qsize()

    def full(self) -> bool:
        return 0 < self.dpor_size <= self.qsize()

    __class_getitem__: Any = classmethod(types.GenericAlias)

    def __repr__(self) -> str:
        return f"<queue.{type(self).__qualname__} object at {address(self)}>"

    def dpor_no_items(self) -> Any:
        return deque()

    def dpor_keep(self, item: Any) -> None:
        self.dpor_items.append(item)

    def dpor_take(self) -> Any:
        return self.dpor_items.popleft()


@presented_as("queue")
class LifoQueue(Queue):
    def dpor_no_items(self) -> Any:
        return []

    def dpor_take(self) -> Any:
        return self.dpor_items.pop()


@presented_as("queue")
class PriorityQueue(LifoQueue):
    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        if not _is_plain(item):
            open_up(OPENED, "a PriorityQueue gets items that the program compares")
        super().put(item, block, timeout)

    def dpor_keep(self, item: Any) -> None:
        try:
            heapq.heappush(self.dpor_items, item)
        except TypeError:
            open_up(OPENED, "a PriorityQueue gets items that cannot be compared")
            raise

    def dpor_take(self) -> Any:
        return heapq.heappop(self.dpor_items)


def _is_plain(item: Any) -> bool:
    kind = type(item)
    return kind in (int, float, str, bytes, bool) or (kind is tuple and all(map(_is_plain, item)))
