"""The event loops of `asyncio`, whose code is the host's and runs as it is.

A loop of the program is a primitive: callbacks are added by its own thread or by `call_soon_threadsafe`, each by an
operation, and it waits for them by one. All else of a loop belongs to its thread, as `asyncio` demands. Its executors
are those of the program.

Each OS thread has one running loop, and one running task; model threads share an OS thread, so each gets its own when
it is switched to. The steps of tasks of one loop come in the order in which they become ready. When timers run out is a
choice: a loop may be late, so that more of them have.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from greenlet import gettrace, greenlet, settrace

from dpor.core.operations import Rule
from dpor.primitives.event_loops import AwaitWaking, AwaitWakingOrTimeout, CallSoon, CloseLoop, LookForCalls, Wake
from dpor.primitives.rules import Look
from dpor.python.dropins.descriptors import descriptor_of
from dpor.python.dropins.state import library
from dpor.python.dropins.time import BOOT, monotonic
from dpor.python.dropins.timeouts import on_grid
from dpor.python.kernel import assumptions, timing
from dpor.python.kernel.data_choices import choose
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.unmodelled import refuse


class _Suspended:
    """The loops, and tasks, of the greenlets that are not running now. Empty between runs."""

    __slots__ = ("loops",)

    def __init__(self) -> None:
        self.loops: dict[greenlet, tuple[Any, Any]] = {}


_suspended: Final = run.attach(_Suspended)


class Apart:
    """Context in which a program runs. Meanwhile the host's own loop is suspended.

    imported   True if the program imported `asyncio` in an earlier run. Otherwise switches are not traced: a trace
               function costs a call at each, for which there is no room if a program recurses to the limit
    """

    def __init__(self, imported: bool, drop_in_for: Callable[[str], Any]) -> None:
        self._imported, self._drop_in_for = imported, drop_in_for

    def __enter__(self) -> None:
        self._before = gettrace()
        self._asyncio = asyncio = sys.modules.get("_asyncio")  # in C: never one of the program's modules
        self._outside = _NONE if asyncio is None else _take(asyncio)
        if self._imported:
            watch_asyncio(self._drop_in_for)

    def __exit__(self, *_: object) -> None:
        _watched.clear()
        settrace(self._before)
        _suspended.loops.clear()
        if self._asyncio is not None:
            _take(self._asyncio)
            _give(self._asyncio, self._outside)


def watch_asyncio(drop_in_for: Callable[[str], Any]) -> None:
    """Called when the program imports `asyncio`. `drop_in_for` gives the program's module of a name."""
    import asyncio  # noqa: F401 (which loads `_asyncio`: loaded before, there are two, each with tasks of its own)

    settrace(_switching(sys.modules["_asyncio"]))
    _watched.watch(drop_in_for)


def _is_of_program() -> bool:
    return run.current is not None and get_ident() == run.os_thread


class _Watched:
    """The attributes of `asyncio` that are replaced while a program runs."""

    def __init__(self) -> None:
        self._first: list[tuple[Any, str, Any]] = []

    def watch(self, drop_in_for: Callable[[str], Any]) -> None:
        """drop_in_for   gives the program's module of a name"""
        if self._first:
            return
        from asyncio import base_events, events, futures, selector_events, tasks

        loops, selecting = base_events.BaseEventLoop, selector_events.BaseSelectorEventLoop
        for owner, name, change in (
            (loops, "call_at", _noting_site),
            (loops, "_call_soon", _calling),
            *(((events, _HANDLE, _handling),) if hasattr(events, _HANDLE) else ()),
            (events.Handle, "cancel", _cancelling),
            (selecting, "_write_to_self", _first(_WAKE, "waking")),
            (loops, "_run_once", _looking),
            (loops, "call_soon_threadsafe", _first(_IS_CLOSED, "end")),
            (loops, "close", _first(_CLOSE, "end")),
            (loops, "time", _telling_time),
            (loops, "run_forever", _running_out),
            (selecting, "__init__", _making),
            (selecting, "_process_events", _late),
        ):
            self._replace(owner, name, change(vars(owner)[name]))
        self._replace(base_events, "threading", _Later(drop_in_for, "threading"))
        for module in (base_events, futures, tasks):
            self._replace(module, "concurrent", _Later(drop_in_for, "concurrent"))

    def _replace(self, owner: Any, name: str, ours: Any) -> None:
        self._first.append((owner, name, vars(owner)[name]))
        setattr(owner, name, ours)

    def clear(self) -> None:
        for owner, name, first in self._first:
            setattr(owner, name, first)
        self._first.clear()


_watched: Final = _Watched()


