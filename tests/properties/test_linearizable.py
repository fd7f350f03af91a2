"""Histories that no order explains are found if and only if there are any: held against a listing of all interleavings,
in which the beginning and the end of a call are steps of their own."""

from __future__ import annotations

import threading
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpor

Step = tuple[str, int]
"""A cell, and what is written there; -1: it is read."""
Method = tuple[Step, ...]


def perform(cells: Any, method: Any) -> list[int]:
    """The steps of a method; what it has read."""
    read = []
    for cell, value in method:
        if value < 0:
            read.append(getattr(cells, cell))
        else:
            setattr(cells, cell, value)
    return read


class Cells:
    """A method after the other: the specification. Step by step: what is held against it."""

    def __init__(self) -> None:
        self.x = 0
        self.y = 0

    def call(self, method: Any) -> list[int]:
        return perform(self, method)


def histories(threads: list[list[Method]]) -> set[tuple[Any, ...]]:
    """All histories: beginnings and ends of calls, the latter with what was read, in order."""
    lines = [[("call", i, m, s) for i, m in enumerate(methods) for s in range(-1, len(m) + 1)] for methods in threads]
    found = set()
    seen = set()
    todo: list[Any] = [((0,) * len(lines), (0, 0), ((),) * len(lines), ())]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        at, cells, reads, history = state
        if all(at[t] == len(lines[t]) for t in range(len(lines))):
            found.add(history)
        for t, line in enumerate(lines):
            if at[t] == len(line):
                continue
            _, i, method, s = line[at[t]]
            values, read, event = list(cells), reads[t], ()
            if s < 0:
                read, event = (), (("began", t, i),)
            elif s == len(method):
                event = (("ended", t, i, read),)
            else:
                cell, value = method[s]
                if value < 0:
                    read = (*read, values["xy".index(cell)])
                else:
                    values["xy".index(cell)] = value
            where = (*at[:t], at[t] + 1, *at[t + 1 :])
            todo.append((where, tuple(values), (*reads[:t], read, *reads[t + 1 :]), history + event))
    return found


def has_order(history: tuple[Any, ...], threads: list[list[Method]]) -> bool:
    calls = {event[1:3]: n for n, event in enumerate(history) if event[0] == "began"}
    ends = {event[1:3]: (n, list(event[3])) for n, event in enumerate(history) if event[0] == "ended"}
    for order in permutations(calls):
        if any(ends[b][0] < calls[a] for i, a in enumerate(order) for b in order[i + 1 :]):
            continue
        cells = Cells()
        if all(perform(cells, threads[t][i]) == ends[t, i][1] for t, i in order):
            return True
    return False


STEPS = st.tuples(st.sampled_from("xy"), st.integers(-1, 1))
METHODS = st.lists(STEPS, max_size=2).map(tuple)


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@given(threads=st.lists(st.lists(METHODS, min_size=1, max_size=2), min_size=2, max_size=2))
@settings(max_examples=12)
def test_a_history_without_an_order_is_found_if_there_is_one(strategy: str, threads: list[list[Method]]) -> None:
    def scenario() -> None:
        cells = dpor.linearizable(Cells)(Cells())

        def work(methods: Any) -> None:
            for method in methods:
                cells.call(method)

        started = [threading.Thread(target=work, args=(methods,)) for methods in threads]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()

    expected = all(has_order(history, threads) for history in histories(threads))
    report = dpor.check(scenario, strategy=strategy)
    assert report.verdict == ("pass" if expected else "fail"), (threads, report.reasons)
