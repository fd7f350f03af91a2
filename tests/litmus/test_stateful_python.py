"""Python programs under the stateful strategies: the same results as without states, and an end where there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dpor
from tests.programs import monitors

ENDING: dict[str, Callable[[], object]] = {
    "running example": monitors.running_example(),
    "chen & macdonald": monitors.chen_macdonald(),
    "plus minus 2": monitors.plus_minus(2),
    "philosophers 3": monitors.philosophers(3),
    "producer consumer": monitors.producers_consumers(1, 1, 2, 1),
    "reader writer": monitors.readers_writers(1, 1),
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


@pytest.mark.parametrize("make", [monitors.bounded_buffer, monitors.lock_beside_object])
def test_endless_programs(make: Callable[[], Callable[[], object]]) -> None:
    for strategy in ("original", "dpor"):
        if strategy == "dpor" or make is monitors.lock_beside_object:
            report = dpor.check(make(), strategy=strategy)
            assert (report.verdict, report.exhaustive, report.terminates) == (dpor.Verdict.PASS, True, False)
    assert dpor.check(make(), max_steps=300, max_executions=3).verdict is dpor.Verdict.INCONCLUSIVE


@pytest.mark.parametrize("make", [monitors.independent_work_1, monitors.independent_work_2])
@pytest.mark.parametrize(("threads", "length"), [(2, 1), (2, 5), (3, 4), (4, 2)])
def test_independent_work_needs_two_states(
    make: Callable[..., Callable[[], object]], threads: int, length: int
) -> None:
    target = make(threads, length)
    reduced = dpor.check(target, strategy="dpor", store="choices")
    assert (reduced.verdict, reduced.states) == (dpor.Verdict.PASS, 2)
    original = dpor.check(target, strategy="original", store="choices", sync_choices="shared")
    assert (original.verdict, original.states) == (dpor.Verdict.PASS, 2)