class _Later:
    """Stands for a module of the program's that is made when it is needed. Host's threads get the real one."""

    def __init__(self, drop_in_for: Callable[[str], Any], name: str) -> None:
        self._made, self._name = drop_in_for, name

    def __getattr__(self, name: str) -> Any:
        if _is_of_program():
            return getattr(self._made(self._name), name)
        return getattr(sys.modules[self._name], name)


# ---------------------------------------------------------------------- what loops of the program do


class _Flag(SyncObject):
    """Has an event loop been woken? Is it closed?"""

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = False


class _EventLoop(SyncObject):
    """The callbacks that are ready in an event loop.

    waking    has it been woken?
    end       is it closed?
    thread    the number of the thread in which it runs, or ran
    own       has that added some since the last round?
    looked    has it looked since it has run a callback that another thread had added?
    others    handles of those that other threads have added
    stopped   has it stopped?
    site      the call in the program that has made the timer for which the loop waits
    """

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = None
        self.waking, self.end = _Flag(), _Flag()
        self.thread = -1
        self.own = self.looked = self.stopped = False
        self.others: list[Any] = []
        self.site: timing.Site | None = None

    def look(self) -> None:
        with suppress(UnwindThread):  # see `_running_out`
            perform(_LOOK, self)


_LATE: Final = "callbacks come late"
"""The fact that callbacks are added by other threads when the loop may have stopped. Else it makes no difference in
which round they are run, as they are run in the order in which they are added."""

_CALL_SOON, _WAKE, _LOOK, _CLOSE, _IS_CLOSED = CallSoon(), Wake(), LookForCalls(), CloseLoop(), Look()
_AWAIT, _AWAIT_OR_TIMEOUT = AwaitWaking(), AwaitWakingOrTimeout()


class _Selector:
    """What a loop waits with. Others wake it by `call_soon_threadsafe`; what else it waits for is the outside world."""

    def __init__(self, calls: _EventLoop, real: Any) -> None:
        self._calls, self._real = calls, real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def register(self, fileobj: Any, events: int, data: Any = None) -> Any:
        number = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        if descriptor_of(number) is not None:
            refuse(
                "that an event loop waits for a pipe or a pair of sockets",
                "let a thread wait for it, and call loop.call_soon_threadsafe",
            )
        return self._real.register(fileobj, events, data)

    def select(self, timeout: float | None = None) -> Any:
        if not _is_of_program() or len(self._real.get_map()) > 1:
            return self._real.select(timeout)
        if run.unwinding and timeout != 0:
            raise UnwindThread
        if timeout != 0:
            self._calls.looked = False
        if timeout is None:
            perform(_AWAIT, self._calls.waking)
        elif timeout > 0:
            if run.multi:
                timing.perform_timed(
                    _AWAIT, _AWAIT_OR_TIMEOUT, on_grid(timeout), self._calls.waking, site=self._calls.site
                )
            else:
                timing.sleep(on_grid(timeout))
        return self._real.select(0)


def _making(init: Callable[..., None]) -> Callable[..., None]:
    def __init__(loop: Any, *args: Any) -> None:
        init(loop, *args)
        if _is_of_program():
            loop.dpor_calls = _EventLoop()
            loop._selector = _Selector(loop.dpor_calls, loop._selector)

    return __init__


def _running_out(run_forever: Callable[[Any], None]) -> Callable[[Any], None]:
    """A thread that is unwound lets its loop go on until that waits, or ends: else tasks would be left half-way in code
    of C, and coroutines never be begun."""

    def running(loop: Any) -> None:
        calls = _calls_of(loop)
        if calls is not None:
            calls.thread, calls.stopped = run.current.id, False
        run_forever(loop)
        if calls is not None:
            if run.unwinding:
                raise UnwindThread
            calls.look()
            calls.stopped = True
            if any(handle in loop._ready for handle in calls.others):
                _note_late()
            calls.others.clear()

    return running


def _calls_of(loop: Any) -> _EventLoop | None:
    """What is known of a loop of the program; None of others."""
    return getattr(loop, "dpor_calls", None) if _is_of_program() else None


def _note_late() -> None:
    assumptions.used_by_several(_LATE, "a loop that may have stopped, to which callbacks are added,")


def _calling(call_soon: Callable[..., Any]) -> Callable[..., Any]:
    def _call_soon(loop: Any, callback: Any, *args: Any) -> Any:
        calls = _calls_of(loop)
        if calls is None:
            return call_soon(loop, callback, *args)
        with suppress(UnwindThread):
            perform(_CALL_SOON, calls)
        if run.current.id == calls.thread:
            calls.own = True
            return call_soon(loop, callback, *args)
        if calls.stopped:
            _note_late()
        handle = call_soon(loop, _of_another(calls, callback), *args)
        calls.others.append(handle)
        return handle

    return _call_soon


