"""What a program stores in modules that are drop-ins, and in their functions, is shared like anything else."""

from __future__ import annotations

import os
import queue
import random
import threading
from collections.abc import Callable

import pytest

import dpor


def twice(step: Callable[[], object]) -> None:
    threads = [threading.Thread(target=step) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_a_module() -> None:
    os.box = [0]  # type: ignore[attr-defined]

    def step() -> None:
        os.box[0] += 1  # type: ignore[attr-defined]

    twice(step)
    assert os.box == [2]  # type: ignore[attr-defined]


def in_a_function() -> None:
    os.getenv.n = [0]  # type: ignore[attr-defined]

    def step() -> None:
        os.getenv.n[0] += 1  # type: ignore[attr-defined]

    twice(step)
    assert os.getenv.n == [2]  # type: ignore[attr-defined]


def in_a_method() -> None:
    queue.Queue.put.n = [0]  # type: ignore[attr-defined]

    def step() -> None:
        queue.Queue.put.n[0] += 1  # type: ignore[attr-defined]

    twice(step)
    assert queue.Queue.put.n == [2]  # type: ignore[attr-defined]


def in_the_environment() -> None:
    os.environ["N"] = "0"

    def step() -> None:
        os.environ["N"] = str(int(os.environ["N"]) + 1)

    twice(step)
    assert os.environ["N"] == "2"


def in_a_generator_of_numbers() -> None:
    random.seed(1)
    first, second = random.random(), random.random()
    random.seed(1)
    seen: list[float] = []
    twice(lambda: seen.append(random.random()))
    assert seen == [first, second]


@pytest.mark.parametrize(
    "program", [in_a_module, in_a_function, in_a_method, in_the_environment, in_a_generator_of_numbers]
)
def test_it_is_shared(program: Callable[[], None]) -> None:
    assert dpor.check(program).verdict is dpor.Verdict.FAIL
