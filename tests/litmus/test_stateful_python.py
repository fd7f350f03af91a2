"""Python programs under the stateful strategies: the same results as without states, and an end where there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.python.states.stacks import FramePosition, Layout
from tests.programs import monitors

ENDING: dict[str, str | Callable[[], object]] = {
    "running example": "running_example",
    "chen & macdonald": "chen_macdonald",
    "plus minus 2": "counter:rounds=2",
    "philosophers 3": monitors.philosophers(3),
    "producer consumer": monitors.producers_consumers(1, 1, 2, 1),
    "reader writer": "readers_writers:readers=1,writers=1",
}


def results(report: dpor.Report) -> tuple[Any, ...]:
    return (
        report.verdict,
        set(report.outcome_digests),
        report.deadlocks,
        {(f.kind, f.file, f.line) for f in report.findings},
    )


@pytest.mark.parametrize("name", ENDING)
def test_programs_that_end(name: str) -> None:
    target = ENDING[name]
    optimal = dpor.check(target, all=True)
    reports = {strategy: dpor.check(target, strategy=strategy, all=True) for strategy in ("full", "original", "dpor")}
    for report in reports.values():
        assert report.exhaustive, report.reasons
        assert report.terminates is True
        assert results(report) == results(optimal)
    states = [reports[strategy].states or 0 for strategy in ("dpor", "original", "full")]
    assert states == sorted(states)


@pytest.mark.parametrize("name", ["by_object", "by_lock", "by_tuple", "by_set"])
def test_elements_that_go_by_objects_of_threads(name: str) -> None:
    target = f"{Path(monitors.__file__).parent / 'keys_made_by_threads.py'}::{name}"
    optimal = dpor.check(target, all=True)
    assert "returned (True,)" in optimal.outcome_digests.values()
    for strategy in ("full", "original", "dpor"):
        assert results(dpor.check(target, strategy=strategy, all=True)) == results(optimal)


@pytest.mark.parametrize("name", ["by_class", "by_object_of_class", "by_base", "by_metaclass"])
def test_what_a_local_class_holds_is_reached(name: str) -> None:
    target = f"{Path(monitors.__file__).parent / 'local_classes.py'}::{name}"
    optimal = dpor.check(target, all=True)
    assert "returned (0,)" in optimal.outcome_digests.values()
    for strategy in ("full", "original", "sa", "dpor", "dpor+static"):
        assert results(dpor.check(target, strategy=strategy, all=True)) == results(optimal)


def test_a_fact_that_shows_amid_a_run_begins_the_search_again() -> None:
    target = f"{Path(monitors.__file__).parent / 'late_fact.py'}::scenario"
    for strategy in ("full", "original", "dpor"):
        report = dpor.check(target, strategy=strategy, all=True)
        assert (report.exhaustive, report.terminates) == (True, False)


CHOICES = {
    "running_example": (594, 146, 103, 103),
    "chen_macdonald": (17, 13, 5, 5),
    "counter": (105, 101, 36, 36),
    "philosophers(3)": (102, 102, 11, 11),
    "producers_consumers(1, 1, 2, 1)": (14, 14, 5, 5),
    "readers_writers:readers=1,writers=1": (31, 30, 5, 5),
    "lock_beside_object()": (10, 10, 2, 2),
    "independent_work_1:length=3": (5, 5, 0, 0),
    "independent_work_2:length=3": (5, 5, 0, 0),
}
"""Of original, sa, dpor and dpor+static. What nobody writes is no event for any of them, nor is what locks order."""


@pytest.mark.parametrize("name", CHOICES)
def test_choices_with_and_without_facts(name: str, tmp_path: Path) -> None:
    target = name
    if "(" in name:
        target = f"{tmp_path / 'monitor.py'}::scenario"
        source = Path(monitors.__file__).read_text()
        (tmp_path / "monitor.py").write_text(f"{source}\n\ndef scenario():\n    return {name}()\n")
    strategies = ("original", "sa", "dpor", "dpor+static")
    reports = [dpor.check(target, strategy=strategy, all=True) for strategy in strategies]
    assert tuple(report.choices for report in reports) == CHOICES[name]
    assert all(report.exhaustive and results(report) == results(reports[0]) for report in reports)
    assert not [restart for report in reports for restart in report.restarts if "the analysis was wrong" in restart]


@pytest.mark.parametrize("target", ["bounded_buffers", monitors.lock_beside_object()])
def test_endless_programs(target: str | Callable[[], object]) -> None:
    for strategy in ("original", "dpor"):
        if strategy == "dpor" or target != "bounded_buffers":
            report = dpor.check(target, strategy=strategy)
            assert (report.verdict, report.exhaustive, report.terminates) == (dpor.Verdict.PASS, True, False)
            assert report.replayed < report.events * 3  # a run goes on from where it meets a known state
    cut = dpor.check(target, strategy="optimal", max_steps=300, max_executions=3)
    assert cut.verdict is dpor.Verdict.INCONCLUSIVE


@pytest.mark.parametrize("name", ["independent_work_1", "independent_work_2"])
@pytest.mark.parametrize(("threads", "length"), [(2, 1), (2, 5), (3, 4), (4, 2)])
def test_independent_work_needs_two_states(name: str, threads: int, length: int) -> None:
    target = f"{name}:threads={threads},length={length}"
    reduced = dpor.check(target, strategy="dpor", store="choices")
    assert (reduced.verdict, reduced.states) == (dpor.Verdict.PASS, 2)
    original = dpor.check(target, strategy="original", store="choices", sync_choices="shared")
    assert (original.verdict, original.states) == (dpor.Verdict.PASS, 2)


def test_loops_that_wait_are_met_again_where_few_states_are_stored() -> None:
    """The detector polls the ring, at no state with a choice: it is looked for the state on the cycle."""
    events, few = (dpor.check("cdx", strategy="dpor", all=True, store=store) for store in ("events", "choices"))
    assert (few.verdict, few.states) == (dpor.Verdict.PASS, 16)
    assert events.states == 194
    assert results(few) == results(events)


STATES = {
    "producers_consumers": (54, 41),
    "readers_writers": (89, 56),
    "philosophers": (214, 89),
    "counter": (173, 137),
    "cdx": (None, 194),
}
"""Of original and dpor, if positions are told apart by their places in the source."""


@pytest.mark.parametrize("name", STATES)
def test_all_versions_have_the_same_states(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They differ only in what their compilers copy."""

    def by_place(layout: Layout, lasti: int) -> FramePosition:
        found = new_place(layout, lasti)
        place = list(layout.code.co_positions())[layout._flow.offsets[found.index] // 2]
        found.shape = (layout.number, place, found.name)
        return found

    new_place = Layout._new_place
    monkeypatch.setattr(Layout, "_new_place", by_place)
    targets = {
        "producers_consumers": monitors.producers_consumers(1, 1, 2, 1),
        "readers_writers": "readers_writers:readers=1,writers=1",
        "philosophers": monitors.philosophers(3),
    }
    original, reduced = STATES[name]
    found = dpor.check(targets.get(name, name), strategy="dpor", all=True, store="events")
    assert found.states == reduced
    if original:
        assert dpor.check(targets.get(name, name), strategy="original", all=True).states == original