_HANDLE: Final = "_ThreadSafeHandle"
"""From 3.14 on, `call_soon_threadsafe` makes such a handle and adds it to those that are ready."""


def _handling(kind: Callable[..., Any]) -> Callable[..., Any]:
    add = _calling(lambda loop, callback, args, context: kind(callback, args, loop, context))
    return lambda callback, args, loop, context=None: add(loop, callback, args, context)


def _cancelling(cancel: Callable[[Any], None]) -> Callable[[Any], None]:
    def cancelled(handle: Any) -> None:
        calls = _calls_of(handle._loop)
        if calls is not None and run.multi and run.current.id != calls.thread:
            incomplete(f"a thread other than the loop's cancels a {type(handle).__name__}: that is not tracked")
        cancel(handle)

    return cancelled


def _of_another(calls: _EventLoop, callback: Any) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        if not calls.looked:
            calls.look()
        calls.looked = False
        return callback(*args)

    return call


def _looking(run_once: Callable[[Any], None]) -> Callable[[Any], None]:
    def _run_once(loop: Any) -> None:
        calls = _calls_of(loop)
        if calls is not None:
            if not calls.own or _LATE in run.facts:
                calls.look()
                calls.looked = not calls.own
            calls.own = False
            calls.site = _site_of_next_timer(loop) if loop._scheduled else None
        run_once(loop)

    return _run_once


def _first(rule: Rule, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Before the method does its work, the operation is performed on that part of the loop."""

    def change(method: Callable[..., Any]) -> Callable[..., Any]:
        def act(loop: Any, *args: Any, **kwargs: Any) -> Any:
            calls = _calls_of(loop)
            if calls is not None:
                with suppress(UnwindThread):
                    perform(rule, getattr(calls, name))
            return method(loop, *args, **kwargs)

        return act

    return change


def _telling_time(time: Callable[[Any], float]) -> Callable[[Any], float]:
    return lambda loop: time(loop) if _calls_of(loop) is None else monotonic()


def _noting_site(call_at: Callable[..., Any]) -> Callable[..., Any]:
    """A wait for a timer counts as a wait of the call that has made the timer: see `--timeout-limit`."""

    def at(loop: Any, *args: Any, **kwargs: Any) -> Any:
        timer = call_at(loop, *args, **kwargs)
        if _is_of_program():
            library.timers[id(timer)] = timer, timing.site_of(run.current)
        return timer

    return at


def _site_of_next_timer(loop: Any) -> timing.Site | None:
    timers = [timer for timer in loop._scheduled if not timer._cancelled and id(timer) in library.timers]
    return library.timers[id(min(timers, key=lambda timer: timer._when))][1] if timers else None


def _late(process_events: Callable[..., None]) -> Callable[..., None]:
    """What a loop does before it looks which timers have run out. It may have taken long, so that more of them have."""

    def process(loop: Any, events: Any) -> None:
        if loop._scheduled and _calls_of(loop) is not None and run.options.timeouts == "any" and not run.unwinding:
            now = BOOT + timing.now()
            latest = now + run.options.max_delay
            later = sorted(
                {handle._when for handle in loop._scheduled if now < handle._when <= latest and not handle._cancelled}
            )
            chosen = choose(len(later) + 1) if later else 0
            if chosen:
                timing.advance_to(later[chosen - 1] - BOOT)
        process_events(loop, events)

    return process


def _switching(asyncio: Any) -> Callable[[str, Any], None]:
    get = asyncio._get_running_loop

    def switched(event: str, way: tuple[greenlet, greenlet]) -> None:
        left, entered = way
        if get() is not None:
            _suspended.loops[left] = _take(asyncio)
        if _suspended.loops:
            _give(asyncio, _suspended.loops.pop(entered, _NONE))

    return switched


_NONE: Final = (None, None)


def _take(asyncio: Any) -> tuple[Any, Any]:
    """Take the running loop from the OS thread, and, from 3.14 on, the task that it runs: loops kept these before."""
    loop = asyncio._get_running_loop()
    task = asyncio._swap_current_task(loop, None) if loop is not None and sys.version_info >= (3, 14) else None
    asyncio._set_running_loop(None)
    return loop, task


def _give(asyncio: Any, running: tuple[Any, Any]) -> None:
    loop, task = running
    asyncio._set_running_loop(loop)
    if task is not None:
        asyncio._swap_current_task(loop, task)
