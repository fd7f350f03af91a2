"""Generated abstract programs, a part of them endless: the stateful searches see what `full` sees, and `full` what
`optimal` sees where that comes to an end."""

from __future__ import annotations

import json
import os
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from dpor.app.strategies import explorer_of
from dpor.core.options import Options
from dpor.explorers import STATEFUL
from dpor.testing import PROMISES, Spec, TooLarge, abstract_programs, disagreement, random_program, shrink

EXAMPLES = int(os.environ.get("DPOR_STATEFUL_EXAMPLES", "12000"))
AT_CHOICES = {f"{name} --store choices": explorer_of(Options(strategy=name, store="choices")) for name in STATEFUL}
EXPLORERS = {name: explorer_of(Options(strategy=name)) for name in STATEFUL} | AT_CHOICES


def wrong(spec: Spec) -> str:
    """What is wrong, in a few words; "" if nothing is, or if the program is too large."""
    try:
        return disagreement(spec, EXPLORERS, PROMISES | {name: ["endless"] for name in AT_CHOICES})
    except TooLarge:
        return ""


def examples(number: int) -> settings:
    return settings(
        max_examples=number,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


@examples(300)
@given(abstract_programs(interleavings=1_000))
def test_programs_that_end(spec: Spec) -> None:
    assert wrong(spec) == ""


@examples(100)
@given(abstract_programs(interleavings=300, endless=True))
def test_endless_programs(spec: Spec) -> None:
    assert wrong(spec) == ""


@pytest.mark.slow
@pytest.mark.parametrize("endless", [False, True])
def test_many_programs(endless: bool) -> None:
    """By hand: `DPOR_STATEFUL_EXAMPLES=20000 pytest -m slow tests/properties/test_stateful_explorers_agree.py`."""
    for seed in range(EXAMPLES // 4 if endless else EXAMPLES * 3 // 4):
        spec = random_program(Random(seed), endless=endless, interleavings=1_000 if endless else 3_000)
        if wrong(spec):
            small = shrink(spec, lambda smaller: bool(wrong(smaller)))
            pytest.fail(f"seed {seed}: {wrong(small)}: {json.dumps(small)}")
