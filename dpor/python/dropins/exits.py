"""`atexit`: registered functions run when the main thread's function has returned and the other threads have ended.

As in CPython, they run in the main thread, the last registered first, after it has waited for all non-daemon threads.
What a module registers when it is imported is registered in every run, whether or not the module is executed again.
"""

from __future__ import annotations

import atexit as real
import sys
from types import FrameType
from typing import Any, Final

from dpor.core.operations import WRITE
from dpor.python.dropins.state import Registered, library
from dpor.python.hooks import failures
from dpor.python.hooks.calls import call
from dpor.python.kernel import accessing, assumptions
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects


def module() -> DropInModule:
    return shadow(
        real,
        register=register,
        unregister=unregister,
        _clear=_clear,
        _ncallbacks=lambda: len(library.exit_calls),
        _run_exitfuncs=_run,
    )


def register(func: Any, /, *args: Any, **kwargs: Any) -> Any:
    if not callable(func):
        raise TypeError("the first argument must be callable")
    _yield_before_change()
    registered: Registered = (func, args, kwargs)
    shared_objects.publish(registered)
    library.exit_calls.append(registered)
    if _is_importing(sys._getframe(1)):
        library.exit_calls_of_imports.append(registered)
    return func


def unregister(func: Any, /) -> None:
    _yield_before_change()
    library.exit_calls[:] = [registered for registered in library.exit_calls if registered[0] != func]


def _clear() -> None:
    _yield_before_change()
    library.exit_calls.clear()


def _yield_before_change() -> None:
    """Yield before a function is registered: the order of registrations determines the order of calls."""
    if run.multi:
        accessing.touch("register", ((run.operations.location("atexit"), WRITE),))


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "<module>" and run.is_program_file(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


def register_early(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`threading._register_atexit`: the function is called before the main thread waits for the others."""
    if run.multi:
        if _BY_THREADS not in run.facts:
            assumptions.broken(
                _BY_THREADS, "a function to be called at the end is registered while several threads exist"
            )
        _touch_early()
    if library.shutting_down:
        raise RuntimeError("can't register atexit after shutdown")
    registered: Registered = (func, args, kwargs)
    shared_objects.publish(registered)
    library.atexit.append(registered)


_BY_THREADS: Final = "functions for the end are registered by threads"


def _touch_early() -> None:
    accessing.touch("register", ((run.operations.location("threading atexit"), WRITE),))


def before_waiting() -> None:
    """Called in the main thread when its function has returned. As in CPython, an exception ends all of this."""
    if run.multi and _BY_THREADS in run.facts:
        _touch_early()
    library.shutting_down = True
    try:
        for func, args, kwargs in reversed(library.atexit):
            call(func)(*args, **kwargs)
    except UnwindThread:
        raise
    except BaseException as error:
        failures.report(error)


def at_exit() -> None:
    """Called in the main thread afterwards."""
    if library.exit_calls:
        _wait_for_threads()
        _run()


def _wait_for_threads() -> None:
    while True:
        thread = next((thread for thread in library.unjoined.values() if not getattr(thread, "_daemonic", True)), None)
        if thread is None:
            return
        thread.dpor_await_end(None)
        library.unjoined.pop(id(thread), None)


def _run() -> None:
    """Run the registered functions. An exception ends the function that raises it, not those after it."""
    calls, library.exit_calls = library.exit_calls, []
    for func, args, kwargs in reversed(calls):
        try:
            call(func)(*args, **kwargs)
        except UnwindThread:
            raise
        except SystemExit:
            pass
        except BaseException as error:
            failures.report(error)
