"""Partial order sampling: how often it takes which order, on programs of which that is known."""

from __future__ import annotations

from collections import Counter
from itertools import islice, permutations
from math import factorial, sqrt
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.core.system import System
from dpor.explorers import STRATEGIES
from dpor.model import AbstractSystem

RUNS = 4_000


def counted(system: System, runs: int = RUNS, strategy: str = "pos") -> Counter[Any]:
    """How often each order of the writes to x came: as the threads, in order."""
    explorer = STRATEGIES[strategy](system)
    found: Counter[Any] = Counter()
    for _ in islice(explorer.explore(), runs):
        events = zip(explorer.trace.threads, explorer.trace.operations, strict=True)
        found[tuple(thread for thread, operation in events if operation.accesses[0][0] == 0)] += 1
    return found


def near(count: int, probability: float, runs: int = RUNS) -> bool:
    """Within four standard deviations."""
    return abs(count - runs * probability) < 4 * sqrt(runs * probability * (1 - probability))


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_conflicting_events_come_in_every_order_alike(threads: int) -> None:
    found = counted(AbstractSystem({"vars": {"x": 0}, "threads": [["w x 1"]] * threads}))
    assert found.keys() == {*permutations(range(threads))}
    assert all(near(count, 1 / factorial(threads)) for count in found.values())


@pytest.mark.parametrize("before", [0, 1, 4, 8])
def test_events_that_race_with_nothing_hardly_matter(before: int) -> None:
    spec = {"vars": {"x": 0, "y": 0}, "threads": [["w y 1"] * before + ["w x 1"], ["w x 2"]]}
    assert near(counted(AbstractSystem(spec))[0, 1], 1 / (before + 2))
    assert near(counted(AbstractSystem(spec), strategy="random")[0, 1], 1 / 2 ** (before + 1))


PYTHON = """
import threading

def scenario():
    order, lock = [], threading.Lock()
    def work(number):
        with lock:
            order.append(number)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tuple(order)
"""


@pytest.mark.parametrize("races", [False, True])
def test_a_python_program_is_sampled_also_where_races_are_looked_for(races: bool, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PYTHON)
    report = dpor.check(f"{file}::scenario", strategy="pos", races=races, max_executions=60)
    assert (report.executions + report.executions_besides, report.outcomes, report.findings) == (60, 2, ())
