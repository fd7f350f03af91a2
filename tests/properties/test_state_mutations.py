"""Whatever is changed in the heap of a running program, however deep, the state is another; changed back, the same.

The heap is made at random. While a chooser is asked, one place in it is changed from outside: no hook sees that.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dpor.core.system import STOP, Trace
from dpor.python.program.system import PythonSystem

SOURCE = """
import threading
from collections import deque

class Node:
    pass

class Slotted:
    __slots__ = ("left", "right")

ROOT = None

def build(spec):
    if not isinstance(spec, tuple):
        return spec
    kind, parts = spec
    if kind == "node":
        made = Node()
        for name, part in parts:
            setattr(made, name, build(part))
        return made
    if kind == "slotted":
        made = Slotted()
        made.left, made.right = [build(part) for part in parts]
        return made
    if kind == "dict":
        return {key: build(part) for key, part in parts}
    return {"list": list, "tuple": tuple, "deque": deque, "bytes": bytearray}[kind]([build(part) for part in parts])

def scenario():
    global ROOT
    ROOT = heap = build(SPEC)
    gate = threading.Semaphore(0)
    def body(held):
        gate.acquire()
        return held
    threads = [threading.Thread(target=body, args=(heap,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        gate.release()
    for thread in threads:
        thread.join()
    return heap
"""


def make_spec(rng: Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([0, 1, 2.5, "a", "b", None, True])
    kind = rng.choice(["node", "slotted", "dict", "list", "tuple", "deque", "bytes"])
    if kind == "bytes":
        return kind, [rng.randrange(256) for _ in range(rng.randrange(1, 4))]
    if kind == "slotted":
        return kind, [make_spec(rng, depth - 1), make_spec(rng, depth - 1)]
    parts = [make_spec(rng, depth - 1) for _ in range(rng.randrange(1, 4))]
    return kind, list(zip("pqrs", parts, strict=False)) if kind in ("node", "dict") else parts


class Other:
    """A value that is nowhere else."""


Change = tuple[Callable[[], None], Callable[[], None]]
"""Does it, and undoes it."""


def changes_of(obj: Any) -> list[Change]:
    found: list[Change] = []
    if type(obj).__name__ == "Node":
        for name, value in vars(obj).items():
            found.append((lambda n=name: setattr(obj, n, "other"), lambda n=name, v=value: setattr(obj, n, v)))
        found.append((lambda: setattr(obj, "fresh", 1), lambda: delattr(obj, "fresh")))
    elif type(obj).__name__ == "Slotted":
        for name in ("left", "right"):
            value = getattr(obj, name)
            found.append((lambda n=name: setattr(obj, n, "other"), lambda n=name, v=value: setattr(obj, n, v)))
    elif isinstance(obj, dict):
        for key, value in obj.items():
            found.append((lambda k=key: obj.update({k: "other"}), lambda k=key, v=value: obj.update({k: v})))
        if len(obj) > 1:
            found.append((lambda: reorder(obj, list(obj)[::-1]), lambda keys=tuple(obj): reorder(obj, keys)))
    elif isinstance(obj, bytearray):
        found.append((lambda: flip(obj), lambda: flip(obj)))
        found.append((lambda: obj.append(0), lambda: obj.__delitem__(-1)))
    elif isinstance(obj, (list, deque)):
        for i, value in enumerate(obj):
            found.append((lambda i=i: obj.__setitem__(i, "other"), lambda i=i, v=value: obj.__setitem__(i, v)))
        found.append((lambda: obj.append("other"), lambda: obj.__delitem__(-1)))
    return found


def reorder(mapping: dict[str, Any], keys: Any) -> None:
    values = dict(mapping)
    mapping.clear()
    mapping.update({key: values[key] for key in keys})


def flip(obj: bytearray) -> None:
    obj[0] ^= 1


def everything(root: Any) -> list[Any]:
    found, stack = [], [root]
    while stack:
        obj = stack.pop()
        if type(obj).__name__ == "Slotted":
            stack += [obj.left, obj.right]
        elif type(obj).__name__ == "Node":
            stack += vars(obj).values()
        elif isinstance(obj, dict):
            stack += obj.values()
        elif isinstance(obj, (list, tuple, deque)):
            stack += obj
        found.append(obj)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_every_change_makes_another_state(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    spec = ("node", [("x", make_spec(rng, 4)), ("y", ("list", [make_spec(rng, 3), 0]))])
    file = tmp_path / f"heap_{seed}.py"
    file.write_text(f"SPEC = {spec!r}\n{SOURCE}")
    system = PythonSystem(f"{file}::scenario")
    asked = 0
    tried: list[bool] = []

    def choose(enabled: int) -> int:
        nonlocal asked
        asked += 1
        if asked < 3:
            return (enabled & -enabled).bit_length() - 1
        before = system.whole_state()
        assert before is not None, system.unstored()
        for obj in everything(sys.modules[file.stem].ROOT):
            for change, undo in changes_of(obj):
                change()
                after = system.whole_state()
                undo()
                tried.append(after is not None and after != before and system.whole_state() == before)
        return STOP

    system.run(Trace(), choose)
    assert tried
    assert all(tried)
