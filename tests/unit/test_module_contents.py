"""The state of modules is brought back after each run: whatever a run does to it, it is as if all had been executed
again, in which threads find it, and in what is explored."""

from __future__ import annotations

import collections
import gc
import keyword
import sys
import types
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.app.course import Course
from dpor.app.targets import open_target
from dpor.core.errors import DporError
from dpor.core.options import Options
from dpor.core.results import Report
from dpor.core.system import Trace
from dpor.python.program import (
    hidden_words,
    host_containers,
    import_effects,
    initial_state,
    module_contents,
    restoring,
    watching,
)
from dpor.python.program.abstract_classes import AbstractClasses
from dpor.python.program.host_containers import HostContainers
from dpor.python.program.import_effects import ImportEffects
from dpor.python.program.initial_state import InitialState
from dpor.python.program.library_tables import LibraryTables
from dpor.python.program.loader import Loader
from dpor.python.program.module_contents import ModuleContents
from dpor.python.program.system import PythonSystem
from dpor.python.program.watching import HiddenBlock, ObjectBlock


class _SmallProcess:
    """In place of `sys`: without the packages that other tests have loaded, which would all be gone through."""

    def __init__(self) -> None:
        self._others = {name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names}

    @property
    def modules(self) -> dict[str, types.ModuleType]:
        return {name: module for name, module in sys.modules.items() if name not in self._others}


@pytest.fixture(autouse=True)
def _small_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(host_containers, "sys", _SmallProcess())
    if not any(name in request.node.name for name in ("handler of errors", "imports leave nothing")):
        gc.freeze()  # What other tests have left is no part of collections. But nor is the table of handlers found.
    yield
    gc.unfreeze()


PROGRAM = """\
import threading
changing = []
{setup}

def scenario():
    def work():
        {change}
    seen = [{look}]
    {change}
    seen.append({look})
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    seen.append({look})
    {change}
    seen.append({look})
    return repr(seen)
"""

