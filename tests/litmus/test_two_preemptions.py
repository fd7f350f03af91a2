"""Failures that need two preemptions are found soon by the order that takes few preemptions first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

import dpor
from dpor.core.options import Order
from dpor.core.results import Verdict
from tests.programs import two_preemptions

MOST = 600
"""Executions in which the failure must be found, ..."""
LOGS = 5
"""... if each thread then logs so many entries, in 756,756 orders."""


@pytest.mark.parametrize("program", two_preemptions.ALL)
def test_the_failure_needs_two_preemptions(program: Callable[[], None]) -> None:
    assert dpor.check(program, preemptions=1).verdict is Verdict.INCONCLUSIVE
    assert dpor.check(program, preemptions=2).verdict is Verdict.FAIL


@pytest.mark.parametrize("program", two_preemptions.ALL)
def test_few_preemptions_first_find_it_where_depth_first_does_not(program: Callable[..., None]) -> None:
    found = {
        order: dpor.check(partial(program, LOGS), strategy="optimal", order=order, max_executions=MOST).verdict
        for order in (Order.PREEMPTIONS, Order.DEPTH)
    }
    assert found == {Order.PREEMPTIONS: Verdict.FAIL, Order.DEPTH: Verdict.INCONCLUSIVE}
