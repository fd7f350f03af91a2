"""The larger workloads, at small sizes: right as they are, wrong with their bug, by every strategy alike."""

from __future__ import annotations

import pytest

import dpor
from dpor.core.outcome import Kind
from dpor.core.workload_list import LARGER, workloads

SMALL = {
    "cocome": "items=1",
    "credemo": "",
    "daisy": "",
    "raytracer": "size=2",
    "elevator": "",
    "jpapabench": "",
    "cdx": "",
    "simplejbb": "transactions=2",
}
FAILS = {
    "cocome": "MainThread",
    "credemo": "MainThread",
    "daisy": "MainThread",
    "raytracer": "MainThread",
    "elevator": "lift",
    "jpapabench": "HastyFlightModel",
    "cdx": "detector",
    "simplejbb": "MainThread",
}
"""In which thread the bug's assertion fails."""
SLOW = {"credemo", "daisy"}


def test_all_of_the_larger_workloads_are_here() -> None:
    assert tuple(SMALL) == tuple(FAILS) == LARGER


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in LARGER]
)
def test_it_passes_and_the_static_analysis_saves_choices_and_no_outcome(name: str) -> None:
    plain, combined = (
        dpor.check(f"{name}:{SMALL[name]}", strategy=strategy, all=True, max_seconds=None)
        for strategy in ("dpor", "dpor+static")
    )
    for report in (plain, combined):
        assert (report.verdict, report.exhaustive) == (dpor.Verdict.PASS, True), (report.findings, report.reasons)
    assert set(plain.outcome_digests) == set(combined.outcome_digests)
    assert combined.choices <= plain.choices


@pytest.mark.parametrize(
    "strategies", [("dpor", "dpor+static"), pytest.param(("original", "sa"), marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", LARGER)
def test_its_bug_is_found(name: str, strategies: tuple[str, ...]) -> None:
    sizes = "bug" if name != "jpapabench" else "bug,tasks=2"
    for strategy in strategies:
        report = dpor.check(f"{name}:{sizes}", strategy=strategy, max_seconds=None)
        assert report.verdict is dpor.Verdict.FAIL
        (failure,) = report.findings
        assert failure.kind is Kind.ASSERTION
        assert failure.thread.startswith(FAILS[name])


def test_raytracers_threads_meet_once_and_only_a_run_shows_it() -> None:
    assert dpor.check("raytracer", strategy="dpor", all=True).choices <= 10


SMALLER = {
    "running_example": (87, None),
    "chen_macdonald": (6, None),
    "counter": (34, None),
    "independent_work_1": (1, None),
    "independent_work_2": (1, None),
    "readers_writers:readers=1": (54, Kind.ASSERTION),
    "replicated_workers": (48, Kind.DEADLOCK),
    "airline": (6, Kind.ASSERTION),
    "pingpong": (6, Kind.EXCEPTION),
    "bubblesort": (20, Kind.ASSERTION),
    "pool": (4, Kind.ASSERTION),
    "stringbuffer": (2, Kind.EXCEPTION),
}
"""Of the smaller workloads: how many interleaving classes there are, and what the bug is, if there is one."""


@pytest.mark.parametrize("target", SMALLER)
def test_a_smaller_workload_passes_and_its_bug_is_found(target: str) -> None:
    classes, bug = SMALLER[target]
    report = dpor.check(target, all=True)
    assert (report.verdict, report.exhaustive, report.executions) == (dpor.Verdict.PASS, True, classes)
    name = target.partition(":")[0]
    assert ("bug" in workloads()[name].parameters) == (bug is not None)
    if bug is not None:
        for strategy in ("optimal", "original", "sa", "dpor", "dpor+static"):
            assert dpor.check(f"{name}:bug", strategy=strategy).findings[0].kind is bug


def test_two_endless_buffers_come_to_a_verdict_where_states_are_stored() -> None:
    report = dpor.check("bounded_buffers", strategy="dpor")
    assert (report.verdict, report.exhaustive, report.terminates) == (dpor.Verdict.PASS, True, False)
