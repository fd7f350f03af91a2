"""Generated abstract programs: every explorer sees what `none` sees, and `none` what the brute-force judge sees.

Each run's trace class is worked out by `dpor.testing.trace_class`, which shares nothing with the explorers but the
modes of operations; that those are right, `test_independent_events_can_be_swapped` checks.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from dpor.dependence import dependent
from dpor.explorers import STRATEGIES
from dpor.model import AbstractSystem
from dpor.system import STOP, Trace
from dpor.testing import BASE, Spec, abstract_programs, random_program, shrink, trace_class
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
        system, trace = AbstractSystem(random_program(random)), Trace()
        run = system.run(trace, lambda enabled: random.choice([t for t in range(4) if enabled >> t & 1]))
        for i in range(len(trace) - 1):
            if (
                trace.threads[i] != trace.threads[i + 1]
                and not starts(trace, i)
                and not dependent(*operations(trace, i))
            ):
                actions = trace.actions.copy()
                actions[i], actions[i + 1] = actions[i + 1], actions[i]
                other, again = along(system, actions)
                assert again.outcome == run.outcome
                assert trace_class(other) == trace_class(trace)
                swapped += 1
    assert swapped > 500


def starts(trace: Trace, position: int) -> bool:
    """Does the event start the thread of the next one?"""
    return trace.operations[position].starts == trace.threads[position + 1]


def operations(trace: Trace, position: int) -> Any:
    return trace.operations[position : position + 2]


def along(system: AbstractSystem, actions: list[int]) -> tuple[Trace, Any]:
    """Run along these actions, each of which must be possible."""
    trace = Trace()

    def choose(enabled: int) -> int:
        if len(trace) == len(actions):
            return STOP
        assert enabled >> (actions[len(trace)] & 0xFFFF) & 1
        return actions[len(trace)]

    return trace, system.run(trace, choose)
