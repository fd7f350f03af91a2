"""The evaluation of an operation's arguments may share the object that it works on: what is done then is an operation,
though the object was private when its method was looked up."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import pytest

from dpor.python.hooks import attributes, calls
from tests.source_outcomes import outcomes

PROGRAM = """
import collections, functools, heapq, operator

class Box:
    x = 0
    def __repr__(self):
        return str(self.x)

class Lazy:
    def __init__(self, get):
        self.get = get
    @property
    def value(self):
        return self.get()
    def __add__(self, other):
        return self.get()
    def __format__(self, how):
        return str(self.get())

def scenario():
    made, seen, threads = {made}, [], []

    def look():
        seen.append(repr(made))

    def start(value):
        thread = threading.Thread(target=look)
        thread.start()
        threads.append(thread)
        return value

    lazy = Lazy(lambda: start(1))
    other = threading.Thread(target=lambda: None)
    other.start()
    {act}
    for thread in threads:
        thread.join()
    other.join()
    return seen
"""

ACTS = [
    ("[0]", "made.append(start(1))", {"[0]", "[0, 1]"}),
    ("[0]", "add = made.append; add(start(1))", {"[0]", "[0, 1]"}),
    ("[0]", "list.append(made, start(1))", {"[0]", "[0, 1]"}),
    ("[0]", "made.append((2, [start(1)]))", {"[0]", "[0, (2, [1])]"}),
    ("[0]", "made.append(lazy.value)", {"[0]", "[0, 1]"}),
    ("[0]", "made.append(lazy + 1)", {"[0]", "[0, 1]"}),
    ("[0]", "made.append(f'{lazy}')", {"[0]", "[0, '1']"}),
    ("[0]", "made.append([start(n) for n in [1]])", {"[0]", "[0, [1]]"}),
    ("[0]", "made.insert(start(1), 1)", {"[0]", "[0, 1]"}),
    ("[0]", "made.extend([start(1)])", {"[0]", "[0, 1]"}),
    ("[0]", "made.extend(*[[start(1)]])", {"[0]", "[0, 1]"}),
    ("[0]", "made += [start(1)]", {"[0]", "[0, 1]"}),
    ("[0]", "made[start(0)] = 1", {"[0]", "[1]"}),
    ("[0]", "made[:] = [start(1)]", {"[0]", "[1]"}),
    ("[0]", "del made[start(0)]", {"[0]", "[]"}),
    ("[0]", "made.pop(start(0))", {"[0]", "[]"}),
    ("[0]", "made.remove(start(0))", {"[0]", "[]"}),
    ("[0]", "heapq.heappush(made, start(1))", {"[0]", "[0, 1]"}),
    ("[0]", "operator.setitem(made, 0, start(1))", {"[0]", "[1]"}),
    ("[0]", "functools.partial(made.append)(start(1))", {"[0]", "[0, 1]"}),
    ("[0]", "made.__setitem__(0, start(1))", {"[0]", "[1]"}),
    ("[0]", "put = made.__setitem__; put(0, start(1))", {"[0]", "[1]"}),
    ("[0]", "getattr(made, 'append')(start(1))", {"[0]", "[0, 1]"}),
    ("{0: 0}", "made.update({1: start(1)})", {"{0: 0}", "{0: 0, 1: 1}"}),
    ("{'a': 0}", "made.update(b=start(1))", {"{'a': 0}", "{'a': 0, 'b': 1}"}),
    ("{0: 0}", "made.setdefault(1, start(1))", {"{0: 0}", "{0: 0, 1: 1}"}),
    ("{0: 0}", "made.pop(start(0))", {"{0: 0}", "{}"}),
    ("{0}", "made.add(start(1))", {"{0}", "{0, 1}"}),
    ("{0}", "made.discard(start(0))", {"{0}", "set()"}),
    ("collections.deque([0])", "made.append(start(1))", {"deque([0])", "deque([0, 1])"}),
    ("collections.OrderedDict()", "made.update(b=start(1))", {"OrderedDict()", repr(OrderedDict(b=1))}),
    ("bytearray(b'a')", "made.extend([start(98)])", {"bytearray(b'a')", "bytearray(b'ab')"}),
    ("Box()", "made.x = start(1)", {"0", "1"}),
    ("Box()", "setattr(made, 'x', start(1))", {"0", "1"}),
    ("Box()", "object.__setattr__(made, 'x', start(1))", {"0", "1"}),
    ("Box()", "made.__dict__.update(x=start(1))", {"0", "1"}),
    ("Box()", "vars(made)['x'] = start(1)", {"0", "1"}),
]


@pytest.mark.parametrize(("made", "act", "expected"), ACTS, ids=[act for _, act, _ in ACTS])
def test_both_orders_are_seen(made: str, act: str, expected: set[str], tmp_path: Path) -> None:
    found = outcomes(tmp_path, PROGRAM.replace("{made}", made).replace("{act}", act))
    assert found.incomplete == set()
    assert {shown for (shown,) in found} == expected


@pytest.mark.parametrize("act", ["made.append(start(1))", "add = made.append; add(start(1))"])
def test_to_look_at_the_object_too_early_is_noticed(act: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes, "meth_after", attributes.meth)
    monkeypatch.setattr(calls, "call_after", calls.call)
    assert len(outcomes(tmp_path, PROGRAM.replace("{made}", "[0]").replace("{act}", act))) == 1
