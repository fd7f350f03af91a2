"""The methods of `collections.abc` that classes inherit: what they read of other containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source_outcomes import outcomes

CLASSES = """
from collections.abc import *

class Names(MutableMapping):
    def __init__(self): self.held = {}
    def __getitem__(self, key): return self.held[key]
    def __setitem__(self, key, value): self.held[key] = value
    def __delitem__(self, key): del self.held[key]
    def __iter__(self): return iter(self.held)
    def __len__(self): return len(self.held)

class Items(MutableSequence):
    def __init__(self): self.held = []
    def __getitem__(self, at): return self.held[at]
    def __setitem__(self, at, value): self.held[at] = value
    def __delitem__(self, at): del self.held[at]
    def __len__(self): return len(self.held)
    def insert(self, at, value): self.held.insert(at, value)

class Members(MutableSet):
    def __init__(self, held=()): self.held = list(held)
    def __contains__(self, value): return value in self.held
    def __iter__(self): return iter(self.held)
    def __len__(self): return len(self.held)
    def add(self, value): self.held.append(value)
    def discard(self, value): self.held.remove(value)

def updated(names, other):
    names.update(other)
    return tuple(names.held.values())

def extended(items, other):
    items += other
    return tuple(items.held)
"""
NEITHER, FIRST, BOTH, MIXED = (1, 1), (2, 1), (2, 2), (1, 2)


@pytest.mark.parametrize(
    ("look", "seen"),
    [
        ("updated(Names(), d)", {NEITHER, FIRST, BOTH, MIXED}),
        ("extended(Items(), l)", {NEITHER, FIRST, BOTH, MIXED}),
        ("tuple(v for k, v in ItemsView(d))", {NEITHER, FIRST, BOTH, MIXED}),
        ("tuple(ValuesView(d))", {NEITHER, FIRST, BOTH, MIXED}),
        ("len(KeysView(e))", {0, 1}),
        ("Members([1]).isdisjoint(l)", {False, True}),
        ("Members([1]) <= s", {True, False}),
        ("Members([1]) == s", {True, False}),
    ],
)
def test_mixins_read_what_they_are_given_step_by_step(look: str, seen: set[object], tmp_path: Path) -> None:
    source = f"""{CLASSES}
def scenario():
    d, e, l, s, seen = {{"x": 1, "y": 1}}, {{}}, [1, 1], {{1}}, []
    def change():
        d["x"] = l[0] = 2
        d["y"] = l[1] = 2
        e["x"] = 1
        s.discard(1)
    run(lambda: seen.append({look}), change)
    return seen[0]
"""
    found = outcomes(tmp_path, source)
    assert found == seen
    assert not found.incomplete


def test_a_mixin_changes_a_built_in_container_step_by_step(tmp_path: Path) -> None:
    source = f"""{CLASSES}
def scenario():
    d, seen = {{"x": 1, "y": 1}}, []
    run(lambda: MutableMapping.update(d, x=2, y=2), lambda: seen.append((d["x"], d["y"])))
    return seen[0]
"""
    found = outcomes(tmp_path, source)
    assert found == {NEITHER, FIRST, BOTH, MIXED}
    assert not found.incomplete
