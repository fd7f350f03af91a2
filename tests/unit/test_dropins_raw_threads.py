"""`_thread`."""

from __future__ import annotations

import _thread as real
import sys
from collections.abc import Callable
from typing import Any

import pytest

from dpor.core.errors import Unsupported
from dpor.core.system import Trace
from dpor.python.kernel.options import RuntimeOptions
from tests.under_control import FunctionSystem, once, outcomes, stdlib

_thread: Any = stdlib.module_for_program("_thread")
threading: Any = stdlib.module_for_program("threading")


def said(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def test_the_module_has_all_that_the_real_one_has() -> None:
    missing = {name for name in vars(real) if not hasattr(_thread, name)}
    assert missing <= {"__loader__", "__spec__", "__package__", "__doc__"}


def test_wrong_arguments_are_answered_as_by_the_real_one() -> None:
    def refused(module: Any) -> Any:
        return [
            said(lambda: module.start_new_thread(1, ())),
            said(lambda: module.start_new_thread(print, 1)),
            said(lambda: module.start_new_thread(print, (), 1)),
        ]

    assert once(lambda: refused(_thread)) == refused(real)


def test_a_thread_is_started_with_its_arguments() -> None:
    def program() -> Any:
        done, got = _thread.allocate_lock(), []

        def work(*args: Any, **kwargs: Any) -> None:
            got.append((args, kwargs, _thread.get_ident()))
            done.release()

        done.acquire()
        ident = _thread.start_new_thread(work, (1,), {"x": 2})
        done.acquire()
        return got[0][:2], got[0][2] == ident

    assert outcomes(program) == {(((1,), (("x", 2),)), True)}


def test_it_ends_by_exit_or_by_an_exception() -> None:
    def program(body: Callable[[], Any]) -> Any:
        done = threading.Semaphore(0)

        def work() -> None:
            try:
                body()
            finally:
                done.release()

        _thread.start_new_thread(work, ())
        done.acquire()
        return "done"

    assert outcomes(lambda: program(_thread.exit)) == {"done"}
    assert ("done", "Dummy: IndexError: pop from empty list") in outcomes(lambda: program([].pop))


def test_such_a_thread_has_a_dummy_thread_object() -> None:
    def program() -> Any:
        done, seen = threading.Semaphore(0), []

        def work() -> None:
            me = threading.current_thread()
            seen.extend([me is threading.current_thread(), me.name, me.daemon, me.is_alive(), said(me.join)])
            done.release()

        _thread.start_new_thread(work, ())
        done.acquire()
        return seen

    assert outcomes(program) == {(True, "Dummy-1", True, True, "RuntimeError: cannot join a dummy thread")}


def test_interrupting_the_main_thread_ends_the_check() -> None:
    def program() -> None:
        try:
            _thread.interrupt_main()
        except Exception:
            print("not caught by the program")

    system = FunctionSystem(program, RuntimeOptions(), set())
    with pytest.raises(Unsupported, match=r"_thread\.interrupt_main is not modelled: raise the exception"):
        system.run(Trace(), lambda enabled: 0)


@pytest.mark.skipif(sys.version_info < (3, 13), reason="new in 3.13")
def test_a_joinable_thread_can_be_joined() -> None:
    def program() -> Any:
        done: list[int] = []
        handle = _thread.start_joinable_thread(lambda: done.append(1), daemon=False)
        handle.join()
        return done, handle.is_done(), handle.ident, said(lambda: _thread._ThreadHandle().join())

    assert outcomes(program) == {((1,), True, 2, "RuntimeError: thread not started")}