WAYS = {
    "global": ("n = 0\ndef bump():\n    global n\n    n += 1", "bump()", "n"),
    "global deleted": ("n = 0\ndef bump():\n    global n\n    n = 1\n    del n", "bump()", "'n' in globals()"),
    "attribute of a module": ("import sys\nx = 0", "sys.modules[__name__].x += 1", "x"),
    "globals()": ("x = 0", "globals()['x'] += 1", "x"),
    "new global": ("", "globals()['fresh'] = globals().get('fresh', 0) + 1", "globals().get('fresh')"),
    "attribute of a class": ("class C:\n    n = 0", "C.n += 1", "C.n"),
    "new attribute of a class": ("class C: pass", "C.n = getattr(C, 'n', 0) + 1", "getattr(C, 'n', None)"),
    "method of a class": ("class C:\n    def m(self): return 1", "C.m = lambda self: 2", "C().m()"),
    "attribute deleted from a class": ("class C:\n    n = 0\n    m = 1", "C.n = 1; del C.n; C.n = 2", "list(vars(C))"),
    "container in a class": ("class C:\n    seen = []", "C.seen.append(1)", "C.seen"),
    "attribute of a function": ("def f(): pass\nf.n = 0", "f.n += 1", "f.n"),
    "new attribute of a function": ("def f(): pass", "f.n = getattr(f, 'n', 0) + 1", "getattr(f, 'n', None)"),
    "defaults of a function": ("def f(x=0): return x", "f.__defaults__ = (f() + 1,)", "f()"),
    "code of a function": ("def f(): return 1\ndef g(): return 2", "f.__code__ = g.__code__", "f()"),
    "default argument": ("def f(x, seen=[]):\n    seen.append(x)\n    return seen", "f(1)", "len(f(0))"),
    "closure": ("def make():\n    n = 0\n    def f():\n        nonlocal n\n        n += 1\n        return n\n"
                "    return f\nf = make()", "f()", "f()"),
    "empty cell": ("def make():\n    def put(x):\n        nonlocal n\n        n = x\n    def get():\n        return n\n"
                   "    if False: n = 0\n    return put, get\nput, get = make()\ndef look():\n    try: return get()\n"
                   "    except NameError: return None", "put(1)", "look()"),
    "field": ("class C: pass\nc = C()\nc.n = 0", "c.n += 1", "c.n"),
    "new field": ("class C: pass\nc = C()", "c.n = getattr(c, 'n', 0) + 1", "vars(c)"),
    "order of fields": ("class C: pass\nc = C()\nc.a = c.b = 0", "del c.a; c.a = 0", "list(vars(c))"),
    "renamed field": ("class C: pass\nc = C()\nc.a = None", "vars(c).clear(); c.b = None", "vars(c)"),
    "__dict__": ("class C: pass\nc = C()\nc.n = 0", "c.__dict__ = {'n': c.n + 1}", "c.n"),
    "__class__": ("class C: n = 0\nclass D: n = 1\nc = C()", "c.__class__ = D", "c.n"),
    "slots": ("class C:\n    __slots__ = ('a', 'b')\nc = C()\nc.a = 0", "c.a += 1; c.b = c.a",
              "(c.a, getattr(c, 'b', None))"),
    "slot emptied": ("class C:\n    __slots__ = ('a', 'b')\nc = C()\nc.a = c.b = 0", "c.b = 0; del c.b",
                     "getattr(c, 'b', None)"),
    "dict": ("d = {}", "d['a'] = d.get('a', 0) + 1", "d"),
    "renamed key": ("d = {'a': 1}", "d.clear(); d['b'] = 1", "d"),
    "order of a dict": ("d = {'a': 1, 'b': 2}", "d['a'] = d.pop('a')", "list(d)"),
    "number as key": ("d = {1: 0}", "d[2] = d.pop(1, 0)", "d"),
    "nested": ("d = {'a': [{'b': [0]}]}", "d['a'][0]['b'][0] += 1", "d"),
    "nested made anew": ("d = {'a': [0]}", "d['a'] = [d['a'][0] + 1]", "d"),
    "tuple": ("t = ([0],)", "t[0][0] += 1", "t"),
    "list": ("l = [3, 1, 2]", "l.sort(); l.append(len(l))", "l"),
    "equal item": ("l = [[0]]", "l[0] = [0]; l[0].append(1)", "l"),
    "set": ("s = set('ab')", "s.discard('a'); s.add(len(s))", "sorted(map(str, s))"),
    "deque": ("from collections import deque\nd = deque([1, 2], 3)", "d.rotate(); d.append(len(d))", "list(d)"),
    "defaultdict": ("from collections import defaultdict\nd = defaultdict(list)", "d['a'].append(1)", "dict(d)"),
    "OrderedDict": ("from collections import OrderedDict\nd = OrderedDict(a=1, b=2)", "d.move_to_end('a')", "list(d)"),
    "Counter": ("from collections import Counter\nc = Counter('a')", "c.update('ab')", "dict(c)"),
    "derived from dict": ("class D(dict): pass\nd = D(a=0)\nd.n = 0", "d['a'] += 1; d.n += 1", "(dict(d), d.n)"),
    "derived from list": ("class L(list):\n    __slots__ = ('n',)\nl = L()\nl.n = 0", "l.append(1); l.n += 1",
                          "(l, l.n)"),
    "bytearray": ("b = bytearray(b'ab')", "b.append(99)", "bytes(b)"),
    "array": ("from array import array\na = array('i', [1])", "a.append(2)", "list(a)"),
    "count": ("import itertools\nc = itertools.count()", "next(c)", "repr(c)"),
    "generator": ("g = iter(lambda: 0, 1)\nk = (i for i in range(100))", "next(k)", "next(k)"),
    "iterator": ("i = iter([0] * 100)", "next(i)", "i.__length_hint__()"),
    "StringIO": ("import io\ns = io.StringIO()", "s.write('a')", "s.getvalue()"),
    "WeakKeyDictionary": ("import weakref\nclass C: pass\nc = C()\nd = weakref.WeakKeyDictionary()",
                          "d[c] = d.get(c, 0) + 1", "list(d.values())"),
    "WeakSet": ("import weakref\nclass C: pass\nkept = []\ns = weakref.WeakSet()",
                "kept.append(C()); s.add(kept[-1])", "len(s)"),
    "lru_cache": ("import functools\ncalls = []\n@functools.lru_cache\ndef f(x): calls.append(x)", "f(1)",
                  "len(calls)"),
    "cached_property": ("import functools\nclass C:\n    n = 0\n    @functools.cached_property\n    def p(self):\n"
                        "        C.n += 1\n        return C.n\nc = C()", "c.p", "(C.n, vars(c))"),
    "local": ("import threading\nl = threading.local()", "l.n = getattr(l, 'n', 0) + 1", "getattr(l, 'n', None)"),
    "ContextVar": ("import contextvars\nv = contextvars.ContextVar('v', default=0)", "v.set(v.get() + 1)", "v.get()"),
    "lock": ("import threading\nlock = threading.Lock()", "lock.locked() or lock.acquire()", "lock.locked()"),
    "semaphore": ("import threading\ns = threading.Semaphore(0)", "s.release()", "s._value"),
    "event": ("import threading\ne = threading.Event()", "e.set()", "e.is_set()"),
    "queue": ("import queue\nq = queue.Queue()", "q.put(1)", "q.qsize()"),
    "random": ("import random\nr = random.Random(1)", "r.random()", "r.random()"),
    "attribute of the main thread's object": (
        "threading.current_thread().seen = []",
        "threading.main_thread().seen.append(1)",
        "threading.main_thread().seen",
    ),
    "random of the module": ("import random\nn = random.random()", "pass", "random.random()"),
    "uuid": ("import uuid\nn = uuid.uuid4()", "pass", "(n, uuid.uuid4())"),
    "id": ("x = []\nn = id(x)", "pass", "(n == id(x), id([]))"),
    "enum": ("import enum\nclass E(enum.Enum):\n    A = []", "E.A.value.append(1)", "E.A.value"),
    "dataclass": ("import dataclasses\n@dataclasses.dataclass\nclass D:\n    n: int = 0\nd = D()", "d.n += 1", "d"),
    "registry": ("made = []\nclass R:\n    def __init_subclass__(cls): made.append(cls.__name__)\nclass S(R): pass",
                 "type('T', (R,), {})", "(made, len(R.__subclasses__()))"),
    "exception": ("e = ValueError('x')", "e.args = (len(e.args[0]) * 'y' + 'y',)", "e.args"),
    "environment": ("import os\nos.environ['DPOR_T'] = '1'", "os.environ['DPOR_T'] += '1'", "os.environ['DPOR_T']"),
    "logger": ("import logging\nlog = logging.getLogger('dpor.t')\nlog.setLevel(10)",
               "None if threads else log.setLevel(log.level + 10)", "(log.level, logging.getLogger('dpor.t') is log)"),
    "tracing": ("import threading\nthreading.settrace(len)", "pass", "threading.gettrace() is len"),
    "made when imported and taken": ("import threading\nlock = threading.Lock()\nlock.acquire()", "pass",
                                     "lock.locked()"),
    "made when imported": ("import threading\nlock = threading.Lock()\nx = [0]",
                           "with lock: x[0] += 1", "(x, repr(lock))"),
    "keyword default": ("def f(*, x=0): return x", "f.__kwdefaults__ = {'x': f() + 1}", "f()"),
    "__dict__ of a function": ("def f(): pass\nvars(f)['n'] = 0", "vars(f)['n'] += 1", "f.n"),
    "vars of the module": ("import sys\nx = 0", "vars(sys.modules[__name__])['x'] += 1", "x"),
    "setattr of the module": ("import sys\nx = 0", "setattr(sys.modules[__name__], 'x', x + 1)", "x"),
    "module made by code": ("import types\nm = types.ModuleType('m')\nm.x = 0", "m.x += 1", "m.x"),
    "sys.modules": ("import sys, types", "sys.modules['made_up'] = types.ModuleType('made_up')",
                    "'made_up' in sys.modules"),
    "sys.path": ("import sys", "sys.path.append('made_up')", "sys.path.count('made_up')"),
    "cycle": ("import itertools\ng = itertools.cycle('abc')", "next(g)", "next(g)"),
    "text file in memory": ("import io\nf = io.TextIOWrapper(io.BytesIO())", "pass", "(f.write('a'), f.tell())"),
    "registered class": ("import abc\nclass A(abc.ABC): pass\nclass B: pass", "A.register(B)", "issubclass(B, A)"),
    "bases": ("class A: n = 0\nclass B: n = 1\nclass C(A): pass", "C.__bases__ = (B,)", "C.n"),
    "property": ("class C:\n    @property\n    def p(self): return 1", "C.p = property(lambda self: 2)", "C().p"),
    "globals of exec": ("names = {}\nexec('n = 0\\ndef f():\\n    global n\\n    n += 1\\n    return n', names)\n"
                        "f = names.pop('f')\ndel names", "f()", "f()"),
    "partial": ("import functools\np = functools.partial(print)", "p.n = getattr(p, 'n', 0) + 1", "getattr(p, 'n', 0)"),
    "lru_cache in C": ("from _functools import _lru_cache_wrapper\nimport collections\ncalls = []\n"
                       "I = collections.namedtuple('I', 'hits misses maxsize currsize')\n"
                       "def f(x): calls.append(x)\nf = _lru_cache_wrapper(f, 8, False, I)", "f(1)", "len(calls)"),
    "weak reference to what is dropped": ("import weakref\nclass C: pass\nc = C()\nr = weakref.ref(c)",
                                          "globals().update(c=None)", "r() is None"),
    "weak reference of the run": ("import weakref\nclass C: pass\nc = C()",
                                  "r = weakref.ref(c or weakref); globals().update(c=None); d.append(r() is None)",
                                  "globals().setdefault('d', [])"),
    "what is dropped deep inside": ("import weakref\nclass C: pass\nd = {'a': [C()]}\nr = weakref.ref(d['a'][0])",
                                    "d.clear()", "r() is None"),
    "__del__": ("died = []\nclass C:\n    def __del__(self): died.append(1)\nc = C()", "globals().pop('c', None)",
                "len(died)"),
    "moved": ("class C: pass\na, b = [C()], []", "b.extend(a); a.clear()", "(len(a), len(b))"),
    "member of an enum": ("import enum\nclass M(enum.Enum):\n    OFF, ON = 0, 1\nm = [M.OFF]", "m[0] = M.ON", "m"),
    "handler of errors": ("import codecs\ncodecs.register_error('dpor.t', lambda e: ('?', e.end))", "pass",
                          "b'\\xff'.decode('ascii', 'dpor.t')"),
    "filter of warnings": ("import warnings\nwarnings.simplefilter('error')\ndef look():\n    try: warnings.warn('x')\n"
                           "    except UserWarning: return 1\n    return 0",
                           "None if threads else warnings.simplefilter('ignore')", "look()"),
    "attribute of another's module": ("import math\nmath.hits = 0", "math.hits += 1", "math.hits"),
    "object stored in another's module": ("import math, weakref\nclass C: pass\nmath.kept = C()\n"
                                          "r = weakref.ref(math.kept)", "math.kept = None", "r() is None"),
    "exit": ("import atexit\nn = [0]\natexit.register(n.append, 1)", "n.append(2)", "n"),
    "ContextVar of the import": ("import contextvars\nv = contextvars.ContextVar('v', default=0)\nv.set(1)",
                                 "v.set(v.get() + 1)", "v.get()"),
    "name of a class": ("class C: pass", "C.__name__ += 'x'; C.__qualname__ += 'x'", "C.__name__"),
    "bases of the host": ("class C(LookupError): pass", "C.__bases__ = (ValueError,)", "issubclass(C, ValueError)"),
    "default of a ContextVar": ("import contextvars\nv = contextvars.ContextVar('v', default=[])",
                                "v.get().append(1)", "v.get()"),
    "derived from a weak reference": ("import weakref\nclass C: pass\nclass R(weakref.ref): pass\nc = C()\nr = R(c)\n"
                                      "r.n = 0", "r.n += 1", "r.n"),
    "registered with the host's": ("import collections.abc\nclass B: pass", "collections.abc.Sized.register(B)",
                                   "issubclass(B, collections.abc.Sized)"),
    "answers asked of the class": (
        "import abc\ncalls = []\nclass A(abc.ABC):\n    @classmethod\n    def __subclasshook__(cls, other):\n"
        "        calls.append(1)\n        return True\nclass B: pass", "isinstance(B(), A)", "len(calls)"),
    "place of `pop` in a set": ("s = {1, 2, 3, 4, 5, 6, 7, 8, 9}", "s.pop()", "list(s)"),
    "unused places of a set": (
        "s = set()", "s.add(3); s.discard(3)",
        "(lambda: (s.add(1), s.add(3), list(s), s.clear()))()[2] if len(seen) == 3 else 0"),
    "from slot to slot": ("X = []\nclass C:\n    __slots__ = ('a', 'b')\nc = C()\nc.a = X",
                          "c.b = getattr(c, 'a', X); hasattr(c, 'a') and delattr(c, 'a')",
                          "(hasattr(c, 'a'), hasattr(c, 'b'))"),
    "from cause to context": ("e = ValueError()\nX = KeyError()\ne.__cause__ = X",
                              "e.__context__ = X; e.__cause__ = None", "(e.__context__ is X, e.__cause__ is X)"),
    "number in an exception": ("e = UnicodeDecodeError('a', b'abc', 0, 1, 'r')", "e.start += 1", "e.start"),
    "flag of an exception": ("e = ValueError('x')", "e.__suppress_context__ = True", "e.__suppress_context__"),
    "array of ctypes": ("import ctypes\na = (ctypes.c_int * 3)()", "a[0] += 1", "list(a)"),
    "closed": ("import io\ns = io.StringIO('abc')", "s.close()", "s.closed"),
    "file": ("f = open(__file__)", "f.readline()", "f.tell()"),
    "filter of the root logger": (
        "import logging\nclass F:\n    n = 0\n    def filter(self, record): self.n += 1\n"
        "logging.getLogger().addFilter(F())", "logging.getLogger().error('x')", "logging.getLogger().filters[0].n"),
    "logger that nobody holds": (
        "import logging\nclass F:\n    n = 0\n    def filter(self, record): self.n += 1\n"
        "logging.getLogger('dpor.q').addFilter(F())", "logging.getLogger('dpor.q').error('x')",
        "logging.getLogger('dpor.q').filters[0].n"),
    "attribute of the root logger": ("import logging\nlogging.root.hits = 0", "logging.root.hits += 1",
                                     "logging.root.hits"),
    "inside another's module": ("import math\nmath.kept = [0]", "math.kept.append(1)", "math.kept"),
    "inside another's class": ("import json\njson.JSONDecoder.kept = [0]", "json.JSONDecoder.kept.append(1)",
                               "json.JSONDecoder.kept"),
    "what is called at the exit": ("import atexit\ndef f(seen):\n    seen.append(1)\n    assert len(seen) < 2\n"
                                   "atexit.register(f, [])", "pass", "0"),
    "in another's container": ("import keyword\nif not isinstance(keyword.kwlist[-1], list): keyword.kwlist.append(0)\n"
                               "keyword.kwlist[-1] = [0]", "keyword.kwlist[-1].append(1)", "keyword.kwlist[-1]"),
    "another's container": ("import mimetypes\nmimetypes.add_type('a/b', '.dpor')",
                            "mimetypes.types_map.pop('.dpor', 0)", "'.dpor' in mimetypes.types_map"),
    "held by another only": ("import textwrap, weakref\nclass C: n = 0\nvars(textwrap.dedent)['kept'] = C()\n"
                             "r = weakref.ref(vars(textwrap.dedent)['kept'])", "r().n += 1", "r().n"),
    "key in another's registry": ("import copy\nclass C: pass", "copy._deepcopy_dispatch[C] = len",
                                  "C in copy._deepcopy_dispatch"),
    "swapped in a deque": ("import collections\nd = collections.deque([[0], [1]])", "d[0], d[1] = d[1], d[0]",
                           "list(d)"),
    "swapped in slots": ("class C:\n    __slots__ = ('a', 'b')\nc = C()\nc.a, c.b = [], {}", "c.a, c.b = c.b, c.a",
                         "type(c.a).__name__"),
    "lock in a message": ("import threading\nlock = threading.RLock()", "lock.acquire()", "0"),
    "cell": ("def make():\n    n = [0]\n    return lambda: n\nf = make()",
             "f.__closure__[0].cell_contents = [f()[0] + 1]", "f()"),
    "fields of a derived dict": ("class D(dict): pass\nd = D()\nd.n = [0]", "d.n = [d.n[0] + 1]", "d.n"),
    "derived class that is kept": (
        "import keyword\nclass R: pass",
        "keyword.kwlist[:] = [*[word for word in keyword.kwlist if not isinstance(word, type)], type('T', (R,), {})]",
        "len(R.__subclasses__())"),
    "annotations": ("def f(x: [0]): pass", "f.__annotations__['x'].append(1)", "f.__annotations__['x']"),
}  # fmt: skip


