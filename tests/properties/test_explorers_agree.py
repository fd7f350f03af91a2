"""Generated abstract programs: every explorer sees what `none` sees, and `none` what the brute-force judge sees.

Each run's trace class is worked out by `dpor.testing.trace_class`, which shares nothing with the explorers but the
modes of operations; that those are right, `test_independent_events_can_be_swapped` checks.
"""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from dpor.explorers import STRATEGIES
from dpor.model import AbstractSystem
from dpor.testing import BASE, Spec, abstract_programs, random_program, shrink, swap_and_replay
from tests.oracle.judge import Judged, TooMany, explore, outcome_in_words

REDUCED = ("classic", "source", "optimal")
MANY = 5_000
"""Programs with more executions under `none` are passed over. (The generator's bound is a rough one.)"""


def disagreement(spec: Spec, base: bool) -> str:
    """What is wrong, in a word or two; "" if nothing is. `base`: ask the brute-force judge, too."""
    system = AbstractSystem(spec)
    try:
        none = explore(STRATEGIES["none"], system, classes=True, limit=MANY)
    except TooMany:
        return ""
    classes = set(none.classes)
    if base:
        judged = Judged(spec)
        if {outcome_in_words(system, outcome) for outcome in none.outcomes} != judged.outcomes:
            return "none: outcomes"
        if {outcome_in_words(system, outcome) for outcome in none.deadlocks} != judged.deadlocks:
            return "none: deadlocks"
        if (none.executions, len(classes)) != (judged.interleavings, judged.classes):
            return "none: counts"
    for strategy in REDUCED:
        seen = explore(STRATEGIES[strategy], system, classes=True)
        if (seen.outcomes, seen.deadlocks) != (none.outcomes, none.deadlocks):
            return f"{strategy}: outcomes"
        if set(seen.classes) != classes:
            return f"{strategy}: misses a class"
        if len(seen.classes) != len(classes):
            return f"{strategy}: a class twice"
        if strategy == "optimal" and seen.blocked:
            return f"{strategy}: a run given up"
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
@given(abstract_programs(BASE, interleavings=1_000))
def test_base_programs(spec: Spec) -> None:
    assert disagreement(spec, base=True) == ""


@examples
@given(abstract_programs(interleavings=1_000))
def test_programs_with_all_operations(spec: Spec) -> None:
    assert disagreement(spec, base=False) == ""


@pytest.mark.slow
@pytest.mark.parametrize("base", [True, False])
def test_thousands_of_programs(base: bool, request: pytest.FixtureRequest) -> None:
    """Some five minutes each. What disagrees is shown as small as it can be made."""
    if "slow" not in request.config.getoption("markexpr"):
        pytest.skip("run by hand with -m slow")
    for seed in range(10_000):
        spec = random_program(Random(seed), BASE) if base else random_program(Random(seed))
        if wrong := disagreement(spec, base):
            small = shrink(spec, lambda smaller: disagreement(smaller, base) != "")
            pytest.fail(f"seed {seed}: {wrong}; smallest: {disagreement(small, base)}: {json.dumps(small)}")


# ---------------------------------------------------------------------- the relation itself


def test_independent_events_can_be_swapped() -> None:
    """Two neighbours that are not dependent, in the other order, give an equivalent run with the same result."""
    swapped = 0
    for seed in range(600):
        random = Random(seed)
        count, wrong = swap_and_replay(AbstractSystem(random_program(random)), random)
        assert not wrong, seed
        swapped += count
    assert swapped > 500
