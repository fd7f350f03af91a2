"""Waits of `max_delay` seconds or more: they time out only where a thread that is late by less can have made them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpor.python.kernel.assumptions import TIME_PASSES
from tests.source_outcomes import outcomes as source_outcomes
from tests.under_control import explore, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")
time: Any = stdlib.module_for_program("time")
STRATEGIES = ("optimal", "none")


def started(*bodies: Any, daemon: bool = False) -> list[Any]:
    threads = [threading.Thread(target=body, daemon=daemon) for body in bodies]
    for thread in threads:
        thread.start()
    return threads


def set_after(seconds: float, timeout: float) -> bool:
    """Does another thread that sleeps so long set the event before the wait times out?"""
    event = threading.Event()

    def later() -> None:
        for _ in range(3):
            time.sleep(seconds / 3)
        event.set()

    started(later)
    return event.wait(timeout)  # type: ignore[no-any-return]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("seconds", "timeout", "may"),
    [
        (0, 9, {True, False}),
        (0, 10, {True}),
        (18, 30, {True}),
        (21, 30, {True, False}),
        (60, 30, {True, False}),
    ],
)
def test_a_wait_times_out_if_what_ends_it_may_come_later(
    seconds: float, timeout: float, may: set[bool], strategy: str
) -> None:
    assert outcomes(lambda: set_after(seconds, timeout), strategy=strategy) == may


def test_max_delay_is_an_option() -> None:
    assert outcomes(lambda: set_after(0, 5), max_delay=5) == {True}
    assert outcomes(lambda: set_after(0, 30), max_delay=31) == {True, False}
    assert outcomes(lambda: set_after(0, 0.001), max_delay=0) == {True}


def waits_in_turn() -> tuple[bool, bool]:
    """One thread times out first and then sets what the other waits for."""
    event, lock, said = threading.Event(), threading.Lock(), []

    def first() -> None:
        said.append(lock.acquire(timeout=20))
        event.set()

    lock.acquire()
    (thread,) = started(first)
    woken = event.wait(30)
    thread.join()
    return said[0], woken


def times_out_while_another_sleeps() -> bool:
    """Nothing wakes the thread; it times out before the other, which sleeps longer, has gone on, or after that."""
    slept = threading.Event()

    def sleeper() -> None:
        time.sleep(60)
        slept.set()

    (thread,) = started(sleeper)
    threading.Event().wait(30)
    before = not slept.is_set()
    thread.join()
    return before


def daemon_times_out() -> bool:
    """The program's end comes after the wait of a daemon thread."""
    timed_out = threading.Event()

    def daemon() -> None:
        threading.Event().wait(30)
        timed_out.set()

    started(daemon, daemon=True)
    time.sleep(60)
    return timed_out.is_set()  # type: ignore[no-any-return]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("program", [waits_in_turn, times_out_while_another_sleeps, daemon_times_out])
def test_that_time_passes_elsewhere_is_noticed(program: Any, strategy: str) -> None:
    """All that happens if waits may time out anywhere happens here, too."""
    explored = explore(program, strategy)
    assert TIME_PASSES in explored.facts
    assert explored.outcomes == explore(program, strategy, max_delay=1000).outcomes
    assert len(explored.outcomes) == 2


def test_where_several_wait_those_that_end_much_earlier_come_first() -> None:
    def program() -> bool:
        (thread,) = started(lambda: threading.Event().wait(1))
        thread.join(30)
        return thread.is_alive()  # type: ignore[no-any-return]

    assert outcomes(program) == {False}
    assert outcomes(program, max_delay=30.5) == {True, False}


LATE = """
import asyncio

async def coroutine():
    loop, said = asyncio.get_running_loop(), []
    loop.call_later(1, loop.call_soon, said.append, "soon")
    loop.call_later(TIMEOUT, said.append, "timer")
    await asyncio.sleep(100)
    return said

def scenario():
    return asyncio.run(coroutine())
"""


@pytest.mark.parametrize(("timeout", "count"), [(5, 2), (30, 1)])
def test_an_event_loop_is_late_by_less_than_that(timeout: int, count: int, tmp_path: Path) -> None:
    assert len(source_outcomes(tmp_path, LATE.replace("TIMEOUT", str(timeout)))) == count


OTHERS_SLEEP = """
import time

def scenario():
    event, said = threading.Event(), []

    def later():
        time.sleep(SECONDS)
        event.set()

    run(lambda: said.append(event.wait(30)), later)
    return said[0]
"""


@pytest.mark.parametrize(("seconds", "count"), [(18, 1), (21, 2)])
def test_what_time_it_is_is_part_of_the_state(seconds: int, count: int, tmp_path: Path) -> None:
    assert len(source_outcomes(tmp_path, OTHERS_SLEEP.replace("SECONDS", str(seconds)), "dpor")) == count


POLLS = """
import time

def scenario():
    condition, done = threading.Condition(), []

    def poller():
        deadline = time.monotonic() + SECONDS
        with condition:
            while not done:
                left = deadline - time.monotonic()
                if left <= 0:
                    return done.append("late")
                condition.wait(min(left, 1))

    def other():
        with condition:
            done.append("in time")
            condition.notify()

    run(poller, other)
    return done[0]
"""


@pytest.mark.parametrize(("seconds", "count"), [(5, 2), (15, 1)])
def test_short_waits_may_be_long_together(seconds: int, count: int, tmp_path: Path) -> None:
    assert len(source_outcomes(tmp_path, POLLS.replace("SECONDS", str(seconds)), "dpor")) == count
