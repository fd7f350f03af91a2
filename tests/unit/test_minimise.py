"""Fewest switches, events, values: still the same failure, never a larger one, and the least where that is claimed."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

import dpor
from dpor.core.errors import UserError
from dpor.core.operations import VALUE_SHIFT
from dpor.core.outcome import Finding
from dpor.core.schedule import follow, prefer
from dpor.core.system import Trace
from dpor.explorers import NoReduction
from dpor.findings.minimise import minimise, size, switches
from dpor.findings.racing import orders_of
from dpor.model import AbstractSystem

LOST_UPDATE = {
    "vars": {"x": 0},
    "sems": {"s": 0},
    "threads": [
        ["r x a", "w x a+1", "V s"],
        ["r x a", "w x a+1", "V s"],
        ["P s", "P s", "r x a", "assert a==2"],
    ],
}
PHILOSOPHERS = {
    "locks": ["f[3]"],
    "threads": [
        [f"lock f[{i}]", f"lock f[{(i + 1) % 3}]", f"unlock f[{(i + 1) % 3}]", f"unlock f[{i}]"] for i in range(3)
    ],
}
CHOICE = {"vars": {"x": 0}, "threads": [["choose a 3", "w x a"], ["r x b", "assert b!=2"]]}


def failing_runs(system: AbstractSystem) -> list[tuple[tuple[int, ...], Finding]]:
    """Every failing interleaving."""
    explorer = NoReduction(system)
    return [(tuple(explorer.trace.actions), finding) for run in explorer.explore() for finding in run.findings]


@pytest.mark.parametrize("program", [LOST_UPDATE, PHILOSOPHERS, CHOICE], ids=["lost update", "philosophers", "choice"])
def test_every_failing_schedule_comes_down_to_the_least(program: dict[str, Any]) -> None:
    system = AbstractSystem(program)
    failing = failing_runs(system)
    least = min(switches(schedule) for schedule, _ in failing)
    for schedule, finding in random.Random(1).sample(failing, min(30, len(failing))):
        small = minimise(system, schedule, finding, budget=10**6)
        assert small.switches == switches(small.schedule) == least
        assert small.least
        run = system.run(Trace(), follow(small.schedule))
        assert finding.group in [found.group for found in run.findings]


def random_program(rng: random.Random) -> dict[str, Any]:
    statements = [
        "r x a",
        "w x 1",
        "r y b",
        "w y a+1",
        "lock m",
        "unlock m",
        "rmw x a a+1",
        "assert a!=1",
        "assert b==0",
    ]
    return {
        "vars": {"x": 0, "y": 0},
        "locks": ["m"],
        "threads": [[rng.choice(statements) for _ in range(rng.randint(1, 4))] for _ in range(rng.randint(2, 3))],
    }


def test_generated_programs() -> None:
    """The judge is every interleaving; a small budget may keep more switches, but never more than there were."""
    rng = random.Random(7)
    failures = 0
    for _ in range(60):
        system = AbstractSystem(random_program(rng))
        failing = failing_runs(system)
        for group in {finding.group for _, finding in failing}:
            same = [(schedule, finding) for schedule, finding in failing if finding.group == group]
            least = min(switches(schedule) for schedule, _ in same)
            schedule, finding = rng.choice(same)
            small = minimise(system, schedule, finding)
            assert least <= small.switches <= switches(schedule)
            assert small.switches == least or not small.least
            assert minimise(system, schedule, finding) == small
            poor = minimise(system, schedule, finding, budget=20)
            assert least <= poor.switches <= switches(schedule)
            failures += 1
    assert failures > 40


def test_a_finding_without_a_timeout_is_not_traded_for_one_with() -> None:
    finding = Finding(failing_runs(AbstractSystem(LOST_UPDATE))[0][1].kind, "m", "T", "f", 1, needs_timeout=True)
    plain = Finding(finding.kind, "m", "T", "f", 1)
    schedule = (0, 1, 0, 1)

    class Fails:
        """Two threads of two steps. Needs a timeout only where the threads run one after the other."""

        inner = AbstractSystem({"vars": {"x": 0}, "threads": [["r x a", "r x a"], ["r x a", "r x a"]]})

        def run(self, trace: Trace, choose: Any) -> Any:
            run = self.inner.run(trace, choose)
            run.findings = [finding if switches(trace.actions) < 2 else plain]
            return run

    assert minimise(Fails(), schedule, plain).switches == 2
    assert minimise(Fails(), schedule, finding).switches == 1


def test_a_candidate_that_the_program_cannot_follow_is_no_error() -> None:
    class Refuses:
        inner = AbstractSystem({"vars": {"x": 0}, "threads": [["r x a", "r x a"], ["r x a", "r x a"]]})
        runs = 0

        def run(self, trace: Trace, choose: Any) -> Any:
            self.runs += 1
            if self.runs == 1:
                raise UserError("not this one")
            return self.inner.run(trace, choose)

    finding = failing_runs(AbstractSystem(LOST_UPDATE))[0][1]
    assert minimise(Refuses(), (0, 1, 0, 1), finding).schedule == (0, 1, 0, 1)


def test_the_race_that_is_marked_is_one_whose_reversal_is_harmless() -> None:
    system = AbstractSystem(LOST_UPDATE)
    trace = Trace()
    run = system.run(trace, follow([0, 1, 1, 1, 0, 0, 2, 2, 2]))
    pair, _ = orders_of(system, trace, run, run.findings[0])
    assert pair is not None
    assert (pair.earlier, pair.later) == (0, 2)  # T0 reads x before T1 writes it


def test_in_a_deadlock_the_awaited_acquisition_is_marked() -> None:
    system = AbstractSystem(PHILOSOPHERS)
    trace = Trace()
    run = system.run(trace, follow([0, 1, 2]))
    pair, _ = orders_of(system, trace, run, run.findings[0])
    assert pair is not None
    assert pair.later is None


def test_a_run_of_one_thread_has_no_race() -> None:
    system = AbstractSystem({"vars": {"x": 0}, "threads": [["r x a", "assert a==1"]]})
    trace = Trace()
    run = system.run(trace, follow([0]))
    assert orders_of(system, trace, run, run.findings[0])[0] is None


# ---------------------------------------------------------------------- events and values

SPIN = {
    "vars": {"go": 0, "x": 0},
    "threads": [[["while", "a==0", ["r go a"]], "r x b", "assert b==1"], ["w go 1"]],
}
"""The loop may go round any number of times; once is enough."""
PICKY = {"vars": {"x": 0}, "threads": [["choose a 5", "choose b 5", "w x a", "r x c", "assert c<2"], ["r x d"]]}


def smallest(system: AbstractSystem, group: tuple[object, ...]) -> Any:
    return min(size(schedule) for schedule, finding in failing_runs(system) if finding.group == group)


@pytest.mark.parametrize("program", [LOST_UPDATE, CHOICE, PICKY], ids=["lost update", "choice", "picky"])
def test_fewest_switches_then_events_then_values(program: dict[str, Any]) -> None:
    """The judge is every interleaving."""
    system = AbstractSystem(program)
    failing = failing_runs(system)
    for schedule, finding in random.Random(2).sample(failing, min(20, len(failing))):
        small = minimise(system, schedule, finding, budget=10**6)
        assert size(small.schedule) == smallest(system, finding.group)
        assert small.first == schedule
        run = system.run(Trace(), follow(small.schedule))
        assert finding.group in [found.group for found in run.findings]


def test_a_loop_that_waits_goes_round_as_little_as_it_can() -> None:
    system = AbstractSystem(SPIN)
    schedule = (0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
    trace = Trace()
    (finding,) = system.run(trace, prefer(schedule)).findings
    small = minimise(system, tuple(trace.actions), finding)
    assert switches(small.schedule) == 1
    assert len(small.schedule) < len(trace)
    assert minimise(system, tuple(trace.actions), finding) == small
    longer = [size(s) for s, _ in failing_runs(AbstractSystem(SPIN, 12))]
    assert size(small.schedule) == min(longer)


def test_a_python_program() -> None:
    """Found with --all under any of several values and schedules; told with the least."""

    def program() -> None:
        done: list[int] = []
        rounds = dpor.choose(4)

        def work() -> None:
            for _ in range(rounds):
                done.append(1)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(done) < 4

    (failure,) = dpor.check(program, all=True, strategy="none", max_executions=3000, max_seconds=None).findings
    assert failure.schedule[0] == 2 << VALUE_SHIFT
    assert len([step for step in failure.trace if "append" in step.operation]) == 4
    assert failure.saved is not None
    assert failure.saved.first_schedule == failure.first_schedule
    assert dpor.replay(failure.saved, program).trace == failure.trace
