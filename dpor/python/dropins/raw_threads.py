"""Threads as started by `_thread`, below the level of `Thread`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpor.primitives.threads import ENDED, NEW, RUNNING
from dpor.python.dropins import from_threading
from dpor.python.dropins.idents import ident_of, ident_shown_by
from dpor.python.dropins.locks import Lock
from dpor.python.dropins.threads import Startable
from dpor.python.hooks import failures
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.run import run

_SENTINEL = "sentinel"


class ThreadHandle(Startable):
    """A thread that `_thread` starts. As `_thread._ThreadHandle` it can be joined (Python 3.13)."""

    name = "Dummy"

    def __init__(self, daemon: bool = True) -> None:
        super().__init__()
        self.daemon = daemon

    @property
    def ident(self) -> int:
        return ident_shown_by(self)

    def is_done(self) -> bool:
        return self.dpor_status() is ENDED

    def join(self, timeout: float | None = None) -> None:
        if run.current.thread_object is self:
            raise RuntimeError("Cannot join current thread")
        if timeout is not None and timeout < 0:
            timeout = None
        if self.dpor_await_end(timeout) not in (True, False):
            raise RuntimeError("thread not started")

    def _set_done(self) -> None:
        if self.dpor_state is NEW:
            raise RuntimeError("thread not started")
        self.dpor_state = ENDED


def _begin(handle: ThreadHandle, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    def body() -> None:
        try:
            if kwargs:
                from_threading.call_target(function, args, kwargs)
            else:
                function(*args)
        except SystemExit:
            pass
        except UnwindThread:
            raise
        except BaseException as error:
            failures.report(error)
        sentinel = run.current.data.get(_SENTINEL)
        if sentinel is not None and sentinel.dpor_state is not None:
            sentinel.release()

    if not handle.dpor_launch(body):
        raise RuntimeError("thread already started")


def start_new_thread(function: Callable[..., Any], args: Any, kwargs: Any = None, /) -> int:
    if not callable(function):
        raise TypeError("first arg must be callable")
    if not isinstance(args, tuple):
        raise TypeError("2nd arg must be a tuple")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise TypeError("optional 3rd arg must be a dictionary")
    handle = ThreadHandle()
    _begin(handle, function, args, kwargs)
    return handle.ident


def start_joinable_thread(
    function: Callable[[], Any], handle: ThreadHandle | None = None, daemon: bool = True
) -> ThreadHandle:
    if not callable(function):
        raise TypeError("thread function must be callable")
    if handle is None:
        handle = ThreadHandle()
    elif not isinstance(handle, ThreadHandle):
        raise TypeError("'handle' must be a _ThreadHandle")
    handle.daemon = daemon
    _begin(handle, function, (), None)
    return handle


def _make_thread_handle(ident: int) -> ThreadHandle:
    """Make a handle of a running thread; `threading` makes one for the main thread."""
    handle = ThreadHandle()
    handle.dpor_state = RUNNING
    handle._ident = ident
    return handle


def _set_sentinel() -> Lock:
    """Return a lock that is released when the current thread ends (up to Python 3.12)."""
    lock = Lock()
    run.current.data[_SENTINEL] = lock
    return lock


def _get_main_thread_ident() -> int:
    return ident_of(0)
