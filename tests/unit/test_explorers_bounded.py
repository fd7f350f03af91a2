"""What a bound on preemptions leaves out, exactly, on a few programs."""

from __future__ import annotations

from typing import Any

import pytest

import dpor
from dpor.explorers import BoundedClassic, BoundedNone
from dpor.model import AbstractSystem
from tests.oracle.judge import Explored, explore

WRITERS: dict[str, Any] = {"vars": {"x": 0}, "threads": [["w x 1"] * 2, ["w x 2"] * 2]}
BUFFERS: dict[str, Any] = {"vars": {"x": 0, "y": 0}, "threads": [["w x 1", "r y a"], ["w y 1", "r x b"]]}
BLOCKED: dict[str, Any] = {"vars": {"x": 0}, "threads": [["await x _==1", "w x 2"], ["w x 1", "await x _==2", "w x 3"]]}


def seen(spec: dict[str, Any], preemptions: int, *, reduced: bool) -> Explored:
    strategy = BoundedClassic if reduced else BoundedNone
    return explore(lambda system: strategy(system, preemptions), AbstractSystem(spec))


@pytest.mark.parametrize(("preemptions", "schedules"), [(0, 2), (1, 4), (2, 6), (3, 6)])
def test_schedules_of_two_threads_with_two_events_each(preemptions: int, schedules: int) -> None:
    """0011 and 1100; one preemption: 0110 and 1001; two: 0101 and 1010."""
    assert seen(WRITERS, preemptions, reduced=False).executions == schedules


@pytest.mark.parametrize(("preemptions", "outcomes"), [(0, 2), (1, 3), (2, 3)])
def test_store_buffering_needs_one_preemption_to_show_both_writes(preemptions: int, outcomes: int) -> None:
    for reduced in (False, True):
        assert len(seen(BUFFERS, preemptions, reduced=reduced).outcomes) == outcomes


def test_to_switch_away_from_a_blocked_thread_is_no_preemption() -> None:
    for reduced in (False, True):
        explored = seen(BLOCKED, 0, reduced=reduced)
        assert (explored.executions, len(explored.deadlocks)) == (1, 0)


def test_with_a_bound_that_is_never_met_bounded_classic_is_classic() -> None:
    spec = {"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 2, ["r x a", "w x a+1"] * 2]}
    assert seen(spec, 100, reduced=True).executions == 34


def test_the_verdict_names_what_was_left_out() -> None:
    def two() -> None:
        import threading

        cells = [0, 0]
        threads = [threading.Thread(target=cells.__setitem__, args=(i, 1)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert dpor.check(two, preemptions=2).verdict == "pass"
    assert dpor.check(two, dpor.Options(max_seconds=9), preemptions=2).strategy == "classic"
    with pytest.raises(dpor.UserError, match="not with optimal"):
        dpor.check(two, strategy="optimal", preemptions=2)


def test_a_race_of_a_python_program_needs_one_preemption() -> None:
    def racy() -> None:
        import threading

        cells = [0]

        def add() -> None:
            cells[0] += 1

        threads = [threading.Thread(target=add) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert cells == [2]

    report = dpor.check(racy, preemptions=0)
    assert report.verdict == "inconclusive"
    assert report.reasons[0].startswith("--preemptions 0 left out")
    assert dpor.check(racy, preemptions=1).verdict == "fail"
