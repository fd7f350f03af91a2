"""Generated programs on which an explorer once disagreed with `none`, as small as they could be made."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from dpor.explorers import STRATEGIES
from dpor.model import AbstractSystem
from tests.oracle.judge import explore

PROGRAMS: dict[str, dict[str, Any]] = {
    # optimal: the sleeping value 0 was taken to cover runs with value 1, which had been left out of the sequence.
    "value-beside-two-writes": {
        "vars": {"x": 0},
        "threads": [["choose a 2"], ["rmw x a b"], ["rmw x a 2"]],
    },
    "value-beside-two-notifies": {
        "conds": ["c"],
        "threads": [["choose a 2"], ["notifyall c"], ["notifyall c"]],
    },
    # source: a run that was given up hid the race of an event with the lock that a blocked thread waited for.
    "lock-in-a-dropped-run": {
        "vars": {"x": 0},
        "locks": ["n"],
        "conds": ["c"],
        "threads": [["notifyall c"], ["r x a", "lock n"], ["lock n", "notifyall c"]],
    },
    "unlocks-by-others-in-a-dropped-run": {
        "locks": ["m", "n"],
        "threads": [["lock n", "unlock m"], ["unlock n", "unlock m"], ["unlock n", "lock n"]],
    },
    "semaphore-in-a-dropped-run": {
        "vars": {"x": 0, "y": 0},
        "sems": {"s": 1},
        "threads": [["rmw x a b", "P s"], ["rmw x a tid", "P s", "r y a"], ["rmw x b a+1", "rmw y a tid"]],
    },
    # classic: the same.
    "abba-in-a-dropped-run": {
        "locks": ["m", "n"],
        "conds": ["c"],
        "threads": [["notifyall c"], ["lock m", "lock n", "notifyall c"], ["lock n", "lock m", "unlock m", "unlock n"]],
    },
}


@pytest.mark.parametrize("strategy", ["classic", "source", "optimal"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_class_once_in_every_order_of_the_threads(name: str, strategy: str) -> None:
    spec = PROGRAMS[name]
    for threads in permutations(spec["threads"]):
        system = AbstractSystem({**spec, "threads": list(threads)})
        none = explore(STRATEGIES["none"], system, classes=True)
        seen = explore(STRATEGIES[strategy], system, classes=True)
        assert set(seen.classes) == set(none.classes)
        assert len(seen.classes) == len(set(none.classes))
        assert seen.outcomes == none.outcomes
