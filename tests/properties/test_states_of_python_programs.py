"""Laws of states: neighbours that do not depend on each other lead, swapped, to the same state; to the same state lead
only what has the same future.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from dpor.core.dependence import dependent
from dpor.core.errors import AssumptionBroken
from dpor.core.operations import THREAD_MASK, UNKNOWN, Action
from dpor.core.system import STOP, Trace
from dpor.explorers import STRATEGIES
from dpor.explorers.full import Full
from dpor.python.program.system import PythonSystem
from dpor.testing.python_programs import program
from tests.judge.constructs import ROWS, Row

CASES = sorted((Path(__file__).parent.parent / "cases").glob("*.py"))
SEEDS = 20
SWAPS = 12


def target(tmp_path: Path, seed: int, most: int = 3) -> str:
    path = tmp_path / f"program{seed}.py"
    path.write_text(program(seed, most))
    return f"{path}::scenario"


def random_run(system: PythonSystem, rng: random.Random) -> tuple[Trace, list[int], list[bytes | None]]:
    """A complete run by chance: its events, who was enabled before each, and the states before each."""
    while True:
        trace, enabled_at, states = Trace(), list[int](), list[bytes | None]()

        def choose(enabled: int) -> Action:
            enabled_at.append(enabled)
            states.append(system.whole_state())
            return rng.choice([thread for thread in range(enabled.bit_length()) if enabled >> thread & 1])

        try:
            system.run(trace, choose)
        except AssumptionBroken:
            continue
        return trace, enabled_at, states


def after(system: PythonSystem, actions: list[Action]) -> bytes | None:
    """The state after these actions, which are repeated."""
    trace = Trace()
    trace.actions, trace.threads = list(actions), [action & THREAD_MASK for action in actions]
    trace.operations, trace.befores = [UNKNOWN] * len(actions), [None] * len(actions)
    found: list[bytes | None] = []

    def choose(enabled: int) -> Action:
        found.append(system.whole_state())
        return STOP

    system.run(trace, choose)
    return found[0] if found else None


def check_swaps(system: PythonSystem, seed: int) -> int:
    """Swap neighbours of a few runs, and compare. Returns how many were compared."""
    rng = random.Random(seed)
    compared = 0
    for _ in range(3):
        trace, enabled_at, states = random_run(system, rng)
        places = list(range(len(trace) - 2))
        rng.shuffle(places)
        for i in places:
            (a, b), actions = trace.operations[i : i + 2], list(trace.actions)
            first, second = trace.threads[i : i + 2]
            if first == second or dependent(a, b) or a.barrier or b.barrier or a.starts >= 0 or b.starts >= 0:
                continue
            if not enabled_at[i] >> second & 1 or states[i + 2] is None:
                continue
            swapped = [*actions[:i], actions[i + 1], actions[i]]
            assert after(system, actions[: i + 2]) == states[i + 2], f"repeated, event {i}"
            assert after(system, swapped) == states[i + 2], f"swapped, event {i}: {a} {b}"
            compared += 1
            if compared >= SWAPS:
                return compared
    return compared


def test_swapped_neighbours_of_generated_programs_lead_to_one_state(tmp_path: Path) -> None:
    compared = sum(check_swaps(PythonSystem(target(tmp_path, seed)), seed) for seed in range(SEEDS))
    assert compared > 2 * SEEDS


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", ["scenario", "scenario_fixed"])
def test_swapped_neighbours_of_real_faults_lead_to_one_state(path: Path, name: str) -> None:
    check_swaps(PythonSystem(f"{path}::{name}"), 1)


def outcomes(system: PythonSystem, make: Any, most: int = 400) -> set[Any] | None:
    """Those that a search sees; None if it needs too many runs."""
    while True:
        found: set[Any] = set()
        try:
            for n, run in enumerate(make(system).explore()):
                if run.outcome is not None:
                    found.add(run.outcome)
                if n > most and make is not Full:
                    return None
        except AssumptionBroken:
            continue
        return found


@pytest.mark.parametrize("seed", range(6))
def test_a_search_over_states_sees_what_a_search_over_runs_sees(tmp_path: Path, seed: int) -> None:
    path = target(tmp_path, seed, 1)
    expected = outcomes(PythonSystem(path), STRATEGIES["optimal"], 100_000)
    system = PythonSystem(path)
    assert outcomes(system, Full) == expected
    assert not system.unstored()


CONSTRUCTS = [
    pytest.param(row, id=f"{node}-{row.name}", marks=[pytest.mark.slow] if n % 40 else [])
    for n, (node, row) in enumerate((node, row) for node, rows in ROWS.items() for row in rows)
]


@pytest.mark.parametrize("row", CONSTRUCTS)
def test_a_search_over_states_sees_what_a_construct_can_do(tmp_path: Path, row: Row) -> None:
    path = tmp_path / "construct.py"
    path.write_text(row.source())
    expected = outcomes(PythonSystem(f"{path}::scenario"), STRATEGIES["optimal"])
    if expected is not None:
        found = outcomes(PythonSystem(f"{path}::scenario"), Full)
        assert found is not None
        assert expected <= found
