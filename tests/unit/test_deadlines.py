"""Loops until a deadline, under virtual time: they end, and what fails only because time passed is marked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

import dpor

BOTH = pytest.mark.parametrize("timeouts", ["any", "idle"])


def no_operation() -> None:
    def work() -> None:
        end = time.time() + 60
        while time.time() < end:
            pass

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()


def alone() -> None:
    end = time.monotonic() + 3600
    while time.monotonic() < end:
        pass


@BOTH
@pytest.mark.parametrize("program", [no_operation, alone])
def test_a_loop_that_only_looks_at_the_clock_ends(program: Callable[[], None], timeouts: str) -> None:
    assert dpor.check(program, timeouts=timeouts).verdict == "pass"


def polling(sleep: Callable[[], None]) -> str:
    done = []
    worker = threading.Thread(target=lambda: done.append(1))
    worker.start()
    end = time.monotonic() + 1
    while time.monotonic() < end:
        if done:
            break
        sleep()
    else:
        raise TimeoutError("too late")
    worker.join()
    return "in time"


def spinning() -> None:
    polling(lambda: None)


def sleeping() -> None:
    polling(lambda: time.sleep(0.5))


@pytest.mark.parametrize("program", [spinning, sleeping])
def test_a_deadline_may_pass_before_others_have_moved(program: Callable[[], None]) -> None:
    report = dpor.check(program)
    (failure,) = report.findings
    assert failure.message == "TimeoutError: too late"
    assert failure.needs_timeout
    assert failure.saved is not None
    assert dpor.replay(failure.saved).needs_timeout


@pytest.mark.parametrize("program", [spinning, sleeping])
def test_time_passes_only_when_nothing_moves_if_asked_for(program: Callable[[], None]) -> None:
    assert dpor.check(program, timeouts="idle").verdict == "pass"


def test_a_search_that_stores_states_tells_that_it_does_not_try_it() -> None:
    report = dpor.check(spinning, strategy="dpor")
    assert report.verdict == "inconclusive"
    assert "looks at the clock" in report.reasons[0]


def test_a_failure_that_does_not_depend_on_time_is_not_marked() -> None:
    def program() -> None:
        hits, took = [0], []

        def work() -> None:
            begun = time.time()
            time.sleep(1)
            took.append(time.time() - begun)
            seen = hits[0]
            hits[0] = seen + 1

        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert hits[0] == 2

    (failure,) = dpor.check(program).findings
    assert not failure.needs_timeout


@pytest.mark.parametrize("timeouts", ["any", "idle"])
def test_a_timer_that_fires_is_no_slow_machine(timeouts: str) -> None:
    def program() -> None:
        fired: list[int] = []
        timer = threading.Timer(0.01, fired.append, args=(1,))
        timer.start()
        timer.join()
        assert not fired

    (failure,) = dpor.check(program, timeouts=timeouts).findings
    assert not failure.needs_timeout


def test_a_timer_that_fires_before_it_is_cancelled_is_one() -> None:
    def program() -> None:
        fired: list[int] = []
        timer = threading.Timer(5, fired.append, args=(1,))
        timer.start()
        timer.cancel()
        assert not fired

    (failure,) = dpor.check(program).findings
    assert failure.needs_timeout


def test_a_thread_is_told_by_the_name_that_it_has_then() -> None:
    def program() -> None:
        def work() -> None:
            threading.current_thread().name = "renamed"
            raise ValueError("x")

        worker = threading.Thread(target=work, name="first")
        worker.start()
        worker.join()

    (failure,) = dpor.check(program).findings
    assert failure.thread == "renamed"


def test_the_main_thread_too() -> None:
    def program() -> None:
        threading.main_thread().name = "renamed"
        raise ValueError("x")

    (failure,) = dpor.check(program).findings
    assert failure.thread == "renamed"
