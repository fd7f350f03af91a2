"""`Barrier` and `Timer`: CPython's own source on our primitives."""

from __future__ import annotations

import threading as real
from collections.abc import Callable
from typing import Any

import pytest

from tests.under_control import once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")


def arriving(barrier: Any, *others: Callable[[], Any], parties: int = 2, timeout: Any = None) -> Any:
    """What each of the parties gets, by position."""
    got: list[Any] = [None] * parties

    def arrive(position: int) -> None:
        try:
            got[position] = barrier.wait(timeout)
        except threading.BrokenBarrierError:
            got[position] = "broken"

    workers = [threading.Thread(target=arrive, args=(n,)) for n in range(parties)]
    workers += [threading.Thread(target=other) for other in others]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return got


def test_all_come_through_and_each_gets_a_number_of_its_own() -> None:
    assert outcomes(lambda: arriving(threading.Barrier(2))) == {(0, 1), (1, 0)}


def test_an_abort_breaks_it_for_all_or_comes_too_late() -> None:
    def program() -> Any:
        barrier = threading.Barrier(2)
        got = arriving(barrier, barrier.abort)
        return [*got, barrier.broken]

    assert outcomes(program) == {
        (0, 1, True),
        (1, 0, True),
        ("broken", "broken", True),
        (1, "broken", True),  # the first to come wakes up in a barrier that is broken by then
        ("broken", 1, True),
    }


def test_a_reset_breaks_it_for_those_who_wait_and_no_further() -> None:
    def program() -> Any:
        barrier, got = threading.Barrier(2), []

        def arrive() -> None:
            try:
                got.append(barrier.wait())
            except threading.BrokenBarrierError:
                got.append("broken")

        worker = threading.Thread(target=arrive, name="waiter")
        worker.start()
        barrier.reset()
        worker.join(timeout=1)
        return [*got, barrier.broken]

    assert outcomes(program, timeouts="idle") == {("broken", False), ((False,), "waiter at rewait")}


def test_who_waits_too_long_breaks_it() -> None:
    found = outcomes(lambda: arriving(threading.Barrier(2, timeout=1)))
    assert found == {(0, 1), (1, 0), ("broken", "broken")}


def test_the_action_is_run_once_by_the_last_to_come() -> None:
    def program() -> Any:
        done: list[Any] = []
        barrier = threading.Barrier(2, action=lambda: done.append(threading.current_thread().name[:8]))
        arriving(barrier)
        return done

    assert outcomes(program) == {("Thread-1",), ("Thread-2",)}


def test_an_action_that_fails_breaks_it() -> None:
    def program() -> Any:
        barrier = threading.Barrier(1, action=lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            barrier.wait()
        return barrier.broken

    assert once(program) is True


def test_one_thread_sees_what_it_sees_of_the_real_one() -> None:
    def used(module: Any) -> Any:
        barrier = module.Barrier(1)
        seen = [barrier.wait(), barrier.wait(), barrier.parties, barrier.n_waiting, repr(barrier).partition(": ")[2]]
        barrier.abort()
        try:
            barrier.wait()
        except RuntimeError as error:
            seen.append(type(error).__name__)
        return [*seen, repr(barrier).partition(": ")[2]]

    assert once(lambda: used(threading)) == used(real)


def test_its_error_is_a_class_of_its_own_that_programs_can_catch() -> None:
    assert issubclass(threading.BrokenBarrierError, RuntimeError)
    assert threading.BrokenBarrierError.__module__ == "threading"


def test_it_can_be_used_again_and_again() -> None:
    def program() -> Any:
        barrier = threading.Barrier(2)
        rounds: list[Any] = []

        def arrive() -> None:
            for _ in range(2):
                barrier.wait()
            rounds.append(1)

        workers = [threading.Thread(target=arrive) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return len(rounds)

    assert outcomes(program) == {2}


def test_a_timer_fires_or_is_cancelled() -> None:
    def program() -> Any:
        fired: list[Any] = []
        timer = threading.Timer(5, lambda x, y=0: fired.append((x, y)), [1], {"y": 2})
        timer.start()
        timer.cancel()
        timer.join()
        return fired

    assert outcomes(program) == {(), ((1, 2),)}


def test_a_timer_is_a_thread() -> None:
    def program() -> Any:
        timer = threading.Timer(1, print)
        return isinstance(timer, threading.Thread), timer.interval, timer.name

    assert once(program) == (True, 1, "Thread-1")
