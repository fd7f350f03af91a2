"""A search that stores states, in parts that others search, sees what one process sees, whoever has which part."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from dpor.core.errors import OutOfTime
from dpor.core.operations import Mode, OperationTable
from dpor.core.outcome import digest
from dpor.core.system import Ending, Run
from dpor.explorers import STRATEGIES, shared_graph
from dpor.explorers.rounds import find_rounds
from dpor.explorers.search import Stats, take_your_time
from dpor.explorers.shared_graph import SearchOfStates, SharedGraph
from dpor.explorers.states import StatefulSearch
from dpor.model import AbstractSystem
from dpor.primitives.locks import Acquire
from dpor.testing import ALL, random_program

FIRST = int(os.environ.get("DPOR_GRAPHS_FIRST", "0"))
PROGRAMS = int(os.environ.get("DPOR_GRAPHS", "60"))
ONCE_WRONG = (143, 199)
"""Endless ones in which values of a data choice were tried twice, and runs that were cut counted twice."""


class Seen:
    """What the runs of a search have shown."""

    def __init__(self) -> None:
        self.results: set[str] = set()
        self.failures: set[object] = set()

    def take(self, run: Run) -> None:
        if run.ending is Ending.COMPLETE:
            self.results.add(digest((run.outcome, run.deadlock)))
        # (Where a livelock is met depends on the order of the search.)
        self.failures |= {each.kind if each.is_cycle else each.group for each in run.findings}


def begun(spec: Any, strategy: str) -> StatefulSearch:
    search = STRATEGIES[strategy](AbstractSystem(spec))
    assert isinstance(search, StatefulSearch)
    return search


def alone(spec: Any, strategy: str) -> tuple[Seen, StatefulSearch] | None:
    """What one process sees, and its search; None if the program is too large."""
    search, seen = begun(spec, strategy), Seen()
    for run in search.explore():
        seen.take(run)
        if search.stats.states > 3_000:
            return None
    return seen, search


def shared(spec: Any, strategy: str, random: Random) -> tuple[Seen, StatefulSearch]:
    """What a search has seen of which parts have been given away, and the search."""
    search, seen = begun(spec, strategy), Seen()
    others = [begun(spec, strategy) for _ in range(random.choice([1, 2, 4]))]
    most, runs = random.choice([1, 2, 4, 8]), random.randrange(1, 4)
    for run in search.explore():
        seen.take(run)
        runs -= 1
        if not runs:
            runs = random.randrange(1, 20)
            share(search, seen, others, most, random)
    return seen, search


def share(search: StatefulSearch, seen: Seen, others: list[StatefulSearch], most: int, random: Random) -> None:
    """Let others have parts for a while. They come back in any order, after some runs, or not at all."""
    graph = SharedGraph(search)
    given: dict[int, bytes] = {}
    while random.random() < 0.99:
        while len(given) < most and (part := graph.give()) is not None:
            given[part[0]] = part[1]
        if not given:
            break
        number = random.choice([*given])
        other = random.choice(others)
        known = {key: number for number, key in enumerate(graph.keys)}
        worker = SearchOfStates(type(search)(other.system), given[number], known)  # type: ignore[arg-type]
        left, found = random.randrange(1, 12), []
        for run in worker.explore():
            found.append(run)
            left -= 1
            if not left:
                break
        if random.random() < 0.2:  # it dies
            continue
        del given[number]
        graph.take(number, worker.rest())
        for run in found:
            seen.take(run)
        for name in ("executions", "events", "replayed", "choices", "states", "matched"):
            setattr(search.stats, name, getattr(search.stats, name) + getattr(worker.stats, name))
    graph.end()


@pytest.mark.parametrize("strategy", ["full", "original", "sa", "dpor"])
@pytest.mark.parametrize("endless", [False, True])
def test_a_shared_graph_shows_what_one_process_sees(
    strategy: str, endless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in (*range(FIRST, FIRST + PROGRAMS), *ONCE_WRONG):
        random = Random(seed)
        monkeypatch.setattr(shared_graph, "GRAIN", random.choice([1, 2, 3, 100]))
        monkeypatch.setattr(shared_graph, "MOST_STATES", random.choice([1, 3, 1000]))
        monkeypatch.setattr(shared_graph, "MOST_AROUND", random.choice([0, 10, 1000]))
        spec = random_program(Random(seed), ALL, interleavings=300, endless=endless)
        known = alone(spec, strategy)
        if known is None:
            continue
        whole, one = known
        parts, other = shared(spec, strategy, random)
        assert parts.results == whole.results, seed
        assert parts.failures == whole.failures, seed
        assert other.terminates == one.terminates, seed
        if strategy == "full":
            assert {*other.graph.numbers} == {*one.graph.numbers}, seed
            assert counts(other.stats) == counts(one.stats), seed


def counts(stats: Stats) -> tuple[int, ...]:
    return stats.executions, stats.states, stats.matched, stats.choices


def test_operations_are_interned_where_they_are_read() -> None:
    here, there = OperationTable(), OperationTable()
    operation = here.intern("lock", ((here.location("a"), Mode.WRITE),), Acquire(), 1)
    content = shared_graph.Rest([], {}, [(0, 1, operation, 1, False)], {operation: (operation, False)}, Stats(), [], {})  # type: ignore[arg-type]
    told = shared_graph._Reader(shared_graph.pickled(content), there).load()
    assert [event[2] for event in told.edges] == [*told.operations] == [there.intern(*operation.described)]


def test_parts_of_blocks_of_which_somebody_has_a_part_wait() -> None:
    threads = [[f"w x{thread} {value}" for value in range(4)] for thread in range(3)]
    search = begun({"vars": dict.fromkeys(["x0", "x1", "x2"], 0), "threads": threads}, "full")
    runs = search.explore()
    for _ in range(5):
        next(runs)
    graph = SharedGraph(search)
    given = []
    while (part := graph.give()) is not None:
        given.append(part)
    left = [state for state in range(len(search.graph)) if search.graph.planned[state] & ~search.graph.done[state]]
    assert len(given) == 1
    assert len(left) > 1
    graph.end()
    assert sorted(search.take_open()) == left


def test_the_way_to_a_state_of_a_part_is_the_one_that_is_known() -> None:
    """A state before it may have been reached on a shorter way since, which the part does not know."""
    search = begun({"vars": {"x": 0}, "threads": [["w x 1"] * 5, ["w x 2"] * 5]}, "full")
    given = shared_graph.State("given", 3, 3, 0, [])
    known = [(None, -1, 0, 0), ("near", -1, 0, 1), ("given", 0, 0, 5)]
    part = shared_graph.Part([(2, given)], known, [(1, 1, 2)], frozenset(), 16, 3)  # type: ignore[arg-type]
    SearchOfStates(search, shared_graph.pickled(part), {})
    assert search.graph.actions_to(2) == [0]


def test_the_clock_is_looked_at_while_a_part_is_taken_back() -> None:
    search = begun({"vars": {"x": 0}, "threads": [["r x a", "w x a+1"]] * 3}, "full")
    next(search.explore())
    graph = SharedGraph(search)
    given = graph.give()
    assert given is not None
    worker = SearchOfStates(begun({"vars": {"x": 0}, "threads": [["r x a", "w x a+1"]] * 3}, "full"), given[1], {})
    next(worker.explore())

    def over() -> None:
        raise OutOfTime

    search.pace = over
    with pytest.raises(OutOfTime):
        graph.take(given[0], worker.rest())


def test_the_clock_is_looked_at_while_rounds_are_looked_for() -> None:
    search = begun({"vars": {"x": 0}, "threads": [["r x a", ["while", "a==0", ["r x a"]]]]}, "full")

    def over() -> None:
        raise OutOfTime

    for _ in search.explore():
        search.pace = over
        with pytest.raises(OutOfTime):
            find_rounds(search.graph, search.changes_data, search.pace)
        search.pace = take_your_time
