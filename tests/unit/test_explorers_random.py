"""`random` and `pct`: what a seed fixes, that everything is drawn evenly, how often a bug of known depth is found."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import pytest

from dpor.core.operations import Action
from dpor.core.system import Ending
from dpor.explorers import Pct, RandomWalk
from dpor.explorers.search import MOST_IN_A_ROW
from dpor.explorers.walk import Walk
from dpor.model import AbstractSystem
from dpor.testing import trace_class

COUNTER: dict[str, Any] = {"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 2, ["r x a", "w x a+1"] * 2]}


def make(strategy: str, spec: dict[str, Any], seed: int, depth: int = 3) -> Walk:
    system = AbstractSystem(spec)
    return RandomWalk(system, seed) if strategy == "random" else Pct(system, seed, depth)


def schedules(walk: Walk, count: int) -> list[list[Action]]:
    return [walk.trace.actions.copy() for _ in islice(walk.explore(), count)]


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_the_seed_decides_the_schedules(strategy: str) -> None:
    first, again, other = (schedules(make(strategy, COUNTER, seed), 30) for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_the_schedules_of_a_seed_are_the_same_everywhere() -> None:
    """What they were when this was written."""
    found = ["".join(map(str, schedule)) for schedule in schedules(make("random", COUNTER, 0), 3)]
    assert found == ["11001010", "01110100", "11110000"]
    found = ["".join(map(str, schedule)) for schedule in schedules(make("pct", COUNTER, 0), 3)]
    assert found == ["11110000", "00010111", "00011110"]


def test_random_takes_each_thread_as_often() -> None:
    spec = {"vars": {"x": 0}, "threads": [["w x 1"], ["w x 2"], ["w x 3"]]}
    orders = Counter(map(tuple, schedules(make("random", spec, 0), 6_000)))
    assert len(orders) == 6
    assert all(850 < count < 1_150 for count in orders.values())


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_every_value_of_a_data_choice_is_as_likely(strategy: str) -> None:
    spec = {"threads": [["choose a 3", "choose b 2"]]}
    runs = Counter(run.outcome.registers for run in islice(make(strategy, spec, 0).explore(), 6_000))  # type: ignore[union-attr]
    assert len(runs) == 6
    assert all(850 < count < 1_150 for count in runs.values())


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_the_classes_seen_are_counted(strategy: str) -> None:
    walk = make(strategy, COUNTER, 0)
    classes = set()
    for _ in islice(walk.explore(), 400):
        classes.add(trace_class(walk.trace))
        assert walk.stats.classes == len(classes)
    assert walk.stats.executions == 400
    assert walk.stats.events == 400 * 8


def pct_hits(spec: dict[str, Any], depth: int, runs: int) -> int:
    return sum(bool(run.findings) for run in islice(make("pct", spec, 1, depth).explore(), runs))


def test_pct_finds_a_bug_of_depth_one() -> None:
    """That one thread comes before another: priorities alone decide it, in at least one of n runs."""
    spec = {"vars": {"x": 0}, "threads": [["w x 1"], ["r x a", "assert a==1"], ["r x b"], ["r x b"]]}
    assert pct_hits(spec, depth=1, runs=1_000) >= 1_000 / 4


def test_pct_finds_a_bug_of_depth_two_as_often_as_promised() -> None:
    """x is written between two reads: in at least one of n k runs of k steps."""
    steps = ["r y b"] * 10
    reads = ["r y b", "r x a", "r y b", "r x c", "assert a==c", *steps]
    spec = {"vars": {"x": 0, "y": 0}, "threads": [reads, ["w x 1", *steps], ["r y b"] * 3]}
    n, k = 3, 28
    assert pct_hits(spec, depth=2, runs=2_000) >= 2_000 / (n * k)


def test_pct_lowers_a_thread_that_waits_in_a_loop_for_another() -> None:
    spec = {"vars": {"x": 0}, "threads": [["w x 1"], [["while", "a==0", ["r x a"]]]]}
    for run in islice(make("pct", spec, 0).explore(), 20):
        assert run.ending is Ending.COMPLETE
    assert MOST_IN_A_ROW < 1_000
