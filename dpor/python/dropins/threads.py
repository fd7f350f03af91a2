"""`Thread`, and functions that return threads. A start, a join and an end are one step each.

The end of a thread is one step. CPython removes the thread from `enumerate()` first and lets `is_alive()` return False
a little later; that a thread is alive and not listed is never shown here.
"""

from __future__ import annotations

import _thread
import contextvars
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from dpor.primitives.threads import ENDED, NEW, RUNNING, End, JoinStarted, JoinStartedOrTimeout, Start, Status
from dpor.python.dropins import from_threading, listing
from dpor.python.dropins.idents import (
    choose_ident,
    get_ident,
    ident_of,
    ident_shown_by,
    look_at_thread,
    note_child,
    numbering,
)
from dpor.python.dropins.presentation import presented_as
from dpor.python.dropins.state import THREADING, library
from dpor.python.dropins.timeouts import duration
from dpor.python.hooks import attributes, failures
from dpor.python.hooks.calls import call
from dpor.python.kernel import assumptions, timing
from dpor.python.kernel.model_thread import ModelThread, UnwindThread
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import divided
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.threads import spawn, thread_of

_START, _END, _JOIN, _JOIN_OR_TIMEOUT, _STATUS = Start(), End(), JoinStarted(), JoinStartedOrTimeout(), Status()

ExceptHookArgs: Any = _thread._ExceptHookArgs


def unjoined() -> Iterable[Any]:
    """See `unjoined_threads` of `dpor.python.kernel.above.Above`."""
    return library.unjoined.values()


class Startable(SyncObject):
    """What `Start`, `Join` and `End` work on: a `Thread`, or the handle of a thread that `_thread` started."""

    _ident: int | None
    _daemonic: bool
    dpor_may_reuse = False

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = NEW
        self._ident = None

    def dpor_launch(self, body: Callable[[], None]) -> bool:
        """Start a model thread that runs `body` and then ends. Return False if it was started before."""
        if run.atomic:
            with divided("a thread was started"):
                return self.dpor_begin(body)
        return self.dpor_begin(body)

    def dpor_begin(self, body: Callable[[], None]) -> bool:
        choose_ident(self)
        listing.enter(self)
        if perform(_START, self) is False:
            return False
        library.starters[id(self)] = run.current
        library.unjoined[id(self)] = self
        library.launching = self
        spawn(self, partial(self._bootstrap, body))
        note_child(thread_of(self))
        return True

    def _bootstrap(self, body: Callable[[], None]) -> None:
        library.launching = None
        if self._ident is None:
            object.__setattr__(self, "_ident", get_ident())  # bypasses a `__setattr__` of the program
        body()
        listing.strike_out(self)
        run.current.data.clear()
        perform(_END, self)

    def dpor_await_end(self, timeout: float | None) -> Any:
        """Wait for the end. Return True; NEW if the thread was never started; False if the timeout came first."""
        seconds = None if timeout is None else duration(timeout)
        if seconds is None:
            status = perform(_JOIN, self)
        elif seconds == 0:
            status = timing.perform_now(_JOIN_OR_TIMEOUT, self)
        else:
            status = timing.perform_timed(_JOIN, _JOIN_OR_TIMEOUT, seconds, self)
        if status is True and run.current is not None and run.current.id == 0:
            library.unjoined.pop(id(self), None)
        return status

    def dpor_status(self) -> Any:
        return perform(_STATUS, self)


OUTERMOST: Final = Startable._bootstrap.__code__
"""The code of the outermost frame of a started thread."""
INHERITS: Final = bool(getattr(sys.flags, "thread_inherit_context", False))
"""Does a thread begin in a copy of the context of the one that starts it? From 3.14 on, if asked for."""

_RACED = ("started by several",)
"""The fact that threads which did not make it compete for the start of a thread: then a start is two steps."""


