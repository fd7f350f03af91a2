"""Exact counts of `alone`: those of an independent search by ample sets [DHRR04], for each program that it has counted.

A count is of states, transitions, choices (but for one at the first state) and locations that do not keep to the
discipline: by locks alone, with what one thread alone accesses or nobody changes, and so that fewer states are stored.
"""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from dpor.core.errors import AssumptionBroken
from dpor.core.operations import Action
from dpor.core.system import STOP, Ending, Escape, Locks, Store, Trace
from dpor.explorers.alone import Alone
from dpor.explorers.search import threads_of
from dpor.model import AbstractSystem
from dpor.testing import explore
from tests.litmus.test_oracle_counts import DATA, PROGRAMS, reordered
from tests.properties.test_alone_agrees import CONFIGURATIONS, wrong_in

COUNTS = [json.loads(line) for line in (DATA / "alone.jsonl").read_text().splitlines()]
SOUNDNESS = json.loads((DATA / "soundness.json").read_text())
SPECS = {program["name"]: program["spec"] for program in PROGRAMS}


@pytest.mark.parametrize("counts", COUNTS, ids=lambda counts: counts["name"])
def test_counts(counts: dict[str, Any]) -> None:
    spec = SPECS[counts["name"]]
    for name, escape in (("locks", Escape.NONE), ("all", Escape.UNSHARED)):
        assert [name, *counted(AbstractSystem(spec), escape)] == [name, *counts[name]]


@pytest.mark.parametrize("counts", COUNTS, ids=lambda counts: counts["name"])
def test_counts_as_in_the_paper(counts: dict[str, Any]) -> None:
    system = AbstractSystem(SPECS[counts["name"]])
    while True:
        search = DepthFirst(system)
        try:
            search.explore()
            break
        except AssumptionBroken:
            pass
    withdrawn = system.guarding(True, True).withdrawn
    assert [len(search.stored), search.transitions, search.choices, len(withdrawn)] == counts["fewer"]


def counted(system: AbstractSystem, escape: Escape) -> list[int]:
    while True:
        search = Alone(system, escape=escape)
        try:
            for _ in search.explore():
                pass
        except AssumptionBroken:
            continue
        graph, withdrawn = search.graph, system.guarding(escape is Escape.UNSHARED, True).withdrawn
        transitions = sum(1 for state in range(len(graph)) for _ in graph.incoming(state))
        choices = search.stats.choices - (graph.planned[0].bit_count() > 1)
        return [search.stats.states, transitions, choices, len(withdrawn)]


class DepthFirst:
    """The rules of `Alone` in a search as the paper has it: depth first. No state is stored to which a thread alone has
    led, or the only one that was enabled, unless it went back in its code."""

    def __init__(self, system: AbstractSystem) -> None:
        self.system = system
        self.rules = Alone(system)
        self.stored: set[Any] = set()
        self.transitions = self.choices = 0
        self._stack: list[tuple[Any, list[int], bool]] = []  # states, the threads left there, is there a choice?
        self._trace = Trace()
        self._returns = False

    def explore(self) -> None:
        while not self._returns or self._stack:
            run = self.system.run(self._trace, self._choose)
            if run.ending is Ending.COMPLETE:
                self.rules.ended(0, run)
                self._is_known(run.outcome, True)
            while self._stack and not self._stack[-1][1]:
                self._stack.pop()
            self._trace.cut(max(len(self._stack) - 1, 0))
            self._returns = True

    def _choose(self, enabled: int) -> Action:
        if self._returns:
            self._returns = False
        else:
            state = self.system.state()
            if self._is_known(state, False):
                return STOP
            threads = list(threads_of(self.rules.first(enabled)))
            has_choice = len(threads) > 1
            self.choices += has_choice and bool(self._stack)
            self._stack.append((state, threads, has_choice))
        return self._stack[-1][1].pop(0)

    def _is_known(self, state: Any, is_last: bool) -> bool:
        """Is this a state that was met before? Else it is stored, if it is one of those that are."""
        if not self._stack:
            self.stored.add(state)
            return False
        self.transitions += 1
        if state in self.stored or any(state == other for other, _, _ in self._stack):
            return True
        source, _, has_choice = self._stack[-1]
        thread = self._trace.threads[-1]
        if has_choice or is_last or state.pcs[thread] <= source.pcs[thread]:
            self.stored.add(state)
        return False


@pytest.mark.parametrize("program", SOUNDNESS, ids=lambda program: program["name"])
def test_programs_that_deceive_reductions_in_every_order(program: dict[str, Any]) -> None:
    for order in permutations(range(len(program["spec"]["threads"]))):
        assert wrong_in(reordered(program, order)["spec"], CONFIGURATIONS) == {}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["name"])
def test_outcomes(program: dict[str, Any]) -> None:
    if program["counts"]["states"] <= 400:
        assert wrong_in(program["spec"], CONFIGURATIONS) == {}


def test_work_that_threads_do_alone_has_two_states() -> None:
    """However many threads there are, and however much they do."""
    for threads, size in ((2, 3), (3, 5)):
        bodies = [[f"w x{t}[{i}] 1" for i in range(size)] for t in range(threads)]
        program = {"vars": {f"x{t}": [0] * size for t in range(threads)}, "threads": bodies}
        assert counted(AbstractSystem(program), Escape.UNSHARED)[2] == 0
        seen = explore(lambda system: Alone(system, Store.CHOICES, locks=Locks.NONE), AbstractSystem(program))
        assert (seen.states, seen.executions) == (2, 1)
