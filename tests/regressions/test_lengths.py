"""C code that consumes an iterable may ask how long it is. A `__len__` in Python is code of the program."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from tests.source_outcomes import outcomes

SOURCE = """
class Items:
    asked = 0
    def __iter__(self):
        return iter({items})
    def {method}(self):
        self.asked += 1
        return 1

def ask(x):
    {use}

def counted():
    x = Items()
    ask(x)
    return x.asked

def scenario():
    if {alone}:
        return counted()
    found = []
    run(lambda: found.append(counted()))
    return found[0]
"""

USES = (
    "list(x)", "[*x]", "(*x,)", "tuple(x)", "bytes(x)", "[].extend(x)", "l = []; l += x", "l = [0]; l[:] = x",
    "sorted(x)",
    "print(*x, end='')", "bytearray(x)", "set(x)", "a, = x", "sum(x)", "max(x)", "b''.join(x)", "dict.fromkeys(x)",
    "import collections; collections.deque(x)", "[i for i in x]", "list(map(abs, x))", "list(enumerate(x))", "len(x)",
)  # fmt: skip


@pytest.mark.parametrize("method", ["__len__", "__length_hint__"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("alone", [True, False])
def test_it_is_asked_as_in_cpython(use: str, method: str, alone: bool, tmp_path: Path) -> None:
    if use == "len(x)" and method != "__len__":
        return
    items = [b"1"] if "join" in use else [1]
    source = SOURCE.format(method=method, use=use, alone=alone, items=items)
    plain: dict[str, object] = {}
    exec(SOURCE.format(method=method, use=use, alone=True, items=items), plain)
    assert outcomes(tmp_path, source) == {plain["scenario"]()}  # type: ignore[operator]


LOCKED = """
import threading

class Items:
    def __init__(self):
        self.lock = threading.Lock()
    def __iter__(self):
        return iter([1])
    def __len__(self):
        with self.lock:
            return 1

def scenario():
    x = Items()
    with x.lock:
        list(x)
"""


def test_a_length_that_takes_a_lock_may_wait_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(LOCKED)
    report = dpor.check(f"{file}::scenario")
    assert [finding.kind.value for finding in report.findings] == ["deadlock"]
