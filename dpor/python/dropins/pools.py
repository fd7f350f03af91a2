"""`ThreadPoolExecutor`: each task has a thread of its own, and begins as soon as a worker of the pool would be free.

So it is not tried which worker takes which task: workers are alike as long as no task looks at its thread. CPython's
pool makes a new thread for a task if none is idle and there are fewer than `max_workers`; so a task waits for others
only while that many are at work.

This holds as long as the program does not ask which thread a task is in, a task leaves nothing in its thread for the
next (a `threading.local`, a context variable, an `RLock`), and only public methods of pools are used. That one of these
is not so is a fact (`POOLS_OPENED`): from then on pools are CPython's own, instrumented, with the threads that they
make.

As long as no pool cancels what is in its queue when it is shut down, a task need only count those that have ended, and
the queue is no object. That one does is a fact, too (`CANCELS`).
"""

from __future__ import annotations

import contextvars
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from dpor.primitives.futures import (
    BeginEnding,
    BeginWithWorker,
    CompleteAndEnd,
    EndTask,
    ShutDown,
    Submit,
    TakeTask,
    TakeToCancel,
)
from dpor.primitives.threads import Join
from dpor.python.dropins import from_threading
from dpor.python.dropins.copying import pinned, unnoticed
from dpor.python.dropins.future import FAIL, FINISH, Future, Rules
from dpor.python.dropins.idents import IN_TASK, POOLS_OPENED, numbering
from dpor.python.dropins.internals import Count, open_up, private_to
from dpor.python.dropins.locks import RLock
from dpor.python.dropins.state import library
from dpor.python.dropins.threads import INHERITS, Startable
from dpor.python.hooks.calls import call
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject

_SUBMIT, _SHUT_DOWN, _BEGIN_ENDING, _END_TASK, _JOIN = Submit(), ShutDown(), BeginEnding(), EndTask(), Join()
_TAKE_TO_CANCEL = TakeToCancel()

CANCELS: Final = "a pool is shut down with cancel_futures"


class Task(Startable):
    """The thread of a task. The source of CPython's pools takes it for the future, since what a worker does to that
    concerns the pool, too.

    dpor_work    the future, and what is to be called with which arguments
    dpor_wanted  how many tasks of the pool must have ended before this one begins
    dpor_ended   what counts them
    dpor_free    True if its worker is free again
    """

    daemon = _daemonic = False

    def __init__(self, name: str, wanted: int, ended: Count, *work: Any) -> None:
        super().__init__()
        self.name = self._name = name
        self.dpor_work = work
        self.dpor_wanted, self.dpor_ended = wanted, ended
        self.dpor_free = False

    def _bootstrap(self, body: Callable[[], None]) -> None:
        run.current.data[IN_TASK] = True
        super()._bootstrap(body)
        self.dpor_work = ()  # if it was cancelled

    def set_running_or_notify_cancel(self) -> bool:
        future: Future = self.dpor_work[0]
        if self.dpor_wanted <= 0:
            return future.dpor_begin()
        return future.dpor_begin(partial(BeginWithWorker, ended=self.dpor_wanted), self.dpor_ended)

    def set_result(self, result: Any) -> None:
        self.dpor_complete(FINISH, result)

    def set_exception(self, exception: BaseException) -> None:
        self.dpor_complete(FAIL, exception)

    def dpor_complete(self, rules: Rules, value: Any) -> None:
        future: Future = self.dpor_work[0]
        future.dpor_set(rules, value, CompleteAndEnd, future.dpor_added, self.dpor_ended)
        self.dpor_free = not future.dpor_callbacks


class _Ended(Count):
    """Counts the tasks of a pool that have ended."""


