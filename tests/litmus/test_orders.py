"""Jobs of a search without states, taken in any order: each trace class is still explored once, and none in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from itertools import pairwise
from random import Random
from threading import Thread
from typing import Any

import pytest

import dpor
import dpor.explorers.search
import dpor.explorers.wakeup_tree
from dpor.core.happens_before import HappensBefore, Race
from dpor.core.options import Order
from dpor.core.system import Ending
from dpor.explorers import Optimal, Source, jobs
from dpor.explorers.tree import Node
from dpor.explorers.wakeup_tree import append
from dpor.model import AbstractSystem
from dpor.testing import ALL, Spec, random_program, trace_class
from tests.litmus.test_oracle_counts import PROGRAMS, SOUNDNESS
from tests.oracle.judge import explore

MOST = 800
"""Classes of the programs of the oracle that are explored in other orders."""
FUZZED = 300

TAKEN_LONG_AGO: Spec = {"vars": {"x": 0}, "threads": [["r x a"], ["r x a", "w x a+1"], ["r x a"]]}
"""What begins with one of the reads is complete only with what other branches send there."""
OUTCOMES_CHANGE: Spec = {
    "vars": {"x": 0, "y": 0},
    "threads": [
        ["r x a", "rmw x b b+1", "w x a+1", "rmw x b b+1"],
        ["r x a", "w x a+1"],
        ["cas x 1 2 a", "r x b", "r y c", "r x d"],
    ],
}
"""A compare-and-swap reads or writes, according to what has come before it."""

OTHERS = [order for order in Order if order is not Order.DEPTH]


def counted(make: Any, program: Spec, order: Order, seed: int = 0) -> tuple[int, int]:
    """How many runs are complete, and how many given up."""
    seen = explore(lambda system: make(system, order, seed), AbstractSystem(program))
    return seen.executions, seen.blocked


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize(("program", "classes"), [(TAKEN_LONG_AGO, 4), (OUTCOMES_CHANGE, 437)])
def test_no_class_is_lost_where_it_would_be_easy(program: Spec, classes: int, order: Order) -> None:
    for seed in range(5):
        assert counted(Optimal, program, order, seed) == (classes, 0)
        assert counted(Source, program, order, seed)[0] == classes


@pytest.mark.parametrize("order", OTHERS)
@pytest.mark.parametrize(
    "program", [p for p in (*PROGRAMS, *SOUNDNESS) if p["counts"]["maz"] <= MOST], ids=lambda program: program["name"]
)
def test_executions_are_the_classes_that_were_counted(program: dict[str, Any], order: Order) -> None:
    for seed in range(2):
        seen = explore(lambda system, seed=seed: Optimal(system, order, seed), AbstractSystem(program["spec"]))
        counts = program["counts"]
        assert (seen.executions, seen.blocked) == (counts["maz"], 0)
        assert (len(seen.outcomes), len(seen.deadlocks)) == (counts["final"], counts["deadlocks"])
        assert sorted(seen.errors) == sorted(counts["errors"])


def seen_by(search: Any) -> Counter[object]:
    return Counter(trace_class(search.trace) for run in search.explore() if run.ending is Ending.COMPLETE)


def judged(words: Collection[str] = ALL) -> list[tuple[int, AbstractSystem, Counter[object]]]:
    """Random programs, each with a seed and its classes."""
    systems = [AbstractSystem(random_program(Random(seed), words, interleavings=500)) for seed in range(FUZZED)]
    return [(seed, system, seen_by(Optimal(system))) for seed, system in enumerate(systems)]


@pytest.mark.parametrize("make", [Optimal, Source])
def test_random_programs_have_the_same_classes_in_random_order(make: Any) -> None:
    for seed, system, classes in judged():
        assert seen_by(make(system, Order.RANDOM, seed)) == classes


@pytest.mark.parametrize("order", Order)
def test_what_is_finished_leaves_the_tree(order: Order) -> None:
    """Of a branch that no plan leads beyond, the node itself is left, until the earlier ones are finished, too."""
    search = Optimal(AbstractSystem({"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 3] * 2}), order)
    most = 0
    for _ in search.explore():
        most = max(most, size(search.nodes[0]))
    assert search.stats.executions == 328
    assert size(search.nodes[0]) == 0
    assert most < (60 if order is Order.DEPTH else 328 * 4)


@pytest.mark.parametrize("order", OTHERS)
def test_a_tree_that_is_too_large_is_searched_from_its_beginning(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it becomes small again; the classes are the same, and so is the next search with the same seed."""
    monkeypatch.setenv("DPOR_CHECK", "0")
    reads = ["r x a", "w x a+1"]
    system = AbstractSystem({"vars": {"x": 0}, "threads": [reads * 4, reads * 3]})

    def searched(most: int) -> tuple[Counter[object], int, list[object]]:
        monkeypatch.setattr(jobs, "MOST_NODES", most)
        search, classes, largest, order_of_classes = Optimal(system, order, 1), Counter[object](), 0, list[object]()
        for number, _ in enumerate(search.explore()):
            order_of_classes.append(trace_class(search.trace))
            classes[order_of_classes[-1]] += 1
            if not number % 10:
                largest = max(largest, size(search.nodes[0]))
        return classes, largest, order_of_classes

    classes, large, _ = searched(10**9)
    again, small, first = searched(80)
    assert {*again.values()} == {1}
    assert again == classes
    assert small < 160 < 300 < large
    assert searched(80)[2] == first


