"""What one thread alone owns dies where that thread drops it, though it is kept alive so that no address is used
twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpor.python.effects import letting_go
from dpor.python.sharing.census import Census
from tests.source_outcomes import outcomes

HEAD = """
import weakref

gone = []

class Noisy:
    def __init__(self, log):
        self.log = log
    def __del__(self):
        self.log.append("gone")

class Quiet:
    def __del__(self):
        gone.append("gone")

class Slotted:
    __slots__ = ("inner",)

class Node:
    pass

def scenario():
    gone.clear()
    result = []
    def body():
        log = []
{body}
        result.append(log)
    run(body, lambda: None)
    return result
"""

ONCE = {
    "in a list": "x = [Noisy(log)]; x.append(1); del x",
    "in a dict": "x = {}; x[1] = Noisy(log); del x",
    "in an object": "x = Node(); x.inner = Noisy(log); x = None",
    "in an object with slots": "x = Slotted(); x.inner = Noisy(log); x = None",
    "in a list in a list": "x = [Noisy(log)]; x.append(1); y = [x]; y.append(1); del x, y",
    "in a list of a function that returns": "def f():\n    x = [Noisy(log)]\n    x.append(1)\nf()",
    "taken out": "x = [Noisy(log)]; x.append(1); x[0] = None",
    "in the same place as another": "x = [Noisy([])]; x.append(1); del x; x = [Noisy(log)]; x.append(1); del x",
}
"""What a thread does, so that `log` has one entry at once."""


def lines(body: str) -> str:
    return "\n".join(f"        {line}" for line in body.split("\n"))


def results(directory: Path, body: str, strategy: str = "optimal") -> object:
    found = outcomes(directory, HEAD.replace("{body}", lines(body)), strategy)
    assert found.incomplete == set()
    return found


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@pytest.mark.parametrize("name", ONCE)
def test_what_a_thread_has_dropped_dies_before_its_next_look(tmp_path: Path, name: str, strategy: str) -> None:
    assert results(tmp_path, ONCE[name] + "\nassert log == ['gone']", strategy) == {(("gone",),)}


def test_what_a_thread_still_holds_lives(tmp_path: Path) -> None:
    assert results(tmp_path, "x = [Noisy(log)]; x.append(1); y = x; del x; assert log == []; del y") == {(("gone",),)}


def test_an_object_that_no_hook_has_seen_is_noticed(tmp_path: Path) -> None:
    body = "x = [Quiet()]; x.append(1); del x\nlog += gone"
    assert results(tmp_path, body) == {(("gone",),)}


def test_a_weak_reference_to_what_was_dropped_is_dead(tmp_path: Path) -> None:
    body = "n = Node(); r = weakref.ref(n); x = [n]; x.append(1); del n\nlog.append(r() is None); del x\n"
    assert results(tmp_path, body + "log.append(r() is None)") == {((False, True),)}


def test_that_two_were_dropped_in_an_unknown_order_is_told(tmp_path: Path) -> None:
    body = "x = [Noisy(log)]; x.append(1); y = [Noisy(log)]; y.append(1); del x; del y\nassert len(log) == 2"
    found = outcomes(tmp_path, HEAD.replace("{body}", lines(body)))
    assert found.incomplete == {letting_go.UNORDERED}


def test_if_nobody_looks_a_death_comes_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: nothing that a thread owns is ever found to be dropped."""
    monkeypatch.setattr(Census, "dropped", lambda self: set())
    assert results(tmp_path, ONCE["in a list"] + "\nassert log == ['gone']") != {(("gone",),)}
