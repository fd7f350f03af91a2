"""`Semaphore` and `BoundedSemaphore`: one step up, one step down."""

from __future__ import annotations

import threading as real
from collections.abc import Callable
from typing import Any

import pytest

from tests.under_control import explore, once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")


def said(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("kind", ["Semaphore", "BoundedSemaphore"])
def test_one_thread_sees_what_it_sees_of_the_real_one(kind: str) -> None:
    def used(module: Any) -> Any:
        make = getattr(module, kind)
        semaphore = make(2)
        return [
            said(lambda: make(-1)),
            said(lambda: make().acquire(False, 1)),
            said(lambda: semaphore.release(0)),
            repr(semaphore).partition(": ")[2],
            semaphore.acquire(),
            semaphore.__enter__(),
            semaphore._value,
            semaphore.acquire(False),
            semaphore.acquire(blocking=False),
            semaphore.acquire(timeout=0),
            semaphore.acquire(timeout=-1),
            semaphore.acquire(True, 0.001),
            said(semaphore.release),
            said(lambda: semaphore.release(1)),
            said(lambda: semaphore.release(2)),
            semaphore._value,
        ]

    assert once(lambda: used(threading)) == used(real)


def test_names_in_reprs_are_the_real_ones() -> None:
    assert once(lambda: repr(threading.BoundedSemaphore(3))).startswith("<threading.BoundedSemaphore at 0x7f")


@pytest.mark.parametrize("strategy", ["source", "optimal"])
def test_a_semaphore_of_one_excludes(strategy: str) -> None:
    def program() -> Any:
        semaphore, order = threading.Semaphore(), []

        def enter(number: int) -> None:
            with semaphore:
                order.append(number)

        workers = [threading.Thread(target=enter, args=(n,)) for n in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return order

    explored = explore(program, strategy)
    assert explored.outcomes == {((0, 1),), ((1, 0),)}
    assert explored.runs == 2


def test_who_comes_too_late_waits_for_ever() -> None:
    def program() -> Any:
        semaphore = threading.Semaphore(1)
        workers = [threading.Thread(target=semaphore.acquire, name=f"t{n}") for n in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return "done"

    assert outcomes(program) == {("MainThread at join", "t0 at P"), ("MainThread at join", "t1 at P")}


def test_a_release_of_several_wakes_several() -> None:
    def program() -> Any:
        semaphore = threading.Semaphore(0)
        workers = [threading.Thread(target=semaphore.acquire) for _ in range(2)]
        for worker in workers:
            worker.start()
        semaphore.release(2)
        for worker in workers:
            worker.join()
        return "done"

    assert outcomes(program) == {"done"}


def test_a_bounded_semaphore_is_released_too_often_in_some_orders() -> None:
    def program() -> Any:
        semaphore, said_ = threading.BoundedSemaphore(1), []
        worker = threading.Thread(target=semaphore.acquire)
        worker.start()
        said_.append(said(semaphore.release))
        worker.join()
        return said_[0]

    assert outcomes(program) == {None, "ValueError: Semaphore released too many times"}


def test_a_timed_acquire_may_time_out() -> None:
    def program() -> Any:
        semaphore = threading.Semaphore(0)
        worker = threading.Thread(target=semaphore.release)
        worker.start()
        got = semaphore.acquire(timeout=5)
        worker.join()
        return got

    assert outcomes(program) == {True, False}
    assert outcomes(program, timeouts="idle") == {True}
