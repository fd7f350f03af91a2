"""What a program stores in modules that are drop-ins, and in their functions, is shared like anything else."""

from __future__ import annotations

import colorsys
import fractions
import math
import os
import queue
import random
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def in_a_module_of_the_host() -> None:
    math.hits = 0  # type: ignore[attr-defined]

    def step() -> None:
        math.hits += 1  # type: ignore[attr-defined]

    twice(step)
    assert math.hits == 2  # type: ignore[attr-defined]


def in_the_dict_of_a_module_of_the_host() -> None:
    vars(math)["hits"] = 0

    def step() -> None:
        vars(math)["hits"] += 1

    twice(step)
    assert vars(math)["hits"] == 2


def in_a_class_of_the_host() -> None:
    fractions.Fraction.made = 0  # type: ignore[attr-defined]

    def step() -> None:
        fractions.Fraction.made += 1  # type: ignore[attr-defined]

    twice(step)
    assert fractions.Fraction.made == 2  # type: ignore[attr-defined]


def in_a_function_of_the_host() -> None:
    colorsys.rgb_to_hsv.calls = 0  # type: ignore[attr-defined]

    def step() -> None:
        colorsys.rgb_to_hsv.calls += 1  # type: ignore[attr-defined]

    twice(step)
    assert colorsys.rgb_to_hsv.calls == 2  # type: ignore[attr-defined]


def in_a_module_that_it_makes() -> None:
    made: Any = types.ModuleType("made")
    made.n = 0

    def step() -> None:
        made.n += 1

    twice(step)
    assert made.n == 2


def in_a_list_of_a_module_that_it_makes() -> None:
    made: Any = types.ModuleType("made")
    made.all = []

    def step() -> None:
        made.all = [*made.all, len(made.all)]

    twice(step)
    assert made.all == [0, 1]


@pytest.mark.parametrize("strategy", ["optimal", "dpor", "full"])
@pytest.mark.parametrize(
    "program",
    [
        *(in_a_module, in_a_function, in_a_method, in_the_environment, in_a_generator_of_numbers),
        *(in_a_module_of_the_host, in_the_dict_of_a_module_of_the_host, in_a_class_of_the_host),
        *(in_a_function_of_the_host, in_a_module_that_it_makes, in_a_list_of_a_module_that_it_makes),
    ],
)
def test_it_is_shared(program: Callable[[], None], strategy: str) -> None:
    assert dpor.check(program, strategy=strategy).verdict is dpor.Verdict.FAIL


def test_modules_and_classes_of_the_host_are_put_back() -> None:
    before = dict(vars(math)), dict(vars(fractions.Fraction)), dict(vars(colorsys.rgb_to_hsv))

    def program() -> None:
        assert not hasattr(math, "hits")
        math.hits, math.pi = 0, 3  # type: ignore[attr-defined, misc]
        del math.tau  # type: ignore[misc]
        fractions.Fraction.made = 0  # type: ignore[attr-defined]
        colorsys.rgb_to_hsv.calls = 0  # type: ignore[attr-defined]
        twice(lambda: setattr(math, "hits", 1))

    assert dpor.check(program).verdict is dpor.Verdict.PASS
    assert (dict(vars(math)), dict(vars(fractions.Fraction)), dict(vars(colorsys.rgb_to_hsv))) == before


def test_names_of_functions_may_also_be_in_their_dict() -> None:
    """As networkx copies the `__dict__` of an object to a function: `f.__name__` is something else."""
    before = dict(vars(colorsys.rgb_to_hsv))

    def program() -> None:
        assert "__name__" not in vars(colorsys.rgb_to_hsv)
        colorsys.rgb_to_hsv.calls = 0  # type: ignore[attr-defined]
        colorsys.rgb_to_hsv.__dict__.update(__name__="stored")
        twice(lambda: setattr(colorsys.rgb_to_hsv, "calls", 1))

    assert dpor.check(program).verdict is dpor.Verdict.PASS
    assert (dict(vars(colorsys.rgb_to_hsv)), colorsys.rgb_to_hsv.__name__) == (before, "rgb_to_hsv")


def test_what_it_stores_in_builtins_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "injecting.py").write_text(
        """
import builtins, threading

def scenario():
    assert not hasattr(builtins, "injected")
    builtins.injected = 1
    builtins.len = lambda items: 7
    thread = threading.Thread(target=print, args=(injected,))
    thread.start()
    thread.join()
    assert (injected, len([])) == (1, 7)
    del builtins.injected
    try:
        injected
    except NameError:
        return
    assert False
"""
    )
    assert dpor.check(f"{tmp_path}/injecting.py::scenario").verdict is dpor.Verdict.PASS
    assert len([]) == 0


def test_that_names_of_builtins_are_looked_up_alone_is_said_not_to_be_seen(tmp_path: Path) -> None:
    (tmp_path / "racing.py").write_text(
        """
import builtins, threading

def scenario():
    builtins.injected = 1
    def store():
        builtins.injected = 2
    thread = threading.Thread(target=store)
    thread.start()
    assert injected == 1
    thread.join()
"""
    )
    report = dpor.check(f"{tmp_path}/racing.py::scenario")
    assert report.verdict is not dpor.Verdict.PASS
