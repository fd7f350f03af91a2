"""Oracles of Python programs that lie as it comes: `sa` finds out, and its outcomes are those of `full`."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from dpor.explorers import STRATEGIES
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.program.system import PythonSystem
from dpor.testing import Observed, TooLarge, explore, make_program
from dpor.testing.endless_python import endless_program
from dpor.testing.lying import Liar

EXAMPLES = int(os.environ.get("DPOR_LYING_EXAMPLES", "24"))
"""By hand: DPOR_LYING_EXAMPLES=400."""
LARGEST = 600
"""States of a search; examples with more are left out."""


class Believed(PythonSystem):
    """Nothing contradicts the oracle: what a search would miss."""

    def withdraw_facts(self, facts: Collection[str]) -> None:
        pass


def seen(strategy: str, system: PythonSystem) -> Observed:
    try:
        return explore(STRATEGIES[strategy], system, states=LARGEST)
    finally:
        system.leave()


def differs(a: Observed, b: Observed) -> bool:
    return any(getattr(a, what) != getattr(b, what) for what in ("outcomes", "deadlocks", "failures", "livelock"))


def test_outcomes_stay_right(tmp_path: Path) -> None:
    """And believing the lies would have missed some, so that this test can fail."""
    lying = RuntimeOptions(oracle=Liar)
    wrong, believed, judged = [], 0, 0
    for seed in range(EXAMPLES):
        file = tmp_path / f"program_{seed}.py"
        file.write_text(endless_program(seed // 2, most=2) if seed % 2 else str(make_program(seed, "python")))
        target = f"{file}::scenario"
        try:
            full = seen("full", PythonSystem(target))
            found = seen("sa", PythonSystem(target, lying))
        except TooLarge:
            continue
        judged += 1
        wrong += [seed] if differs(found, full) else []
        believed += differs(seen("sa", Believed(target, lying)), full)
    assert wrong == []
    assert judged > EXAMPLES // 4
    assert believed > 0
