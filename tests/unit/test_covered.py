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
from dpor.app.searching import FAILED_AT_RANDOM, Searching
from dpor.core.errors import AssumptionBroken, OutOfTime
from dpor.core.outcome import digest
from dpor.core.results import Verdict
from dpor.core.system import Run
from dpor.explorers.bounded_classic import BoundedClassic
from dpor.explorers.dpor import Dpor
from dpor.model import AbstractSystem
from dpor.report.json import to_json
from dpor.report.text import verdict_lines
from dpor.testing import random_program
from tests.properties.test_preemption_bounds import listed

WORDS = {"r", "w", "rmw", "cas", "lock", "unlock", "if"}


def claimed(program: Any, tmp_path: Path) -> dict[int, set[str]]:
    """The bounds that a check claims to have covered, and the outcomes that the searches with them have seen."""
    file = tmp_path / "p.json"
    file.write_text(json.dumps(program))
    outcomes: dict[int, set[str]] = {}
    covered_within = Searching._covered_within

    def watching(self: Searching, bound: int) -> None:
        covered_within(self, bound)
        if self._course.covered == bound:
            outcomes[bound] = {*self._course.results.outcomes}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Searching, "_covered_within", watching)
        report = dpor.check(str(file), all=True)
    assert report.covered_preemptions == (max(outcomes) if outcomes and not report.exhaustive else None)
    return outcomes


def missed(number: int, tmp_path: Path) -> tuple[int | None, set[str]]:
    """What is claimed of a program made at random, and outcomes that would have had to be seen for it, or for a smaller
    bound."""
    program = random_program(Random(number), WORDS, interleavings=3_000)
    seen = claimed(program, tmp_path)
    system = AbstractSystem(program)
    wanted = {bound: {digest(outcome) for outcome in listed(system, bound)[0]} for bound in seen}
    return max(seen, default=None), {outcome for bound in seen for outcome in wanted[bound] - seen[bound]}


@pytest.fixture(autouse=True)
def _little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The searches before those with a bound end soon, and there is no time for those after them."""

    def nothing(search: Dpor) -> Iterator[Run]:
        raise OutOfTime
        yield

    monkeypatch.setattr(stages, "DEPTH_FIRST", 1)
    monkeypatch.setattr(stages, "FEWEST_FIRST", 1)
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
    assert (report.covered_preemptions, report.partly_covered, report.exhaustive) == (3, None, False)
    assert "  covered: all outcomes of schedules with at most 3 preemptions" in verdict_lines(report)


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
    assert dpor.check(f"{file}::scenario").covered_preemptions == (3 if len(known) == 1 else None)


def test_a_run_that_is_cut_covers_nothing(tmp_path: Path) -> None:
    file = tmp_path / "racy.py"
    file.write_text(RACY)
    assert dpor.check(f"{file}::scenario", max_steps=12).covered_preemptions is None


# ---------------------------------------------------------------------- what has been explored of the next bound


RACES = {"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 2] * 3}
"""Of its classes, 6 need no preemption, 54 one and 300 two."""


def test_the_share_of_the_next_bound_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the share of the classes that need one preemption more."""
    explored: dict[int | None, set[int]] = {}
    note_share = Searching.note_share

    def watching(self: Searching, search: Any) -> None:
        note_share(self, search)
        if isinstance(search, BoundedClassic) and search.classes is not None:
            explored[self._course.stage.bound] = search.classes

    monkeypatch.setattr(Searching, "note_share", watching)
    file = tmp_path / "races.json"
    file.write_text(json.dumps(RACES))
    for work, most in ((150, 0), (500, 0), (1_000, 1), (2_500, 1)):
        monkeypatch.setattr(stages, "BOUNDED", work)
        report = dpor.check(str(file))
        part = report.partly_covered
        assert part is not None
        assert (report.covered_preemptions, part.preemptions) == (most, most + 1)
        share = len(explored[most + 1] - explored[most]) / (54, 300)[most]
        assert share / 2 <= part.share <= share * 2
        told = f"about {100 * part.share:.0f} % of those with {most + 1}"
        noun = "preemption" if most == 1 else "preemptions"
        assert f"  covered: all outcomes of schedules with at most {most} {noun}, {told}" in verdict_lines(report)
        assert to_json(report)["partly_covered"] == {"preemptions": most + 1, "share": part.share}


def test_the_share_of_a_bound_that_was_asked_for_is_told(tmp_path: Path) -> None:
    file = tmp_path / "races.json"
    file.write_text(json.dumps({**RACES, "threads": RACES["threads"] * 2}))  # type: ignore[operator]
    report = dpor.check(str(file), preemptions=2, max_seconds=0.3)
    part = report.partly_covered
    assert part is not None
    assert (report.covered_preemptions, part.preemptions) == (None, 2)
    assert any(line.endswith(" of the schedules with at most 2 preemptions") for line in verdict_lines(report))


EARLY = """\
import threading

class Cell:
    value = 0

def work(cell):
    for _ in range(20):
        cell.value += 1

def look(cell):
    assert cell.value == 0 or cell.value > 10

def scenario():
    cell = Cell()
    threads = [threading.Thread(target=do, args=(cell,)) for do in (work, look)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


@pytest.mark.parametrize("is_all", [False, True])
def test_a_schedule_drawn_for_the_share_that_fails_is_a_failure(
    is_all: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The searches end before they come to it."""
    file = tmp_path / "early.py"
    file.write_text(EARLY)
    monkeypatch.setattr(stages, "BOUNDED", 400)
    report = dpor.check(f"{file}::scenario", all=is_all)
    assert report.verdict is Verdict.FAIL
    assert (FAILED_AT_RANDOM in report.reasons) is not is_all
    assert (report.strategy == "classic") is not is_all
    assert dpor.replay(report.findings[0].saved).line == 11  # type: ignore[arg-type]
