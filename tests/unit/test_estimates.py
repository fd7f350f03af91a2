"""Numbers that tell how far a search is: how large it is, what ran besides, and that its time is over in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import dpor
from dpor.app import advice, checking, searching
from dpor.app.checking import Session
from dpor.core.errors import OutOfTime
from dpor.core.options import Options, Order
from dpor.core.results import Estimate, Verdict
from dpor.explorers import Dpor, Optimal
from dpor.explorers.estimate import FEWEST_WALKS, estimate, walks
from dpor.model import AbstractSystem
from dpor.report.progress import Monitor, Progress
from dpor.report.text import verdict_lines
from dpor.testing import Spec
from tests.litmus.test_oracle_counts import PROGRAMS

SIZED = [program for program in PROGRAMS if program["counts"]["maz"] >= 20]


def estimated(program: Spec, seed: int = 0) -> Estimate | None:
    return estimate([x for _, _, x in walks(AbstractSystem(program), seed) if x is not None])


def test_nine_of_ten_estimates_are_right_within_a_factor_of_three() -> None:
    """And so are the ranges: they have the number of classes that was counted."""
    far, outside = [], []
    for program in SIZED:
        guess, classes = estimated(program["spec"]), program["counts"]["maz"]
        if guess is None or not guess.likely / 3 <= classes <= guess.likely * 3:
            far.append(program["name"])
        if guess is None or not guess.low * 0.99 <= classes <= guess.high * 1.01:
            outside.append(program["name"])
    assert len(SIZED) > 30
    assert len(far) <= len(SIZED) // 10, far
    assert len(outside) <= len(SIZED) // 10, outside


def test_what_does_not_vary_is_exact() -> None:
    """Ten writers have 10! classes, ten readers one."""
    for words, classes in (("w x 1", 3_628_800), ("r x a", 1)):
        guess = estimated({"vars": {"x": 0}, "threads": [[words]] * 10})
        assert guess is not None
        assert [round(number) for number in guess] == [classes] * 3


def test_locks_and_data_choices_have_their_probabilities() -> None:
    locked = ["lock m", "r x a", "w x a+1", "unlock m"]
    guess = estimated({"vars": {"x": 0}, "locks": ["m"], "threads": [locked * 2] * 3})
    assert guess is not None
    assert guess.low <= 90 <= guess.high


LONG_SECTIONS: Spec = {
    "vars": {"x": 0, "y": 0, "z": 0},
    "locks": ["m"],
    "threads": [["w z 1", "lock m", *["r x a", "w x a+1"] * 5, "unlock m", "w y 1"] * 2] * 2,
}
"""What few schedules have, since the threads seldom get so far apart by chance."""


def test_what_is_far_from_likely_is_drawn_too() -> None:
    """Drawn evenly, schedules make it a tenth."""
    classes = sum(1 for _ in Optimal(AbstractSystem(LONG_SECTIONS)).explore())
    assert classes == 100
    for seed in range(2):
        guess = estimated(LONG_SECTIONS, seed)
        assert guess is not None
        assert guess.likely / 3 <= classes <= guess.likely * 3
        assert guess.low <= classes <= guess.high


def test_few_schedules_are_no_estimate() -> None:
    assert estimate([1.0] * (FEWEST_WALKS - 1)) is None
    assert estimate([4.0] * FEWEST_WALKS) == (4.0, 4.0, 4.0)


# ---------------------------------------------------------------------- in checks


class Cell:
    value = 0


def started(count: int, function: Callable[[], None]) -> None:
    threads = [Thread(target=function) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def appends() -> None:
    """Ten threads, 10! classes."""
    found: list[int] = []
    started(10, lambda: found.append(1))


def increments(count: int) -> None:
    cell = Cell()

    def add() -> None:
        for _ in range(2):
            cell.value += 1

    started(count, add)


def three() -> None:
    """7,134 classes, and a few more for starts and joins."""
    increments(3)


LEAVES_LINES = """\
import threading

class Cell:
    value = other = 0

def scenario():
    with open({runs!r}, "a") as file:
        file.write("x")
    cell = Cell()
    def add():
        for _ in range(2):
            cell.value += 1
            cell.other += 1
    threads = [threading.Thread(target=add) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def two() -> None:
    increments(2)


def test_a_search_that_is_stopped_tells_how_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "ESTIMATE_AFTER", 1)
    monkeypatch.setattr(searching, "ESTIMATE_EVENTS", 0)
    report = dpor.check(appends, max_memory=1)
    assert report.estimate is not None
    assert [round(number) for number in report.estimate] == [3_628_800] * 3
    assert report.reasons == ("--max-memory 1 reached, nearly all left of some 3,600,000",)


