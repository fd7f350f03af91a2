"""Generated abstract programs, a part of them endless: the stateful searches see what `full` sees, and `full` what
`optimal` sees where that comes to an end."""

from __future__ import annotations

import json
import os
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from dpor.explorers.dpor import Dpor
from dpor.explorers.full import Full
from dpor.explorers.optimal import Optimal
from dpor.model import AbstractSystem
from dpor.testing import Spec, abstract_programs, random_program, shrink
from tests.oracle.judge import TooMany, explore, explore_states

MOST_STATES = 3_000
"""Programs with more states are passed over."""
EXAMPLES = int(os.environ.get("DPOR_STATEFUL_EXAMPLES", "20000"))


def disagreement(spec: Spec, endless: bool) -> str:
    """What is wrong, in a word or two; "" if nothing is."""
    system = AbstractSystem(spec, max_steps=MOST_STATES + 1)
    try:
        full = explore_states(Full, system, limit=MOST_STATES)
    except (TooMany, AssertionError):
        return ""
    if not endless:
        optimal = explore(Optimal, AbstractSystem(spec))
        if (optimal.outcomes, optimal.deadlocks) != (full.outcomes, full.deadlocks):
            return "full: outcomes"
    seen = explore_states(Dpor, AbstractSystem(spec))
    if (seen.outcomes, seen.deadlocks) != (full.outcomes, full.deadlocks):
        return "dpor: outcomes"
    if seen.errors != full.errors:
        return "dpor: failures"
    if (seen.terminates, seen.livelock) != (full.terminates, full.livelock):
        return "dpor: livelock"
    if seen.states > full.states:
        return "dpor: more states"
    return ""


examples = settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


@examples
@given(abstract_programs(interleavings=1_000))
def test_programs_that_end(spec: Spec) -> None:
    assert disagreement(spec, endless=False) == ""


@examples
@given(abstract_programs(interleavings=300, endless=True))
def test_endless_programs(spec: Spec) -> None:
    assert disagreement(spec, endless=True) == ""


@pytest.mark.slow
@pytest.mark.parametrize("endless", [False, True])
def test_many_programs(endless: bool) -> None:
    """By hand: `DPOR_STATEFUL_EXAMPLES=20000 pytest -m slow tests/properties/test_stateful_explorers_agree.py`."""
    for seed in range(EXAMPLES // 4 if endless else EXAMPLES * 3 // 4):
        spec = random_program(Random(seed), endless=endless, interleavings=1_000 if endless else 3_000)
        if disagreement(spec, endless):
            small = shrink(spec, lambda smaller: bool(disagreement(smaller, endless)))
            pytest.fail(f"seed {seed}: {disagreement(small, endless)}: {json.dumps(small)}")
