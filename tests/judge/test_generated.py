"""Generated programs: what real threads show of them, dpor finds.

`DPOR_JUDGE_PROGRAMS`: how many (of objects that escape or die, and of dicts, half as many);
`DPOR_JUDGE_FIRST`: the first seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dpor.python.kernel.options import RuntimeOptions
from dpor.testing import python_programs
from dpor.testing.dict_programs import dict_program
from tests.judge import dying, escaping
from tests.judge.against import missed, search
from tests.judge.real_threads import Judge

PROGRAMS = int(os.environ.get("DPOR_JUDGE_PROGRAMS", "100"))
FIRST = int(os.environ.get("DPOR_JUDGE_FIRST", "0"))
RUNS = 60
BLOCKS = 10


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize(
    ("program", "programs"),
    [
        (python_programs.program, PROGRAMS),
        (escaping.program, PROGRAMS // 2),
        (dying.program, PROGRAMS // 2),
        (dict_program, PROGRAMS // 2),
    ],
    ids=["statements", "escaping", "dying", "dicts"],
)
def test_outcomes_on_real_threads_are_found(
    block: int, program: Callable[[int], str], programs: int, tmp_path: Path
) -> None:
    judged = 0
    seeds = range(FIRST + block * programs // BLOCKS, FIRST + (block + 1) * programs // BLOCKS)
    for seed in seeds:
        file = tmp_path / f"program_{seed}.py"
        file.write_text(program(seed))
        judged += judge_one(file, seed)
    assert judged * 2 >= len(seeds)


def judge_one(file: Path, seed: int) -> bool:
    """False if there are too many interleavings to list, or something is missed and the search says why."""
    options = RuntimeOptions(timeout_limit=1)
    found = search(f"{file}::scenario", none=150, optimal=1_500, options=options)
    if not found.finished:
        return False
    judge = Judge(file, timeout_limit=1)
    seen = judge.at_random(RUNS, seed)
    message = missed(seen, found, file)
    assert not message or found.incomplete, f"seed {seed}: {message}"
    return not message