def test_schedules_are_drawn_again_if_there_are_more_executions_than_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """With other seeds, at most twice; then it is said that the rest is unknown."""
    seeds = []

    def few(system: Any, seed: int, pace: Any) -> Iterator[tuple[Any, Any, float | None]]:
        seeds.append(seed)
        for run, trace, _ in islice(walks(system, seed, pace), FEWEST_WALKS):
            yield run, trace, 3.0 + seed

    monkeypatch.setattr(searching, "walks", few)
    monkeypatch.setattr(searching, "ESTIMATE_AFTER", 1)
    monkeypatch.setattr(searching, "ESTIMATE_EVENTS", 0)
    monkeypatch.setattr(searching, "PROGRESS_EVERY", 0.0)
    told: list[str] = []

    class Impatient(Monitor):
        interruptible = True

        def progress(self, progress: Progress) -> None:
            told.append(progress.left)
            self.stops = int(progress.done > 20)

    report = Session(appends, Options(strategy="optimal"), Impatient()).run()
    assert seeds == [0, 1, 2]
    assert report.estimate is not None
    assert report.estimate.likely == 4  # of all that have been drawn
    assert told[-1] == "an unknown part left of at least 21"


def test_a_search_that_is_finished_needs_no_estimate() -> None:
    report = dpor.check(two)
    assert (report.exhaustive, report.estimate) == (True, None)


