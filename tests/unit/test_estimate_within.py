"""How many classes have schedules within a bound on preemptions, and which share of them a search has explored."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from dpor.core.errors import AssumptionBroken
from dpor.core.system import Ending, System
from dpor.explorers import estimate_within
from dpor.explorers.bounded_classic import BoundedClassic
from dpor.explorers.estimate_within import share_of, walks_within
from dpor.model import AbstractSystem
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.program.system import PythonSystem
from dpor.testing import ALL, Spec, random_program
from tests.litmus.test_oracle_counts import PROGRAMS

Found = list[set[int]]
"""The classes that a search had seen after each of its executions."""


def explored(program: Spec, most: int) -> Found | None:
    """None: too many."""
    search = BoundedClassic(AbstractSystem(program), most)
    found: Found = [set()]
    for run in search.explore():
        search.settle()
        if run.ending is Ending.COMPLETE:
            assert search.classes is not None
            found.append(search.classes.copy())
        if len(found) > 700:
            return None
    return found


def told(program: Spec, most: int, before: set[int], seen: set[int]) -> float | None:
    samples = [sample for _, _, sample in walks_within(most, AbstractSystem(program), before) if sample is not None]
    return share_of(len(seen - before), samples)


def wrong_shares(program: Spec) -> list[tuple[int, float | None, float]]:
    """The shares that are told where searches are cut, and those that are right, where they differ by more than a
    factor of two; also where none is told."""
    before: set[int] = set()
    wrong = []
    for most in (0, 1, 2, 3):
        found = explored(program, most)
        if found is None:
            break
        new = len(found[-1] - before)
        for tenths in (1, 3, 6, 9) if new >= 20 else ():
            seen = found[len(found) * tenths // 10]
            right, share = len(seen - before) / new, told(program, most, before, seen)
            if share is None or not right / 2 <= share <= right * 2:
                wrong.append((most, share, right))
        before = found[-1]
    return wrong


def test_shares_are_right_where_searches_are_cut() -> None:
    """For the oracle's programs; a search that is nearly finished may be said to be so."""
    programs = [program["spec"] for program in PROGRAMS if 20 <= program["counts"]["maz"] <= 4_000]
    wrong = [bad for program in programs for bad in wrong_shares(program)]
    assert len(programs) > 25
    assert [share for _, share, _ in wrong if share is not None] == []
    assert len(wrong) <= 4


def test_shares_are_right_for_random_programs() -> None:
    wrong = []
    for number in range(60):
        bad = wrong_shares(random_program(Random(number), ALL, interleavings=3_000))
        wrong += [(number, *one) for one in bad if one[1] is not None]
    assert wrong == []


def test_nothing_is_told_where_it_varies_too_much() -> None:
    assert share_of(3, [4.0] * 4) is None
    assert share_of(3, [0.0] * 60) is None
    assert share_of(3, [0.0] * 59 + [600.0]) is None
    assert share_of(3, [6.0] * 60) == 0.5
    assert share_of(3, [2.0] * 60) == estimate_within.MOST_SHARE


def test_the_classes_of_a_long_search_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpor.explorers.bounded_classic.MOST_CLASSES", 5)
    search = BoundedClassic(AbstractSystem({"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 2] * 2}), 2)
    for _ in search.explore():
        pass
    assert search.classes is None


# ---------------------------------------------------------------------- where threads start, wait and choose

STARTS_AND_WAITS = """\
import threading

class Cell:
    value = 0

def run(function):
    threads = [threading.Thread(target=function) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()

def increments():
    cell = Cell()
    def add():
        for _ in range(2):
            cell.value += 1
    run(add)

def waits_in_vain():
    cell, event = Cell(), threading.Event()
    def wait():
        cell.value += 1
        event.wait(1)
        cell.value += 1
    run(wait)
"""
"""Nobody sets the event: time passes once nothing else can move, and that preempts nobody."""

CHOOSES: Spec = {
    "vars": {"x": 0},
    "threads": [["choose a 3", "w x a", "r x b"], ["choose a 3", "w x a+1", "r x b"]],
}


def searched(system: System, most: int) -> set[int]:
    """The classes within the bound."""
    while True:
        search = BoundedClassic(system, most)
        with suppress(AssumptionBroken):
            for _ in search.explore():
                search.settle()
            assert search.classes is not None
            return search.classes


@pytest.mark.parametrize("program", ["increments", "waits_in_vain", CHOOSES], ids=["starts", "waits", "chooses"])
def test_classes_are_as_many_as_estimated(program: str | Spec, tmp_path: Path) -> None:
    file = tmp_path / "programs.py"
    file.write_text(STARTS_AND_WAITS)
    options = RuntimeOptions(timeouts="idle")
    system = PythonSystem(f"{file}::{program}", options) if isinstance(program, str) else AbstractSystem(program)
    searched(system, 2)  # from here on, everything is known of the program
    before: set[int] = set()
    for most in (0, 1, 2):
        classes = searched(system, most)
        new = len(classes - before)
        samples = [sample for _, _, sample in walks_within(most, system, before) if sample is not None]
        if new >= 10:
            assert new / 1.5 <= sum(samples) / len(samples) <= new * 1.5
        before = classes
