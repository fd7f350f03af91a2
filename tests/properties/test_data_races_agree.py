"""Generated abstract programs: the data races found in one run of each trace class are the accesses that some schedule
has next to each other, found by going through all schedules.
"""

from __future__ import annotations

import json
import os
from random import Random

import pytest

from dpor.core.data_races import data_races
from dpor.core.operations import WRITE
from dpor.core.system import Trace
from dpor.explorers import STRATEGIES
from dpor.model import AbstractSystem
from dpor.testing import Spec, random_program, shrink

EXAMPLES = int(os.environ.get("DPOR_RACE_EXAMPLES", "100"))
"""By hand: DPOR_RACE_EXAMPLES=5000."""
MANY = 3_000

WORDS = {
    "r",
    "w",
    "rmw",
    "lock",
    "unlock",
    "P",
    "V",
    "spawn",
    "join",
    "wait",
    "notify",
    "notifyall",
    "choose",
    "let",
    "if",
}
"""Without what orders accesses by their values (await, cas) or by chance (try, timeouts)."""

Pair = frozenset[str]


def places(system: AbstractSystem, trace: Trace) -> list[str]:
    return [event.place for event in system.describe(trace)]


def found(system: AbstractSystem) -> set[Pair]:
    pairs: set[Pair] = set()
    explorer = STRATEGIES["optimal"](system)
    for _ in explorer.explore():
        races = data_races(explorer.trace, system.is_memory)
        if races:
            at = places(system, explorer.trace)
            pairs |= {frozenset((at[race.earlier], at[race.later])) for race in races}
    return pairs


def neighbours(system: AbstractSystem) -> set[Pair] | None:
    """None if there are too many schedules."""
    pairs: set[Pair] = set()
    explorer = STRATEGIES["none"](system)
    for _ in explorer.explore():
        if explorer.stats.executions > MANY:
            return None
        trace = explorer.trace
        at = places(system, trace)
        for i in range(len(trace) - 1):
            if trace.threads[i] != trace.threads[i + 1]:
                first, second = (dict(trace.operations[p].accesses) for p in (i, i + 1))
                if any(
                    system.is_memory(location) and WRITE in (first[location], second[location])
                    for location in first.keys() & second.keys()
                ):
                    pairs.add(frozenset(at[i : i + 2]))
    return pairs


def disagreement(spec: Spec) -> str:
    system = AbstractSystem(spec)
    expected = neighbours(system)
    if expected is None:
        return ""
    races = found(system)
    missed, more = sorted(map(sorted, expected - races)), sorted(map(sorted, races - expected))
    if missed or (more and not depends_on_values(spec)):
        return f"missed {missed}, too many {more}"
    return ""


def depends_on_values(spec: Spec) -> bool:
    """Does what is accessed depend on what was read? Then one access may follow another by its value alone, without
    synchronisation: a data race that no schedule has next to each other."""
    return "'if'" in str(spec) or "z[a" in str(spec)


def test_generated_programs() -> None:
    for seed in range(EXAMPLES):
        spec = random_program(Random(seed), WORDS)
        if wrong := disagreement(spec):
            small = shrink(spec, lambda smaller: disagreement(smaller) != "")
            pytest.fail(f"seed {seed}: {wrong}; smallest: {disagreement(small)}: {json.dumps(small)}")