def test_a_small_search_is_not_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An estimate takes as long as 120 executions."""
    file = tmp_path / "racy.py"
    file.write_text(
        "import threading\nclass Cell: value = 0\ndef scenario():\n    cell = Cell()\n    def add():\n"
        "        for _ in range(3): cell.value += 1\n    threads = [threading.Thread(target=add) for _ in range(2)]\n"
        "    for thread in threads: thread.start()\n    for thread in threads: thread.join()\n"
    )
    monkeypatch.setattr(searching, "ESTIMATE_SECONDS", 60.0)
    report = dpor.check(f"{file}::scenario", strategy="optimal")
    assert report.exhaustive
    assert report.executions > searching.ESTIMATE_AFTER
    assert report.executions_besides == len(report.restarts)


def test_runs_before_the_search_began_again_are_told() -> None:
    """The first run shows that the field is written."""
    report = dpor.check(two)
    assert len(report.restarts) == report.executions_besides == 1


def test_a_budget_counts_them() -> None:
    report = dpor.check(three, strategy="optimal", max_executions=30)
    assert report.executions_besides == len(report.restarts) == 1
    assert report.executions == 29
    assert report.estimate is None


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "optimal"},
        {"order": Order.PREEMPTIONS},
        {"preemptions": 2},
        {"strategy": "source"},
        {"strategy": "pct"},
    ],
)
@pytest.mark.parametrize("most", [1, 2, 7, 30])
def test_a_budget_is_of_all_runs(most: int, options: dict[str, Any], tmp_path: Path) -> None:
    """A program that leaves something behind in each run has as many runs."""
    runs = tmp_path / "runs"
    (tmp_path / "lines.py").write_text(LEAVES_LINES.format(runs=str(runs)))
    report = dpor.check(f"{tmp_path / 'lines.py'}::scenario", max_executions=most, **options)
    assert report.executions + report.executions_besides == most
    assert len(runs.read_text()) == most + report.blocked
    assert len(report.restarts) == min(most, report.executions_besides) > 0
    assert (report.verdict, report.exhaustive) == (Verdict.INCONCLUSIVE, False)
    again = ", all before the search began again (1 time)" if most == 1 else ""
    assert f"--max-executions {most} reached{again}" in report.reasons
    assert f"(and {report.executions_besides} besides)" in verdict_lines(report)[0]


@pytest.mark.parametrize("strategy", ["optimal", "source", "classic", "none", "dpor", "full"])
def test_a_budget_that_is_exactly_enough_needs_no_further_run(strategy: str, tmp_path: Path) -> None:
    """Whether anything is left is known before the next run."""
    program = tmp_path / "p.json"
    program.write_text('{"vars": {"x": 0}, "threads": [["r x a", "w x a+1"], ["r x a", "w x a+1"]]}')
    whole = dpor.check(str(program), strategy=strategy, every_access=True)
    assert whole.exhaustive
    enough = dpor.check(str(program), strategy=strategy, every_access=True, max_executions=whole.executions)
    assert enough.exhaustive
    assert enough.executions == whole.executions
    if whole.executions > 1:
        less = dpor.check(str(program), strategy=strategy, every_access=True, max_executions=whole.executions - 1)
        assert less.reasons == (f"--max-executions {whole.executions - 1} reached",)


def test_a_failing_schedule_of_an_estimate_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_late() -> None:
        order: list[int] = []

        def add(number: int) -> None:
            order.append(number)

        threads = [Thread(target=add, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert order[0] != 5

    monkeypatch.setattr(searching, "ESTIMATE_AFTER", 2)
    monkeypatch.setattr(searching, "ESTIMATE_EVENTS", 0)
    report = dpor.check(fails_late)
    assert report.verdict is Verdict.FAIL
    assert report.reasons == (searching.FAILED_AT_RANDOM,)
    assert report.findings[0].saved is not None


def test_progress_never_runs_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    class Watching(Monitor):
        def progress(self, progress: Progress) -> None:
            told.append(progress.executions)

    monkeypatch.setattr(searching, "PROGRESS_EVERY", 0.0)
    report = Session(three, Options(max_executions=100), Watching()).run()
    assert report.restarts
    assert told == sorted(told)
    assert told[-1] == 99  # the last run ends the search


def test_searches_that_store_states_tell_states() -> None:
    shown = str(Progress(executions=1, seconds=2.0, states=500))
    assert shown == "500 states, 250 a second"


# ---------------------------------------------------------------------- time


def slow(method: str, make: type[Any]) -> type[Any]:
    """A search that takes for ever between two runs, but looks at the clock."""

    def forever(self: Any, *_: Any) -> None:
        while True:
            self.pace()

    return type("Slow", (make,), {method: forever})


@pytest.mark.parametrize(("method", "make"), [("between", Dpor), ("reverse", Optimal)])
def test_time_is_over_between_two_runs(
    method: str, make: type[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "explorer_of", lambda options: slow(method, make))
    program = tmp_path / "p.json"
    program.write_text('{"vars": {"x": 0}, "threads": [["w x 1"], ["w x 2"]]}')
    begun = time.monotonic()
    report = dpor.check(str(program), max_seconds=0.5)
    assert time.monotonic() - begun < 2.5
    assert (report.verdict, report.reasons) == (Verdict.INCONCLUSIVE, ("--max-seconds 0.5 reached",))


def test_what_is_left_is_told_also_if_time_is_over_between_two_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slower(Optimal):
        def reverse(self, *race: Any) -> None:
            if self.stats.executions >= 10:
                raise OutOfTime
            super().reverse(*race)

    monkeypatch.setattr(checking, "explorer_of", lambda options: Slower)
    monkeypatch.setattr(searching, "ESTIMATE_AFTER", 5)
    monkeypatch.setattr(searching, "ESTIMATE_EVENTS", 0)
    report = dpor.check(appends, max_seconds=60)
    assert report.reasons == ("--max-seconds 60 reached, nearly all left of some 3,600,000",)


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_many_threads_end_in_time(strategy: str) -> None:
    def many() -> None:
        increments(40)

    report = dpor.check(many, strategy=strategy, max_seconds=2.0)
    assert report.seconds < 6  # 2.9 on an idle machine
    assert not report.exhaustive


def test_the_next_step_is_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "appends.py").write_text(
        "import threading\n"
        "def ten():\n"
        "    found = []\n"
        "    threads = [threading.Thread(target=found.append, args=(0,)) for _ in range(10)]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(searching, "ESTIMATE_AFTER", 1)
    monkeypatch.setattr(searching, "ESTIMATE_EVENTS", 0)
    monkeypatch.setattr(advice, "PATIENT", 60.0)
    report = dpor.check("appends.py::ten", strategy="optimal", max_seconds=4.0)
    assert report.next_step == "dpor check appends.py::ten --max-seconds 4 --preemptions 2"
    assert dpor.check("appends.py::ten", max_executions=2).next_step == ""
