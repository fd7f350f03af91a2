"""Python twins of the abstract programs have as many states as those: one for each, while main stands still."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpor.core.errors import AssumptionBroken
from dpor.core.system import STOP, Action, Trace
from dpor.python.program.system import PythonSystem
from tests.litmus.test_oracle_counts import PROGRAMS
from tests.programs.abstract_twins import source

FEW = 100
WITHOUT = {
    "indexer(tids=0,11)": "both threads store equal words, and `setdefault` does not say whose it found",
    **dict.fromkeys(["casrot(2)", "casrot(3)", "casrot(4)"], "Python has no compare-and-swap of a variable"),
}
"""Programs that have no twin, and why."""
FEWER = {"circular_buffer(1)": 28}
"""Twins with fewer states. The buffer holds zeros, and the only store into it stores a zero: that is no step."""


def twins() -> list[Any]:
    """The programs that have a twin; those with many states are marked as slow."""
    found = []
    for program in PROGRAMS:
        if program["name"] in WITHOUT:
            continue
        text, states = source(program["spec"]), FEWER.get(program["name"], program["counts"]["states"])
        marks = [pytest.mark.slow] if states > FEW else []
        found.append(pytest.param(text, states, id=program["name"], marks=marks))
    return found


TWINS = twins()


def test_all_others_have_one() -> None:
    assert len(TWINS) == len(PROGRAMS) - len(WITHOUT) == 102


@pytest.mark.parametrize(("text", "expected"), TWINS)
def test_a_twin_has_as_many_states(tmp_path: Path, text: str, expected: int) -> None:
    path = tmp_path / "twin.py"
    path.write_text(text)
    system = PythonSystem(f"{path}::scenario")
    while True:
        try:
            assert count_states(system) == expected
            return
        except AssumptionBroken:
            pass


def count_states(system: PythonSystem) -> int:
    """How many states there are from when all threads are started, if main stands still from then on."""
    seen: set[bytes] = set()
    trace = Trace()
    left: list[tuple[int, list[Action]]] = []  # where something is to be tried: the length of the trace, and what
    forced: list[Action] = []

    def choose(enabled: int) -> Action:
        if forced:
            return forced.pop()
        state = system.whole_state()  # from the beginning: accesses are others where states are compared
        if any(pending.operation.starts >= 0 for pending in system.pending()):
            return 0
        assert state is not None, dict(system.unstored())
        workers = [thread for thread in range(1, enabled.bit_length()) if enabled >> thread & 1]
        if state in seen or not workers:
            seen.add(state)
            return STOP
        seen.add(state)
        left.append((len(trace), workers))
        return workers.pop()

    while True:
        system.run(trace, choose)
        while left and not left[-1][1]:
            left.pop()
        if not left:
            return len(seen)
        length, actions = left[-1]
        trace.cut(length)
        forced.append(actions.pop())
