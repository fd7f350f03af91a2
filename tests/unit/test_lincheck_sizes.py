"""Which scenarios there are, and which are alike."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpor
from dpor.core.errors import UserError
from dpor.scenarios.operations import Call, calls_of, operation
from dpor.scenarios.shrink import shrunk
from dpor.scenarios.sizes import Scenario, Size, canonical, sizes

FIVE = [Call(name) for name in "vwxyz"]


def test_two_threads_with_two_calls_of_five_operations() -> None:
    size = Size(0, (2, 2))
    assert size.count(5) == len([*size.all(FIVE)]) == 325
    assert str(size) == "2 threads with 2 calls"


@pytest.mark.parametrize("size", [Size(1, (1, 1)), Size(0, (2, 1)), Size(0, (1, 1, 1)), Size(1, (2, 1))], ids=str)
def test_each_scenario_is_alike_to_exactly_one(size: Size) -> None:
    """Brute force: all scenarios, exchanged threads and names included."""
    calls = [Call("put", ("a",), (0,)), Call("put", ("b",), (0,)), Call("get")]

    def parts(length: int) -> list[tuple[Call, ...]]:
        return [*product(calls, repeat=length)]

    every = [
        Scenario(beginning, threads)
        for beginning in parts(size.beginning)
        for threads in product(*map(parts, size.threads))
    ]
    found = [canonical(scenario) for scenario in size.all(calls)]
    assert len(found) == len({*found})
    assert {*found} == {canonical(scenario) for scenario in every}
    for scenario in every:
        swapped = {"a": "b", "b": "a"}
        for threads in permutations(scenario.threads):
            other = Scenario(*(_renamed(each, swapped) for each in (scenario.beginning, threads)))
            assert canonical(other) == canonical(scenario)


def _renamed(calls: Any, names: dict[str, str]) -> Any:
    if isinstance(calls, tuple):
        return tuple(_renamed(each, names) for each in calls)
    return attrs.evolve(calls, args=tuple(names[arg] for arg in calls.args))


def test_values_that_mean_something_are_not_renamed() -> None:
    size = Size(0, (1, 1))
    assert len([*size.all([Call("put", (0,)), Call("put", (1,))])]) == 3
    assert len([*size.all([Call("put", ("a",), (0,)), Call("put", ("b",), (0,))])]) == 2


def test_drawn_scenarios_are_different_and_the_same_each_time() -> None:
    size = Size(1, (2, 2))
    drawn = [*size.drawn(FIVE, 50, 0)]
    assert len({*map(canonical, drawn)}) == 50
    assert drawn == [*size.drawn(FIVE, 50, 0)] != [*size.drawn(FIVE, 50, 1)]


def test_operations_that_are_kept_apart_are_in_one_thread() -> None:
    calls = [Call("get", apart="consumer"), Call("put")]
    assert [str(scenario) for scenario in Size(0, (1, 1)).all(calls)] == ["get() || put()", "put() || put()"]


def test_small_sizes_come_first() -> None:
    totals = [size.total for size in sizes(3, 2, 2)]
    assert totals == sorted(totals)
    assert totals[0] == 2


@given(st.lists(st.sampled_from(FIVE), min_size=1, max_size=3), st.lists(st.sampled_from(FIVE), min_size=1, max_size=3))
def test_a_failing_scenario_becomes_the_smallest_that_fails(one: list[Call], other: list[Call]) -> None:
    whole = Scenario((FIVE[0],), (tuple(one), tuple(other), (FIVE[1],)), (FIVE[2], FIVE[3]))

    def fails(scenario: Scenario) -> bool:
        return sum(call == one[0] for call in scenario.calls) >= 1

    small = shrunk(whole, fails, FIVE)
    assert len(small.threads) == 2
    assert len(small.calls) <= 3
    assert fails(small)


class Typed:
    def numbers(self, n: int) -> None: ...

    def two(self, n: int, flag: bool) -> None: ...

    def words(self, word: str | None = None) -> None: ...

    def unsaid(self, thing): ...  # type: ignore[no-untyped-def]

    def _private(self) -> None: ...


def test_arguments_come_from_type_hints() -> None:
    calls = [str(call) for call in calls_of(Typed, [])]
    assert calls[:3] == ["numbers(0)", "numbers(1)", "numbers(2)"]
    assert calls[3:] == [
        *("two(0, False)", "two(0, True)", "two(1, False)", "two(1, True)"),
        "words()",
        *("unsaid('a')", "unsaid('b')"),
    ]


def test_arguments_come_from_strategies_and_values() -> None:
    drawn = calls_of(Typed, [operation("numbers", st.integers(5, 7))])
    assert [str(call) for call in drawn] == ["numbers(5)", "numbers(6)", "numbers(7)"]
    assert [str(call) for call in calls_of(Typed, [operation("two", [3], [True])])] == ["two(3, True)"]


def test_a_wrong_operation_is_said_in_one_line() -> None:
    with pytest.raises(UserError, match="Typed has no method 'nope'; it has numbers, two"):
        calls_of(Typed, ["nope"])
    with pytest.raises(UserError, match="consistency is one of linearizable, serializable, quiescent, not 'strong'"):
        dpor.concurrent(Typed, consistency="strong")
