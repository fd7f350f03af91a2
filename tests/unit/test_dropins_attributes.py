"""Programs derive classes from those of the library, with attributes of their own: no name of ours is one of theirs."""

from __future__ import annotations

import concurrent.futures
import queue
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

import dpor
from tests.under_control import once, stdlib

MAKE: dict[str, Callable[[Any], Any]] = {
    "threading.Thread": lambda kind: kind(),
    "threading.Timer": lambda kind: kind(1, print),
    "threading.Event": lambda kind: kind(),
    "threading.Condition": lambda kind: kind(),
    "threading.Semaphore": lambda kind: kind(),
    "threading.BoundedSemaphore": lambda kind: kind(),
    "threading.Barrier": lambda kind: kind(1),
    "queue.Queue": lambda kind: kind(),
    "queue.SimpleQueue": lambda kind: kind(),
    "concurrent.futures.Future": lambda kind: kind(),
    "concurrent.futures.ThreadPoolExecutor": lambda kind: kind(),
    "random.Random": lambda kind: kind(),
}
REAL = {"threading": threading, "queue": queue, "concurrent.futures": concurrent.futures, "random": random}


@pytest.mark.parametrize("name", MAKE)
def test_what_only_ours_have_has_names_that_no_program_uses(name: str) -> None:
    module, _, kind = name.rpartition(".")
    theirs = set(dir(MAKE[name](getattr(REAL[module], kind))))
    ours = once(lambda: sorted(object.__dir__(MAKE[name](getattr(stdlib.module_for_program(module), kind)))))
    assert [each for each in ours if each not in theirs and not each.startswith(("dpor_", "__"))] == []


class Robot(threading.Thread):
    """A thread with the attributes that such classes have."""

    state = "new"

    def __init__(self) -> None:
        super().__init__()
        self.location = 0
        self.made_at = "factory"
        self._running = self._status = self._launch = True

    def run(self) -> None:
        self.state = "moving"
        self.location += 1
        self._running = False


def robots() -> object:
    robot = Robot()
    robot.start()
    robot.name = "R2"
    seen = robot.state, robot.location, robot.is_alive()
    robot.join()
    assert (robot.state, robot.location, robot.made_at, robot._running) == ("moving", 1, "factory", False)
    return seen


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_a_thread_may_have_a_state_a_location_and_the_like(strategy: str) -> None:
    report = dpor.check(robots, strategy=strategy, all=True)
    assert (report.verdict, report.outcomes) == ("pass", 8)
