"""An operation that changes nothing is a read: fewer classes, and a loop of such operations is a livelock."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import dpor
from dpor.python.effects.calls import MethodCall
from tests.source_outcomes import outcomes

EXECUTIONS = {
    "a key that is set once": ("x = {}", "x.setdefault('k', n)", 3),
    "a key that is there": ("x = {'k': 1}", "x.setdefault('k', n)", 1),
    "an element that is added once": ("x = set()", "x.add(1)", 3),
    "an element that is there": ("x = {1}", "x.add(1)", 1),
    "a key that is absent": ("x = {}", "x.pop('k', None)", 1),
    "a key that is deleted once": ("x = {'k': 1}", "x.pop('k', None)", 3),
    "an element that is absent": ("x = set()", "x.discard(1)", 1),
    "a value that is there": ("x = {'k': 1}", "x['k'] = 1", 1),
    "a value that is there, by update": ("x = {'k': 1}", "x.update(k=1)", 1),
    "an item that is there": ("x = [1]", "x[0] = 1", 1),
    "a value that is stored once": ("x = {'k': 1}", "x['k'] = 5", 3),
    "an item that is stored once": ("x = [1]", "x[0] = 5", 3),
    "another item": ("x = [1]", "x[0] = n + 5", 6),
    "nothing to append": ("x = []", "x.extend([])", 1),
    "an item that is absent": ("x = [1]", "1 in x or x.remove(2)", 1),
    "an empty list": ("x = []", "x.clear()", 1),
    "an empty deque": ("x = collections.deque()", "x.reverse()", 1),
    "a sorted list": ("x = [1, 2]", "x.sort()", 1),
    "an unsorted list": ("x = [2, 1]", "x.sort()", 3),
    "an event that is set once": ("x = threading.Event()", "x.set()", 3),
    "an event that is clear": ("x = threading.Event()", "x.clear()", 1),
    "different keys": ("x = {}", "x[n] = n", 6),
}
"""What is shared, what each of three threads does to it (`n`: its number), and how many classes there are."""


@pytest.mark.parametrize("name", EXECUTIONS)
def test_what_changes_nothing_commutes(tmp_path: Path, name: str) -> None:
    shared, act, executions = EXECUTIONS[name]
    source = (
        f"import collections\ndef scenario():\n    {shared}\n    def act(n):\n        {act}\n"
        "    run(*[lambda n=n: act(n) for n in range(3)])\n"
        "    return x.is_set() if hasattr(x, 'wait') else repr(x)\n"
    )
    assert outcomes(tmp_path, source).executions == executions


LOOPS = {
    "setdefault": ("x = {'a': 1}", "x.setdefault('a', 2) != 2", "x['z'] = 1"),
    "pop of a key": ("x = {'b': 1}", "x.pop('a', None) is None", "x['z'] = 1"),
    "update": ("x = {'a': 1}", "x.update(a=1) is None", "x['z'] = 1"),
    "add": ("x = {1}", "x.add(1) is None", "x.add(9)"),
    "discard": ("x = {1}", "x.discard(2) is None", "x.add(9)"),
    "sort": ("x = [1]", "x.sort() is None", "x.append(2)"),
    "extend": ("x = [1]", "x.extend([]) is None", "x.append(2)"),
    "a lock made of a dict": ("x = {}", "x.setdefault('a', 1) != 1", "x.setdefault('a', 2)"),
}


@pytest.mark.parametrize("strategy", ["optimal", "dpor", "original"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_of_them_is_a_livelock(tmp_path: Path, name: str, strategy: str) -> None:
    shared, condition, other = LOOPS[name]
    (tmp_path / "program.py").write_text(
        "import threading\n"
        f"def scenario():\n    {shared}\n    def spin():\n        while {condition}: pass\n"
        f"    def other():\n        {other}\n"
        "    threads = [threading.Thread(target=f) for f in (spin, other)]\n"
        "    for thread in threads: thread.start()\n    for thread in threads: thread.join()\n"
    )
    result = dpor.check(f"{tmp_path}/program.py::scenario", strategy=strategy)
    assert [finding.kind.value for finding in result.findings] == ["livelock"]


ACTS = {
    "x = {0: 0}": (
        "x.setdefault(0, n)", "x.setdefault(1, n)", "x.pop(0, None)", "x.pop(1, None)", "x.update({0: 0})",
        "x.__setitem__(0, 0)", "x.__setitem__(1, n)", "len(x)", "list(x)", "0 in x", "x.get(1)", "x.clear()",
    ),
    "x = {0}": (
        "x.add(0)", "x.add(1)", "x.discard(0)", "x.discard(1)", "len(x)", "sorted(x)", "1 in x", "x.clear()",
    ),
    "x = [1]": (
        "x.append(n)", "x.pop() if x else None", "x.sort()", "x.clear()", "x.extend([])", "x.reverse()", "len(x)",
        "x.remove(7) if 7 in x else None", "list(x)", "x and x.__setitem__(0, 1)",
    ),
}  # fmt: skip


def program(seed: int) -> str:
    """Two threads that perform three and two operations on what they share, and return what each gave."""
    rng = random.Random(seed)
    shared = rng.choice(list(ACTS))
    bodies = [[rng.choice(ACTS[shared]) for _ in range(count)] for count in (3, 2)]
    text = f"def scenario():\n    {shared}\n    seen = {{}}\n"
    for n, acts in enumerate(bodies):
        text += f"    def act{n}(n={n}):\n        try:\n"
        text += f"            seen[n] = [{', '.join(f'repr({act})' for act in acts)}]\n"
        text += "        except IndexError:\n            seen[n] = 'IndexError'\n"
    return f"{text}    run(act0, act1)\n    return repr(x), repr(seen[0]), repr(seen[1])\n"


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_missed(tmp_path: Path, seed: int) -> None:
    everything = outcomes(tmp_path, program(seed), "none")
    for strategy in ("optimal", "source", "dpor", "original"):
        assert outcomes(tmp_path, program(seed), strategy) == everything


def test_to_decide_too_early_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: whether the operation changes something is decided when the thread begins to wait."""
    done_unless = MethodCall.done_unless

    def decided(self, unchanged, reads, writes, keeps=()):  # type: ignore[no-untyped-def]
        now = unchanged()
        return done_unless(self, lambda: now, reads, writes, keeps)

    expected = [outcomes(tmp_path, program(seed), "none") for seed in range(40)]
    monkeypatch.setattr(MethodCall, "done_unless", decided)
    assert [outcomes(tmp_path, program(seed)) for seed in range(40)] != expected
