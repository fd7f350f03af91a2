"""What the static analysis says is held against what happens, in random runs of generated programs, of programs for
each construct of the language, and of workloads.

It says at each access, from the stacks of all threads, whether another thread may make a conflicting access later. One
that does, though it said no, shows a lie: of the field accesses in some precision, of some pointer setting, or of which
fields are immutable.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

import pytest

from dpor.core.dependence import dependent
from dpor.core.errors import AssumptionBroken
from dpor.core.operations import Action, ThreadId
from dpor.core.oracle import At, Oracle
from dpor.core.system import Chooser, Run, Trace
from dpor.explorers import RandomWalk
from dpor.python.kernel.options import StaticOptions
from dpor.python.kernel.run import run
from dpor.python.program.static_facts import StaticOracle, is_in_program
from dpor.python.program.system import PythonSystem
from dpor.python.states.frames import frames_of
from dpor.testing import make_program
from tests.judge.constructs import ROWS, Row

EXAMPLES = int(os.environ.get("DPOR_FACTS_EXAMPLES", "45"))
"""By hand: DPOR_FACTS_EXAMPLES=3000."""
RUNS = 3
SETTINGS = [
    StaticOptions(precision, pointers)
    for precision, pointers in product(
        ("insensitive", "callee", "sensitive"), ("none", "ci-ex", "cs-ex", "ci-dd", "cs-dd")
    )
]


class Recording(PythonSystem):
    """Remembers, for each event of the present run, where all threads were before it, and which not in the program."""

    def run(self, trace: Trace, choose: Chooser) -> Run:
        self.stacks: list[dict[ThreadId, tuple[At, ...]]] = []
        self.outside: list[set[ThreadId]] = []

        def recorded(enabled: int) -> Action:
            stacks = self._stacks()
            self.stacks.append(stacks)
            is_program_file = self._loader.is_program_file
            self.outside.append({t for t in stacks if not is_in_program(frames_of(run.threads[t]), is_program_file)})
            return choose(enabled)

        return super().run(trace, recorded)


def runs(system: Recording) -> Iterator[Trace]:
    """A few complete runs."""
    for seed in range(RUNS):
        while True:
            walk = RandomWalk(system, seed)
            try:
                for _ in islice(walk.explore(), 1):
                    yield walk.trace
                break
            except AssumptionBroken:
                continue


def lies(system: Recording, oracle: Oracle, trace: Trace) -> Iterator[str]:
    """Facts by which an access conflicts with none that follows, though it does."""
    parents = {operation.starts: thread for thread, operation in zip(trace.threads, trace.operations, strict=True)}
    events = list(zip(trace.threads, trace.operations, system.stacks, strict=False))
    for i, (thread, operation, stacks) in enumerate(events):
        if operation.rule is not None or operation.barrier or thread in system.outside[i] or not all(stacks.values()):
            continue
        for later, other, _ in events[i + 1 :]:
            while later not in stacks:  # who starts it, now or later
                later = parents[later]
            if other.rule is None and later != thread and dependent(operation, other):
                yield from oracle.ruled_out(stacks[thread], [stacks[later]])


def check(target: str, settings: list[StaticOptions]) -> None:
    system = Recording(target)
    try:
        oracles = [StaticOracle(system.source(), setting) for setting in settings]
        for trace in runs(system):
            for setting, oracle in zip(settings, oracles, strict=True):
                assert not set(lies(system, oracle, trace)), (target, setting)
    finally:
        system.leave()


@pytest.mark.parametrize("block", range(6))
def test_generated_programs(block: int, tmp_path: Path) -> None:
    for seed in range(block, EXAMPLES, 6):
        file = tmp_path / f"program_{seed}.py"
        file.write_text(str(make_program(seed, "python")))
        check(f"{file}::scenario", [SETTINGS[seed % len(SETTINGS)]])


COARSE = {
    *("publication through raise from", "defaultdict", "issubclass with an ABC", "singledispatch register"),
    *("inspect signature", "object.__setattr__ class", "publication by a bound method", "publication by a class"),
    "exitstack shared",
}
"""Here one location stands for several objects, or for the whole of what a class looks up, so there are more conflicts
than there are in the program."""
WRONG = {"ExitStack"}
"""Here facts are wrong: the analysis loses what `contextlib`, instrumented, is given to call. A run withdraws them."""
CONSTRUCTS = [(node, row) for node, rows in ROWS.items() for row in rows if row.name not in COARSE | WRONG]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "rows", [CONSTRUCTS[::8], pytest.param(CONSTRUCTS, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_constructs(rows: list[tuple[str, Row]], tmp_path: Path) -> None:
    settings = [SETTINGS[10], SETTINGS[12], SETTINGS[14]]  # sensitive: none, cs-ex, cs-dd
    for number, (_, row) in enumerate(rows):
        file = tmp_path / f"construct_{number}.py"
        file.write_text(row.source())
        check(f"{file}::scenario", settings)


@pytest.mark.parametrize("name", ["bounded_buffer", "locked_counter", "philosophers", "racy_counter", "readers"])
def test_workloads(name: str) -> None:
    check(f"dpor.workloads.{name}:main", SETTINGS)
