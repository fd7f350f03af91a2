"""Generated Python programs: every explorer finds the outcomes that listing all interleavings finds."""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path
from typing import NamedTuple

import pytest

from dpor.errors import FactWithdrawn
from dpor.explorers import STRATEGIES
from dpor.runtime.program import PythonSystem
from dpor.system import Ending
from dpor.testing import trace_class
from tests.properties.python_programs import program

EXAMPLES = int(os.environ.get("DPOR_PYTHON_EXAMPLES", "150"))
MOST_RUNS = 2_000


class Explored(NamedTuple):
    outcomes: frozenset[Hashable]
    executions: int
    blocked: int
    repeated: int
    finished: bool


def explore(system: PythonSystem, strategy: str, most: int = MOST_RUNS) -> Explored:
    """A whole search, begun again for each fact that is withdrawn."""
    while True:
        explorer = STRATEGIES[strategy](system)
        outcomes: set[Hashable] = set()
        classes: set[Hashable] = set()
        repeated = 0
        try:
            for run in explorer.explore():
                if run.ending is Ending.COMPLETE:
                    outcomes.add(run.outcome)
                    if strategy != "none":
                        name = trace_class(explorer.trace)
                        repeated += name in classes
                        classes.add(name)
                if explorer.stats.executions > most:
                    return Explored(frozenset(outcomes), explorer.stats.executions, 0, repeated, False)
        except FactWithdrawn:
            continue
        stats = explorer.stats
        return Explored(frozenset(outcomes), stats.executions, stats.blocked, repeated, True)


@pytest.mark.parametrize("block", range(10))
def test_outcomes_are_those_of_all_interleavings(block: int, tmp_path: Path) -> None:
    for seed in range(block * EXAMPLES // 10, (block + 1) * EXAMPLES // 10):
        file = tmp_path / f"program_{seed}.py"
        file.write_text(program(seed))
        check_one(f"{file}::scenario", seed)


def check_one(target: str, seed: int) -> bool:
    """False if there are too many interleavings to list."""
    judge = explore(PythonSystem(target), "none")
    if not judge.finished:
        return False
    for strategy in ("optimal", "source", "classic"):
        found = explore(PythonSystem(target), strategy)
        assert found.outcomes == judge.outcomes, (seed, strategy, found.outcomes ^ judge.outcomes)
        assert found.repeated == 0, (seed, strategy)
        if strategy == "optimal":
            assert found.blocked == 0, (seed, found)
            classes = found.executions
        else:
            assert found.executions == classes, (seed, strategy, found.executions, classes)
    return True
