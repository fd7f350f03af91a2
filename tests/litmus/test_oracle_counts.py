"""Exact counts: the programs that a brute-force judge has counted, under each explorer and in other orders of threads.

`optimal` explores each trace class once and gives no run up; `source` and `classic` complete one run for each class,
and may give others up; `none` goes through all interleavings. All see the same terminal states, deadlocks, failures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from dpor.explorers.classic import Classic
from dpor.explorers.none import NoReduction
from dpor.explorers.optimal import Optimal
from dpor.explorers.source import Source
from dpor.model import AbstractSystem
from tests.oracle.judge import explore

DATA = Path(__file__).parent.parent / "data"
PROGRAMS = [json.loads(line) for line in (DATA / "programs.jsonl").read_text().splitlines()]
SOUNDNESS = [p for p in json.loads((DATA / "soundness.json").read_text()) if not p["counts"]["cyclic"]]

FEW = 40_000
"""So many interleavings are gone through one by one."""


def reordered(program: dict[str, Any], order: tuple[int, ...]) -> dict[str, Any]:
    """The same program with its threads in another order. `tid` keeps its meaning: it is given as a register."""
    spec = program["spec"]
    count = len(spec["threads"])
    registers = {"tid": list(range(count)), **spec.get("regs", {})}
    new = {
        **spec,
        "threads": [spec["threads"][t] for t in order],
        "regs": {name: [values[t] for t in order] for name, values in registers.items()},
    }
    numbers = {f"T{old}": f"T{order.index(old)}" for old in range(count)}
    errors = [f"{numbers[thread]}:{rest}" for thread, rest in (e.split(":", 1) for e in program["counts"]["errors"])]
    return {"name": program["name"], "spec": new, "counts": {**program["counts"], "errors": errors}}


def cases() -> Iterator[Any]:
    for program in PROGRAMS:
        yield pytest.param(program, id=program["name"])
        if (count := len(program["spec"]["threads"])) > 1:
            yield pytest.param(reordered(program, tuple(reversed(range(count)))), id=f"{program['name']}, reversed")
    for program in SOUNDNESS:
        for order in permutations(range(len(program["spec"]["threads"]))):
            yield pytest.param(reordered(program, order), id=f"{program['name']}, {''.join(map(str, order))}")


CASES = list(cases())


def check(program: dict[str, Any], explorer: Any) -> Any:
    """Explore it; outcomes, deadlocks and failures must be as counted."""
    seen = explore(explorer, AbstractSystem(program["spec"]))
    counts = program["counts"]
    assert (len(seen.outcomes), len(seen.deadlocks)) == (counts["final"], counts["deadlocks"])
    assert sorted(seen.errors) == sorted(counts["errors"])
    return seen


@pytest.mark.parametrize("program", CASES)
def test_optimal_runs_each_class_once_and_gives_nothing_up(program: dict[str, Any]) -> None:
    seen = check(program, Optimal)
    assert (seen.executions, seen.blocked) == (program["counts"]["maz"], 0)


@pytest.mark.parametrize("explorer", [Source, Classic])
@pytest.mark.parametrize("program", CASES)
def test_source_and_classic_complete_one_run_for_each_class(program: dict[str, Any], explorer: Any) -> None:
    assert check(program, explorer).executions == program["counts"]["maz"]


@pytest.mark.parametrize("program", [case for case in CASES if case.values[0]["counts"]["interleavings"] <= FEW])
def test_none_goes_through_all_interleavings(program: dict[str, Any]) -> None:
    assert check(program, NoReduction).executions == program["counts"]["interleavings"]
