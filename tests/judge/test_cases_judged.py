"""The programs of tests/cases on real threads: every outcome is one that dpor finds, and the judge finds the bugs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.judge.against import missed, search
from tests.judge.real_threads import Judge

CASES = sorted((Path(__file__).parent.parent / "cases").glob("*.py"))
RUNS = int(os.environ.get("DPOR_JUDGE_RUNS", "100"))


@pytest.mark.parametrize("function", ["scenario", "scenario_fixed"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_outcomes_on_real_threads_are_found(case: Path, function: str) -> None:
    found = search(f"{case}::{function}", none=1_000, optimal=10_000)
    assert found.finished
    judge = Judge(case, function)
    seen = judge.at_random(RUNS, seed=7) | judge.systematically(2, RUNS * 4, idle_main=True)
    message = missed(seen, found, case)
    assert not message, message
    failing = {outcome for outcome in seen if outcome.failures or outcome.stuck}
    assert bool(failing) == (function == "scenario"), seen
