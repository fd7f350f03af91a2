"""Generated Python programs: every explorer finds the outcomes that listing all interleavings finds."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import NamedTuple

import pytest

from dpor.errors import FactWithdrawn
from dpor.explorers import STRATEGIES
from dpor.runtime.program import PythonSystem
from dpor.system import Ending
from dpor.testing import trace_class
from dpor.testing.python_programs import program

EXAMPLES = int(os.environ.get("DPOR_PYTHON_EXAMPLES", "300"))
"""By hand: DPOR_PYTHON_EXAMPLES=5000."""
MOST_RUNS = 600
"""Programs with more interleavings are passed over."""


class Explored(NamedTuple):
    """What one search has shown. `classes` holds each trace class with its number of executions."""

    outcomes: frozenset[Hashable]
    classes: Counter[Hashable]
    blocked: int


def explore(system: PythonSystem, strategy: str) -> Explored | None:
    """A whole search, begun again for each fact that is withdrawn; None if it has more than `MOST_RUNS`."""
    explorer = STRATEGIES[strategy](system)
    outcomes: set[Hashable] = set()
    classes: Counter[Hashable] = Counter()
    try:
        for run in explorer.explore():
            if run.ending is Ending.COMPLETE:
                outcomes.add(run.outcome)
                classes[trace_class(explorer.trace)] += 1
            if explorer.stats.executions > MOST_RUNS:
                return None
    except FactWithdrawn:
        return explore(system, strategy)
    return Explored(frozenset(outcomes), classes, explorer.stats.blocked)


@pytest.mark.parametrize("block", range(10))
def test_outcomes_are_those_of_all_interleavings(block: int, tmp_path: Path) -> None:
    for seed in range(block * EXAMPLES // 10, (block + 1) * EXAMPLES // 10):
        file = tmp_path / f"program_{seed}.py"
        file.write_text(program(seed, most=2))
        check_one(f"{file}::scenario", seed)


def check_one(target: str, seed: int) -> bool:
    """False if there are too many interleavings to list."""
    system = PythonSystem(target)
    explore(system, "optimal")  # learns what is shared, so that all searches see the same operations
    judge = explore(system, "none")
    if judge is None:
        return False
    for strategy in ("optimal", "source", "classic"):
        found = explore(system, strategy)
        assert found is not None
        assert found.outcomes == judge.outcomes, (seed, strategy, found.outcomes ^ judge.outcomes)
        assert set(found.classes) == set(judge.classes), (seed, strategy)
        assert max(found.classes.values(), default=1) == 1, (seed, strategy)
        assert strategy != "optimal" or found.blocked == 0, (seed, found)
    return True
