"""Systems of one's own as targets: what a machine says is what is explored, reported and replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import pytest

import dpor
from dpor.model.embedding import (
    READ,
    WRITE,
    BaseRule,
    Effect,
    Embedded,
    Finding,
    Operation,
    OperationTable,
    States,
    ThreadId,
)


@attrs.frozen
class Take(BaseRule):
    name = "take"
    modes = (WRITE,)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return bool(states[0])

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((states[0] - 1,), (WRITE,), None)


class Cells:
    """Threads of operations on named cells: "w x", "r x", "take x" (waits until it is not 0), "2?" (a data choice)."""

    def __init__(self, table: OperationTable, *threads: str, start: int = 0) -> None:
        self.table = table
        self.code = [thread.split(";") for thread in threads]
        self.at = [0] * len(threads)
        self.cells: dict[str, int] = dict.fromkeys("xyz", start)
        self.seen: list[list[int]] = [[] for _ in threads]

    @property
    def names(self) -> Sequence[str]:
        return [f"t{number}" for number in range(len(self.code))]

    def pending(self) -> Mapping[ThreadId, Operation]:
        return {
            thread: self._operation(thread, self.code[thread][at].strip())
            for thread, at in enumerate(self.at)
            if at < len(self.code[thread])
        }

    def _operation(self, thread: ThreadId, text: str) -> Operation:
        if text.endswith("?"):
            return self.table.intern("choose", (), alternatives=int(text[:-1]))
        what, cell = text.split()
        mode = READ if what == "r" else WRITE
        rule = Take() if what == "take" else None
        return self.table.intern(what, ((self.table.location(cell), mode),), rule, thread if rule else -1)

    def states_of(self, operation: Operation) -> States:
        return tuple(self.cells[str(self.table.name_of(location))] for location, _ in operation.accesses)

    def perform(self, thread: ThreadId, done: Operation) -> tuple[str, str]:
        self.at[thread] += 1
        if done.kind == "choose":
            self.seen[thread].append(done.value)
            return "choose", str(done.value)
        cell = str(self.table.name_of(done.accesses[0][0]))
        if done.kind == "r":
            self.seen[thread].append(self.cells[cell])
        else:
            self.cells[cell] += -1 if done.kind == "take" else 1
        return f"{done.kind} {cell}", str(self.cells[cell])

    def outcome(self) -> object:
        return tuple(map(tuple, self.seen)), tuple(self.cells.items())

    def findings(self) -> Sequence[Finding]:
        return []


@pytest.mark.parametrize("strategy", ["none", "classic", "source", "optimal"])
def test_each_class_is_explored(strategy: str) -> None:
    report = dpor.check(Embedded(lambda table: Cells(table, "w x; r y", "w y; r x")), strategy=strategy)
    assert (report.verdict, report.outcomes) == ("pass", 3)
    assert report.executions == (6 if strategy == "none" else 3)


def test_each_value_of_a_data_choice_is_explored() -> None:
    assert dpor.check(Embedded(lambda table: Cells(table, "3?;2?"))).outcomes == 6


def test_threads_that_are_left_blocked_are_a_deadlock() -> None:
    report = dpor.check(Embedded(lambda table: Cells(table, "take x", "take x", start=1)))
    assert report.findings[0].message == "nobody can go on: t1 waits (take)"


def test_a_run_that_is_too_long_is_cut_and_said() -> None:
    report = dpor.check(Embedded(lambda table: Cells(table, "w x; w x; w x"), max_steps=2))
    assert report.verdict == "inconclusive"
    assert report.reasons == ("a run was cut after 2 events (max_steps of Embedded)",)


def test_a_schedule_of_another_machine_is_told() -> None:
    failure = dpor.check(Embedded(lambda table: Cells(table, "take x", "w y"))).findings[0]
    assert failure.saved is not None
    with pytest.raises(dpor.NotDeterministic, match="ended after 0"):
        dpor.replay(failure.saved, Embedded(lambda table: Cells(table)))


@pytest.mark.parametrize(
    "option", [{"races": True}, {"timeouts": "idle"}, {"instrument": ("x",)}, {"strategy": "dpor"}]
)
def test_what_means_nothing_for_it_is_refused(option: dict[str, object]) -> None:
    with pytest.raises(dpor.UserError, match="--"):
        dpor.check(Embedded(lambda table: Cells(table, "w x")), **option)
