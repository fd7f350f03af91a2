"""The default check: several searches in turn, and the first that ends decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpor
from dpor.app import hunting, stages
from dpor.core.errors import NotDeterministic
from dpor.core.options import Options, Order
from dpor.core.results import Verdict
from dpor.core.system import Run
from dpor.explorers import Stats
from dpor.explorers.dpor import Dpor

ADDING = """\
import threading

def scenario():
    lock, seen = threading.Lock(), []
    def work(n):
        for _ in range(2):
            with lock:
                seen.append(n)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert len(seen) == {length}
"""
CLASSES = 90
"""Of `ADDING`: orders of two sections of each of three threads."""


def check(path: Path, length: int = 6, **options: object) -> dpor.Report:
    file = path / "adding.py"
    file.write_text(ADDING.format(length=length))
    return dpor.check(f"{file}::scenario", **options)  # type: ignore[arg-type]


def test_a_small_search_ends_in_the_first_stage(tmp_path: Path) -> None:
    report = check(tmp_path)
    assert (report.verdict, report.exhaustive, report.strategy, report.executions) == (
        Verdict.PASS, True, "optimal", CLASSES,
    )  # fmt: skip


def test_few_preemptions_are_tried_before_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "DEPTH_FIRST", 200)
    report = check(tmp_path)
    assert (report.exhaustive, report.strategy, report.executions) == (True, "optimal", CLASSES)


def test_states_end_a_search_of_many_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "DEPTH_FIRST", 200)
    monkeypatch.setattr(stages, "FEWEST_FIRST", 200)
    monkeypatch.setattr(stages, "BOUNDS", ())
    report = check(tmp_path)
    assert (report.verdict, report.exhaustive, report.strategy) == (Verdict.PASS, True, "dpor")
    assert report.states is not None
    assert report.reasons == ()


def test_accesses_that_are_no_events_are_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each execution has 22 events and six accesses that are none."""
    first, second = 10 * 28, 20 * 28
    monkeypatch.setattr(hunting, "is_hunted", lambda options: False)
    monkeypatch.setattr(stages, "DEPTH_FIRST", first)
    monkeypatch.setattr(stages, "FEWEST_FIRST", second)
    monkeypatch.setattr(stages, "BOUNDS", ())
    report = check(tmp_path)
    assert report.strategy == "dpor"
    assert report.executions_besides == len(report.restarts) + 10 + 20


def test_states_that_are_not_met_again_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "DEPTH_FIRST", 200)
    monkeypatch.setattr(stages, "FEWEST_FIRST", 200)
    monkeypatch.setattr(stages, "BOUNDS", ())
    monkeypatch.setattr(stages, "LOOK_AFTER", 1)
    monkeypatch.setattr(stages, "LEAST_MET", 2.0)
    report = check(tmp_path)
    assert (report.verdict, report.exhaustive, report.strategy) == (Verdict.PASS, True, "optimal")
    assert report.executions == CLASSES


@pytest.mark.parametrize("given", [{"strategy": "optimal"}, {"preemptions": 1}, {"order": "random"}, {"races": True}])
def test_a_search_that_was_asked_for_is_the_only_one(given: dict[str, object]) -> None:
    assert [stage.options for stage in stages.stages(Options(**given))] == [Options(**given)]  # type: ignore[arg-type]


def test_the_stages_of_the_default() -> None:
    found = stages.stages(Options(seed=3))
    assert [(stage.options.explorer, stage.options.order) for stage in found] == [
        ("optimal", Order.DEPTH),
        ("optimal", Order.PREEMPTIONS),
        *[("classic", Order.DEPTH)] * 4,
        ("dpor", Order.DEPTH),
        ("optimal", Order.DEPTH),
    ]
    assert not found[-1].is_over(Stats(events=10**9, states=10**9))


def test_a_failure_of_a_later_stage_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "DEPTH_FIRST", 1)
    monkeypatch.setattr(stages, "FEWEST_FIRST", 1)
    file = tmp_path / "lost.py"
    file.write_text(
        "import threading\nclass C: n = 0\ndef scenario():\n    c = C()\n    def work():\n        c.n += 1\n"
        "    threads = [threading.Thread(target=work) for _ in range(3)]\n"
        "    for thread in threads: thread.start()\n    for thread in threads: thread.join()\n"
        "    assert c.n != 1\n"
    )
    report = dpor.check(f"{file}::scenario")
    assert report.verdict is Verdict.FAIL
    (failure,) = report.findings
    assert dpor.replay(failure.saved).line == 10  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asserted", "verdict"), [("len(seen) == 6", Verdict.INCONCLUSIVE), ("seen[0] != 2", Verdict.FAIL)]
)
def test_states_that_differ_are_told_and_the_last_stage_goes_on(
    asserted: str, verdict: Verdict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def differs(self: Dpor) -> Iterator[Run]:
        raise NotDeterministic("another state")
        yield

    monkeypatch.setattr(stages, "DEPTH_FIRST", 0)
    monkeypatch.setattr(stages, "FEWEST_FIRST", 0)
    monkeypatch.setattr(stages, "BOUNDS", ())
    monkeypatch.setattr(Dpor, "explore", differs)
    file = tmp_path / "adding.py"
    file.write_text(ADDING.replace("len(seen) == {length}", asserted))
    report = dpor.check(f"{file}::scenario")
    assert (report.verdict, report.strategy) == (verdict, "optimal")
    assert "NotDeterministic: another state" in report.reasons


def test_what_an_earlier_stage_has_found_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "DEPTH_FIRST", 100)
    monkeypatch.setattr(stages, "FEWEST_FIRST", 100)
    monkeypatch.setattr(stages, "BOUNDS", ())
    report = check(tmp_path, length=7, all=True, max_states=None)
    assert (report.verdict, report.strategy, len(report.findings)) == (Verdict.FAIL, "dpor", 1)


def test_auto_is_the_name_of_the_default() -> None:
    assert Options(strategy="auto") == Options()