@presented_as("threading")
class Thread(Startable):
    _initialized = False
    dpor_context: Any = None
    """None for a new one, in which each model thread begins."""

    def __init__(
        self,
        group: None = None,
        target: Callable[..., Any] | None = None,
        name: str | None = None,
        args: Iterable[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        daemon: bool | None = None,
        context: Any = None,
    ) -> None:
        if context is not None and sys.version_info < (3, 14):
            raise TypeError("Thread.__init__() got an unexpected keyword argument 'context'")
        assert group is None, "group argument must be None for now"
        super().__init__()
        self._target = target
        self._args = args
        self._kwargs = {} if kwargs is None else kwargs
        self._name = str(name) if name else _new_name(target)
        self._daemonic = run.current is not None and run.current.daemon if daemon is None else daemon
        if context is not None:
            self.dpor_context = context
        self._initialized = True

    def start(self) -> None:
        if not self._initialized:
            raise RuntimeError("thread.__init__() not called")
        raced = _RACED in run.facts
        if raced and self.dpor_status() is not NEW:
            raise RuntimeError("threads can only be started once")
        if INHERITS and self.dpor_context is None:
            self.dpor_context = contextvars.copy_context()
        if not self.dpor_launch(self.dpor_run_and_report):
            if raced:
                self.dpor_start_again()
                return
            if library.starters.get(id(self)) is not run.current:
                assumptions.broken(_RACED, "several threads start one thread: a start is two steps")
            raise RuntimeError("threads can only be started once")

    def dpor_start_again(self) -> None:
        """Called when another thread has started it after this one saw that it was not started. The thread then runs
        twice (or ends with the `KeyError` below before it runs); newer versions notice that, and raise the
        `KeyError`."""
        if sys.version_info >= (3, 13):
            raise KeyError(self)
        _Again(self).dpor_launch(self.dpor_run_and_report)

    def run(self) -> None:
        raced = _RACED in run.facts  # else nobody runs it at the same time
        try:
            if (attributes.attr(self, "_target") if raced else self)._target is not None:
                target = call(self._target)
                if type(self._args) is tuple and not self._kwargs:
                    target(*self._args)
                else:
                    from_threading.call_target(target, self._args, self._kwargs)
        finally:
            if raced:
                attributes.yield_before_write(self, "_target", goes=True)
            del self._target, self._args, self._kwargs

    def dpor_run_and_report(self) -> None:
        try:
            if self.dpor_context is None:
                self.run()
            else:
                from_threading.run_in(self.dpor_context, self.run)
        except UnwindThread:
            raise
        except BaseException as error:
            report(error, self)

    def join(self, timeout: float | None = None) -> None:
        if not self._initialized:
            raise RuntimeError("Thread.__init__() not called")
        if run.current is not None and run.current.thread_object is self:
            raise RuntimeError("cannot join current thread")
        if self.dpor_await_end(timeout) is NEW:
            raise RuntimeError("cannot join thread before it is started")

    def is_alive(self) -> bool:
        assert self._initialized, "Thread.__init__() not called"
        return self.dpor_status() is RUNNING

    @property
    def name(self) -> str:
        assert self._initialized, "Thread.__init__() not called"
        if library.launching is not self:  # else the scheduler asks, not the program
            attributes.attr(self, "_name")
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        assert self._initialized, "Thread.__init__() not called"
        attributes.setattr_(str(name), self, "_name")
        running = self.dpor_running()
        if running is not None:
            running.name = self._name

    def dpor_running(self) -> ModelThread | None:
        """Return the model thread that reports name, once it is started."""
        return thread_of(self)

    @property
    def daemon(self) -> bool:
        assert self._initialized, "Thread.__init__() not called"
        return self._daemonic  # no operation: only the maker of the thread can set it, before the start

    @daemon.setter
    def daemon(self, daemonic: bool) -> None:
        if not self._initialized:
            raise RuntimeError("Thread.__init__() not called")
        if self.dpor_status() is not NEW:
            raise RuntimeError("cannot set daemon status of active thread")
        self._daemonic = daemonic

    @property
    def ident(self) -> int | None:
        assert self._initialized, "Thread.__init__() not called"
        known = run.current.thread_object is self or self.dpor_status() is not NEW
        return ident_shown_by(self) if known else None

    @property
    def native_id(self) -> int | None:
        return self.ident

    @property
    def _started(self) -> _Started:
        return _Started(self)

    if sys.version_info < (3, 13):

        @property
        def _is_stopped(self) -> bool:
            return self.dpor_status() is ENDED

    def __repr__(self) -> str:
        assert self._initialized, "Thread.__init__() was not called"
        known = self.dpor_status()
        status = "initial" if known is NEW else "stopped" if known is ENDED else "started"
        daemon = " daemon" if self._daemonic else ""
        ident = "" if known is NEW else f" {ident_shown_by(self)}"
        return f"<{type(self).__name__}({self._name}, {status}{daemon}{ident})>"

    def isDaemon(self) -> bool:
        _deprecated("isDaemon() is deprecated, get the daemon attribute instead")
        return self.daemon

    def setDaemon(self, daemonic: bool) -> None:
        _deprecated("setDaemon() is deprecated, set the daemon attribute instead")
        self.daemon = daemonic

    def getName(self) -> str:
        _deprecated("getName() is deprecated, get the name attribute instead")
        return self.name

    def setName(self, name: str) -> None:
        _deprecated("setName() is deprecated, set the name attribute instead")
        self.name = name


class _Again(Startable):
    """A second model thread that runs the same `Thread` object."""

    def __init__(self, thread: Thread) -> None:
        super().__init__()
        self.name, self.daemon, self._thread = thread._name, thread._daemonic, thread

    def _bootstrap(self, body: Callable[[], None]) -> None:
        run.current.thread_object = self._thread
        super()._bootstrap(body)


class _Started:
    """`thread._started`, whose `is_set` programs call."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread

    def is_set(self) -> bool:
        return self._thread.dpor_status() is not NEW


@presented_as("threading")
class _MainThread(Thread):
    def __init__(self) -> None:
        super().__init__(name="MainThread", daemon=False)
        self.dpor_state = RUNNING
        self._ident = ident_of(0)

    def dpor_running(self) -> ModelThread:
        return run.threads[0]


@presented_as("threading")
class _DummyThread(Thread):
    """What `current_thread()` returns in a thread that `_thread` started; `_handle` is that thread."""

    def __init__(self, handle: Startable) -> None:
        super().__init__(name=f"Dummy-{numbering.next('Thread', 1)}", daemon=True)
        self._ident = get_ident()
        self._handle = handle

    def dpor_running(self) -> ModelThread | None:
        return thread_of(self._handle)

    def dpor_status(self) -> Any:
        return self._handle.dpor_status()

    def join(self, timeout: float | None = None) -> None:
        raise RuntimeError("cannot join a dummy thread")


DummyThread = _DummyThread
"""The class under a name for the rest of dpor; its own name is that of the standard library."""


def _new_name(target: Any) -> str:
    name = f"Thread-{numbering.next('Thread', 1)}"
    return f"{name} ({target.__name__})" if hasattr(target, "__name__") else name


def _deprecated(message: str) -> None:
    warnings.warn(message, DeprecationWarning, stacklevel=3)


def report(error: BaseException, thread: Any) -> None:
    """Note an exception that has ended a thread's body as a finding, unless a hook of the program's own handles it."""
    hook = attributes.loaded(THREADING, "excepthook").excepthook
    if hook is None or hook is excepthook:
        if not isinstance(error, SystemExit):
            failures.report(error)
        return
    data = run.current.data
    data[_FAILED] = error
    try:
        call(hook)(ExceptHookArgs([type(error), error, error.__traceback__, thread]))
    except UnwindThread:
        raise
    except BaseException as second:
        failures.report(second)
    finally:
        data.pop(_FAILED, None)


_FAILED = "failed"
"""Key in the thread's data: the exception that has ended it, while a hook of the program's own runs."""


def excepthook(args: Any, /) -> None:
    """Like `threading.excepthook`. Only the program calls it; a hook of its own may pass on its argument."""
    failed: Any = run.current.data.get(_FAILED)
    if failed is not None and not isinstance(failed, SystemExit) and failed is getattr(args, "exc_value", None):
        failures.report(args.exc_value)
    if isinstance(args, ExceptHookArgs) and args.thread is None:
        args = ExceptHookArgs([*args[:3], SimpleNamespace(name=str(get_ident()))])  # not the real thread
    _thread._excepthook(args)


def seen_thread() -> Thread:
    """The program's `threading.current_thread`."""
    look_at_thread()
    return current_thread()


def current_thread() -> Thread:
    """What `threading.current_thread` returns, for drop-ins."""
    here = run.current
    if here is None:  # a finaliser, between two runs
        return main_thread()
    thread_object = here.thread_object
    if isinstance(thread_object, Thread):
        return thread_object
    if here.id == 0:
        return main_thread()
    dummy = here.data.get(_DummyThread)
    if dummy is None:
        dummy = here.data[_DummyThread] = _DummyThread(thread_object)
    return dummy


def main_thread() -> Thread:
    if library.main is None:
        library.main = _MainThread()
    return library.main  # type: ignore[no-any-return]


def currentThread() -> Thread:
    _deprecated("currentThread() is deprecated, use current_thread() instead")
    return seen_thread()
