"""The hunt beside the search: when it has its turns, and what a check tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from dpor.app import hunting, stages
from dpor.app.searching import FAILED_IN_HUNT
from dpor.core.options import Options
from dpor.core.results import Verdict

SETTERS = """
import threading

a = b = 0

def setter():
    global a, b
    a = 1
    b = 1

def checker():
    assert {asserted}

def scenario():
    threads = [threading.Thread(target=setter) for _ in range({setters})] + [threading.Thread(target=checker)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def target(path: Path, asserted: str = "a == b", setters: int = 8) -> str:
    file = path / "setters.py"
    file.write_text(SETTERS.format(asserted=asserted, setters=setters))
    return f"{file}::scenario"


def test_the_default_finds_what_a_search_comes_to_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = dpor.check(target(tmp_path), max_executions=400)
    assert (report.verdict, [*report.reasons]) == (Verdict.FAIL, [FAILED_IN_HUNT])
    (failure,) = report.findings
    assert dpor.replay(failure.saved).line is not None  # type: ignore[arg-type]
    monkeypatch.setattr(hunting, "is_hunted", lambda options: False)
    assert dpor.check(target(tmp_path), max_executions=400).verdict is Verdict.INCONCLUSIVE


def test_a_search_that_is_about_to_end_is_not_kept_from_it(tmp_path: Path) -> None:
    report = dpor.check(target(tmp_path, "True", 1))
    assert report.verdict is Verdict.PASS
    assert report.executions_besides == len(report.restarts)


def test_a_pass_says_the_same_with_a_hunt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hunted = dpor.check(target(tmp_path, "a in (0, 1)", 3))
    assert hunted.executions_besides > len(hunted.restarts)
    monkeypatch.setattr(hunting, "is_hunted", lambda options: False)
    alone = dpor.check(target(tmp_path, "a in (0, 1)", 3))
    assert (alone.verdict, alone.exhaustive, alone.executions, alone.outcomes) == (
        hunted.verdict, hunted.exhaustive, hunted.executions, hunted.outcomes,
    )  # fmt: skip
    assert hunted.verdict is Verdict.PASS
    assert hunted.executions_besides - len(hunted.restarts) <= max(
        hunting.FIRST_RUNS, hunting.SHARE * hunted.executions
    )


def test_the_hunt_leaves_most_of_a_budget_to_the_search(tmp_path: Path) -> None:
    report = dpor.check(target(tmp_path, "True"), max_executions=100)
    assert report.executions + report.executions_besides == 100
    assert 0 < report.executions_besides - len(report.restarts) <= 10


@pytest.mark.parametrize("given", [{"strategy": "optimal"}, {"preemptions": 1}, {"races": True}, {"all": True}])
def test_who_asks_for_a_search_gets_no_hunt(given: dict[str, object]) -> None:
    assert hunting.is_hunted(Options())
    assert not hunting.is_hunted(Options(**given))  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_hunt(tmp_path: Path) -> None:
    program = target(tmp_path)
    first, again = (dpor.check(program, seed=3) for _ in range(2))
    assert first.executions_besides == again.executions_besides
    assert [failure.first_schedule for failure in first.findings] == [f.first_schedule for f in again.findings]


def test_the_hunt_is_the_same_whoever_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setattr("dpor.app.strategies.hash_seed", lambda: 0)
    program = target(tmp_path)
    alone, helped = dpor.check(program, workers=1), dpor.check(program, workers=2)
    assert alone.executions_besides == helped.executions_besides
    assert [failure.first_schedule for failure in alone.findings] == [f.first_schedule for f in helped.findings]


def test_a_search_that_was_cut_goes_on_with_a_hunt(tmp_path: Path) -> None:
    """The first run after that repeats events of before, of which no places are known."""
    kept = tmp_path / "kept.json"
    cut = dpor.check(target(tmp_path, "a in (0, 1)", 3), max_executions=60, checkpoint=str(kept))
    assert cut.verdict is Verdict.INCONCLUSIVE
    whole = dpor.check(target(tmp_path, "a in (0, 1)", 3), strategy="optimal")
    resumed = dpor.resume(str(kept))
    assert (resumed.verdict, resumed.executions) == (whole.verdict, whole.executions)


def test_the_default_takes_a_seed_and_bounds_preemptions(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search with a bound uses a seed."""
    bounded = [stage for stage in stages.stages(Options(seed=3)) if stage.bound is not None]
    assert bounded
    assert all(stage.options.seed == 0 for stage in bounded)
