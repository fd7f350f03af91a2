"""Generated programs with dicts, while the order of keys counts only if somebody looks, and where it always counts: the
same outcomes, deadlocks and failures, in as many executions or fewer, and the same as of a search of all states."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dpor.explorers.full import Full
from dpor.explorers.optimal import Optimal
from dpor.python.effects import key_order
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.program.layers import Layers
from dpor.python.program.system import PythonSystem
from dpor.testing import Observed, TooLarge, explore
from dpor.testing.dict_programs import dict_program

EXAMPLES = int(os.environ.get("DPOR_DICT_EXAMPLES", "36"))
"""By hand: DPOR_DICT_EXAMPLES=20000."""
FIRST = int(os.environ.get("DPOR_DICT_FIRST", "0"))
BLOCKS = 6
RUNS = 400


def search(file: Path, *facts: tuple[object, ...], make: Any = Optimal, every_access: bool = False) -> Observed:
    known = {"facts": [list(fact) for fact in facts], "threads": []}
    system = PythonSystem(f"{file}::scenario", RuntimeOptions(), (), known)
    return explore(make, system, every_access=every_access, runs=RUNS, states=5 * RUNS)


def differs(seen: Observed, usual: Observed) -> str:
    """What is different, in words; "" if nothing is."""
    return ", ".join(
        what for what in ("outcomes", "deadlocks", "failures") if getattr(seen, what) != getattr(usual, what)
    )


@pytest.mark.parametrize("block", range(BLOCKS))
def test_programs_with_dicts(block: int, tmp_path: Path) -> None:
    judged = 0
    for seed in range(FIRST + block * EXAMPLES // BLOCKS, FIRST + (block + 1) * EXAMPLES // BLOCKS):
        file = tmp_path / f"program_{seed}.py"
        file.write_text(dict_program(seed))
        try:
            usual = search(file, key_order.ALL)
            seen = search(file)
            assert differs(seen, usual) == "", seed
            assert seen.executions <= usual.executions, seed
            assert differs(search(file, every_access=True), usual) == "", seed
            assert differs(search(file, make=Full), usual) == "", seed
        except TooLarge:
            continue
        judged += 1
    assert judged > EXAMPLES // BLOCKS * 3 // 4


@pytest.mark.parametrize(
    ("owner", "name", "wrong"),
    [
        (key_order, "note_look", lambda *_: None),
        (Layers, "is_to_be_watched", staticmethod(lambda: False)),
    ],
    ids=["looks are not noted", "the last thread is not watched"],
)
def test_programs_with_dicts_show_mistakes(
    owner: Any, name: str, wrong: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = []
    for seed in range(60):
        programs.append(tmp_path / f"program_{seed}.py")
        programs[-1].write_text(dict_program(seed))
    usual = list(map(partial(_searched, facts=(key_order.ALL,)), programs))
    monkeypatch.setattr(owner, name, wrong)
    assert any(
        one and other and differs(one, other) for one, other in zip(map(_searched, programs), usual, strict=True)
    )


def _searched(file: Path, facts: tuple[Any, ...] = ()) -> Observed | None:
    try:
        return search(file, *facts)
    except TooLarge:
        return None