def size(node: Node) -> int:
    return sum(1 + size(branch) for branch in node.branches)


def test_the_seed_gives_the_order() -> None:
    def ways(order: Order, seed: int) -> list[tuple[int, ...]]:
        search = Optimal(AbstractSystem(OUTCOMES_CHANGE), order, seed)
        return [tuple(search.trace.actions) for _ in search.explore()]

    assert ways(Order.RANDOM, 1) == ways(Order.RANDOM, 1) != ways(Order.RANDOM, 2)
    assert ways(Order.DEPTH, 1) == ways(Order.DEPTH, 2)


def test_fewest_preemptions_come_first() -> None:
    """Two threads with three steps each. (How many the rest of a schedule needs shows only when it runs.)"""
    search = Optimal(AbstractSystem({"vars": {"x": 0}, "threads": [["w x 1"] * 3, ["w x 2"] * 3]}), Order.PREEMPTIONS)
    needed = []
    for _ in search.explore():
        threads = search.trace.threads
        pairs = enumerate(pairwise(threads))
        needed.append(sum(a != b and a in threads[position + 1 :] for position, (a, b) in pairs))
    assert needed == [0, 1, 1, 0, 1, 1, *[2] * 8, *[3] * 4, 4, 4]


# ---------------------------------------------------------------------- mistakes


def dropped_where_taken(patch: pytest.MonkeyPatch) -> None:
    below = dpor.explorers.wakeup_tree.insert_below
    patch.setattr(
        dpor.explorers.wakeup_tree, "insert_below", lambda node, rest: None if node.taken else below(node, rest)
    )


def free_where_planned_on(patch: pytest.MonkeyPatch) -> None:
    """That a plan leads further than a node is forgotten."""

    def planted(node: Node, sequence: Any) -> Node:
        added = append(node, sequence)
        added.free = True
        return added

    patch.setattr(dpor.explorers.wakeup_tree, "append", planted)


def unfinished_awake(patch: pytest.MonkeyPatch) -> None:
    """Only finished branches sleep."""
    patch.setattr(Node, "earlier", lambda self: {})


def finished_too_early(patch: pytest.MonkeyPatch) -> None:
    """What has nothing left to do is taken to be complete, whatever may still be sent there."""
    patch.setattr("dpor.explorers.tree._gets_nothing", lambda node: True)


def modes_kept(patch: pytest.MonkeyPatch) -> None:
    """An operation that is reversed keeps the modes that it had where it ran."""
    extend = HappensBefore.extend

    def planted(self: HappensBefore) -> list[list[Race]]:
        start = len(self)
        new = enumerate(extend(self), start)
        operations = self.trace.operations
        return [[Race(first, operations[position]) for first, _ in races] for position, races in new]

    patch.setattr(HappensBefore, "extend", planted)


@pytest.mark.parametrize(
    "plant", [dropped_where_taken, free_where_planned_on, unfinished_awake, finished_too_early, modes_kept]
)
def test_a_mistake_is_noticed(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPOR_CHECK", "0")
    programs = judged(("r", "w", "cas"))
    plant(monkeypatch)
    assert any(seen_by(Optimal(system, Order.RANDOM, seed)) != classes for seed, system, classes in programs)


def test_dropping_reversals_where_a_branch_is_taken_loses_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPOR_CHECK", "0")
    dropped_where_taken(monkeypatch)
    assert min(counted(Optimal, TAKEN_LONG_AGO, Order.RANDOM, seed) for seed in range(20)) == (3, 0)


# ---------------------------------------------------------------------- the option


class Cell:
    value = 0


def increments() -> int:
    """Three threads that read and write."""
    cell = Cell()

    def add() -> None:
        cell.value = cell.value + 1

    threads = [Thread(target=add) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return cell.value


@pytest.mark.parametrize("order", Order)
def test_python_programs_have_the_same_counts(order: Order) -> None:
    report = dpor.check(increments, order=order, all=True)
    assert (report.executions, report.blocked, report.outcomes, report.exhaustive) == (36, 0, 3, True)
