"""`time`: virtual."""

from __future__ import annotations

import time as real
from typing import Any

import pytest

from dpor.python.dropins.timeouts import on_grid
from tests.under_control import once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")
time: Any = stdlib.module_for_program("time")


def test_clocks_stand_still_until_the_thread_sleeps() -> None:
    def program() -> Any:
        first = time.time(), time.monotonic(), time.perf_counter(), time.monotonic_ns(), time.time_ns()
        time.sleep(1.5)
        second = time.time(), time.monotonic(), time.perf_counter(), time.monotonic_ns(), time.time_ns()
        return [b - a for a, b in zip(first, second, strict=True)]

    assert once(program) == [1.5, 1.5, 1.5, 1_500_000_000, 1_500_000_000]


def test_they_are_the_same_in_every_run() -> None:
    assert once(time.time) == once(time.time) == 1_700_000_000.0
    assert once(lambda: time.strftime("%Y-%m-%d", time.gmtime())) == "2023-11-14"
    assert once(lambda: time.localtime()[:5]) == real.localtime(1_700_000_000)[:5]
    assert once(time.ctime) == real.ctime(1_700_000_000)
    assert once(lambda: time.clock_gettime(real.CLOCK_REALTIME)) == 1_700_000_000.0


def test_what_does_not_ask_for_the_present_is_the_real_function() -> None:
    assert time.mktime is real.mktime
    assert time.struct_time is real.struct_time
    assert set(dir(real)) - set(dir(time)) == set()


@pytest.mark.parametrize("seconds", [-1, "x", None, float("nan")])
def test_a_wrong_sleep_is_an_error_of_the_real_kind(seconds: Any) -> None:
    def program() -> Any:
        with pytest.raises((TypeError, ValueError)) as error:
            time.sleep(seconds)
        return type(error.value)

    with pytest.raises((TypeError, ValueError)) as expected:
        real.sleep(seconds)
    assert once(program) is type(expected.value)


def test_after_a_timeout_the_deadline_has_come() -> None:
    """No rounding error may leave a remainder, or the wait of a loop would be timed once more."""

    def program(timeout: float, slept: float) -> Any:
        time.sleep(slept)
        deadline = time.monotonic() + timeout
        waits = 0
        while time.monotonic() < deadline:
            threading.Event().wait(deadline - time.monotonic())
            waits += 1
        return waits

    for timeout in (0.1, 1e-9, 0.3333, 7.1, 100.1, 12345.6789):
        for slept in (0, 0.1, 3.7):
            assert once(lambda: program(timeout, slept)) == 1


def test_the_grid_is_never_short() -> None:
    assert on_grid(1) == 1
    assert 0.1 <= on_grid(0.1) < 0.1 + 2e-6


def test_a_thread_knows_the_time_of_what_it_waited_for() -> None:
    def program() -> Any:
        worker = threading.Thread(target=lambda: time.sleep(3))
        worker.start()
        before = time.monotonic()
        worker.join()
        return time.monotonic() - before

    assert outcomes(program) == {3.0}


def test_a_daemon_thread_sleeps_until_nothing_else_can_move() -> None:
    def program() -> Any:
        sleeper = threading.Thread(target=time.sleep, args=(1,), daemon=True)
        sleeper.start()
        sleeper.join()
        return time.time()

    assert outcomes(program, timeouts="idle") == {1_700_000_001.0}


def test_a_clock_knows_of_the_sleeps_of_all_that_happened_before() -> None:
    def program() -> Any:
        seen: list[float] = []

        def sleep(seconds: float) -> None:
            for _ in range(3):
                time.sleep(seconds)
                seen.append(time.monotonic() - 1000.0)

        sleepers = [threading.Thread(target=sleep, args=(seconds,)) for seconds in (1, 2)]
        for sleeper in sleepers:
            sleeper.start()
            sleeper.join()
        return [*seen, time.monotonic() - 1000.0]

    assert outcomes(program) == {(1, 2, 3, 5, 7, 9, 9)}
