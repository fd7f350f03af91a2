"""Assembles the drop-ins for `threading` and `_thread`."""

from __future__ import annotations

import _thread
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NoReturn

from dpor.python.dropins import exits, from_threading, listing, threads
from dpor.python.dropins.conditions import Condition
from dpor.python.dropins.events import Event
from dpor.python.dropins.idents import numbering, seen_ident
from dpor.python.dropins.locals import local
from dpor.python.dropins.locks import Lock
from dpor.python.dropins.locks import RLock as RLockType
from dpor.python.dropins.raw_threads import (
    ThreadHandle,
    _get_main_thread_ident,
    _make_thread_handle,
    _set_sentinel,
    start_joinable_thread,
    start_new_thread,
)
from dpor.python.dropins.semaphores import BoundedSemaphore, Semaphore
from dpor.python.dropins.state import THREADING, library
from dpor.python.dropins.threads import Thread
from dpor.python.dropins.time import monotonic
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.kernel.run import run
from dpor.python.kernel.unmodelled import refusing

if sys.version_info >= (3, 15):

    def RLock() -> RLockType:
        return RLockType()

else:

    def RLock(*args: Any, **kwargs: Any) -> RLockType:
        if (args or kwargs) and sys.version_info >= (3, 13):
            message = "Passing arguments to RLock is deprecated and will be removed in 3.15"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        return RLockType(*args, **kwargs)


def active_count() -> int:
    return 1 + len(listing.alive())


def activeCount() -> int:
    message = "activeCount() is deprecated, use active_count() instead"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return active_count()


def enumerate() -> list[Any]:
    return [threads.main_thread(), *[thread for thread in listing.alive() if isinstance(thread, Thread)]]


def _count() -> int:
    return len(listing.alive())


def settrace(func: Any) -> None:
    library.trace = func


def gettrace() -> Any:
    return library.trace


def setprofile(func: Any) -> None:
    library.profile = func


def getprofile() -> Any:
    return library.profile


_SMALLEST_STACK: Final = 32 * 1024
"""In bytes, as in CPython."""


def stack_size(size: int = 0, /) -> int:
    if size < 0:
        raise ValueError("size must be 0 or a positive value")
    if 0 < size < _SMALLEST_STACK:
        raise ValueError(f"size not valid: {size} bytes")
    before, library.stack_size = library.stack_size, size
    return before


def exit() -> NoReturn:
    raise SystemExit


def _register_atexit(func: Callable[..., Any], *arg: Any, **kwargs: Any) -> None:
    exits.register_early(func, arg, kwargs)


class _Active:
    """`threading._active`, from which a repr reads a name; no operation."""

    def __getitem__(self, ident: int) -> Any:
        found = [
            t.thread_object
            for t in reversed(run.threads)
            if isinstance(t.thread_object, Thread) and t.thread_object._ident == ident
        ]
        if not found:
            raise KeyError(ident)
        return found[0]


def _newname(name_template: str) -> str:
    return name_template % numbering.next("Thread", 1)


def __getattr__(name: str) -> Any:
    """Return what is taken from CPython's file; it is made when it is first asked for."""
    if name in from_threading.FOUND and hasattr(threading, name):
        return getattr(from_threading.copy(), name)
    if name == "_PyRLock":
        return from_threading.copy()._RLock
    if name == "_dangling":
        return set(enumerate())
    if name == "_active":
        return {thread.ident: thread for thread in enumerate()}
    raise AttributeError(f"module 'threading' has no attribute {name!r}")


THREAD = DropInModule("_thread", "Drop-in for `_thread`.")

_OF_THREADING: dict[str, Any] = {
    "Lock": Lock,
    "RLock": RLock,
    "Condition": Condition,
    "Semaphore": Semaphore,
    "BoundedSemaphore": BoundedSemaphore,
    "Event": Event,
    "Thread": Thread,
    "_MainThread": threads._MainThread,
    "_DummyThread": threads._DummyThread,
    "local": local,
    "_CRLock": RLockType,
    "ThreadError": RuntimeError,
    "TIMEOUT_MAX": _thread.TIMEOUT_MAX,
    "get_ident": seen_ident,
    "get_native_id": seen_ident,
    "current_thread": threads.seen_thread,
    "currentThread": threads.currentThread,
    "main_thread": threads.main_thread,
    "active_count": active_count,
    "activeCount": activeCount,
    "enumerate": enumerate,
    "settrace": settrace,
    "settrace_all_threads": settrace,
    "gettrace": gettrace,
    "setprofile": setprofile,
    "setprofile_all_threads": setprofile,
    "getprofile": getprofile,
    "stack_size": stack_size,
    "excepthook": threads.excepthook,
    "__excepthook__": threads.excepthook,
    "ExceptHookArgs": threads.ExceptHookArgs,
    "_register_atexit": _register_atexit,
    "_newname": _newname,
    "_allocate_lock": Lock,
    "_start_new_thread": start_new_thread,
}

_OF_THREAD: dict[str, Any] = {
    "allocate_lock": Lock,
    "allocate": Lock,
    "lock": Lock,
    "LockType": Lock,
    "RLock": RLockType,
    "_local": local,
    "error": RuntimeError,
    "TIMEOUT_MAX": _thread.TIMEOUT_MAX,
    "start_new_thread": start_new_thread,
    "start_new": start_new_thread,
    "start_joinable_thread": start_joinable_thread,
    "exit": exit,
    "exit_thread": exit,
    "get_ident": seen_ident,
    "get_native_id": seen_ident,
    "interrupt_main": refusing("_thread.interrupt_main", "raise the exception in the thread that it is meant for"),
    "stack_size": stack_size,
    "daemon_threads_allowed": lambda: True,
    "_count": _count,
    "_excepthook": threads.excepthook,
    "_ExceptHookArgs": threads.ExceptHookArgs,
    "_set_sentinel": _set_sentinel,
    "_ThreadHandle": ThreadHandle,
    "_make_thread_handle": _make_thread_handle,
    "_get_main_thread_ident": _get_main_thread_ident,
    "_is_main_interpreter": lambda: True,
    "set_name": lambda name: None,
    "_get_name": lambda: run.current.thread_object.name,
    "_NAME_MAXLEN": getattr(_thread, "_NAME_MAXLEN", None),
    "_shutdown": lambda: None,
}


def _assemble() -> None:
    offered = {name: value for name, value in _OF_THREADING.items() if hasattr(threading, name)}
    vars(THREADING).update(offered, __all__=list(threading.__all__), __getattr__=__getattr__)
    vars(THREAD).update({name: value for name, value in _OF_THREAD.items() if hasattr(_thread, name)})
    THREADING.settle()
    THREAD.settle()
    from_threading.surround_with(
        {
            "Condition": Condition,
            "Thread": Thread,
            "Event": Event,
            "Lock": Lock,
            "RLock": RLock,
            "get_ident": seen_ident,
            "_active": _Active(),
            "_allocate_lock": Lock,
            "_deque": deque,
            "_time": monotonic,
        }
    )


_assemble()


def begin_run() -> None:
    """Reset before each run, in its main thread."""
    listing.begin_run()
    run.current.thread_object = library.main = threads._MainThread()
