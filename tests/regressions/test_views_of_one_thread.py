"""What a thread does through a view is an operation if others change what it shows, also if the view is its own, which
is known once the thread has used it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source_outcomes import outcomes

PROGRAM = """
import types

def scenario():
    data, told = {data}, []
    def one():
        view = {view}
        view.{used}
        told.append(({looked}, {looked}))
    def other():
        {changed}
    run(one, other)
    return repr(told[0])
"""
CLEARED = ("{'k': 1}", "data.clear()")
STORED = ("bytearray(b'a')", "data[0] = 64")
USES = {
    "item of memory": (*STORED, "memoryview(data)", "tolist()", "view[0]", (97, 64)),
    "in memory": (*STORED, "memoryview(data)", "tolist()", "64 in view", (False, True)),
    "item of a proxy": ("{'k': 1}", "data['k'] = 2", "types.MappingProxyType(data)", "copy()", "view['k']", (1, 2)),
    "truth of a proxy": (*CLEARED, "types.MappingProxyType(data)", "copy()", "bool(view)", (True, False)),
    "test of a proxy": (*CLEARED, "types.MappingProxyType(data)", "copy()", "1 if view else 0", (1, 0)),
    "length of a proxy": (*CLEARED, "types.MappingProxyType(data)", "copy()", "len(view)", (1, 0)),
    "key in a proxy": (*CLEARED, "types.MappingProxyType(data)", "copy()", "'k' in view", (True, False)),
    "length of keys": (*CLEARED, "data.keys()", "isdisjoint(())", "len(view)", (1, 0)),
    "test of keys": (*CLEARED, "data.keys()", "isdisjoint(())", "1 if view else 0", (1, 0)),
    "key in keys": (*CLEARED, "data.keys()", "isdisjoint(())", "'k' in view", (True, False)),
    "iterated keys": (*CLEARED, "data.keys()", "isdisjoint(())", "[*view]", (["k"], [])),
}


@pytest.mark.parametrize("use", USES)
def test_a_change_between_two_looks_is_found(use: str, tmp_path: Path) -> None:
    data, changed, view, used, looked, (before, after) = USES[use]
    found = outcomes(tmp_path, PROGRAM.format(data=data, changed=changed, view=view, used=used, looked=looked))
    assert found == {repr(pair) for pair in ((before, before), (before, after), (after, after))}


def test_a_store_through_a_view_is_seen(tmp_path: Path) -> None:
    source = """
    def scenario():
        data, told = bytearray(b"a"), []
        def one():
            view = memoryview(data)
            view.tolist()
            view[0] = 64
            view[0] = 65
        def other():
            told.append(data[0])
        run(one, other)
        return told[0]
    """
    assert outcomes(tmp_path, source) == {97, 64, 65}
