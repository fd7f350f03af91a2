"""What the tests of explorers compare: an exploration summed up, and the brute-force judge's view of a program."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Protocol

import attrs

from dpor.core.outcome import Kind
from dpor.core.system import Ending, Run, StatefulSystem, System, Trace
from dpor.model import AbstractSystem, Outcome
from dpor.testing import trace_class
from tests.oracle import bruteforce


class Explorer(Protocol):
    trace: Trace

    @property
    def stats(self) -> Any: ...

    def explore(self) -> Iterator[Run]: ...


@attrs.define
class Explored:
    """What an explorer saw.

    executions   complete runs;  blocked   those given up
    outcomes, deadlocks, errors   the different ones, of complete runs
    classes      the trace class of each complete run, in order (only if asked for)
    """

    executions: int = 0
    blocked: int = 0
    outcomes: set[Outcome] = attrs.Factory(set)
    deadlocks: set[Outcome] = attrs.Factory(set)
    errors: set[str] = attrs.Factory(set)
    classes: list[Hashable] = attrs.Factory(list)


class TooMany(Exception):
    """More executions than the test allows for."""


def explore(
    make: Callable[[System], Explorer], system: System, *, classes: bool = False, limit: int = 10**9
) -> Explored:
    """Let an explorer go through all of a program. Every run must be complete or given up. (Classes can be compared
    between explorations of one system.)"""
    explorer = make(system)
    seen = Explored()
    for run in explorer.explore():
        if run.ending is Ending.STOPPED:
            seen.blocked += 1
            continue
        assert run.ending is Ending.COMPLETE, run.incomplete
        assert isinstance(run.outcome, Outcome)
        seen.executions += 1
        seen.outcomes.add(run.outcome)
        seen.errors |= run.outcome.errors
        if run.deadlock is not None:
            assert run.deadlock == run.outcome
            seen.deadlocks.add(run.outcome)
        if classes:
            seen.classes.append(trace_class(explorer.trace))
        if seen.executions + seen.blocked > limit:
            raise TooMany
    return seen


class Judged:
    """What the judge says of a program."""

    def __init__(self, spec: dict[str, Any]) -> None:
        program = bruteforce.Prog(spec)
        counts = bruteforce.count_states(program)
        self.outcomes = {_in_words(program, state) for state in counts["_finals"]}
        self.deadlocks = {_in_words(program, state) for state in counts["_dead"]}
        self.errors = set(counts["errors"])
        self.cyclic = counts["cyclic"]
        self.interleavings = counts["interleavings"]
        self.classes = None if self.cyclic else bruteforce.count_maz(program)["maz"]


def _in_words(program: Any, state: Any) -> Hashable:
    """A terminal state of the judge's, comparable with `outcome_in_words`."""
    positions, registers, memory, errors = state
    named = tuple(
        frozenset(zip(names, values, strict=True)) for names, values in zip(program.regnames, registers, strict=True)
    )
    unlocked = {("l", -1): None}
    objects = tuple(unlocked.get((kind, value), value) for kind, value in zip(program.kind, memory, strict=True))
    return positions, named, objects, errors


def outcome_in_words(system: AbstractSystem, outcome: Outcome) -> Hashable:
    """An outcome of ours, with registers by name."""
    named = tuple(
        frozenset(zip(code.registers, values, strict=True))
        for code, values in zip(system.semantics.codes, outcome.registers, strict=True)
    )
    return outcome.pcs, named, outcome.memory, outcome.errors


@attrs.define
class States:
    """What a stateful explorer saw. `errors`: of all runs, by the oracle's labels."""

    states: int = 0
    terminates: bool | None = None
    livelock: bool = False
    outcomes: set[Outcome] = attrs.Factory(set)
    deadlocks: set[Outcome] = attrs.Factory(set)
    errors: set[str] = attrs.Factory(set)


def explore_states(make: Callable[[StatefulSystem], Any], system: AbstractSystem, limit: int = 10**9) -> States:
    """Let a stateful explorer go through all of a program."""
    explorer = make(system)
    seen = States()
    for run in explorer.explore():
        assert not run.incomplete, run.incomplete
        if run.outcome is not None:
            seen.outcomes.add(run.outcome)
        if run.deadlock is not None:
            seen.deadlocks.add(run.deadlock)
        seen.errors |= system.failed()
        seen.livelock |= any(finding.kind is Kind.LIVELOCK for finding in run.findings)
        seen.states = explorer.stats.states
        if seen.states > limit:
            raise TooMany
    seen.terminates = explorer.terminates
    return seen
