"""Exact states: equal where no program could tell them apart, unequal where one could.

Each body runs in a thread that first chooses `v`, 0 or 1, and is looked at where it waits before `gate.acquire()`.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.core.errors import AssumptionBroken, InternalError
from dpor.core.system import STOP, Trace
from dpor.python.program.system import PythonSystem

HEAD = """
import abc, collections, itertools, random, threading, weakref
import dpor

class Box:
    def __init__(self, value=None):
        self.value = value

class Abstract(abc.ABC):
    pass

class Slots:
    __slots__ = ("a", "b")

class Manager:
    def __init__(self, name):
        self.name = name
    def __enter__(self):
        return None
    def __exit__(self, *error):
        pass

class Finalised:
    def __del__(self):
        pass

class Adds:
    def __init__(self, value):
        self.value = value
    def __add__(self, other):
        gate.acquire()
        return self.value
    @property
    def shown(self):
        gate.acquire()
        return self.value

class Waits:
    def __init__(self):
        gate.acquire()

class Iterates:
    def __iter__(self):
        return self
    def __next__(self):
        gate.acquire()
        raise StopIteration

gate = threading.Lock()
lock_a, lock_b = threading.Lock(), threading.Lock()
local = threading.local()
kept = []

def scenario():
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()

def counted():
    n = 0
    while True:
        n += 1
        yield n

def quiet():
    yield
    yield

def nested(v):
    try:
        yield v
    finally:
        kept.append(1)

def body():
    v = dpor.choose(2)
