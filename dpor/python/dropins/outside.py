"""Refuses with a clear message what would leave the one process, or the one OS thread, in which a program is checked.

The program's own `os` and `signal` refuse by themselves. Other code has the real modules; while a program
runs, these tell real threads and forks that it starts from the host's own (`watched`).

Files, subprocesses that are waited for and the rest of the operating system are left alone: they are the outside world,
which is assumed to answer equally in every run (if it does not, the run is `NotDeterministic`).
"""

from __future__ import annotations

import _thread
import os
import signal as real_signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, Final

from dpor.core.operations import READ, WRITE
from dpor.python.dropins.patches import Patches
from dpor.python.hooks.calls.process import SIGNALS, yield_before_effects
from dpor.python.kernel import opaque_code
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.library import MODELLED
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.run import run
from dpor.python.kernel.unmodelled import ONE_PROCESS, give_up, refuse, refusing

_STAYS: Final = "it would end the checker too; raise SystemExit or an exception instead"
_WAIT_FOR_OURS: Final = "wait in code of the program, or in a package that is instrumented"
_NO_WAITING: Final = "waiting for it would stop all threads; give the program a substitute"

OS: Final[dict[str, str]] = {
    **dict.fromkeys(("fork", "forkpty", "posix_spawn", "posix_spawnp"), ONE_PROCESS),
    **dict.fromkeys(("_exit", "abort"), _STAYS),
    **dict.fromkeys([name for name in dir(os) if name.startswith("exec") and name[-1] in "lvpe"], _STAYS),
    **dict.fromkeys(("openpty", "eventfd"), _NO_WAITING),
    **dict.fromkeys(("kill", "killpg"), "signals cannot be scheduled"),
    "reload_environ": "what C code has put into the environment is not under control; store it in os.environ",
}
"""Names of `os` that are refused, and the advice given for each."""


def refused_of(module: ModuleType, names: dict[str, str]) -> dict[str, Any]:
    """Return drop-ins for those of the names that the module has on this platform."""
    return {name: refusing(f"{module.__name__}.{name}", why) for name, why in names.items() if hasattr(module, name)}


# ---------------------------------------------------------------------- signal

_SIGNALS: Final = (
    "alarm", "setitimer", "pause", "sigwait", "sigwaitinfo", "sigtimedwait", "raise_signal", "pthread_kill",
    "set_wakeup_fd",
)  # fmt: skip


def signal_module() -> DropInModule:
    """The drop-in for `signal`: handlers may be installed, but no signal is delivered."""

    def handlers() -> dict[Any, Any]:
        found: dict[Any, Any] = run.threads[0].data.setdefault("signal handlers", {})
        return found

    def getsignal(signalnum: Any, /) -> Any:
        yield_before_effects("getsignal", [(SIGNALS, READ)])
        return handler_of(signalnum)

    def handler_of(signalnum: Any) -> Any:
        return handlers().get(int(signalnum), real_signal.getsignal(signalnum))

    def signal(signalnum: Any, handler: Any, /) -> Any:
        if run.current.id != 0:
            raise ValueError("signal only works in main thread of the main interpreter")
        if not callable(handler) and handler not in (real_signal.SIG_IGN, real_signal.SIG_DFL):
            raise TypeError("signal handler must be signal.SIG_IGN, signal.SIG_DFL, or a callable object")
        yield_before_effects("signal", [(SIGNALS, WRITE)], (handler,))
        before = handler_of(signalnum)
        handlers()[int(signalnum)] = handler
        return before

    names = dict.fromkeys(_SIGNALS, "signals cannot be scheduled")
    return shadow(real_signal, getsignal=getsignal, signal=signal, **refused_of(real_signal, names))


# ---------------------------------------------------------------------- what code of others does


def _is_watched() -> bool:
    return run.current is not None and _thread.get_ident() == run.os_thread


def _guard(real: Callable[..., Any], refusal: Callable[[], None]) -> Callable[..., Any]:
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if _is_watched():
            refusal()
        return real(*args, **kwargs)

    return guarded


class _Waiter:
    """The lock that `Condition.wait` makes and takes twice: the second time it waits, without the condition's lock."""

    def __init__(self) -> None:
        self._is_taken = False

    def acquire(self) -> None:
        if self._is_taken:
            _refuse_waiting(sys._getframe(1))
        self._is_taken = True


def _allocate_lock() -> Any:
    """The function of `threading`."""
    maker = sys._getframe(1)
    waits = maker.f_code is threading.Condition.wait.__code__ and maker.f_locals["timeout"] is None
    return _Waiter() if waits and _is_watched() else _thread.allocate_lock()


def _refuse_waiting(wait: FrameType) -> None:
    if run.unwinding:
        raise UnwindThread
    frame, _ = _caller(wait)
    module = _name_of(frame)
    opaque_code.demand(module, f"{module} waits for other threads", at_once=True)
    place = "" if frame is None else f" ({frame.f_code.co_filename}:{frame.f_lineno})"
    give_up(f"{module}{place} waits for a real condition, which no thread of the program can notify: {_WAIT_FOR_OURS}")


def _refuse_thread() -> None:
    frame, thread = _caller(sys._getframe(2))
    kind = type(thread)
    name = "a thread" if thread is None else f"a {kind.__module__}.{kind.__qualname__}"
    module = _name_of(frame)
    package = module.partition(".")[0]
    opaque_code.demand(package, f"{module} starts {name}", at_once=True)
    cure = _CURES.get(package, "start it with threading.Thread in code of the program")
    if package in run.options.trusted:
        cure = f"leave out --trust {package}, or {cure}"
    give_up(f"{module} starts {name}, a real thread that cannot be scheduled: {cure}")


def _caller(frame: FrameType | None) -> tuple[FrameType | None, Any]:
    """Return the frame that called what there are drop-ins for, and the object of `threading` that it called."""
    called: Any = None
    while frame is not None and _name_of(frame).partition(".")[0] in MODELLED:
        if _name_of(frame) == "threading":
            called = frame.f_locals.get("self", called)
        frame = frame.f_back
    return frame, called


def _name_of(frame: FrameType | None) -> str:
    return "?" if frame is None else str(frame.f_globals.get("__name__"))


_CURES: Final = {
    "multiprocessing": "use concurrent.futures.ThreadPoolExecutor, or threading.Thread",
    "asyncio": "start the threads with threading.Thread, or concurrent.futures.ThreadPoolExecutor",
}
"""Advice for packages that would not run if they were instrumented: they wait for pipes and sockets."""


watched: Final = Patches(
    [(vars(threading), "_allocate_lock", _allocate_lock)]
    + [
        (vars(module), name, _guard(vars(module)[name], refusal))
        for module, name, refusal in (
            (threading, "_start_new_thread", _refuse_thread),
            (threading, "_start_joinable_thread", _refuse_thread),
            (_thread, "start_new_thread", _refuse_thread),
            (_thread, "start_joinable_thread", _refuse_thread),
            (os, "fork", lambda: refuse("os.fork", ONE_PROCESS)),
        )
        if hasattr(module, name)
    ]
)
"""Active while the program runs: uninstrumented code may neither start a real thread, nor wait for one, nor fork."""
