"""Invariants see exactly the states that programs get into: held against a listing of all interleavings."""

from __future__ import annotations

import threading
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpor

FIELDS = ("x", "y", "z")
Body = list[tuple[str, int]]
"""The stores of one thread: field and value."""


class Store:
    def __init__(self) -> None:
        self.x = 0
        self.y = 0
        self.z = 0


def reached(bodies: list[Body]) -> set[tuple[int, ...]]:
    """The values of all fields after each event of each interleaving."""
    found = set()
    seen = set()
    todo = [((0,) * len(bodies), (0, 0, 0))]
    while todo:
        at, values = todo.pop()
        if (at, values) in seen:
            continue
        seen.add((at, values))
        found.add(values)
        for number, body in enumerate(bodies):
            if at[number] < len(body):
                field, value = body[at[number]]
                after = list(values)
                after[FIELDS.index(field)] = value
                todo.append(((*at[:number], at[number] + 1, *at[number + 1 :]), tuple(after)))
    return found


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@given(
    bodies=st.lists(
        st.lists(st.tuples(st.sampled_from(FIELDS), st.integers(0, 1)), min_size=1, max_size=3), min_size=2, max_size=3
    )
)
@settings(max_examples=3)
def test_an_invariant_fails_if_and_only_if_a_state_breaks_it(strategy: str, bodies: list[Body]) -> None:
    states = reached(bodies)
    for bad in product(range(2), repeat=len(FIELDS)):

        def scenario() -> None:
            store = Store()
            dpor.invariant(lambda: (store.x, store.y, store.z) != bad)

            def perform(body: Any) -> None:
                for field, value in body:
                    setattr(store, field, value)

            threads = [threading.Thread(target=perform, args=(body,)) for body in bodies]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        report = dpor.check(scenario, strategy=strategy)
        assert report.verdict == ("fail" if bad in states else "pass"), (bad, bodies, report.reasons)
