"""Buggy programs that another tool passes: each is found, in whichever order its threads are started."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

import dpor
from tests.programs import peers

TWO = list(permutations(range(2)))
THREE = list(permutations(range(3)))


def assert_fails(target: Any, kind: str = "assertion") -> None:
    report = dpor.check(target, max_seconds=60)
    assert report.verdict == "fail", report.reasons
    assert report.findings[0].kind.value == kind


@pytest.mark.parametrize("order", TWO)
@pytest.mark.parametrize("lock", peers.FLAGS)
def test_a_flag_set_under_a_lock_may_not_be_set_yet(lock: str, order: tuple[int, ...]) -> None:
    assert_fails(peers.FLAGS[lock](order))


@pytest.mark.parametrize("order", THREE)
@pytest.mark.parametrize("bug", THREE)
def test_every_order_of_three_critical_sections_occurs(bug: tuple[int, ...], order: tuple[int, ...]) -> None:
    assert_fails(peers.append_in_order(3, 1, list(bug))(order))


@pytest.mark.parametrize(("threads", "times", "orders"), [(2, 3, 20), (3, 2, 90)])
def test_all_orders_of_critical_sections_are_outcomes(threads: int, times: int, orders: int) -> None:
    for order in permutations(range(threads)):
        report = dpor.check(peers.append_in_order(threads, times, None)(order), max_seconds=None)
        assert report.outcomes == report.executions == orders


@pytest.mark.parametrize("order", TWO)
@pytest.mark.parametrize(
    "program",
    [peers.check_then_insert, peers.put_and_get_nowait, peers.started_by_a_worker, peers.in_a_pool],
    ids=lambda program: program.__name__,
)
def test_a_race_is_found(program: Any, order: tuple[int, ...]) -> None:
    assert_fails(program(order))


@pytest.mark.parametrize("order", TWO)
def test_a_lost_wakeup_is_found(order: tuple[int, ...]) -> None:
    assert_fails(peers.lost_wakeup(order), "deadlock")
