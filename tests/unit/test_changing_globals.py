"""Which globals of a module a run may change, and which modules make nothing that it can: one rule a row."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dpor
from dpor.python.program.changing_globals import changing_globals
from dpor.python.program.import_once import can_import_once

ROWS = {
    "import os, a.b\nfrom threading import Lock": "",
    "from mine import lock": "lock",
    "from .mine import lock as other": "other",
    "if DEBUG:\n    from mine import lock": "lock",
    "def f(a=1, *, b=(2, -3)): ...": "",
    "def f(a=[]): ...": "f",
    "@staticmethod\ndef f(): ...": "",
    "@cached\ndef f(): ...": "cached f",
    "LIMIT: int = 3\nNAMES = ('a', 'b')": "",
    "found = {}": "found",
    "a = b = []": "a b",
    "import threading\nlock = threading.Lock()": "lock",
    "count = 0\ndef f():\n    global count\n    count += 1": "count",
    "count = 0\ncount += 1": "count",
    "x = 1\ndel x": "x",
    "class A:\n    x = 1\n    def f(self): ...": "",
    "class A:\n    found = []": "A found",
    "class A: ...\nclass B(A): ...\nclass C(Exception): ...": "",
    "class A(Enum):\n    X = 1": "A Enum X",
    "class A:\n    found = []\nclass B(A): ...": "A B found",
    "def f(): ...\nf.calls = []": "f",
    "def f(): ...\nregister(f)": "f register",
    "import m\nm = wrapped(m)": "m wrapped",
    "try:\n    import fast\nexcept ImportError as error:\n    fast = None": "ImportError error fast",
    "with opened() as file:\n    text = file": "file opened text",
    "for i in range(3): print(i)": "i print range",
    "(y := [])": "y",
    "match given:\n    case [x, *xs] as all_ if x: ...\n    case {'a': y, **rest}: ...": "all_ given rest x xs y",
    "if __name__ == '__main__':\n    main()": "",
    "if __name__ == '__main__':\n    main()\nelse:\n    found = []": "__name__ found main",
    "if __name__ != '__main__':\n    found = []": "__name__ found",
    "if sys.version_info < (3, 12):\n    LIMIT = 1\nelse:\n    LIMIT = 2": "",
    "def f(): ...\nif registered(f):\n    import a": "a f registered",
}


@pytest.mark.parametrize("source", ROWS)
def test_what_may_change(source: str) -> None:
    changing = changing_globals(ast.parse(source))
    assert changing is not None
    assert sorted(changing) == ROWS[source].split()


def test_nothing_is_known_of_what_a_star_brings() -> None:
    assert changing_globals(ast.parse("from mine import *")) is None


LAST = (
    "import os, a.b\nfrom .mine import lock\nfrom threading import Thread\nclass T(Thread): ...",
    "from typing import TypeVar, Generic\nT = TypeVar('T')\nclass A(Generic[T]):\n    def f(self, x: T = None): ...",
    "import re\nFLAGS = re.I | re.M\nname = re.compile(rf'[a-z]{1}', FLAGS)",
    "__all__ = ['f']\nA, B = 1, 2\nC = A + B if A < B else (A, B)[0]\nmissing = object()",
    "from dataclasses import dataclass, field\n@dataclass(eq=False)\nclass A:\n    x = field(default_factory=list)",
    "from collections import namedtuple\nP = namedtuple('P', 'a b')",
    "from typing import NamedTuple\nclass Q(NamedTuple):\n    x: int = 0",
    "class A:\n    @property\n    def x(self): ...\n    @x.setter\n    def x(self, y): ...\n    z = x",
    "from contextlib import contextmanager as manager\n@manager\ndef f(): yield",
    "try:\n    import fast\nexcept ImportError:\n    fast = None",
    "from pathlib import Path\nHERE = Path(__file__).parent\nget = lambda x, y=HERE: x",
)
DO_NOT_LAST = (
    "if __name__ == '__main__':\n    f()\nelse:\n    x = []",
    "if __name__ != '__main__':\n    x = []",
    "import logging\nlog = logging.getLogger(__name__)",
    "x = []",
    "x = {}",
    "x = [0 for _ in range(3)]",
    "import threading\nlock = threading.Lock()",
    "n = 0\ndef f():\n    global n",
    "def f(x=[]): ...",
    "from functools import lru_cache\n@lru_cache\ndef f(): ...",
    "from functools import cached_property\nclass A:\n    @cached_property\n    def x(self): ...",
    "class A:\n    found = []",
    "class A:\n    __slots__ = ['x']",
    "from enum import Enum\nclass A(Enum):\n    X = 1",
    "from mine import Base\nclass A(Base): ...",
    "class A(metaclass=M): ...",
    "def f(): ...\nf.calls = 0",
    "def object(): return []\nx = object()",
    "re = fake()\nx = re.compile('a')",
    "from mine import *",
    "def wrap(f): return f\n@wrap\ndef g(): ...",
    "print(1)",
    "for i in range(3): pass",
    "x = 1\nx += 1",
    "x = frozenset([[]])",
    "lambda: 0",
)


@pytest.mark.parametrize("source", LAST)
def test_modules_that_last(source: str) -> None:
    assert can_import_once(ast.parse(source))


@pytest.mark.parametrize("source", DO_NOT_LAST)
def test_modules_that_are_executed_again(source: str) -> None:
    assert not can_import_once(ast.parse(source))


PROGRAM = """
import threading

{first}

def twice(step):
    threads = [threading.Thread(target=step) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def target():
    def step():
        {step}
    twice(step)
    return {result}
"""

CHANGED = {
    "an attribute of a function": ("def f(): ...\nf.calls = [0]", "f.calls[0] += 1", "f.calls[0]"),
    "one stored later": ("def f(): ...\nlock = threading.Lock()", "f.n = getattr(f, 'n', 0) + 1", "f.n"),
    "a list of a class": ("class A:\n    n = [0]", "A.n[0] += 1", "A.n[0]"),
    "a list of the class below": ("class A:\n    n = [0]\nclass B(A): ...", "B.n[0] += 1", "A.n[0]"),
    "an attribute of a class": ("class A:\n    n = 0\nlock = threading.Lock()", "A.n += 1", "A.n"),
    "a global": ("n = 0\nlock = threading.Lock()", "global n; n += 1", "n"),
    "a default": ("def f(a=[0]): a[0] += 1; return a", "f()", "f()[0] - 1"),
    "an element": ("found = [0]\ndef f(): return found", "f()[0] += 1", "found[0]"),
    "a class attribute of a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    n: int = 0",
        "A.n += 1",
        "A.n",
    ),
    "an attribute of a function of a module that lasts": ("def f(): ...", "f.n = getattr(f, 'n', 0) + 1", "f.n"),
    "by the module": ("import sys\nn = 0", "sys.modules[__name__].n = sys.modules[__name__].n + 1", "n"),
}


@pytest.mark.parametrize("strategy", ["optimal", "full", "dpor"])
@pytest.mark.parametrize("name", CHANGED)
def test_what_is_changed_is_seen(name: str, strategy: str, tmp_path: Path) -> None:
    first, step, result = CHANGED[name]
    file = tmp_path / f"changes_{strategy}.py"
    file.write_text(PROGRAM.format(first=first, step=step, result=result))
    report = dpor.check(f"{file}::target", strategy=strategy, all=True)
    assert report.exhaustive, report.reasons
    assert report.outcomes == 2
