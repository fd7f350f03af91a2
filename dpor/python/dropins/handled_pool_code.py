"""`ThreadPool` of `multiprocessing` with the threads that handle tasks and results as in CPython. It is not imported
but loaded by `thread_pools`, as a copy, instrumented like the program's own code.

The methods are those of CPython's `Pool`, which leaves tasks in `_taskqueue` and results in `_cache`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

RUN, CLOSE, TERMINATE = "RUN", "CLOSE", "TERMINATE"


def work(open_up: Callable[[str], None], results: Any, task: tuple[Any, ...]) -> None:
    """Do a task, and pass on its result."""
    job, i, function, args, kwds = task
    try:
        result = (True, function(*args, **kwds))
    except Exception as error:
        result = (False, error)
    except BaseException:
        open_up("a task ends a thread of a pool")
        raise
    results.put((job, i, result))


def classes(
    pool: Any, apply_result: Any, imap_iterator: Any, private: dict[str, Any], surroundings: tuple[Any, ...]
) -> dict[str, Any]:
    """Return the classes that programs and CPython's `Pool` get in place of others of these names."""
    new_executor, open_up, at_exit, cpus = surroundings

    class Tasks:
        """What callers of a pool put tasks into."""

        def __init__(self, owner: Any) -> None:
            self._owner, self._queue = owner, queue.SimpleQueue[Any]()
            self.get = self._queue.get

        def put(self, tasks: Any) -> None:
            self._queue.put(tasks)
            if tasks is not None and self._owner._state != RUN:
                open_up("a pool is closed while a thread gives it tasks")

    class ApplyResult(apply_result):  # type: ignore[misc]
        def _set(self, i: int, obj: Any) -> None:
            """As in CPython, but who waits for the result finds that its job has ended."""
            self._success, self._value = obj
            if self._callback and self._success:
                self._callback(self._value)
            if self._error_callback and not self._success:
                self._error_callback(self._value)
            del self._cache[self._job]
            self._event.set()
            self._pool = None

    class ThreadPool(pool):  # type: ignore[misc]
        def __init__(self, processes: int | None = None, initializer: Any = None, initargs: Any = ()) -> None:
            if initializer is not None:
                open_up("a pool is given something that its threads begin with")
            if processes is None:
                processes = cpus() or 1
            if processes < 1:
                raise ValueError("Number of processes must be at least 1")
            self._processes = processes
            self._state = RUN
            self._cache: dict[int, Any] = {}
            self._executor = new_executor(processes)
            self._taskqueue, self._results = Tasks(self), queue.SimpleQueue[Any]()
            self._of_tasks = threading.Thread(target=self._handle_all_tasks, daemon=True)
            self._of_tasks.start()
            self._of_results = threading.Thread(target=self._handle_all_results, daemon=True)
            self._of_results.start()
            at_exit(self._look_at_exit)

        def __init_subclass__(cls) -> None:
            open_up("a class is derived from ThreadPool")

        def __repr__(self) -> str:
            return f"<multiprocessing.pool.ThreadPool state={self._state} pool_size={self._processes}>"

        def _look_at_exit(self) -> None:
            if self._cache:
                open_up("the program ends while a pool has tasks")

        def _handle_all_tasks(self) -> None:
            for tasks, set_length in iter(self._taskqueue.get, None):
                number = 0
                for task in tasks:
                    number += 1
                    self._submit(task)
                if set_length:
                    set_length(number)

        def _submit(self, task: Any) -> None:
            try:
                self._executor.submit(work, open_up, self._results, task)
            except RuntimeError:
                open_up("the program ends while a pool has tasks")

        def _handle_all_results(self) -> None:
            for job, i, result in iter(self._results.get, None):
                self._cache[job]._set(i, result)

        def close(self) -> None:
            if self._state == RUN:
                self._state = CLOSE

        def terminate(self) -> None:
            self._state = TERMINATE
            if self._cache:
                open_up("a pool is terminated while it has tasks")
            for tasks_or_results, thread in (self._taskqueue, self._of_tasks), (self._results, self._of_results):
                tasks_or_results.put(None)
                if threading.current_thread() is not thread:
                    thread.join()
            self._executor.shutdown(wait=False)

        def join(self) -> None:
            if self._state == RUN:
                raise ValueError("Pool is still running")
            self._taskqueue.put(None)
            self._of_tasks.join()
            try:
                self._executor.shutdown(wait=True)
            except RuntimeError:
                open_up("a task waits for its own pool")
            self._results.put(None)
            self._of_results.join()

    for cls, base in ((ApplyResult, apply_result), (ThreadPool, pool)):
        cls.__module__, cls.__qualname__ = base.__module__, cls.__name__
    for name, opened in private.items():
        setattr(ThreadPool, name, opened)

    take = imap_iterator.next

    def take_next(self: Any, timeout: float | None = None) -> Any:
        if timeout is not None:
            open_up("a thread waits for the next result with a timeout")
        return take(self)

    imap_iterator.next = imap_iterator.__next__ = take_next
    return {"ApplyResult": ApplyResult, "AsyncResult": ApplyResult, "ThreadPool": ThreadPool}