RESTORED = {
    "SimpleNamespace": ("import types\nn = types.SimpleNamespace(a=0)", "n.a += 1; n.b = n.a", "n"),
    "derived from SimpleNamespace": ("import types\nclass N(types.SimpleNamespace): pass\nn = N(a=[])",
                                     "n.a.append(1); n.b = 1", "n"),
    "scanner and encoder in C": ("import json\nd, e = json.JSONDecoder(), json.JSONEncoder().iterencode\nl = []",
                                 "l.append(d.decode('[1]')); json.dumps(l)", "l"),
    "who decides what is derived": (
        "import abc\nasked = []\nclass A(abc.ABC):\n    @classmethod\n    def __subclasshook__(cls, other):\n"
        "        asked.append(other.__name__)\n        return True\nissubclass(int, A)",
        "issubclass(str, A)", "asked"),
    "counter": ("import itertools\nc = itertools.count(3)", "next(c)", "repr(c)"),
    "the clock was looked at": ("import time\nl = [time.monotonic()]", "l.append(1)", "len(l)"),
    "standard output": ("import sys\nl = []\ndef f(out=sys.stdout): print(len(l), file=out)", "l.append(f())", "l"),
    "a loop went round": ("l = []\nn = 0\nwhile n < 3:\n    n += 1", "l.append(n)", "l"),
}  # fmt: skip
"""What does not keep modules from being restored."""
WAYS |= RESTORED


