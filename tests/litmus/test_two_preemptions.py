"""Failures that need two preemptions are found soon by the order that takes few preemptions first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

import dpor
from dpor.core.options import Order
from dpor.core.results import Verdict
from tests.programs import two_preemptions

FEW, MANY = 60, 600
"""Executions in which fewest preemptions first must find the failure, and depth first does not, ..."""
LOGS = 5
"""... if each thread then logs so many entries, in 756,756 orders."""


@pytest.mark.parametrize("program", two_preemptions.ALL)
def test_the_failure_needs_two_preemptions(program: Callable[[], None]) -> None:
    assert dpor.check(program, preemptions=1).verdict is Verdict.INCONCLUSIVE
    assert dpor.check(program, preemptions=2).verdict is Verdict.FAIL


@pytest.mark.parametrize("program", two_preemptions.ALL)
def test_few_preemptions_first_find_it_where_depth_first_does_not(program: Callable[..., None]) -> None:
    """With a budget of executions, none are drawn at random."""
    found = {
        order: dpor.check(partial(program, LOGS), strategy="optimal", order=order, max_executions=most).verdict
        for order, most in ((Order.PREEMPTIONS, FEW), (Order.DEPTH, MANY))
    }
    assert found == {Order.PREEMPTIONS: Verdict.FAIL, Order.DEPTH: Verdict.INCONCLUSIVE}
