"""Generated programs whose operations change a container only under a condition: every search, in every order, has the
outcomes of a search of all states."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import dpor.explorers.search
from dpor.core.options import Order
from dpor.explorers import Optimal, Source
from dpor.explorers.classic import Classic
from dpor.explorers.dpor import Dpor
from dpor.explorers.full import Full
from dpor.explorers.original import Original
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.program.system import PythonSystem
from dpor.testing import Observed, TooLarge, explore
from dpor.testing.conditional_programs import conditional_program

EXAMPLES = int(os.environ.get("DPOR_CONDITIONAL_EXAMPLES", "12"))
"""By hand: DPOR_CONDITIONAL_EXAMPLES=5000."""
FIRST = int(os.environ.get("DPOR_CONDITIONAL_FIRST", "0"))
BLOCKS = 4

LOST_BELOW_A_PLAN = """
import threading


def scenario():
    d, seen = {}, []

    def one():
        d["a"] = 3

    def two():
        d.pop("a", None)
        d["b"] = 3

    def three():
        d.pop("b", None)

    def four():
        seen.append(d.get("b"))
        d.pop("a", None)

    threads = [threading.Thread(target=target) for target in (one, two, three, four)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(d.items()), seen
"""
LOST_BESIDE_A_PLAN = """
import threading


def scenario():
    d, seen = {}, []

    def one():
        d.setdefault("a", 1)

    def two():
        d.setdefault("a", 2)

    def three():
        seen.append(d.get("a"))

    threads = [threading.Thread(target=target) for target in (one, two, three)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return d["a"], seen
"""

Make = Callable[[Any], Any]


def in_order(order: Order, seed: int, make: Any = Optimal) -> Make:
    return lambda system: make(system, order, seed)


SEARCHES: dict[str, Make] = {
    "optimal": Optimal,
    "optimal, at random": in_order(Order.RANDOM, 0),
    "optimal, at random again": in_order(Order.RANDOM, 1),
    "optimal, fewest preemptions first": in_order(Order.PREEMPTIONS, 0),
    "source": Source,
    "source, at random": in_order(Order.RANDOM, 0, Source),
    "classic": Classic,
    "dpor": Dpor,
    "original": Original,
}


def search(file: Path, make: Make) -> Observed:
    system = PythonSystem(f"{file}::scenario", RuntimeOptions())
    return explore(make, system, every_access=make is Full, runs=2000, states=8000)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(source: str) -> Path:
        file = tmp_path / "program.py"
        file.write_text(source)
        return file

    return write


@pytest.mark.parametrize("block", range(BLOCKS))
def test_generated_programs(block: int, written: Callable[[str], Path]) -> None:
    judged = 0
    for seed in range(FIRST + block * EXAMPLES // BLOCKS, FIRST + (block + 1) * EXAMPLES // BLOCKS):
        file = written(conditional_program(seed))
        try:
            expected = search(file, Full).outcomes
            for name, make in SEARCHES.items():
                assert search(file, make).outcomes == expected, (seed, name)
        except TooLarge:
            continue
        judged += 1
    assert judged > EXAMPLES // BLOCKS * 3 // 4


@pytest.mark.parametrize("source", [LOST_BELOW_A_PLAN, LOST_BESIDE_A_PLAN], ids=["below", "beside"])
def test_plans_of_other_operations_lose_nothing(source: str, written: Callable[[str], Path]) -> None:
    file = written(source)
    expected = search(file, Full).outcomes
    for order, seed, make in product(Order, range(4), (Optimal, Source)):
        assert search(file, in_order(order, seed, make)).outcomes == expected


@pytest.mark.parametrize("mistake", ["it sleeps on", "it takes jobs in any order"])
def test_plans_of_other_operations_show_mistakes(
    mistake: str, written: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    if mistake == "it sleeps on":
        monkeypatch.setattr(Optimal, "sleeps_on", True)
        file, makes = written(LOST_BELOW_A_PLAN), [Optimal]
    else:
        monkeypatch.setattr(dpor.explorers.search, "unsettled_before", lambda job: None)
        file, makes = written(LOST_BESIDE_A_PLAN), [in_order(Order.RANDOM, seed, Source) for seed in range(20)]
    expected = search(file, Full).outcomes
    assert any(search(file, make).outcomes < expected for make in makes)
