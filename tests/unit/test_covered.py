"""What a check that was cut has covered: all outcomes of schedules with at most so many preemptions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest

import dpor
from dpor.app import stages
from dpor.app.searching import Searching
from dpor.core.errors import AssumptionBroken, OutOfTime
from dpor.core.outcome import digest
from dpor.core.system import Run
from dpor.explorers.bounded_classic import BoundedClassic
from dpor.explorers.dpor import Dpor
from dpor.model import AbstractSystem
from dpor.report.text import verdict_lines
from dpor.testing import random_program
from tests.properties.test_preemption_bounds import listed

WORDS = {"r", "w", "rmw", "cas", "lock", "unlock", "if"}


def claimed(program: Any, tmp_path: Path) -> tuple[int | None, set[str]]:
    """The bound that a check claims to have covered, and the outcomes that its searches with a bound have seen."""
    file = tmp_path / "p.json"
    file.write_text(json.dumps(program))
    outcomes = set[str]()
    covered_within = Searching._covered_within

    def watching(self: Searching, bound: int) -> None:
        covered_within(self, bound)
        outcomes.update(self._course.results.outcomes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Searching, "_covered_within", watching)
        report = dpor.check(str(file), all=True)
    return report.covered_preemptions, outcomes


def missed(number: int, tmp_path: Path) -> tuple[int | None, set[str]]:
    """What is claimed of a program made at random, and the outcomes that would have had to be seen for it."""
    program = random_program(Random(number), WORDS, interleavings=3_000)
    bound, seen = claimed(program, tmp_path)
    system = AbstractSystem(program)
    wanted = set() if bound is None else {digest(outcome) for outcome in listed(system, bound)[0]}
    return bound, wanted - seen


@pytest.fixture(autouse=True)
def _little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The searches before those with a bound end soon, and there is no time for those after them."""

    def nothing(search: Dpor) -> Iterator[Run]:
        raise OutOfTime
        yield

    monkeypatch.setattr(stages, "DEPTH_FIRST", 1)
    monkeypatch.setattr(stages, "FEWEST_FIRST", 1)
    monkeypatch.setattr(stages, "GROWTH", 1)
    monkeypatch.setattr(Dpor, "explore", nothing)


def test_what_is_claimed_is_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held against all schedules within the bound, one by one."""
    bounds = []
    for number in range(150):
        monkeypatch.setattr(stages, "BOUNDED", (50, 300, 20_000)[number % 3])
        bound, outcomes = missed(number, tmp_path)
        assert not outcomes, number
        bounds.append(bound)
    assert {0, 1, 2} <= {*bounds}


def test_a_search_that_leaves_schedules_out_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The conservative points are needed."""
    monkeypatch.setattr(BoundedClassic, "_earlier", lambda self, position, action, operation: None)
    assert any(missed(number, tmp_path)[1] for number in range(150))


RACY = """\
import threading

class Cell:
    value = late = 0

def work(cell):
    for _ in range(3):
        cell.value += 1

def scenario():
    cell = Cell()
    threads = [threading.Thread(target=work, args=(cell,)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def test_it_is_told(tmp_path: Path) -> None:
    file = tmp_path / "racy.py"
    file.write_text(RACY)
    report = dpor.check(f"{file}::scenario")
    assert (report.covered_preemptions, report.exhaustive) == (2, False)
    assert "  covered: all outcomes of schedules with at most 2 preemptions" in verdict_lines(report)


def test_a_bound_that_was_asked_for_is_covered(tmp_path: Path) -> None:
    file = tmp_path / "racy.py"
    file.write_text(RACY)
    assert dpor.check(f"{file}::scenario", preemptions=1).covered_preemptions == 1
    assert dpor.check(f"{file}::scenario", preemptions=1, max_executions=2).covered_preemptions is None
    report = dpor.check(f"{file}::scenario", preemptions=20)
    assert (report.exhaustive, report.covered_preemptions) == (True, None)


@pytest.mark.parametrize("known", [[0], range(1000)])
def test_what_was_covered_is_void_once_the_program_is_known_better(
    known: Sequence[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a search begins again with more events than the one that has covered something."""
    file = tmp_path / "racy.py"
    file.write_text(RACY)
    facts, errors = cycle(known), iter([AssumptionBroken("planted"), OutOfTime()])

    def breaks(search: Dpor) -> Iterator[Run]:
        raise next(errors)
        yield

    monkeypatch.setattr("dpor.app.course.learnt", lambda system: next(facts))
    monkeypatch.setattr(Dpor, "explore", breaks)
    assert dpor.check(f"{file}::scenario").covered_preemptions == (2 if len(known) == 1 else None)


def test_a_run_that_is_cut_covers_nothing(tmp_path: Path) -> None:
    file = tmp_path / "racy.py"
    file.write_text(RACY)
    assert dpor.check(f"{file}::scenario", max_steps=12).covered_preemptions is None