"""

UNEQUAL = {
    "a live variable": "x = v\ngate.acquire()\nreturn x",
    "the type of a number": "x = True if v else 1\ngate.acquire()\nreturn x",
    "the sign of zero": "x = -0.0 if v else 0.0\ngate.acquire()\nreturn x",
    "an unbound variable": "if v:\n    x = None\ngate.acquire()\ndel x",
    "an operand on the stack": "return [v, gate.acquire()]",
    "a field": "x = Box(v)\ngate.acquire()\nreturn x",
    "the order of fields": (
        "x = Box()\nfor n in ('a', 'b')[::1 - 2 * v]: setattr(x, n, 0)\nn = 0\ngate.acquire()\nreturn x"
    ),
    "a slot": "x = Slots()\nif v: x.a = 0\ngate.acquire()\nreturn x",
    "the class": "x = (Box if v else Slots).__new__(Box if v else Slots)\ngate.acquire()\nreturn x",
    "an element": "x = [v]\ngate.acquire()\nreturn x",
    "an element of a tuple": "x = (v,)\ngate.acquire()\nreturn x",
    "an element of a deque": "x = collections.deque([v])\ngate.acquire()\nreturn x",
    "how long a deque may be": "x = collections.deque([], v + 1)\ngate.acquire()\nreturn x",
    "a byte": "x = bytearray([v])\ngate.acquire()\nreturn x",
    "a value of a dict": "x = {0: v}\ngate.acquire()\nreturn x",
    "the order of a dict": "x = {1: 0, 2: 0} if v else {2: 0, 1: 0}\ngate.acquire()\nreturn x",
    "the order of an OrderedDict": (
        "x = collections.OrderedDict({1: 0, 2: 0})\nx.move_to_end(1 + v)\ngate.acquire()\nreturn x"
    ),
    "the factory of a defaultdict": "x = collections.defaultdict(int if v else list)\ngate.acquire()\nreturn x",
    "the order of a set": "x = {0, 8} if v else {8, 0}\ngate.acquire()\nreturn x",
    "the room in a set": ("x = set(range(40 * v))\nfor n in range(40): x.discard(n)\nn = 0\ngate.acquire()\nreturn x"),
    "whether two are one": "x = []\ny = x if v else []\ngate.acquire()\nreturn x, y",
    "whether a dict is the fields": "x = Box()\ny = vars(x) if v else dict(vars(x))\ngate.acquire()\nreturn x, y",
    "the position of an iterator": "x = iter([0, 0])\nif v: next(x)\ngate.acquire()\nreturn x",
    "the position of a dict's iterator": "x = iter({1: 0, 2: 0})\nif v: next(x)\ngate.acquire()\nreturn x",
    "the position of a deque's iterator": (
        "y = collections.deque([0, 0])\nx = iter(y)\nif v: next(x)\ngate.acquire()\nreturn x, y"
    ),
    "a deque that its iterator knows of": (
        "y = collections.deque([0, 0])\nx = iter(y)\nif v: y.append(y.popleft())\ngate.acquire()\nreturn x, y"
    ),
    "the position of an enumerate": "x = enumerate([0, 0])\nif v: next(x)\ngate.acquire()\nreturn x",
    "the position of a count": "x = itertools.count()\nif v: next(x)\ngate.acquire()\nreturn x",
    "the round of a loop": "for x in [0, 0]:\n    if v:\n        v = 0\n        continue\n    gate.acquire()",
    "the round of a comprehension": "return [x if x < v else gate.acquire() for x in (0, 1)]",
    "the variable of a generator": "x = counted()\nnext(x)\nif v: next(x)\ngate.acquire()\nreturn x",
    "where a generator is": "x = quiet()\nnext(x)\nif v: next(x)\ngate.acquire()\nreturn x",
    "whether a generator has begun": "x = quiet()\nif v: next(x)\ngate.acquire()\nreturn x",
    "what is to be returned": "try:\n    return v\nfinally:\n    gate.acquire()",
    "what is to be raised": "try:\n    raise ValueError(v)\nfinally:\n    gate.acquire()",
    "the exception that is handled": "try:\n    raise ValueError(v)\nexcept ValueError:\n    gate.acquire()\n    raise",
    "the exception that is handled, with a name": (
        "try:\n    raise ValueError(v)\nexcept ValueError as e:\n    e = 0\n    gate.acquire()\n    raise"
    ),
    "the exception that a caller handles": (
        "def f(): gate.acquire()\ntry:\n    raise ValueError(v)\nexcept ValueError:\n    f()\n    raise"
    ),
    "the exception that a generator handles": (
        "def f():\n    try: yield 1 // 0 if v else [][0]\n"
        "    except Exception:\n        gate.acquire()\n        raise\nfor x in f(): pass"
    ),
    "the exception that a waiting generator handles": (
        "def f():\n    try: [0][1 + v]\n    except Exception as e:\n        e.x = v\n        yield\n        raise\n"
        "x = f()\nnext(x)\ngate.acquire()\nreturn x"
    ),
    "the exception that a thread handles that has not run last": (
        "try: raise ValueError(v)\nexcept ValueError:\n    t = threading.Thread(target=gate.acquire)\n"
        "    v = 0\n    t.start()\n    t.join()\n    raise"
    ),
    "the exception that is handled in vain": (
        "try:\n    try: raise ValueError(v)\n    except ValueError:\n        gate.acquire()\n        raise KeyError\n"
        "except KeyError: pass"
    ),
    "the way of an exception": (
        "def f(n): return 1 / 0 if n == 0 else f(n - 1)\ntry: f(v)\nexcept Exception as e: x = e\n"
        "f = 0\ngate.acquire()\nreturn x"
    ),
    "what will be left": "with Manager(v):\n    gate.acquire()",
    "a variable of a function": "def f(): return v\ngate.acquire()\nreturn f",
    "a default": "def f(x=v): return x\ngate.acquire()\nreturn f",
    "an attribute of a function": "def f(): pass\nf.x = v\ngate.acquire()\nreturn f",
    "a bound method": "x = (Box(v)).__eq__\ngate.acquire()\nreturn x",
    "the owner of a lock": "(lock_a if v else lock_b).acquire(False)\ngate.acquire()",
    "how often a lock is held": (
        "x = threading.RLock()\nx.acquire(False)\nif v: x.acquire(False)\ngate.acquire()\nreturn x"
    ),
    "a semaphore": "x = threading.Semaphore(v)\ngate.acquire()\nreturn x",
    "an event": "x = threading.Event()\nif v: x.set()\ngate.acquire()\nreturn x",
    "what waits in a queue": "import queue\nx = queue.Queue()\nx.put(v)\ngate.acquire()\nreturn x",
    "what waits in a queue in C": "import queue\nx = queue.SimpleQueue()\nx.put(v)\ngate.acquire()\nreturn x",
    "what is a thread's own": "local.x = v\ngate.acquire()",
    "what the clock shows": "import time\ntime.time()\nif v: time.sleep(1)\nv = 0\ngate.acquire()\nreturn time.time()",
    "how shared objects are numbered": "kept.append([])\nx = id(kept) if v else 0\nx = 0\ngate.acquire()",
    "what is drawn next": "if v: random.random()\nv = 0\ngate.acquire()",
    "the generator of numbers": "x = random.Random(v)\ngate.acquire()\nreturn x",
    "the name of the next thread": "if v: threading.Thread(target=body)\nv = 0\ngate.acquire()",
    "a global": "kept.append(v)\ngate.acquire()",
    "a rebound global": "global new\nnew = v\ngate.acquire()",
    "an attribute of a class": "Box.extra = v\ngate.acquire()",
    "the environment": "import os\nos.environ['DPOR_STATE'] = str(v)\ngate.acquire()",
    "the level of a logger": "import logging\nlogging.getLogger('x').setLevel(v + 1)\ngate.acquire()",
    "who is registered": "if v: Abstract.register(Box)\nv = 0\ngate.acquire()",
    "the owner in an operator": "return Adds(v) + 0",
    "the owner of a property": "return Adds(v).shown",
    "the number of loops around": "for x in range(3):\n    if v <= x: Waits()",
    "what is alive behind a weak reference": "x = Box()\ny = weakref.ref(x)\nif v: x = None\ngate.acquire()\nreturn y",
    **{
        f"what {function} has taken": f"def items(n):\n    yield n\n    gate.acquire()\n    yield n\nreturn {call}"
        for function, call in {
            **{
                name: f"{name}(items(v))"
                for name in ("list", "tuple", "sorted", "set", "frozenset", "sum", "max", "min")
            },
            "join": "''.join(items(str(v)))",
        }.items()
    },
    **{
        f"the state of {made}": f"import {module}\nx = {module}.{made}\n{change}\ngate.acquire()\nreturn x"
        for module, made, change in (
            ("itertools", "cycle([1, 2, 1])", "next(x)\nif v: next(x); next(x)"),
            ("itertools", "chain([1], [1, 1])", "next(x)\nif v: next(x)"),
            ("itertools", "islice([1, 1, 1], 3)", "if v: next(x)"),
            ("itertools", "repeat(1, 3)", "if v: next(x)"),
            ("itertools", "accumulate([1, 0, 0])", "next(x)\nif v: next(x)"),
            ("itertools", "zip_longest([1, 1], [1])", "if v: next(x)"),
            ("itertools", "starmap(pow, [(1, 1), (1, 1)])", "if v: next(x)"),
            ("itertools", "takewhile(bool, [1, 1])", "if v: next(x)"),
            ("itertools", "dropwhile(bool, [0, 0])", "if v: next(x)"),
            ("itertools", "filterfalse(bool, [0, 0])", "if v: next(x)"),
            ("itertools", "compress([1, 1], [1, 1])", "if v: next(x)"),
            ("itertools", "groupby([1, 1])", "if v: next(x)"),
            ("itertools", "tee([1, 1])", "if v: next(x[1])"),
            ("itertools", "product([1, 1], [1])", "if v: next(x)"),
            ("itertools", "permutations([1, 1])", "if v: next(x)"),
            ("itertools", "combinations([1, 1, 1], 2)", "if v: next(x)"),
            ("array", "array('i', [1, 1])", "x = iter(x)\nif v: next(x)"),
            ("hashlib", "sha256()", "x.update(bytes(v))"),
            ("decimal", "Context()", "x.prec = 20 + v"),
            ("struct", "Struct", "x = x('ib'[v])"),
            ("contextvars", "ContextVar", "x = x('n', default=v)"),
            ("zoneinfo", "ZoneInfo", "x = x(('UTC', 'GMT')[v])"),
            ("collections", "OrderedDict(a=1)", "x.update(a=v)\nx = x.values()"),
            ("time", "struct_time", "x = x((1,) * 8 + (v,))"),
            ("typing", "TypeVar", "x = x('TU'[v])"),
            ("os", "stat_result", "x = x((1,) * 9 + (v,))"),
        )
    },
    "a union of types": "x = (int | None, int | str)[v]\ngate.acquire()\nreturn x",
    "an iterator over text": "x = iter('\u00e4\u00e4')\nif v: next(x)\ngate.acquire()\nreturn x",
    "a field of a named tuple": (
        "from collections import namedtuple\nx = namedtuple('P', 'ab'[v])\ngate.acquire()\nreturn x"
    ),
    "a field of a dataclass": (
        "from dataclasses import make_dataclass\nx = make_dataclass('P', ['ab'[v]])\ngate.acquire()\nreturn x"
    ),
    "the code of a function": "f = eval(f'lambda: {v}')\nv = 0\ngate.acquire()\nreturn f",
    "whose super it is": "x, y = Box(0), Box(1)\nz = super(Box, y if v else x)\ngate.acquire()\nreturn x, y, z",
    "a dead variable that keeps a finaliser waiting": "x = Finalised() if v else None\ngate.acquire()",
    "a dead variable that is weakly referred to": (
        "x = Box()\ny = weakref.ref(x)\nif v: z = x\nv = x = None\ngate.acquire()\nreturn y"
    ),
    "a dead generator that would clean up": "x = nested(0)\nif v: next(x)\nv = 0\ngate.acquire()",
}

EQUAL = {
    "a clock that nobody looks at": "import time\nif v: time.sleep(1)\nv = 0\ngate.acquire()",
    "a dead variable": "x = v\ngate.acquire()",
    "a dead object": "x = [Box(v)]\ngate.acquire()",
    "a variable that is replaced": "x = v\ngate.acquire()\nx = 0\nreturn x",
    "an object that is gone": "x = [v]\nx.clear()\nv = 0\ngate.acquire()\nreturn x",
    "a key that came and went": "x = {}\nx[2] = 0\nif v:\n    x[1] = 0\n    del x[1]\ngate.acquire()\nreturn x",
    "what any has passed over": (
        "def items(n):\n    yield n\n    gate.acquire()\nx = False if v else 0\nv = 0\nreturn any(items(x))"
    ),
    "what all has passed over": "def items(n):\n    yield n\n    gate.acquire()\nreturn all(items(v + 1))",
    "what was made in between": "if v: y = [Box() for _ in range(9)]\ny = None\nx = Box()\ngate.acquire()\nreturn x",
    "who was waited with before": "with Manager(v): pass\ngate.acquire()",
    "a lock that was held": "if v and lock_a.acquire(False): lock_a.release()\ngate.acquire()",
    "a thread's own, not touched": "local.x = 0\nif v: local.x = 0\ngate.acquire()",
    "a global put back": "global new\nnew = v\nnew = 0\ngate.acquire()",
    "a class put back": "Box.extra = v\ndel Box.extra\ngate.acquire()",
    "the end of a generator": "x = counted()\nfor y in x:\n    if y > v: break\nx = y = 0\ngate.acquire()",
}


def state(tmp_path: Path, body: str, value: int, system: PythonSystem | None = None) -> bytes | None:
    """The state where the thread waits before the gate, on the way with this value of the choice."""
    system = system or open_system(tmp_path, body)
    found: list[bytes | None] = []

    def choose(enabled: int) -> int:
        for thread, operation, _ in system.pending():
            if operation.alternatives > 1 and enabled >> thread & 1:
                return thread | value << 16
            if thread and operation.kind == "lock":
                found.append(system.whole_state())
                return STOP
        return enabled.bit_length() - 1

    while not found:
        try:
            run = system.run(Trace(), choose)
            assert found, run.findings or run.ending
        except AssumptionBroken:
            found.clear()
    return found[0]


def open_system(tmp_path: Path, body: str) -> PythonSystem:
    path = tmp_path / "program.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.split("\n")))
    return PythonSystem(f"{path}::scenario")


def both(tmp_path: Path, body: str) -> tuple[Any, Any]:
    """The states for both values, by one system, the first one told twice."""
    system = open_system(tmp_path, body)
    for _ in range(2):  # the first time may show facts
        first, second = (state(tmp_path, body, value, system) for value in (0, 1))
    again = state(tmp_path, body, 0, system)
    assert first is not None, dict(system.unstored())
    assert second is not None, dict(system.unstored())
    assert first == again
    return first, second


@pytest.mark.parametrize("body", UNEQUAL.values(), ids=UNEQUAL.keys())
def test_states_that_differ_in_this_are_unequal(tmp_path: Path, body: str) -> None:
    first, second = both(tmp_path, body)
    assert first != second


@pytest.mark.parametrize("body", EQUAL.values(), ids=EQUAL.keys())
def test_states_that_differ_in_this_alone_are_equal(tmp_path: Path, body: str) -> None:
    first, second = both(tmp_path, body)
    assert first == second


def test_whole_states_show_a_collision(monkeypatch: pytest.MonkeyPatch) -> None:
    target = "locked_counter"
    assert dpor.check(target, strategy="full", whole_states=True).verdict is dpor.Verdict.PASS
    monkeypatch.setattr("dpor.python.program.system.key_of", lambda whole: blake2b(whole, digest_size=1).digest())
    with pytest.raises(InternalError, match="two different states have the same key"):
        dpor.check(target, strategy="full", whole_states=True)
