"""At most so many preemptions: bounded `none` has all such schedules, and bounded `classic` all their outcomes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dpor.core.operations import VALUE_SHIFT, Action
from dpor.core.options import Options
from dpor.core.system import System, Trace
from dpor.explorers import STRATEGIES, Explorer
from dpor.model import AbstractSystem
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.program.system import PythonSystem
from dpor.testing import Spec, random_program, shrink
from dpor.testing.python_programs import program
from tests.litmus.test_oracle_counts import reordered
from tests.oracle.judge import TooMany, explore

EXAMPLES = int(os.environ.get("DPOR_BOUND_EXAMPLES", "60"))
"""By hand: DPOR_BOUND_EXAMPLES=5000."""
BOUNDS = (0, 1, 2)
MANY, FEW = 3_000, 300
"""Programs with more schedules within the bound are passed over: abstract ones, Python's."""

PROGRAMS = json.loads((Path(__file__).parent.parent / "data" / "soundness.json").read_text())
BOUND_PROGRAMS = [p for p in PROGRAMS if p["kind"] == "bound"]


def listed(system: System, most: int) -> tuple[set[Hashable], int, bool]:
    """All schedules within the bound, one by one, by no algorithm at all: their outcomes, how many they are, and
    whether there are others."""
    outcomes: set[Hashable] = set()
    count, others = 0, False
    left: list[list[Action]] = [[]]
    while left:
        prefix = left.pop()
        trace, masks = Trace(), []

        def choose(enabled: int, prefix: list[Action] = prefix, trace: Trace = trace, masks: Any = masks) -> Action:
            masks.append(enabled)
            if len(trace) < len(prefix):
                return prefix[len(trace)]
            if trace.threads and enabled >> trace.threads[-1] & 1:
                return trace.threads[-1]
            return (enabled & -enabled).bit_length() - 1

        outcomes.add(system.run(trace, choose).outcome)
        count += 1
        preemptions = 0
        for i, (thread, enabled, operation) in enumerate(zip(trace.threads, masks, trace.operations, strict=True)):
            last = trace.threads[i - 1] if i and enabled >> trace.threads[i - 1] & 1 else thread
            new = i >= len(prefix)
            for other in range(8) if new else ():
                if enabled >> other & 1 and other != thread:
                    if preemptions + (i > 0 and enabled >> trace.threads[i - 1] & 1 and other != last) <= most:
                        left.append([*trace.actions[:i], other])
                    else:
                        others = True
            if operation.value == 0 and i >= len(prefix) - 1:
                values = range(1, operation.alternatives)
                left += [[*trace.actions[:i], thread | value << VALUE_SHIFT] for value in values]
            preemptions += thread != last
    return outcomes, count, others


def bounded(strategy: str, most: int, made: list[Explorer]) -> Callable[[System], Any]:
    def make(system: System) -> Any:
        made.append(STRATEGIES[strategy].make(system, Options(preemptions=most)))
        return made[-1]

    return make


def wrong(spec: Spec, most: int, *, by_listing: bool) -> str:
    """What is wrong, in a word or two; "" if nothing is."""
    system = AbstractSystem(spec)
    made: list[Explorer] = []
    try:
        none = explore(bounded("none", most, made), system, limit=MANY)
    except TooMany:
        return ""
    classic = explore(bounded("classic", most, made), system)
    left_out = [bool(explorer.stats.left_out) for explorer in made]
    if by_listing and (none.outcomes, none.executions, left_out[0]) != listed(system, most):
        return "none: not the schedules within the bound"
    if classic.outcomes != none.outcomes:
        return "classic: outcomes"
    if classic.executions > none.executions:
        return "classic: more executions than none"
    if not left_out[1] and classic.outcomes != explore(STRATEGIES["classic"], system).outcomes:
        return "classic: claims to have left nothing out"
    return ""


@pytest.mark.parametrize("case", BOUND_PROGRAMS, ids=lambda case: case["name"])
def test_programs_that_a_careless_bound_gets_wrong(case: dict[str, Any]) -> None:
    for order in permutations(range(len(case["spec"]["threads"]))):
        spec = reordered(case, order)["spec"]
        for most in BOUNDS:
            assert wrong(spec, most, by_listing=True) == ""


SHRUNK: list[Spec] = [
    # A thread that is asleep at the node covers nothing there.
    {"vars": {"x": 0}, "sems": {"s": 1}, "threads": [["w x 1"], ["P s", "r x b"], ["r x b"]]},
    # Where the run of events that is preempted begins, the other thread is blocked: its pending operation races, too.
    {
        "locks": ["m", "n"],
        "conds": ["c"],
        "threads": [["twait c n a", "lock m"], ["unlock m", "lock m", "twait c m b"]],
    },
    # To come before the release that it waits for, and be blocked there, makes the switch away free.
    {
        "vars": {"x": 0},
        "locks": ["m"],
        "sems": {"s": 1},
        "threads": [["V s", "tP s b", "lock m", "w x a+1"], ["P s", "lock m", "tP s b", "unlock m", "V s", "w x 2"]],
    },
]


@pytest.mark.parametrize("spec", SHRUNK, ids=range(len(SHRUNK)))
def test_programs_that_an_earlier_search_got_wrong(spec: Spec) -> None:
    for most in (0, 1, 2, 3):
        assert wrong(spec, most, by_listing=True) == ""


def test_generated_programs() -> None:
    for seed in range(EXAMPLES):
        spec = random_program(Random(seed))
        for most in BOUNDS:
            if complaint := wrong(spec, most, by_listing=seed % 3 == 0):
                small = shrink(spec, lambda smaller, most=most: wrong(smaller, most, by_listing=True) != "")  # type: ignore[misc]
                pytest.fail(f"seed {seed}, bound {most}: {complaint}: {json.dumps(small)}")


@pytest.mark.parametrize("timeouts", ["any", "idle"])
def test_generated_python_programs(timeouts: str, tmp_path: Path) -> None:
    for seed in range(EXAMPLES // 6):
        file = tmp_path / f"program_{seed}.py"
        file.write_text(program(seed, most=2))
        system = PythonSystem(f"{file}::scenario", RuntimeOptions(timeouts=timeouts))
        learn(system)
        for most in BOUNDS:
            none = outcomes(STRATEGIES["none"].make(system, Options(preemptions=most)))
            if none is not None:
                classic = outcomes(STRATEGIES["classic"].make(system, Options(preemptions=most)))
                assert classic is not None
                assert classic[0] == none[0], (seed, most)
                assert classic[1] <= none[1], (seed, most)


def learn(system: PythonSystem) -> None:
    """Search until nothing new is learnt of what is shared."""
    from dpor.core.errors import AssumptionBroken

    while True:
        try:
            outcomes(STRATEGIES["optimal"](system))
        except AssumptionBroken:
            continue
        return


def outcomes(explorer: Explorer) -> tuple[set[Hashable], int] | None:
    """The outcomes and how many executions; None if those are too many."""
    found: set[Hashable] = set()
    for run in explorer.explore():
        if run.outcome is not None:
            found.add(run.outcome)
        if explorer.stats.executions > FEW:
            return None
    return found, explorer.stats.executions
