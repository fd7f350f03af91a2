"""The stateful searches on the abstract programs whose states have been counted, also on those that loop for ever.

`full` stores each reachable state once; `dpor` no more than that, and sees the same terminal states, deadlocks and
failures under every order of the threads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest

from dpor.explorers.dpor import Dpor
from dpor.explorers.full import Full
from dpor.explorers.original import Original
from dpor.model import AbstractSystem
from tests.litmus.test_oracle_counts import DATA, PROGRAMS, reordered
from tests.oracle.judge import explore_states

SOUNDNESS = json.loads((DATA / "soundness.json").read_text())


def cases() -> Iterator[Any]:
    for program in PROGRAMS:
        yield pytest.param(program, id=program["name"])
        if (count := len(program["spec"]["threads"])) > 1:
            yield pytest.param(reordered(program, tuple(reversed(range(count)))), id=f"{program['name']}, reversed")
    for program in SOUNDNESS:
        for order in permutations(range(len(program["spec"]["threads"]))):
            yield pytest.param(reordered(program, order), id=f"{program['name']}, {''.join(map(str, order))}")


@pytest.mark.parametrize("program", list(cases()))
def test_states(program: dict[str, Any]) -> None:
    counts = program["counts"]
    full = explore_states(Full, AbstractSystem(program["spec"]))
    assert (full.states, len(full.outcomes), len(full.deadlocks)) == (
        counts["states"],
        counts["final"],
        counts["deadlocks"],
    )
    assert full.errors == set(counts["errors"])
    states = [full.states]
    for explorer in (Original, Dpor):
        reduced = explore_states(explorer, AbstractSystem(program["spec"]))
        assert (reduced.outcomes, reduced.deadlocks, reduced.errors) == (full.outcomes, full.deadlocks, full.errors)
        states.append(reduced.states)
    assert states == sorted(states, reverse=True)


def test_fork_join_on_private_data_costs_no_choice() -> None:
    """Four workers, each on a cell of its own; main starts them, joins them and reads all cells."""
    cells = [f"c{n}" for n in range(4)]
    spec = {
        "vars": dict.fromkeys(cells, 0),
        "threads": [
            [
                *[f"spawn {n}" for n in range(1, 5)],
                *[f"join {n}" for n in range(1, 5)],
                *[f"r {cell} a" for cell in cells],
            ],
            *[[f"r {cell} a", f"w {cell} a+1"] for cell in cells],
        ],
    }
    explorer = Dpor(AbstractSystem(spec))
    assert sum(1 for _ in explorer.explore()) == 1
    assert explorer.stats.choices == 0
    assert explorer.stats.states == 25