class _Queue(SyncObject):
    """How many tasks were taken out of the queue of a pool, and how many of these to be cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = (0, 0)


_Ended.__name__ = _Queue.__name__ = "ThreadPoolExecutor"  # reports call them so


class _Ending(SyncObject):
    """True if the interpreter is shutting down."""

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = False
        pinned(self, "concurrent.futures.thread._shutdown")


_private = private_to("a pool", POOLS_OPENED)


class Pool(SyncObject):
    """The methods of `ThreadPoolExecutor` that differ from those of `Executor`.

    dpor_ended   counts the tasks that have ended
    dpor_queue   counts those that were taken out of the queue; None as long as no pool cancels
    dpor_tasks   the tasks, in the order in which they were submitted
    """

    def __init__(
        self,
        max_workers: int | None = None,
        thread_name_prefix: str = "",
        initializer: Any = None,
        initargs: Any = (),
        **others: Any,
    ) -> None:
        if max_workers is None:
            max_workers = min(32, (cpus() or 1) + 4)
        if max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None or others or INHERITS:
            open_up(POOLS_OPENED, "a pool is given something that its threads begin with")
        super().__init__()
        self.dpor_state = (0, False)
        self.dpor_ended = _Ended()
        self.dpor_queue = _Queue() if CANCELS in run.facts else None
        self.dpor_tasks: list[Task] = []
        self.dpor_name = thread_name_prefix or f"ThreadPoolExecutor-{numbering.next('ThreadPoolExecutor', 0)}"
        self._max_workers = max_workers

    _work_queue = _private("_work_queue")
    _idle_semaphore = _private("_idle_semaphore")
    _threads = _private("_threads")
    _broken = _private("_broken")
    _shutdown = _private("_shutdown")
    _shutdown_lock = _private("_shutdown_lock")
    _thread_name_prefix = _private("_thread_name_prefix")
    if sys.version_info < (3, 14):
        _initializer = _private("_initializer")
        _initargs = _private("_initargs")
    _adjust_thread_count = _private("_adjust_thread_count")
    _initializer_failed = _private("_initializer_failed")

    dpor_future: Callable[[], Any]
    """Makes a future. Set by `pool_class`."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        number = perform(_SUBMIT, self, _ending())
        if run.unwinding:
            return None
        if number < 0:
            what = "interpreter shutdown" if number == -2 else "shutdown"
            raise RuntimeError(f"cannot schedule new futures after {what}")
        future = type(self).dpor_future()
        wanted = number - self._max_workers + 1 if self.dpor_queue is None else 0
        task = Task(f"{self.dpor_name} task {number + 1}", wanted, self.dpor_ended, future, fn, args, kwargs)
        self.dpor_tasks.append(task)
        task.dpor_launch(partial(_do, task, self, number))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if cancel_futures and self.dpor_queue is None:
            open_up(CANCELS, CANCELS)
        perform(_SHUT_DOWN, self)
        queue = self.dpor_queue if cancel_futures else None
        while queue is not None and not run.unwinding and (number := perform(_TAKE_TO_CANCEL, queue, self)) >= 0:
            self.dpor_tasks[number].dpor_work[0].cancel()
        if wait:
            _join_all(self.dpor_tasks)


def pool_class(executor: type, new_future: Callable[[], Any]) -> type:
    """Return the class that programs get. `executor`: the class `Executor` of their library."""
    names = {"__module__": "concurrent.futures.thread", "dpor_future": staticmethod(new_future)}
    return type("ThreadPoolExecutor", (Pool, executor), names)


def cpus() -> int | None:
    return getattr(os, "process_cpu_count", os.cpu_count)()  # from 3.13 on


def _do(task: Task, pool: Pool, number: int) -> None:
    """The body of a task's thread. `number`: how many tasks of the pool were submitted before."""
    ended, queue = pool.dpor_ended, pool.dpor_queue
    if queue is not None and perform(TakeTask(number, pool._max_workers), ended, queue) is False:
        return  # the pool was shut down, and has cancelled it
    try:
        from_threading.run_task(task, *task.dpor_work[1:])
    except UnwindThread:
        raise
    except BaseException:
        open_up(POOLS_OPENED, "a callback ends a thread of a pool")
    task.dpor_work = ()  # as a worker does before it takes the next task
    if contextvars.copy_context():
        open_up(POOLS_OPENED, "a task of a pool sets a context variable")
    me = run.current.id
    locks = (lock for made in run.made if isinstance(lock := made(), RLock))
    if any(lock.dpor_state is not None and lock.dpor_state[0] == me for lock in locks):
        open_up(POOLS_OPENED, "a task of a pool ends while it holds an RLock")
    if not task.dpor_free:
        perform(_END_TASK, ended)


def _join_all(tasks: list[Task]) -> None:
    me = run.current.thread_object
    for task in tasks:
        if task is me:
            raise RuntimeError("cannot join current thread")
        perform(_JOIN, task)
        if run.current.id == 0:
            library.unjoined.pop(id(task), None)


def at_exit() -> None:
    """Called when the main thread's function has returned and other threads may go on: as
    `concurrent.futures.thread._python_exit`."""
    perform(_BEGIN_ENDING, _ending())
    for look in library.ends_of_pools:
        call(look)()
    _join_all([thread for thread in library.unjoined.values() if isinstance(thread, Task)])


def _ending() -> Any:
    if library.ending is None:
        with unnoticed():
            library.ending = _Ending()
    return library.ending
