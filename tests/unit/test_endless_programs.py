"""Programs that go on for ever: what the stateful searches say of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from dpor.core.outcome import Kind
from dpor.explorers.cycles import breaking, cyclic_components
from dpor.explorers.dpor import Dpor
from dpor.explorers.full import Full
from dpor.model import AbstractSystem

PROGRAMS: dict[str, tuple[dict[str, Any], list[str]]] = {
    # Nobody will ever set x.
    "spinning for ever": (
        {"vars": {"x": 0}, "threads": [["r x a", ["while", "a==0", ["r x a"]]]]},
        ["T0 goes round for ever, here at T0:1.2.0 'r x a'"],
    ),
    # It can be left, once the other thread moves.
    "spinning until": ({"vars": {"x": 0}, "threads": [["r x a", ["while", "a==0", ["r x a"]]], ["w x 1"]]}, []),
    "trying a lock that is kept": (
        {"locks": ["m"], "threads": [["try m a", ["while", "a==0", ["try m a"]]], ["lock m"]]},
        ["T0 goes round for ever, here at T0:1.2.0 'try m a'"],
    ),
    "polling under a lock": (
        {
            "vars": {"x": 0},
            "locks": ["m"],
            "threads": [[["while", "a==0", ["lock m", "r x a", "unlock m"]]], ["lock m", "unlock m"]],
        },
        ["T0 goes round for ever, here at T0:0.2.0 'lock m'"],
    ),
    # Endless, but it does something.
    "writing for ever": ({"vars": {"x": 0}, "threads": [[["while", "1", ["rmw x a 1-x"]]]]}, []),
}


@pytest.mark.parametrize("explorer", [Full, Dpor])
@pytest.mark.parametrize("name", PROGRAMS)
def test_livelocks(name: str, explorer: Any) -> None:
    spec, messages = PROGRAMS[name]
    search = explorer(AbstractSystem(spec))
    found = [f.message for run in search.explore() for f in run.findings if f.kind is Kind.LIVELOCK]
    assert found == messages
    assert search.terminates is False
    assert search.cycle


def test_a_program_that_ends_terminates() -> None:
    search = Dpor(AbstractSystem({"vars": {"x": 0}, "threads": [["w x 1"], ["r x a"]]}))
    assert [run.findings for run in search.explore()] == [[], []]
    assert search.terminates is True
    assert search.cycle is None


def test_what_breaks_cycles_and_components_against_brute_force() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        nodes = range(rng.randrange(1, 8))
        graph = {n: [m for m in nodes if rng.random() < 0.25] for n in nodes}
        reach = {n: _reachable(graph, n) for n in nodes}
        expected = {
            tuple(m for m in nodes if m == n or (m in reach[n] and n in reach[m])) for n in nodes if n in reach[n]
        }
        components = cyclic_components(graph)
        assert {tuple(c) for c in components} == expected
        order = [component[0] for component in components]
        for i, earlier in enumerate(order):
            assert not any(later in reach[earlier] for later in order[i + 1 :])
        broken = set(breaking(graph))
        without = {n: [m for m in targets if m not in broken] for n, targets in graph.items() if n not in broken}
        assert not any(n in _reachable(without, n) for n in without)
        if not expected:
            assert not broken


def _naive(graph: dict[int, list[int]]) -> Iterator[int]:
    """As `breaking`, from the start each time."""
    left = {n: [*targets] for n, targets in graph.items()}
    while True:
        while ends := [n for n, targets in left.items() if not targets]:
            for n in ends:
                del left[n]
            left = {n: [m for m in targets if m in left] for n, targets in left.items()}
        if not left:
            return
        node, seen = next(iter(left)), set()
        while node not in seen:
            seen.add(node)
            node = left[node][0]
        yield node
        del left[node]
        left = {n: [m for m in targets if m != node] for n, targets in left.items()}


def test_what_breaks_cycles_is_the_first_that_is_met_twice() -> None:
    for seed in range(500):
        rng = random.Random(seed)
        nodes = range(rng.randrange(1, 16))
        graph = {n: [m for m in nodes if rng.random() < 0.2] for n in nodes}
        assert [*breaking(graph)] == [*_naive(graph)]


class Counting(dict[int, list[int]]):
    looks = 0

    def __getitem__(self, node: int) -> list[int]:
        self.looks += 1
        return super().__getitem__(node)


@pytest.mark.parametrize("together", [False, True])
def test_what_breaks_cycles_is_found_in_linear_time(together: bool) -> None:
    """Many cycles of two nodes each, on their own or along one way."""
    many = 5_000
    graph = Counting()
    for n in range(0, 2 * many, 2):
        onward = [n + 2] if together and n + 2 < 2 * many else []
        graph |= {n: [*onward, n + 1], n + 1: [n]}
    assert len([*breaking(graph)]) == many
    assert graph.looks < 6 * many


class Over(Exception):
    pass


def over() -> None:
    raise Over


@pytest.mark.parametrize("search", [lambda graph, pace: [*breaking(graph, pace)], cyclic_components])
def test_the_search_for_cycles_looks_at_the_clock(search: Any) -> None:
    with pytest.raises(Over):
        search({0: [0]}, over)


def _reachable(graph: dict[int, list[int]], node: int) -> set[int]:
    """What can be reached in one step or more."""
    seen: set[int] = set()
    waiting = list(graph[node])
    while waiting:
        n = waiting.pop()
        if n not in seen:
            seen.add(n)
            waiting.extend(graph[n])
    return seen
