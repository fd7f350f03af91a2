"""Generated Python programs: every explorer sees the outcomes and the trace classes that listing all interleavings
shows, and none twice. Of those that go round for ever, the stateful ones see what `full` sees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpor.testing import TooLarge, disagreement, make_program
from dpor.testing.endless_python import endless_program

EXAMPLES = int(os.environ.get("DPOR_PYTHON_EXAMPLES", "50"))
"""By hand: DPOR_PYTHON_EXAMPLES=5000, or `dpor fuzz --kind python`."""


@pytest.mark.parametrize("block", range(10))
def test_all_strategies_agree(block: int, tmp_path: Path) -> None:
    judged = 0
    for seed in range(block * EXAMPLES // 10, (block + 1) * EXAMPLES // 10):
        file = tmp_path / f"program_{seed}.py"
        file.write_text(str(make_program(seed, "python")))
        try:
            assert disagreement(f"{file}::scenario") == "", seed
        except TooLarge:
            continue
        judged += 1
    assert judged > EXAMPLES // 30


ENDLESS = int(os.environ.get("DPOR_ENDLESS_EXAMPLES", "20"))
"""By hand: DPOR_ENDLESS_EXAMPLES=500, or `dpor fuzz --kind python --cyclic`."""


def test_stateful_strategies_agree_on_endless_programs(tmp_path: Path) -> None:
    judged = 0
    for seed in range(ENDLESS):
        file = tmp_path / f"endless_{seed}.py"
        file.write_text(endless_program(seed, most=2))
        try:
            assert disagreement(f"{file}::scenario", ["original", "dpor"]) == "", seed
        except TooLarge:
            continue
        judged += 1
    assert judged > ENDLESS // 2
