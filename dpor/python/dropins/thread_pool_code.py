"""`ThreadPool` of `multiprocessing` as a layer on the pool of `concurrent.futures`. It is not imported but loaded by
`thread_pools`, as a copy, instrumented like the program's own code.

As in `multiprocessing.pool`, a task is a call, or a chunk of calls for `map` and `starmap`.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, starmap
from types import MappingProxyType
from typing import Any

RUN, CLOSE, TERMINATE = "RUN", "CLOSE", "TERMINATE"
UNCHANGING = (tuple, range, str, bytes, frozenset)
NO_KEYWORDS: Mapping[str, Any] = MappingProxyType({})
PLAIN = (*UNCHANGING, list, set, dict)


def call(open_up: Callable[[str], None], function: Any, args: Any, kwds: Any) -> Any:
    """Do a task."""
    try:
        return function(*args, **kwds)
    except Exception:
        raise
    except BaseException:
        open_up("a task ends a thread of a pool")


def call_each(function: Any, chunk: Iterable[Any]) -> list[Any]:
    return list(map(function, chunk))


def call_each_with(function: Any, chunk: Iterable[Any]) -> list[Any]:
    return list(starmap(function, chunk))


def classes(
    pool: type, result: type, private: Callable[[type], dict[str, Any]], surroundings: tuple[Any, ...]
) -> dict[str, type]:
    """Return the classes that programs get in place of `ThreadPool` and its results. `pool`, `result`: their bases."""
    new_executor, is_idle, open_up, at_exit, cpus = surroundings

    class AsyncResult(result):  # type: ignore[misc]
        def __init__(self, futures: list[Any], is_list: bool) -> None:
            self._futures, self._is_list = futures, is_list
            self._making = threading.Lock()
            self._made: Any = None

        def ready(self) -> bool:
            open_up("a thread asks whether a result is ready")
            return False

        def successful(self) -> bool:
            return self.ready()

        def wait(self, timeout: float | None = None) -> None:
            if timeout is not None:
                open_up("a thread waits for a result with a timeout")
            for future in self._futures:
                future.exception()

        def get(self, timeout: float | None = None) -> Any:
            self.wait(timeout)
            if not self._is_list:
                return self._futures[0].result()
            failed = [future for future in self._futures if future.exception() is not None]
            if len(failed) > 1:
                open_up("several parts of a result fail: the first counts")
            if failed:
                return failed[0].result()
            with self._making:
                if self._made is None:
                    self._made = [item for future in self._futures for item in future.result()]
                return self._made

    class ThreadPool(pool):  # type: ignore[misc]
        def __init__(self, processes: int | None = None, initializer: Any = None, initargs: Any = ()) -> None:
            if initializer is not None:
                open_up("a pool is given something that its threads begin with")
            if processes is None:
                processes = cpus() or 1
            if processes < 1:
                raise ValueError("Number of processes must be at least 1")
            self._processes = processes
            self._executor = new_executor(processes)
            self._state = RUN
            at_exit(self._look_at_exit)

        def __init_subclass__(cls) -> None:
            open_up("a class is derived from ThreadPool")

        def __repr__(self) -> str:
            return f"<multiprocessing.pool.ThreadPool state={self._state} pool_size={self._processes}>"

        def _check_running(self) -> None:
            if self._state != RUN:
                raise ValueError("Pool not running")

        def _submit(self, function: Any, args: Any, kwds: Any) -> Any:
            try:
                return self._executor.submit(call, open_up, function, args, kwds)
            except RuntimeError:
                open_up("a pool is closed while a thread gives it tasks")

        def _look_at_exit(self) -> None:
            if not is_idle(self._executor):
                open_up("the program ends while a pool has tasks")

        def apply(self, func: Any, args: Any = (), kwds: Any = NO_KEYWORDS) -> Any:
            return self.apply_async(func, args, kwds).get()

        def apply_async(
            self,
            func: Any,
            args: Any = (),
            kwds: Any = NO_KEYWORDS,
            callback: Any = None,
            error_callback: Any = None,
        ) -> Any:
            if callback or error_callback:
                open_up("a pool is given callbacks")
            self._check_running()
            return AsyncResult([self._submit(func, args, kwds)], False)

        def map(self, func: Any, iterable: Any, chunksize: int | None = None) -> Any:
            return self._map(func, iterable, call_each, chunksize, PLAIN).get()

        def starmap(self, func: Any, iterable: Any, chunksize: int | None = None) -> Any:
            return self._map(func, iterable, call_each_with, chunksize, PLAIN).get()

        def map_async(
            self,
            func: Any,
            iterable: Any,
            chunksize: int | None = None,
            callback: Any = None,
            error_callback: Any = None,
        ) -> Any:
            if callback or error_callback:
                open_up("a pool is given callbacks")
            return self._map(func, iterable, call_each, chunksize, UNCHANGING)

        def starmap_async(
            self,
            func: Any,
            iterable: Any,
            chunksize: int | None = None,
            callback: Any = None,
            error_callback: Any = None,
        ) -> Any:
            if callback or error_callback:
                open_up("a pool is given callbacks")
            return self._map(func, iterable, call_each_with, chunksize, UNCHANGING)

        def _map(self, func: Any, iterable: Any, each: Any, chunksize: int | None, known: tuple[type, ...]) -> Any:
            """Submit the chunks. `known`: which types of iterables may be gone through here, and not in a thread of
            the pool."""
            self._check_running()
            if not hasattr(iterable, "__len__"):
                iterable = tuple(iterable)
            if type(iterable) not in known:
                open_up("a thread of a pool goes through what the program may change or notice")
            length = len(iterable)
            if chunksize is None:
                chunksize, extra = divmod(length, self._processes * 4)
                chunksize += bool(extra)
            elif chunksize < 1:
                open_up("chunks have no size")
            futures = []
            items = iter(iterable)
            while length and (chunk := tuple(islice(items, chunksize))):
                futures.append(self._submit(each, (func, chunk), {}))
            return AsyncResult(futures, True)

        def imap(self, func: Any, iterable: Any, chunksize: int = 1) -> Any:
            open_up("results of a pool are iterated over")

        imap_unordered = imap

        def close(self) -> None:
            if self._state == RUN:
                self._state = CLOSE
                self._executor.shutdown(wait=False)

        def terminate(self) -> None:
            self._state = TERMINATE
            if not is_idle(self._executor):
                open_up("a pool is terminated while it has tasks")
            self._executor.shutdown(wait=False)

        def join(self) -> None:
            if self._state == RUN:
                raise ValueError("Pool is still running")
            try:
                self._executor.shutdown(wait=True)
            except RuntimeError:
                open_up("a task waits for its own pool")

        def __enter__(self) -> Any:
            self._check_running()
            return self

        def __exit__(self, *exc_info: object) -> None:
            self.terminate()

    for cls, base in ((AsyncResult, result), (ThreadPool, pool)):
        cls.__module__, cls.__qualname__ = base.__module__, cls.__name__
        for name, opened in private(cls).items():
            setattr(cls, name, opened)
    return {"ThreadPool": ThreadPool}


def tame(pool: type, thread_pool: type) -> None:
    """Change the classes of CPython: the thread that looks after workers waits for a queue and not for a pipe, and
    workers are threads that no weak reference knows."""

    class Worker(threading.Thread):
        @property
        def exitcode(self) -> int | None:
            return 0 if self.ident is not None and not self.is_alive() else None

    def wait(sentinels: Any, change_notifier: Any, timeout: Any = None) -> None:
        change_notifier.get()

    pool._wait_for_updates = staticmethod(wait)  # type: ignore[attr-defined]
    thread_pool._get_sentinels = lambda self: []  # type: ignore[attr-defined]
    thread_pool.Process = staticmethod(lambda ctx, *args, **kwds: Worker(*args, **kwds))  # type: ignore[attr-defined]
    del pool.__del__  # type: ignore[attr-defined]


class Finalize:
    """What `util.Finalize` does for a pool: it is called once, when the program ends at the latest."""

    def __init__(self, obj: Any, callback: Any, args: Any = (), kwargs: Any = None, exitpriority: Any = None) -> None:
        self._callback, self._args = callback, args
        self._called = threading.Lock()
        atexit.register(self)

    def __call__(self) -> None:
        if self._called.acquire(False):
            self._callback(*self._args)
