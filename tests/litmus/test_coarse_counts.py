"""Abstract programs whose accesses are no events while they keep to the discipline: exact counts, and nothing lost.

The states and transitions in data/coarse.jsonl were counted by a model that knows from all reachable states which
variables keep to it. Operations on locks, semaphores and conditions are steps, and so are accesses of all other
variables.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpor.core.errors import AssumptionBroken
from dpor.explorers import Explorer
from dpor.explorers.dpor import Dpor
from dpor.explorers.full import Full
from dpor.explorers.optimal import Optimal
from dpor.model import AbstractSystem
from dpor.testing import Observed, explore
from tests.litmus.test_oracle_counts import DATA, PROGRAMS

COARSE = {row["name"]: row["coarse"] for row in map(json.loads, (DATA / "coarse.jsonl").read_text().splitlines())}
FEW_CLASSES = 800


def seen(make: Any, program: dict[str, Any], every_access: bool) -> Observed:
    return explore(make, AbstractSystem(program["spec"]), every_access=every_access, classes=True)


def searched(make: Any, spec: Any) -> Explorer:
    """An explorer that has ended."""
    system = AbstractSystem(spec)
    while True:
        system.see_every_access(False)
        explorer: Explorer = make(system)
        try:
            for _ in explorer.explore():
                pass
        except AssumptionBroken:
            continue
        return explorer


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p["name"] in COARSE], ids=lambda p: p["name"])
def test_states_and_transitions(program: dict[str, Any]) -> None:
    counts = program["counts"]
    full = searched(Full, program["spec"])
    assert [full.stats.states, full.stats.events] == COARSE[program["name"]]
    for make in (Full, Dpor):
        found = seen(make, program, False)
        assert (len(found.outcomes), len(found.deadlocks)) == (counts["final"], counts["deadlocks"])
        assert found.states <= full.stats.states


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p["counts"]["maz"] <= FEW_CLASSES], ids=lambda p: p["name"])
def test_the_trace_classes_are_as_many(program: dict[str, Any]) -> None:
    every, coarse = (seen(Optimal, program, each) for each in (True, False))
    assert coarse.executions == every.executions == len(coarse.classes)
    assert (coarse.blocked, coarse.outcomes, coarse.deadlocks) == (0, every.outcomes, every.deadlocks)


def test_events_of_a_counter_under_a_lock() -> None:
    """Two sections in each of three threads, with two accesses each: 24 events with these, 12 without."""
    (spec,) = (p["spec"] for p in PROGRAMS if p["name"] == "locked_counter(3x2)")
    explorer = searched(Optimal, spec)
    assert explorer.stats.executions == 90
    assert len(explorer.trace) == 12


def test_a_contradiction_amid_a_run_that_goes_on_from_a_known_state() -> None:
    """Its steps are no longer those that are known: that begins the search again, and is no fault of anybody."""
    body = ["rmw x a 1-a", "lock m", ["if", "a==0", ["r x a"]], "r x a", "unlock m", "r x a"]
    threads = [[["while", "1==1", body]], [["while", "1==1", ["lock m", "r x a", "unlock m", "r x a"]]]]
    searched(Dpor, {"vars": {"x": 0, "y": 0, "z": 0}, "locks": ["m", "n"], "threads": threads})
