"""Reversals: what a walk in steps of one reversed pair comes to, and how soon."""

from __future__ import annotations

from itertools import islice, product
from pathlib import Path
from random import Random

import pytest

import dpor
from dpor.explorers import STRATEGIES
from dpor.explorers.rev import Rev
from dpor.model import AbstractSystem
from dpor.testing import TooLarge, explore, random_program

BETWEEN = """
import threading

class Pair:
    a = b = 0

def scenario():
    pair = Pair()

    def setter():
        pair.a = 1
        pair.b = 1

    def checker():
        assert pair.a == pair.b

    threads = [threading.Thread(target=setter) for _ in range(20)] + [threading.Thread(target=checker)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
"""The checker must come between the two writes of a setter, before any other has written both."""


@pytest.fixture
def target(tmp_path: Path) -> str:
    file = tmp_path / "between.py"
    file.write_text(BETWEEN)
    return f"{file}::scenario"


@pytest.mark.parametrize("seed", range(4))
def test_what_lies_among_many_writes_is_found(seed: int, target: str) -> None:
    assert dpor.check(target, strategy="rev", seed=seed, max_executions=500).verdict == "fail"


def test_it_is_not_found_if_only_races_are_reversed(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: the read of `b` races with the last write alone, and goes back by one write at a time."""
    monkeypatch.setattr(Rev, "_pair", lambda self, threads, operations: None)
    found = [dpor.check(target, strategy="rev", seed=seed, max_executions=100).verdict for seed in range(4)]
    assert "inconclusive" in found


def test_the_same_seed_gives_the_same_runs() -> None:
    def runs(seed: int) -> list[list[int]]:
        search = Rev(AbstractSystem(random_program(Random(5))), seed)
        return [search.trace.threads.copy() for _ in islice(search.explore(), 50)]

    assert runs(1) == runs(1)
    assert runs(1) != runs(2)


def test_every_outcome_is_reached() -> None:
    """Of small programs, in 2,000 runs."""
    judged = 0
    for seed in range(60):
        program = random_program(Random(seed), words=("r", "w", "rmw", "lock", "unlock"), interleavings=200)
        try:
            all_of_them = explore(STRATEGIES["optimal"], AbstractSystem(program), runs=40)
        except TooLarge:
            continue
        seen = {run.outcome for run in islice(Rev(AbstractSystem(program), seed).explore(), 2_000)} - {None}
        assert seen == all_of_them.outcomes, seed
        judged += 1
    assert judged > 20


@pytest.mark.parametrize(("a", "b"), [*product([1, 2], repeat=2)])
def test_a_program_without_conflicts_has_one_class(a: int, b: int) -> None:
    search = STRATEGIES["rev"](AbstractSystem({"vars": {"x": 0, "y": 0}, "threads": [["w x 1"] * a, ["w y 1"] * b]}))
    for _ in islice(search.explore(), 20):
        pass
    assert search.stats.classes == 1
