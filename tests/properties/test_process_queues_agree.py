"""Our queues of `multiprocessing` and CPython's own source of them show the same outcomes: small programs, made at
random, each with both. CPython's source is part of the program; in place of its pipe it has a list under a lock.

`DPOR_DROPIN_PROGRAMS`: how many; `DPOR_DROPIN_FIRST`: the first seed.
"""

from __future__ import annotations

import multiprocessing.queues as real
import os
import random
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from dpor.python.dropins import process_queues
from tests.source_outcomes import outcomes

PROGRAMS = int(os.environ.get("DPOR_DROPIN_PROGRAMS", "2"))
FIRST = int(os.environ.get("DPOR_DROPIN_FIRST", "0"))

AROUND = '''
"""What CPython's `multiprocessing.queues` imports."""
import pickle, threading
from types import SimpleNamespace


class Pipe:
    """Both ends of a pipe, which is long enough."""

    def __init__(self):
        self.changed, self.items = threading.Condition(), []

    def send_bytes(self, data):
        with self.changed:
            self.items.append(data)
            self.changed.notify()

    def recv_bytes(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            return self.items.pop(0)

    def poll(self, timeout=0.0):
        if not timeout:
            return bool(self.items)
        with self.changed:
            return bool(self.changed.wait_for(lambda: self.items, timeout))

    def close(self):
        pass


def both_ends(duplex):
    pipe = Pipe()
    return pipe, pipe


class Finalize:
    """Called once, unless it is cancelled."""

    def __init__(self, obj, callback, args=(), exitpriority=None):
        self.callback, self.args = callback, args

    def __call__(self):
        callback, self.callback = self.callback, None
        if callback is not None:
            callback(*self.args)

    def cancel(self):
        self.callback = None


connection = SimpleNamespace(Pipe=both_ends)
pickler = SimpleNamespace(dumps=pickle.dumps, loads=pickle.loads)
context = SimpleNamespace(reduction=SimpleNamespace(ForkingPickler=pickler))


def nothing(*args, **kwargs):
    return False


debug = info = register_after_fork = is_exiting = nothing
'''

IMPORTS = {
    "from . import connection\n": "from around import connection\n",
    "from . import context\n": "from around import context\n",
    "from .util import": "from around import",
    "from .synchronize import SEM_VALUE_MAX as maxsize": "maxsize = 2**31 - 1",
    "weakref.ref(self._thread)": "lambda: self._thread",
}


def source_of_theirs() -> str:
    source = Path(real.__file__).read_text()
    for theirs, ours in IMPORTS.items():
        assert theirs in source, theirs
        source = source.replace(theirs, ours)
    return source


STEPS = {
    "Queue": ("put", "put", "put_now", "get", "get_now", "get_soon", "empty", "size", "full", "change"),
    "JoinableQueue": ("put", "get", "done", "join", "size"),
    "SimpleQueue": ("put", "get", "empty", "change"),
}
CODE = {
    "put": "q.put({n})",
    "put_now": "q.put_nowait({n})",
    "get": "q.get()",
    "get_now": "q.get_nowait()",
    "get_soon": "q.get(timeout=1)",
    "empty": "q.empty()",
    "size": "q.qsize()",
    "full": "q.full()",
    "done": "q.task_done()",
    "join": "q.join()",
    "change": "change(q, {n})",
}
SHAPES = [(1, 1), (2,), (1, 1), (3,), (2, 1)]
MOST = 700
"""A program that CPython's source makes longer than that is left out."""

PROGRAM = """
import queue, multiprocessing
{imports}

def change(q, n):
    item = [n]
    q.put(item)
    item.append(0)

def attempt(step):
    try:
        return step()
    except (queue.Empty, queue.Full, ValueError) as error:
        return type(error).__name__

def scenario():
    q = {make}
    seen = {seen}
{first}
{bodies}
    run({names})
    return seen
"""


def program(kind: str, seed: int, theirs: bool) -> str:
    draw = random.Random(seed)
    bound = draw.choice(("", "", "1", "2")) if kind != "SimpleQueue" else ""
    first = draw.choice(STEPS[kind])
    number = iter(range(1, 100))
    lists = [[draw.choice(STEPS[kind]) for _ in range(size)] for size in SHAPES[seed % len(SHAPES)]]

    def code(step: str) -> str:
        return CODE[step].format(n=next(number))

    bodies = [
        f"def body{n}():\n" + "\n".join(f"    seen[{n}].append(attempt(lambda: {code(step)}))" for step in steps)
        for n, steps in enumerate(lists)
    ]
    ctx = "multiprocessing.get_context()"
    bound = bound or ("" if kind == "SimpleQueue" else "0")
    return PROGRAM.format(
        imports="import theirs" if theirs else "",
        make=f"theirs.{kind}({bound}{', ' if bound else ''}ctx={ctx})"
        if theirs
        else f"multiprocessing.{kind}({bound})",
        seen=[[] for _ in lists],
        first=f"    {code('put')}" if first in ("put", "change", "get_now") else "",
        bodies=indent("\n".join(bodies), "    "),
        names=", ".join(f"body{n}" for n in range(len(lists))),
    )


def told(directory: Path, source: str) -> Any:
    try:
        found = outcomes(directory, source, most=MOST)
    except AssertionError as error:
        pytest.skip(str(error))
    assert not found.incomplete, found.incomplete
    return set(found)


@pytest.mark.parametrize("kind", STEPS)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + PROGRAMS))
def test_outcomes_agree(kind: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "around.py").write_text(AROUND)
    (tmp_path / "theirs.py").write_text(source_of_theirs())
    ours, theirs = program(kind, seed, False), program(kind, seed, True)
    found, expected = told(tmp_path, ours), told(tmp_path, theirs)
    assert found == expected, f"{ours}\nonly ours {found - expected}, only theirs {expected - found}"


assert process_queues.REPLACED.keys() == STEPS.keys()