@pytest.mark.parametrize("way", RESTORED)
def test_modules_are_restored(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reasons_to_execute_again(program(way, tmp_path), monkeypatch) == {}


def test_classes_that_late_modules_derive_die_with_these(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our caches by type do not keep them."""
    (tmp_path / "late.py").write_text("from written import B\nclass D(B): pass\nd = D()\nd.n = 0\n")
    path = written(tmp_path, "class B: pass", "import late; late.d.n += 1", "len(B.__subclasses__())")
    assert reasons_to_execute_again(path, monkeypatch) == {}
    monkeypatch.setattr(module_contents, "forget_types", lambda kinds: None)
    assert reasons_to_execute_again(path, monkeypatch)


def reasons_to_execute_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, None]:
    made: list[InitialState] = []

    def init(self: InitialState, *given: Any) -> None:
        before(self, *given)
        made.append(self)

    before = InitialState.__init__
    with monkeypatch.context() as changed:
        changed.setattr(InitialState, "__init__", init)
        explored(path, 0, monkeypatch)
    assert made
    return {reason: None for each in made for reason in each.executed_again}


def program(way: str, tmp_path: Path) -> Path:
    setup, change, look = WAYS[way]
    path = tmp_path / "written.py"
    path.write_text(PROGRAM.format(setup=setup, change=change.replace("threads", "'threads' in locals()"), look=look))
    return path


def explored(path: Path, size: float, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.setattr(initial_state, "LEAST_SIZE", size)
    # The budget is to be for the last search alone, whatever ran before that began.
    monkeypatch.setattr(Course, "besides", property(lambda course: 0, lambda course, number: None), raising=False)
    return dpor.check(f"{path}::scenario", all=True, max_executions=60)


def told(report: Report) -> object:
    findings = [(found.kind, found.message) for found in report.findings]
    return report.verdict, report.executions, report.events, report.outcome_digests, findings, report.reasons


DYING = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""What modules hold dies between runs, too, where its `__del__` finds nothing any more."""


@DYING
@pytest.mark.parametrize("way", WAYS)
def test_as_if_executed_again(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(way, tmp_path)
    assert told(explored(path, 0, monkeypatch)) == told(explored(path, float("inf"), monkeypatch))


def _without(kind: type) -> type:
    """Blocks that do not look at objects of this kind."""

    class Blind(ObjectBlock):
        def changed(self) -> Iterator[Any]:
            return (obj for obj in super().changed() if type(obj) is not kind)

    return Blind


PLANTED: dict[str, tuple[object, str, object, str]] = {
    "dicts never change": (watching, "versions_of", lambda dicts: lambda: 0, "dict"),
    "nothing refers to anything else": (watching, "addresses", lambda objects: b"", "list"),
    "values are not looked at": (ModuleContents, "_watch_value", lambda self, obj, tell: None, "bytearray"),
    "who is registered is not looked at": (
        AbstractClasses,
        "restore",
        lambda self, is_known: None,
        "registered class",
    ),
    "functions do not change": (
        ModuleContents,
        "_inside_function",
        lambda self, function: [],
        "defaults of a function",
    ),
    "classes do not change": (ModuleContents, "_inside_class", lambda self, kind: [], "attribute of a class"),
    "modules are the host's": (ModuleContents, "_inside_module", lambda self, module: [], "module made by code"),
    "caches are the host's": (ModuleContents, "_inside_cache", lambda self, obj: [], "lru_cache in C"),
    "nothing dies": (ModuleContents, "_refuse_deaths", lambda self, found: None, "weak reference to what is dropped"),
    "nothing dies later": (ModuleContents, "_refuse_deaths", lambda self, found: None, "weak reference of the run"),
    "one holder is enough": (
        ModuleContents,
        "_count_holders",
        lambda self: Counter(dict.fromkeys(self._number, 99)),
        "__del__",
    ),
    "fields are not put back": (restoring, "_restore_fields", lambda obj, kind, before: None, "__class__"),
    "sets are not put back": (restoring, "restore_set", lambda obj, before: None, "set"),
    "hidden state is none": (module_contents, "_look_for_hidden_state", lambda kind: None, "generator"),
    "imports leave nothing": (ImportEffects, "repeat", lambda self, is_made: None, "handler of errors"),
    "imports draw nothing": (ImportEffects, "repeat", lambda self, is_made: None, "random of the module"),
    "what imports do to the run is nothing": (import_effects, "_compare", lambda *given: None, "tracing"),
    "what is new is not published": (ModuleContents, "changed", lambda self: iter(()), "nested made anew"),
    "classes and the like have no hidden words": (HiddenBlock, "changed", lambda self: iter(()), "from slot to slot"),
    "names of classes do not change": (
        module_contents,
        "words_of_class",
        lambda kind: [(id(kind) >> 3) + 1],
        "name of a class",
    ),
    "sets have no hidden words": (hidden_words, "_words_of_set", lambda: (), "place of `pop` in a set"),
    "nothing is left elsewhere": (initial_state, "left", lambda *given: (), "filter of the root logger"),
    "others' containers do not change": (HostContainers, "changed", lambda self: iter(()), "another's container"),
    "nobody keeps the program's": (HostContainers, "refuse_new", lambda *given: None, "key in another's registry"),
    "nobody else holds anything": (
        ModuleContents,
        "_refuse_held_elsewhere",
        lambda self, weak: None,
        "held by another only",
    ),
    "deques are the same": (module_contents, "ObjectBlock", _without(collections.deque), "swapped in a deque"),
    "an OrderedDict is a dict": (module_contents, "ObjectBlock", _without(collections.OrderedDict), "OrderedDict"),
    "nobody is derived": (ModuleContents, "_count_derived", lambda self: [], "derived class that is kept"),
    "cells are the same": (module_contents, "ObjectBlock", _without(types.CellType), "cell"),
}


@DYING
@pytest.mark.parametrize("mistake", PLANTED)
def test_mistakes_are_noticed(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, wrong, way = PLANTED[mistake]
    path = program(way, tmp_path)
    right = told(explored(path, float("inf"), monkeypatch))
    assert told(explored(path, 0, monkeypatch)) == right
    monkeypatch.setattr(where, name, wrong)
    monkeypatch.setattr(LibraryTables, "note_import", lambda *given: False)  # they restore some of it as well
    with suppress(DporError):
        found = explored(path, 0, monkeypatch)
        assert told(found) != right or executions_begin_again(found)


def executions_begin_again(report: Report) -> bool:
    """Was it noticed that something had not been put back, or published?"""
    return any("executed again" in restart or "unseen" in restart for restart in report.restarts)


def written(tmp_path: Path, setup: str, change: str = "n[0] += 1", look: str = "n") -> Path:
    """A program that notes in a file each time that it is executed."""
    note = f"with open({str(tmp_path / 'executed')!r}, 'a') as file: file.write('x')\n"
    path = tmp_path / "written.py"
    path.write_text(PROGRAM.format(setup=note + setup, change=change, look=look))
    return path


def executed(tmp_path: Path) -> int:
    return len((tmp_path / "executed").read_text())


def test_modules_are_executed_once_in_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = explored(written(tmp_path, "n = [0]"), 0, monkeypatch)
    assert report.executions > 3
    assert executed(tmp_path) == 1 + 1 + len(report.restarts)  # to load them, and in the first run of each search


def test_small_programs_are_executed_in_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = explored(written(tmp_path, "n = [0]"), 10_000, monkeypatch)
    assert executed(tmp_path) > report.executions


@pytest.mark.parametrize(
    ("setup", "change", "reason"),
    [
        ("import itertools\nc = itertools.count(0, 2)", "next(c)", "a count moved on"),
        (
            "class C:\n    a, b = 1, 2",
            "n[0] += 1; hasattr(C, 'a') and delattr(C, 'a')",
            "what is in a dict was changed",
        ),
        (
            "import sys\nout = sys.stdout",
            "n[0] += 1; out.reconfigure(errors='strict')",
            "a standard stream was changed",
        ),
        (
            "class C: pass\nimport keyword",
            "keyword.kwlist.append(type('D', (C,), {}))",
            "a class was derived from one of a module",
        ),
    ],
)
def test_what_cannot_be_put_back_is_made_anew(
    setup: str, change: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LibraryTables, "note_import", lambda *given: False)
    monkeypatch.setattr(keyword, "kwlist", list(keyword.kwlist))  # which nobody puts back
    report = explored(written(tmp_path, f"n = [0]\n{setup}", change), 0, monkeypatch)
    reasons = (
        reason,
        "a class was changed that an abstract one had been asked about",
    )  # by whom else is in the process
    assert sum(restart.startswith(reasons) for restart in report.restarts) == 1
    assert executed(tmp_path) > report.executions


def test_what_cannot_be_told_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(initial_state, "LEAST_SIZE", 0)
    tried = open_target(f"{written(tmp_path, 'n = [0]; g = (i for i in n)', 'len(n)')}::scenario", Options())
    assert isinstance(tried, PythonSystem)
    for _ in range(3):
        tried.run(Trace(), lambda enabled: (enabled & -enabled).bit_length() - 1)
    assert list(tried.initial_state.executed_again) == [
        "objects of type builtins.generator have a state that is hidden"
    ]
    assert executed(tmp_path) == 4


def test_a_module_that_a_run_imports_is_not_there_in_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late.py").write_text("seen = []\n")
    path = written(tmp_path, "import sys\nn = [0]", "import late; late.seen.append(1)", "'late' in sys.modules")
    report = explored(path, 0, monkeypatch)
    assert executed(tmp_path) == 1 + 1 + len(report.restarts)
    assert list(report.outcome_digests.values()) == ["returned '[False, True, True, True]'"]
    assert told(report) == told(explored(path, float("inf"), monkeypatch))


def test_what_an_abstract_class_answers_is_asked_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It remembers the answers, and does not notice that a class gets or loses a method."""
    path = tmp_path / "written.py"
    path.write_text("""\
import collections.abc, threading
changing = []
class B: pass
def scenario():
    came = []
    def ask():
        came.append(0)
        isinstance(B(), collections.abc.Sized)
    def change():
        came.append(1)
        if came[0] == 1:
            B.__len__ = len
    threads = [threading.Thread(target=ask), threading.Thread(target=change)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return isinstance(B(), collections.abc.Sized), came
""")
    right = told(explored(path, float("inf"), monkeypatch))
    assert told(explored(path, 0, monkeypatch)) == right
    monkeypatch.setattr(module_contents, "refuse_asked", lambda is_known: None)
    assert told(explored(path, 0, monkeypatch)) != right


def test_what_a_late_module_holds_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late.py").write_text("seen = []\n")
    path = written(tmp_path, "n = [0]", "import late; late.seen.append(len(late.seen))", "0")
    right = told(explored(path, float("inf"), monkeypatch))
    assert told(explored(path, 0, monkeypatch)) == right
    monkeypatch.setattr(Loader, "late_roots", lambda self: iter(()))
    found = explored(path, 0, monkeypatch)
    assert told(found) != right or executions_begin_again(found)


def test_the_modules_of_the_host_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "n = [0]", "import late; late.seen.append(len(late.seen))", "0")
    (tmp_path / "late.py").write_text("seen = []\n")
    before = {**sys.modules}
    explored(path, 0, monkeypatch)
    explored(path, 0, monkeypatch)
    assert before.items() <= sys.modules.items()
    monkeypatch.setattr(Loader, "hide_host", lambda self: None)
    explored(path, 0, monkeypatch)
    lost = before.items() - sys.modules.items()
    sys.modules.update(lost)
    assert lost


def test_what_python_has_no_hook_for_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = "import heapq, bisect, operator\nn = [3]\nd = {}"
    change = "heapq.heappush(n, 1); bisect.insort(n, 2); operator.setitem(d, 1, len(n)); [*map(n.append, [0])]"
    path = written(
        tmp_path, setup, f"None if [*map(len, [n])] == [] else [{change.replace('; ', ', ')}]", "(list(n), dict(d))"
    )
    assert told(explored(path, 0, monkeypatch)) == told(explored(path, float("inf"), monkeypatch))


def test_a_failure_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "n = [0]")
    path.write_text(path.read_text().replace("return repr(seen)", "assert n == [4]"))
    report = explored(path, 0, monkeypatch)
    assert report.verdict == "fail"
    assert report.findings[0].saved is not None
    assert dpor.replay(report.findings[0].saved).kind == report.findings[0].kind
