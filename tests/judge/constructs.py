# ruff: noqa: E501
"""One program of two threads for each construct of the language that touches objects.

In each program thread `a` uses the construct while thread `b` changes what it touches. `r` is a list of the thread's
own, in which it keeps what it saw; `see` is looked at when both are done.

Long on purpose: it is one table, in which a row is looked up by the construct and read alone.
"""

from __future__ import annotations

import sys
from textwrap import indent
from typing import NamedTuple

HEAD = """import threading


class Box:
    def __init__(self, v=None):
        self.v = v


"""

SCENARIO = """

def scenario():
    out = [None, None]
{setup}

    def a():
        r = []
        try:
{a}
        except Exception as error:
            r.append(f"{{type(error).__name__}}: {{error}}")
        out[0] = r

    def b():
        r = []
        try:
{b}
        except Exception as error:
            r.append(f"{{type(error).__name__}}: {{error}}")
        out[1] = r

    threads = [threading.Thread(target=a), threading.Thread(target=b)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out, {see}
"""


class Row(NamedTuple):
    """A construct. `top`: code of the module; `quiet`: the program has one outcome only; `states`: which states it has
    shows something, so a search that stores them is recorded, too, as it is of the first row of each construct."""

    name: str
    setup: str
    a: str
    b: str
    see: str = "None"
    top: str = ""
    quiet: bool = False
    states: bool = False

    def source(self) -> str:
        body = SCENARIO.format(
            setup=indent(self.setup or "pass", " " * 4),
            a=indent(self.a, " " * 12),
            b=indent(self.b, " " * 12),
            see=self.see,
        )
        return HEAD + self.top + body


TEMPLATE_LINES = frozenset(
    line.strip() for line in (HEAD + SCENARIO.replace("{{", "{").replace("}}", "}")).split("\n") if line.strip()
)


def skipped_lines(source: str) -> frozenset[int]:
    """The lines of a program that all have in common."""
    return frozenset(i + 1 for i, line in enumerate(source.split("\n")) if line.strip() in TEMPLATE_LINES)


# What changes both halves of something, in two steps: who looks at both halves in one step sees no mixture, who looks
# in two steps does.
TWO_ATTRIBUTES = "x.p = 1\nx.q = 1"
TWO_ITEMS = "x[0] = 5\nx[1] = 5"
TWO_KEYS = "d['p'] = 5\nd['q'] = 5"

PAIR = """
class Pair:
    def __init__(self, p, q):
        self.p = p
        self.q = q
"""

OPERATORS = (
    """
class Number:
    def __init__(self, v):
        self.v = v
"""
    + "".join(
        f"""
    def __{name}__(self, other=None):
        seen = self.v
        return (seen, self.v)
"""
        for name in [
            "add",
            "sub",
            "mul",
            "matmul",
            "truediv",
            "floordiv",
            "mod",
            "pow",
            "lshift",
            "rshift",
            "and",
            "or",
            "xor",
            "radd",
            "rsub",
            "iadd",
            "isub",
            "neg",
            "pos",
            "invert",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "getitem",
            "contains",
            "call",
            "abs",
            "round",
            "divmod",
        ]
    )
    + """
    def __bool__(self):
        return self.v > 0

    def __len__(self):
        return self.v

    def __iter__(self):
        yield self.v
        yield self.v

    def __format__(self, spec):
        return str(self.v)

    def __hash__(self):
        return 1
"""
)

_BINARY = {
    "Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**",
    "LShift": "<<", "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^",
}  # fmt: skip
_COMPARISONS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}


def _row(name: str, setup: str, a: str, b: str, see: str = "None", top: str = "", **marks: bool) -> Row:
    return Row(name, setup, a, b, see, top, **marks)


JOBS = """
import bisect, heapq

class J:
    def __init__(self, n):
        self.n = n
    def __lt__(self, other):
        return self.n < other.n
"""

# fmt: off
ROWS: dict[str, list[Row]] = {
    # ------------------------------------------------------------------ attributes, subscripts, names
    "Attribute": [
        _row("attribute load", "x = Box(1)", "r.append(x.v)\nr.append(x.v)", "x.v = 2"),
        _row("attribute store", "x = Box(1)", "x.v = 3", "r.append(x.v)\nx.v = 2", "x.v"),
        _row("attribute of attribute", "x = Box(Box(1))", "r.append(x.v.v)", "y = Box(2)\nx.v = y\ny.v = 3"),
        _row("attribute that is made", "x = Box(1)", "r.append(x.w)", "x.w = 2"),
        _row("attributes of two objects", "x = Box(1)\ny = Box(1)", "r.append((x.v, y.v))", "x.v = 2\ny.v = 2"),
        _row("slots", "x = S()\nx.v = 1", "r.append(x.v)", "x.v = 2\ndel x.v", top="class S:\n    __slots__ = ('v',)\n"),
        _row("property", "x = P()", "r.append(x.n)", "x.n = 2", top='''
class P:
    def __init__(self):
        self._n = 0
    @property
    def n(self):
        return (self._n, self._n)
    @n.setter
    def n(self, value):
        self._n = 1
        self._n = value
'''),
        _row("__getattr__", "x = G()", "r.append(x.q)", "x.other = 2\nx.q = 4", top='''
class G:
    def __init__(self):
        self.other = 1
    def __getattr__(self, name):
        return (name, self.other)
'''),
        _row("__getattribute__", "x = G()", "r.append(x.q)", "x.q = 4", top='''
class G:
    q = 0
    def __getattribute__(self, name):
        return (object.__getattribute__(self, name), object.__getattribute__(self, name))
'''),
        _row("__setattr__", "x = G()", "x.p = 1", "x.p = 2", "(x.p, x.log)", top='''
class G:
    def __init__(self):
        object.__setattr__(self, 'log', 0)
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, 'log', self.log + 1)
'''),
        _row("descriptor", "x = D()", "x.n = 1\nr.append(x.n)", "x.n = 2", top='''
class Field:
    def __set_name__(self, owner, name):
        self.name = '_' + name
    def __get__(self, obj, kind):
        return getattr(obj, self.name, None)
    def __set__(self, obj, value):
        setattr(obj, self.name, None)
        obj.__dict__[self.name] = value
class D:
    n = Field()
'''),
        _row("descriptor that caches", "x = D()", "r.append(x.n)", "r.append(x.n)", "x.n", top='''
class Once:
    def __init__(self, f):
        self.f = f
    def __get__(self, obj, kind):
        value = obj.__dict__['n'] = self.f(obj)
        return value
class D:
    made = 0
    def n(self):
        self.made = self.made + 1
        return self.made
    n = Once(n)
'''),
        _row("cached_property", "x = D()", "r.append(x.n)", "r.append(x.n)", "(x.n, x.made)", top='''
import functools
class D:
    made = 0
    @functools.cached_property
    def n(self):
        self.made += 1
        return self.made
''', quiet=True),
        _row("class attribute", "pass", "C.n += 1", "C.n += 1", "C.n", top="class C:\n    n = 0\n"),
        _row("class attribute through the object", "x = C()", "r.append(x.n)", "C.n = 1\nx.n = 2",
             top="class C:\n    n = 0\n"),
        _row("class attribute that is inherited", "x = D()", "r.append((x.n, x.n))", "D.n = 1\nC.n = 2\ndel D.n",
             top="class C:\n    n = 0\nclass D(C):\n    pass\n"),
        _row("class attribute shadowed", "x = C()", "x.n += 1", "x.n += 1", "(x.n, C.n)", top="class C:\n    n = 0\n"),
        _row("class attribute by setattr", "x = C()", "r.append(x.n)", "setattr(C, 'n', 1)", top="class C:\n    n = 0\n"),
        _row("class list", "x = C()", "r.append(len(x.n))", "C.n.append(1)", top="class C:\n    n = []\n"),
        _row("class attribute, own class", "x = C()", "x.count()", "x.count()", "C.n", top='''
class C:
    n = 0
    def count(self):
        type(self).n += 1
'''),
        _row("class attribute, __class__", "x = C()", "x.count()", "x.count()", "C.n", top='''
class C:
    n = 0
    def count(self):
        self.__class__.n = self.__class__.n + 1
'''),
        _row("class attribute, classmethod", "pass", "C.count()", "C.count()", "C.n", top='''
class C:
    n = 0
    @classmethod
    def count(cls):
        cls.n += 1
'''),
        _row("metaclass attribute", "pass", "r.append(C.n)", "M.n = 1\nC.n = 2", top='''
class M(type):
    n = 0
class C(metaclass=M):
    pass
'''),
        _row("metaclass property", "pass", "r.append(C.n)", "C.n = 3", top='''
class M(type):
    @property
    def n(cls):
        return cls._n
    @n.setter
    def n(cls, value):
        cls._n = value
class C(metaclass=M):
    _n = 0
'''),
        _row("method replaced", "x = C()", "r.append(x.m())", "C.m = lambda self: 2", top='''
class C:
    def m(self):
        return 1
'''),
        _row("method replaced on the object", "x = C()", "r.append(x.m())", "x.m = lambda: 2", top='''
class C:
    def m(self):
        return 1
'''),
        _row("operator method replaced", "x = C()", "r.append(x + 1)", "C.__add__ = lambda self, other: 2", top='''
class C:
    def __add__(self, other):
        return 1
'''),
        _row("class changed", "x = C()", "r.append(x.n)", "x.__class__ = D", top='''
class C:
    n = 1
class D:
    n = 2
'''),
        _row("class changed, method", "x = C()", "r.append(x.m())", "x.__class__ = D", top='''
class C:
    def m(self):
        return 1
class D:
    def m(self):
        return 2
'''),
        _row("class changed, isinstance", "x = C()", "r.append(isinstance(x, D))\nr.append(type(x) is D)", "x.__class__ = D",
             top="class C:\n    pass\nclass D:\n    pass\n"),
        _row("bases changed", "x = C()", "r.append(x.n)", "C.__bases__ = (D,)", top='''
class B:
    n = 1
class D:
    n = 2
class C(B):
    pass
'''),
        _row("module attribute", "pass", "r.append(here.g)\nr.append(g)", "here.g = 1",
             top="import sys\nhere = sys.modules[__name__]\ng = 0\n"),
        _row("function attribute", "pass", "f.n += 1", "f.n += 1", "f.n", top="def f():\n    pass\nf.n = 0\n"),
        _row("function attribute of a closure", "def f():\n    f.calls += 1\nf.calls = 0", "f()", "f()", "f.calls"),
        _row("function defaults replaced", "pass", "r.append(f())", "f.__defaults__ = (2,)", top="def f(n=1):\n    return n\n"),
        _row("attribute of an exception", "e = ValueError(1)\ne.n = 0", "e.n += 1", "e.n += 1", "e.n"),
        _row("arguments of an exception", "e = ValueError(1)", "r.append(e.args)", "e.args = (2,)"),
        _row("__dict__ of an object", "x = Box(1)", "r.append(x.__dict__['v'])\nr.append(dict(x.__dict__))", "x.v = 2\nx.w = 3"),
        _row("__dict__ written", "x = Box(1)", "r.append(x.v)", "x.__dict__['v'] = 2\nx.__dict__.update(v=3)"),
        _row("__dict__ replaced", "x = Box(1)", "r.append(x.v)", "x.__dict__ = {'v': 2}"),
        _row("__dict__ of a class", "pass", "r.append(C.__dict__['n'])", "C.n = 2", top="class C:\n    n = 1\n"),
        _row("chained calls", "x = Chain()", "x.add(1).add(2)", "x.add(3)", "x.items", top='''
class Chain:
    def __init__(self):
        self.items = []
    def add(self, n):
        self.items.append(n)
        return self
'''),
        _row("bound method kept", "x = Box([])\nm = x.v.append", "m(1)\nr.append(len(x.v))", "m(2)", "x.v"),
        _row("namedtuple of lists", "x = T([], [])", "r.append((len(x.p), len(x.q)))", "x.p.append(1)\nx.q.append(1)",
             top="import collections\nT = collections.namedtuple('T', 'p q')\n"),
        _row("enum attribute", "x = E.A", "E.A.n += 1", "E.A.n += 1", "x.n", top='''
import enum
class E(enum.Enum):
    A = 1
    def __init__(self, value):
        self.n = 0
'''),
        _row("thread attribute", "x = threading.current_thread()\nx.n = 0", "x.n += 1", "x.n += 1", "x.n"),
        _row("subclass of list, attribute", "x = L([1])\nx.n = 0", "x.n += len(x)", "x.n += 1\nx.append(1)", "x.n",
             top="class L(list):\n    pass\n"),
        _row("simple namespace", "x = types.SimpleNamespace(n=0)", "x.n += 1", "x.n += 1\nr.append(str(x))", "x.n",
             top="import types\n"),
        _row('class then obj', 'x = C()', 'r.append(x.n)', 'C.n = 1\nx.n = 2', top='class C:\n    n = 0\n'),
        _row('x.__dict__ iterate', 'x = Box(1)', 'r.append(sorted(x.__dict__.items()))', 'x.v = 2\nx.w = 1'),
        _row('x.__dict__ popitem', 'x = Box(1)', 'x.__dict__.popitem()', "r.append(getattr(x, 'v', None))"),
        _row('shared group', "e = ExceptionGroup('g', [ValueError(1)])", 'r.append(str(e.__context__))', 'try:\n    try:\n        raise KeyError\n    except KeyError:\n        raise e\nexcept ExceptionGroup:\n    pass'),
        _row('__call__ replaced', 'x = C()', 'r.append(x())', 'C.__call__ = lambda self: 2', top='class C:\n    def __call__(self):\n        return 1\n'),
        _row('__len__ replaced', 'x = C()', 'r.append(len(x))\nr.append(1 if x else 0)', 'C.__len__ = lambda self: 0', top='class C:\n    def __len__(self):\n        return 1\n'),
        _row('__eq__ replaced number', 'x = C()', 'r.append(x == 1)\nr.append(x in (1, 2))', 'C.__eq__ = lambda self, o: True', top='class C:\n    def __eq__(self, o):\n        return False\n'),
        _row('__lt__ replaced sorted', 'x = [C(), C()]', 'r.append(sorted(x)[0] is x[0])', 'C.__lt__ = lambda self, o: True', top='class C:\n    def __lt__(self, o):\n        return False\n'),
        _row('__iter__ replaced', 'x = C()', 'r.append([n for n in x])\nr.append(list(x))', 'C.__iter__ = lambda self: iter([2])', top='class C:\n    def __iter__(self):\n        return iter([1])\n'),
        _row('__code__ replaced', 'pass', 'r.append(f())', 'f.__code__ = (lambda: 2).__code__', top='def f():\n    return 1\n'),
        _row('__kwdefaults__ item', 'pass', 'r.append(f())', "f.__kwdefaults__['n'] = 2", top='def f(*, n=1):\n    return n\n'),
        _row('__str__ replaced', 'x = C()', "r.append(str(x))\nr.append(f'{x}')\nr.append('%s' % (x,))\nr.append('{}'.format(x))", "C.__str__ = lambda self: 'b'", top="class C:\n    def __str__(self):\n        return 'a'\n"),
        _row('__init__ replaced', 'pass', 'r.append(C().n)', "C.__init__ = lambda self: setattr(self, 'n', 2)", top='class C:\n    def __init__(self):\n        self.n = 1\n'),
        _row('publication through __dict__=', 'x = Box(None)', "y = [1]\nx.__dict__ = {'v': y}\ny.append(2)", 'e = x.v\nif e:\n    r.append(len(e))'),
        _row('publication through __defaults__', 'pass', 'y = [1]\nf.__defaults__ = (y,)\ny.append(2)', 'e = f()\nif e:\n    r.append(len(e))', top='def f(n=None):\n    return n\n'),
        _row('publication through raise from', 'e = ValueError()', 'y = KeyError([1])\ntry:\n    raise e from y\nexcept ValueError:\n    pass\ny.args[0].append(2)', 'c = e.__cause__\nif c:\n    r.append(len(c.args[0]))'),
    ],
    "Subscript": [
        _row("list load", "x = [1, 2]", "r.append(x[0])\nr.append(x[-1])", "x[0] = 3\nx[1] = 4"),
        _row("list store", "x = [1, 2]", "x[0] = 3", "x[0] = 4\nr.append(x[0])", "x"),
        _row("list load, other position", "x = [1, 2]", "r.append(x[1])", "x.insert(0, 0)"),
        _row("list load, out of range", "x = [1]", "r.append(x[1])", "x.append(2)"),
        _row("list negative", "x = [1]", "r.append(x[-1])", "x.append(2)"),
        _row("dict load", "d = {'p': 1}", "r.append(d['p'])\nr.append(d['q'])", TWO_KEYS),
        _row("dict store", "d = {}", "d['q'] = 1", "r.append(d.get('q'))\nd['q'] = 2", "d"),
        _row("dict order", "d = {}", "d['p'] = 1", "d['q'] = 2", "list(d)"),
        _row("dict, key of the program", "d = {Key(1): 1}", "r.append(d[Key(1)])", "d[Key(1)] = 2", top='''
class Key:
    def __init__(self, n):
        self.n = n
    def __hash__(self):
        return self.n
    def __eq__(self, other):
        return self.n == other.n
'''),
        _row("dict, key that changes", "k = Key(1)\nd = {k: 1}", "r.append(d.get(Key(1)))\nr.append(Key(2) in d)", "k.n = 2", top='''
class Key:
    def __init__(self, n):
        self.n = n
    def __hash__(self):
        return 7
    def __eq__(self, other):
        return self.n == other.n
'''),
        _row("dict, equal keys of two types", "d = {1: 'p'}", "r.append(d[True])\nr.append(d[1.0])", "d[1] = 'q'"),
        _row("dict, tuple key", "d = {(1, 2): 'p'}", "r.append(d[1, 2])", "d[(1, 2)] = 'q'"),
        _row("program's __getitem__", "x = L()", "r.append(x[0])", "x[0] = 2", top='''
class L:
    def __init__(self):
        self.items = [0]
    def __getitem__(self, key):
        return (self.items[key], self.items[key])
    def __setitem__(self, key, value):
        self.items[key] = 1
        self.items[key] = value
'''),
        _row("__missing__", "d = D()", "r.append(d['p'])", "r.append(d['p'])", "dict(d)", top='''
class D(dict):
    def __missing__(self, key):
        self[key] = len(self)
        return 'new'
'''),
        _row("defaultdict", "d = collections.defaultdict(list)", "d['p'].append(1)", "r.append('p' in d)\nd['p'].append(2)", "d",
             top="import collections\n"),
        _row("defaultdict of ints", "d = collections.defaultdict(int)", "d['p'] += 1", "d['p'] += 1", "d", top="import collections\n"),
        _row("defaultdict, factory of the program", "d = collections.defaultdict(make)", "r.append(d['p'])", "r.append(d['p'])",
             "(dict(d), n)", top='''
import collections
n = [0]
def make():
    n[0] += 1
    return n[0]
'''),
        _row("Counter", "d = collections.Counter()", "d['p'] += 1", "d['p'] += 1", "d", top="import collections\n"),
        _row("OrderedDict", "d = collections.OrderedDict(p=1, q=2)", "r.append(list(d))", "d.move_to_end('p')\nd['q'] = 3", "d",
             top="import collections\n"),
        _row("ChainMap", "p = {}\nq = {'k': 1}\nd = collections.ChainMap(p, q)", "r.append(d['k'])", "q['k'] = 2\np['k'] = 3",
             top="import collections\n"),
        _row("UserDict", "d = collections.UserDict(k=1)", "r.append(d['k'])", "d['k'] = 2", top="import collections\n"),
        _row("deque", "x = collections.deque([1, 2])", "r.append(x[0])", "x.appendleft(0)\nx[0] = 7", top="import collections\n"),
        _row("bytearray", "x = bytearray(b'ab')", "r.append(x[0])\nr.append(bytes(x))", "x[0] = 99\nx.append(1)"),
        _row("memoryview", "x = bytearray(b'ab')\nm = memoryview(x)", "r.append(m[0])", "x[0] = 99"),
        _row("memoryview written", "x = bytearray(b'ab')\nm = memoryview(x)", "r.append(x[0])", "m[0] = 99"),
        _row("array", "x = array.array('i', [1, 2])", "r.append(x[0])\nr.append(x.tolist())", "x[0] = 5\nx.append(3)", top="import array\n"),
        _row("tuple of lists", "x = ([], [])", "r.append(len(x[0]))", "x[0].append(1)"),
        _row("mappingproxy", "d = {'p': 1}\nx = types.MappingProxyType(d)", "r.append(x['p'])\nr.append(len(x))", TWO_KEYS, top="import types\n"),
        _row("nested", "d = {'p': [1]}", "r.append(d['p'][0])", "x = [2]\nd['p'] = x\nx[0] = 3"),
        _row("subclass of dict", "d = D(p=1)", "r.append(d['p'])", "d['p'] = 2", top="class D(dict):\n    pass\n"),
        _row("subclass of list, own setitem", "x = L([0])", "x[0] = 1\nr.append(x[0])", "x[0] = 2", "(x, x.n)", top='''
class L(list):
    n = 0
    def __setitem__(self, key, value):
        self.n = self.n + 1
        super().__setitem__(key, value)
'''),
        _row("weak value dictionary", "x = Box(1)\nd = weakref.WeakValueDictionary()", "r.append('k' in d)", "d['k'] = x",
             top="import weakref\n"),
        _row("index of the program", "x = [1, 2]\ni = I()", "r.append(x[i])", "i.n = 1", top='''
class I:
    n = 0
    def __index__(self):
        return self.n
'''),
        _row("__class_getitem__", "pass", "r.append(C[1])", "C.n = 2", top='''
class C:
    n = 1
    def __class_getitem__(cls, item):
        return (item, cls.n)
'''),
    ],
    "Slice": [
        _row("slice load", "x = [1, 2, 3]", "r.append(x[:2])", TWO_ITEMS),
        _row("slice store", "x = [1, 2, 3]", "x[0:2] = [7]", "r.append(list(x))\nr.append(x[1])"),
        _row("slice store from shared", "x = [1, 2]\ny = [3, 4]", "x[:] = y", "y[0] = 5\ny[1] = 5", "x"),
        _row("slice del", "x = [1, 2, 3]", "del x[1:]", "r.append(x[1])\nr.append(len(x))"),
        _row("slice augmented", "x = [1, 2]", "x[:1] += [7]", "x.insert(0, 8)", "x"),
        _row("slice with step", "x = [1, 2, 3]", "r.append(x[::2])", "x[0] = 5\nx[2] = 5"),
        _row("slice of bytearray", "x = bytearray(b'abc')", "x[:1] = b'zz'", "r.append(bytes(x[1:]))", "x"),
        _row("slice bounds of shared", "x = [1, 2, 3]\ny = Box(1)", "r.append(x[y.v:])", "y.v = 2\nx[2] = 9"),
    ],
    "Name": [
        _row("global load", "pass", "r.append(g)\nr.append(g)", "global g\ng = 2", top="g = 1\n"),
        _row("global never bound", "pass", "r.append(g)", "global g\ng = 2", top=""),
        _row("global shadows a builtin", "pass", "r.append(len([]))", "global len\nlen = lambda x: 7", top=""),
        _row("global function replaced", "pass", "r.append(f())", "global f\nf = lambda: 2", top="def f():\n    return 1\n"),
        _row("global class replaced", "pass", "r.append(C().n)", "global C\nclass C:\n    n = 2", top="class C:\n    n = 1\n"),
        _row("globals()", "pass", "r.append(g)", "globals()['g'] = 2", top="g = 1\n"),
        _row("global read by globals()", "pass", "r.append(globals()['g'])\nr.append(globals().get('g'))", "global g\ng = 2", top="g = 1\n"),
        _row("closure load", "n = 1", "r.append(n)\nr.append(n)", "nonlocal n\nn = 2"),
        _row("closure unbound", "n = 1\ndel n", "r.append(n)", "nonlocal n\nn = 2"),
        _row("closure two cells", "n = 1\nm = 1", "r.append((n, m))", "nonlocal n, m\nn = 2\nm = 2"),
        _row("variable of the starter", "n = 0\ndef bump():\n    nonlocal n\n    n += 1", "bump()", "bump()", "n"),
        _row("cell by __closure__", "n = 0\ndef get():\n    return n", "r.append(get())", "get.__closure__[0].cell_contents = 5"),
        _row("list in a global", "g.clear()", "r.append(len(g))", "g.append(1)", top="g = []\n"),
        _row("not read again, of an object that counts", "x = Box(Box(1))\ny = [x.v, Box(2)]\nw = [weakref.ref(e) for e in y]\nz = []", "keep = x.v\nz.append(1)",
             "x.v = y[1]\nr.append(len(z))\ny.clear()\nr.append([e() is None for e in w])", top="import weakref\n", states=True),
    ],
    "Nonlocal": [
        _row("counter", "n = 0", "nonlocal n\nn += 1", "nonlocal n\nn += 1", "n"),
        _row("swap", "n, m = 1, 2", "nonlocal n, m\nn, m = m, n", "nonlocal n, m\nn, m = m, n", "(n, m)"),
        _row("for target", "n = 0", "nonlocal n\nfor n in (1, 2):\n    r.append(n)", "nonlocal n\nn = 5", "n"),
        _row("with target", "n = 0\nx = Box(1)\nlock = threading.Lock()", "nonlocal n\nwith lock as n:\n    r.append(n)", "nonlocal n\nn = 5", "n"),
        _row("except target", "n = 0", "nonlocal n\ntry:\n    raise ValueError(1)\nexcept ValueError as n:\n    r.append(str(n))\nr.append(n)",
             "nonlocal n\nn = 5"),
        _row("walrus target", "n = 0", "nonlocal n\nr.append((n := 3) + n)", "nonlocal n\nn = 5", "n"),
        _row("def target", "n = 0", "nonlocal n\ndef n():\n    pass\nr.append(callable(n))", "nonlocal n\nn = 5", "callable(n)"),
        _row("class target", "n = 0", "nonlocal n\nclass n:\n    pass\nr.append(callable(n))", "nonlocal n\nn = 5", "callable(n)"),
        _row("import target", "n = 0", "nonlocal n\nimport math as n\nr.append(n == 5)", "nonlocal n\nn = 5", "n == 5"),
        _row("match target", "n = 0", "nonlocal n\nmatch 3:\n    case n:\n        r.append(n)", "nonlocal n\nn = 5", "n"),
        _row("star target", "n = 0", "nonlocal n\n*n, m = (1, 2)\nr.append(n)", "nonlocal n\nn = 5", "n"),
        _row("deep", "n = 0\ndef outer():\n    def inner():\n        nonlocal n\n        n += 1\n    inner()", "outer()", "outer()", "n"),
        _row("comprehension", "n = 0", "nonlocal n\nr.extend([n for _ in (1, 2)])", "nonlocal n\nn = 5"),
        _row("lambda", "n = 0\nget = lambda: (n, n)", "r.append(get())", "nonlocal n\nn = 5"),
        _row("generator", "n = 0\ndef get():\n    yield n\n    yield n", "r.extend(get())", "nonlocal n\nn = 5"),
        _row("class body", "n = 0", "class C:\n    k = n\n    m = n\nr.append((C.k, C.m))", "nonlocal n\nn = 5"),
    ],
    "Global": [
        _row("counter", "pass", "global g\ng += 1", "global g\ng += 1", "g", top="g = 0\n"),
        _row("del", "pass", "global g\ndel g", "r.append(g)\nr.append(g)", top="g = 0\n"),
        _row("for target", "pass", "global g\nfor g in (1, 2):\n    r.append(g)", "global g\ng = 5", "g", top="g = 0\n"),
        _row("def target", "pass", "global g\ndef g():\n    return 2", "r.append(g())", top="def g():\n    return 1\n"),
        _row("walrus in a comprehension", "pass", "global g\nr.append([(g := n) for n in (1, 2)])\nr.append(g)", "global g\ng = 5", top="g = 0\n"),
        _row("import", "pass", "global math\nimport math", "r.append(math is None)", top="math = None\n"),
        _row("with target", "pass", "global g\nwith C() as g:\n    r.append(g)", "global g\ng = 5", top='''
g = 0
class C:
    def __enter__(self):
        return 1
    def __exit__(self, *_):
        pass
'''),
        _row("augmented list", "pass", "global g\ng += [1]", "g.append(2)\nr.append(len(g))", "g", top="g = []\n"),
        _row("check then act", "pass", "get()", "get()", "made", top='''
one = None
made = []
def get():
    global one
    if one is None:
        one = object()
        made.append(1)
    return one
'''),
    ],
    # ------------------------------------------------------------------ calls and what is called
    "Call": [
        _row("len", "x = [1]", "r.append(len(x))", "x.append(2)"),
        _row("len of a dict", "d = {}", "r.append(len(d))", TWO_KEYS),
        _row("len of a set", "x = {1}", "r.append(len(x))", "x.add(2)"),
        _row("len of the program", "x = Number(1)", "r.append(len(x))", "x.v = 2", top=OPERATORS),
        _row("sorted", "x = [2, 1]", "r.append(sorted(x))", TWO_ITEMS),
        _row("sorted with key", "x = [2, 1]\ny = Box(1)", "r.append(sorted(x, key=lambda n: n * y.v))", "y.v = -1\nx[0] = 5"),
        _row("sorted by __lt__", "x = [N(1), N(2)]", "r.append([n.n for n in sorted(x)])", "x[0].n = 5", top='''
class N:
    def __init__(self, n):
        self.n = n
    def __lt__(self, other):
        return self.n < other.n
'''),
        _row("sort in place", "x = [3, 1, 2]", "x.sort()", "r.append(list(x))\nr.append(x[0])", "x"),
        _row("sort with a key that looks", "x = [3, 1]", "x.sort(key=lambda n: n)", "r.append(len(x))\nx.append(0)", "len(x)"),
        _row("reverse", "x = [3, 1, 2]", "x.reverse()", "r.append(x[0])\nx[0] = 9", "x"),
        _row("sum", "x = [1, 2]", "r.append(sum(x))", TWO_ITEMS),
        _row("sum of dict values", "d = dict(p=1, q=2)", "r.append(sum(d.values()))", TWO_KEYS),
        _row("sum of a generator", "x = [1, 2]", "r.append(sum(n for n in x))", TWO_ITEMS),
        _row("min", "x = [3, 4]", "r.append(min(x))", "x[1] = 1\nx[0] = 0"),
        _row("max with default", "x = []", "r.append(max(x, default=0))", "x.append(2)"),
        _row("max with key", "x = [Box(1), Box(2)]", "r.append(max(x, key=lambda n: n.v).v)", "x[0].v = 7"),
        _row("min of two lists", "x = [1]\ny = [2]", "r.append(min(x, y) is x)", "x[0] = 3"),
        _row("any", "x = [0, 0]", "r.append(any(x))", "x[1] = 1\nx[0] = 0"),
        _row("all of a generator", "x = [1, 1]", "r.append(all(n for n in x))", "x[1] = 0\nx[0] = 0"),
        _row("any of objects", "x = [Number(0)]", "r.append(any(x))", "x[0].v = 1", top=OPERATORS),
        _row("list()", "x = [1, 2]", "r.append(list(x))", TWO_ITEMS),
        _row("list of a dict", "d = {}", "r.append(list(d))", TWO_KEYS),
        _row("list of items", "d = dict(p=1, q=2)", "r.append(list(d.items()))", TWO_KEYS),
        _row("tuple()", "x = [1, 2]", "r.append(tuple(x))", TWO_ITEMS),
        _row("set()", "x = [1, 2]", "r.append(sorted(set(x)))", TWO_ITEMS),
        _row("frozenset()", "x = [1, 2]", "r.append(sorted(frozenset(x)))", TWO_ITEMS),
        _row("dict()", "d = dict(p=1, q=2)", "r.append(dict(d))", TWO_KEYS),
        _row("dict of pairs", "x = [('p', 1), ('q', 2)]", "r.append(dict(x))", "x[0] = ('p', 5)\nx[1] = ('q', 5)"),
        _row("dict of zip", "x = [1, 2]", "r.append(dict(zip('pq', x)))", TWO_ITEMS),
        _row("dict.fromkeys", "x = [1, 2]", "r.append(dict.fromkeys(x))", TWO_ITEMS),
        _row("zip", "x = [1, 2]\ny = [1, 2]", "r.append(list(zip(x, y)))", "x[0] = 5\ny[0] = 5"),
        _row("zip in a loop", "x = [1, 2]", "for n in zip(x, x):\n    r.append(n)", TWO_ITEMS),
        _row("enumerate", "x = [1, 2]", "r.append(list(enumerate(x)))", TWO_ITEMS),
        _row("enumerate in a loop", "x = [1, 2]", "for i, n in enumerate(x):\n    r.append(n)", TWO_ITEMS),
        _row("map", "x = [1, 2]", "r.append(list(map(str, x)))", TWO_ITEMS),
        _row("map of a function", "x = [1, 2]\ny = Box(1)", "r.append(list(map(lambda n: n + y.v, x)))", "x[1] = 5\ny.v = 2"),
        _row("filter", "x = [1, 2]", "r.append(list(filter(None, x)))", "x[0] = 0\nx[1] = 0"),
        _row("filter of a function", "x = [1, 2]\ny = Box(1)", "r.append(list(filter(lambda n: n > y.v, x)))", "y.v = 0\nx[1] = 0"),
        _row("reversed", "x = [1, 2]", "r.append(list(reversed(x)))", TWO_ITEMS),
        _row("reversed in a loop", "x = [1, 2]", "for n in reversed(x):\n    r.append(n)", TWO_ITEMS),
        _row("join", "x = ['p', 'q']", "r.append(''.join(x))", "x[0] = 's'\nx[1] = 's'"),
        _row("join of a generator", "x = ['p', 'q']", "r.append(''.join(s for s in x))", "x[0] = 's'\nx[1] = 's'"),
        _row("bytes.join", "x = [b'p', bytearray(b'q')]", "r.append(b''.join(x))", "x[1][0] = 65\nx[0] = b's'"),
        _row("repr", "x = [1, 2]", "r.append(repr(x))", TWO_ITEMS),
        _row("repr of the program", "x = P()", "r.append(repr(x))\nr.append(repr([x]))", TWO_ATTRIBUTES, top='''
class P:
    p = q = 0
    def __repr__(self):
        return f'{self.p} {self.q}'
'''),
        _row("str", "d = dict(p=1, q=2)", "r.append(str(d))", TWO_KEYS),
        _row("print to a list", "x = Box(1)\ny = []", "print(x.v, file=F(y))", "x.v = 2\nr.append(len(y))", "y", top='''
class F:
    def __init__(self, kept):
        self.kept = kept
    def write(self, text):
        self.kept.append(text)
'''),
        _row("StringIO", "x = io.StringIO()", "x.write('p')\nx.write('q')", "x.write('s')\nr.append(x.getvalue())", "x.getvalue()", top="import io\n"),
        _row("str.format", "x = [1, 2]", "r.append('{0}'.format(x))\nr.append('{0[0]}'.format(x))", TWO_ITEMS),
        _row("str.format of attributes", "x = Box(1)", "r.append('{0.v}'.format(x))\nr.append('{x.v}'.format(x=x))", "x.v = 2"),
        _row("format_map", "d = dict(p=1, q=2)", "r.append('{p} {q}'.format_map(d))", TWO_KEYS),
        _row("format()", "x = Number(1)", "r.append(format(x, ''))", "x.v = 2", top=OPERATORS),
        _row("getattr", "x = Box(1)", "r.append(getattr(x, 'v'))\nr.append(getattr(x, 'w', None))", "x.v = 2\nx.w = 3"),
        _row("setattr", "x = Box(1)", "setattr(x, 'v', 3)", "r.append(x.v)\nx.v = 2", "x.v"),
        _row("hasattr", "x = Box(1)", "r.append(hasattr(x, 'w'))", "x.w = 3"),
        _row("delattr", "x = Box(1)", "delattr(x, 'v')", "r.append(x.v)"),
        _row("object.__setattr__", "x = Box(1)", "object.__setattr__(x, 'v', 3)", "r.append(x.v)\nr.append(object.__getattribute__(x, 'v'))"),
        _row("vars", "x = Pair(0, 0)", "r.append(dict(vars(x)))\nr.append(vars(x)['p'])", TWO_ATTRIBUTES, top=PAIR),
        _row("vars written", "x = Pair(0, 0)", "vars(x)['p'] = 5\nvars(x).clear()", "r.append(x.p)\nr.append(hasattr(x, 'q'))", top=PAIR),
        _row("vars kept", "x = Box(1)\nd = vars(x)", "r.append(d['v'])\nr.append(len(d))", "x.v = 2\nx.w = 3"),
        _row("dir", "x = Box(1)", "r.append('w' in dir(x))", "x.w = 3"),
        _row("isinstance with a hook", "pass", "r.append(isinstance(1, C))", "M.n = 1", top='''
class M(type):
    n = 0
    def __instancecheck__(cls, obj):
        return bool(M.n)
class C(metaclass=M):
    pass
'''),
        _row("issubclass with an ABC", "pass", "r.append(issubclass(int, C))", "C.register(int)", top='''
import abc
class C(abc.ABC):
    pass
'''),
        _row("callable object", "x = Number(1)", "r.append(x())", "x.v = 2", top=OPERATORS),
        _row("type()", "pass", "C = type('C', (), d)\nr.append((C.p, C.q))", TWO_KEYS, top="d = dict(p=1, q=2)\n"),
        _row("id and hash", "x = [Number(1)]", "r.append(hash(x[0]))\nr.append(id(x[0]) == id(x[0]))", "x[0] = Number(2)", top=OPERATORS),
        _row("next of a shared iterator", "x = iter([1, 2, 3])", "r.append(next(x))", "r.append(next(x))", "next(x)"),
        _row("next of a shared count", "x = itertools.count()", "r.append(next(x))", "r.append(next(x))", top="import itertools\n"),
        _row("next with default", "x = iter([1])", "r.append(next(x, None))", "r.append(next(x, None))"),
        _row("next of a shared generator", "x = (n for n in (1, 2, 3))", "r.append(next(x))", "r.append(next(x))"),
        _row("next of a dict iterator", "d = dict(p=1, q=2)\nx = iter(d)", "r.append(next(x))\nr.append(next(x))", "d['s'] = 1"),
        _row("next of a list iterator", "y = [1, 2]\nx = iter(y)", "r.append(next(x))\nr.append(next(x))", "y.insert(0, 7)\ny.pop()"),
        _row("next of the program", "x = It()", "r.append(next(x))", "r.append(next(x))", top='''
class It:
    n = 0
    def __iter__(self):
        return self
    def __next__(self):
        self.n += 1
        return self.n
'''),
        _row("next of a shared map", "y = [1, 2]\nx = map(str, y)", "r.append(next(x))", "y[0] = 5\nr.append(next(x))"),
        _row("next of a shared zip", "y = iter([1, 2])\nx = zip(y, y)", "r.append(next(x))", "r.append(next(y))"),
        _row("next of a shared enumerate", "y = [1, 2]\nx = enumerate(y)", "r.append(next(x))", "r.append(next(x))"),
        _row("shared chain", "y = [1]\nx = itertools.chain(y, [2])", "r.append(next(x))", "y[0] = 7\nr.append(next(x, None))", top="import itertools\n"),
        _row("shared cycle", "x = itertools.cycle('pq')", "r.append(next(x))", "r.append(next(x))", top="import itertools\n"),
        _row("shared tee of a generator", "def g():\n    yield 1\n    yield 2\nx, y = itertools.tee(g())", "r.append(next(x))", "r.append(next(y))", top="import itertools\n"),
        _row("shared tee of a map", "n = Box(0)\ndef f(v):\n    n.v += 1\n    return n.v\nx, y = itertools.tee(map(f, [1, 2]))", "r.append(next(x))", "r.append(next(y))", top="import itertools\n"),
        _row("chain of lists that change", "x = [[1], [2]]\ny = itertools.chain.from_iterable(x)", "r.append(next(y, None))", "x.insert(0, [0])\nx[1].append(5)\nr.append(next(y, None))", top="import itertools\n"),
        _row("enumerate over a map", "n = Box(0)\ndef f(v):\n    n.v += 1\n    return n.v\nx = enumerate(map(f, [1, 2, 3]))", "r.append(next(x))", "r.append(next(x))"),
        _row("enumerate over a filter", "n = Box(0)\ndef f(v):\n    n.v += 1\n    return n.v < 9\nx = enumerate(filter(f, [1, 2, 3]))", "r.append(next(x))", "r.append(next(x))"),
        _row("zip of a map", "n = Box(0)\ndef f(v):\n    n.v += 1\n    return n.v\nx = zip(map(f, [1, 2, 3]), [4, 5, 6])", "r.append(next(x))", "r.append(next(x))"),
        _row("coroutine", "async def c():\n    return 1\nx = c()", "x.send(None)", "x.send(None)"),
        _row("coroutine thrown into", "n = Box(0)\nasync def c():\n    n.v += 1\nx = c()", "x.throw(ValueError('x'))", "r.append(x.cr_running)\nx.send(None)", "n.v"),
        _row("asynchronous generator", "async def g():\n    yield 1\n    yield 2\nx = g()", "r.append(x.__anext__().send(None))", "r.append(x.asend(None).send(None))"),
        _row("heap whose objects are compared", "x = [J(2), J(3)]", "heapq.heappush(x, J(1))", "r.append(heapq.heappop(x).n)", "[j.n for j in x]", top=JOBS),
        _row("heap of tuples of objects", "x = [(2, J(1)), (3, J(1))]", "heapq.heappush(x, (2, J(0)))", "x.append((5, J(7)))", "[(n, j.n) for n, j in x]", top=JOBS),
        _row("heapreplace of objects", "x = [J(2), J(3)]", "r.append(heapq.heapreplace(x, J(5)).n)", "x.append(J(9))", "[j.n for j in x]", top=JOBS),
        _row("heapify of objects", "x = [J(4), J(3), J(2)]", "heapq.heapify(x)", "x[0] = J(0)", "[j.n for j in x]", top=JOBS),
        _row("insort of objects", "x = [J(1), J(3), J(5)]", "bisect.insort(x, J(4))", "x.insert(0, J(0))", "[j.n for j in x]", top=JOBS),
        _row("bisect of objects", "x = [J(1), J(3), J(5), J(6)]", "r.append(bisect.bisect(x, J(9)))", "x.pop()\nx.pop()", top=JOBS),
        _row("sorted by a method that sets", "x = Box(1)", "[2].sort(key=functools.partial(setattr, x, 'v'))", "r.append(x.v)\nr.append(x.v)", top="import functools\n"),
        _row("grouped by a method that sets", "x = Box(1)", "list(itertools.groupby([2], functools.partial(setattr, x, 'v')))", "r.append(x.v)\nr.append(x.v)", top="import functools, itertools\n"),
        _row("shared tee", "x, y = itertools.tee(iter([1, 2]))", "r.append(next(x))", "r.append(next(y))\nr.append(next(x))", top="import itertools\n"),
        _row("accumulate", "x = [1, 2]", "r.append(list(itertools.accumulate(x)))", TWO_ITEMS, top="import itertools\n"),
        _row("islice of a deque", "x = collections.deque([1, 2])", "r.append(list(itertools.islice(x, 1, None)))",
             "x.append(3)", top="import collections, itertools\n"),
        _row("groupby", "x = [1, 1]", "r.append([(k, list(g)) for k, g in itertools.groupby(x)])", TWO_ITEMS, top="import itertools\n"),
        _row("product", "x = [1, 2]", "r.append(list(itertools.product(x, x)))", TWO_ITEMS, top="import itertools\n"),
        _row("takewhile", "x = [1, 2]", "r.append(list(itertools.takewhile(lambda n: n < 3, x)))", TWO_ITEMS, top="import itertools\n"),
        _row("starmap", "x = [(1, 2), (3, 4)]", "r.append(list(itertools.starmap(max, x)))", "x[0] = (5, 5)\nx[1] = (5, 5)", top="import itertools\n"),
        _row("iter with a sentinel", "x = [3, 2, 1]", "r.extend(iter(x.pop, 1))", "x.append(9)"),
        _row("iter of a callable", "n = Box(0)\ndef get():\n    n.v += 1\n    return n.v", "r.extend(iter(get, 2))", "r.append(n.v)"),
        _row("range of a length", "x = [1]", "for i in range(len(x)):\n    r.append(x[i])", "x.clear()"),
        _row("append", "x = []", "x.append(1)", "x.append(2)", "x"),
        _row("extend", "x = []\ny = [1, 2]", "x.extend(y)", "y[0] = 5\ny[1] = 5\nr.append(len(x))", "x"),
        _row("extend with itself", "x = [1]", "x.extend(x)", "x.append(2)", "x"),
        _row("extend with a generator", "x = [1, 2]\ny = []", "y.extend(n for n in x)", "r.append(len(y))\nx[1] = 5", "y"),
        _row("pop", "x = [1, 2]", "r.append(x.pop())", "r.append(x.pop())"),
        _row("pop of the first", "x = [1, 2]", "r.append(x.pop(0))", "x.insert(0, 7)"),
        _row("pop of none", "x = [1]", "if x:\n    r.append(x.pop())", "if x:\n    r.append(x.pop())"),
        _row("insert and remove", "x = [1, 2]", "x.remove(1)", "r.append(x.index(2))\nx.insert(0, 1)", "x"),
        _row("count of a list", "x = [1, 2]", "r.append(x.count(5))", TWO_ITEMS),
        _row("index in a list", "x = [1]", "r.append(x.index(3))", "x[0] = 3"),
        _row("copy of a list", "x = [1, 2]", "r.append(x.copy())", TWO_ITEMS),
        _row("clear", "x = [1, 2]", "x.clear()", "r.append(len(x))\nx.append(3)", "x"),
        _row("get", "d = {}", "r.append(d.get('p'))\nr.append(d.get('q'))", TWO_KEYS),
        _row("setdefault", "d = {}", "d.setdefault('p', []).append(1)", "d.setdefault('p', []).append(2)", "d"),
        _row("dict pop", "d = {'p': 1}", "r.append(d.pop('p', None))", "r.append(d.pop('p', None))"),
        _row("popitem", "d = {'p': 1}", "r.append(d.popitem())", "d['q'] = 2", "d"),
        _row("update", "d = {}\ne = dict(p=1, q=1)", "d.update(e)", "r.append(d.get('q'))\ne['p'] = 5\ne['q'] = 5", "d"),
        _row("update by keyword", "d = {}", "d.update(p=1, q=1)", "r.append((d.get('q'), d.get('p')))"),
        _row("update of pairs", "d = {}\nx = [('p', 1), ('q', 2)]", "d.update(x)", "x[0] = ('s', 1)\nx[1] = ('s', 1)", "d"),
        _row("copy of a dict", "d = dict(p=1, q=2)", "r.append(d.copy())", TWO_KEYS),
        _row("clear of a dict", "d = dict(p=1)", "d.clear()", "r.append('p' in d)\nd['q'] = 1", "d"),
        _row("keys view", "d = {}\nv = d.keys()", "r.append(list(v))\nr.append(len(v))", TWO_KEYS),
        _row("values view", "d = dict(p=1, q=2)\nv = d.values()", "r.append(list(v))", TWO_KEYS),
        _row("items view in", "d = dict(p=1, q=2)\nv = d.items()", "r.append(('p', 5) in v)", TWO_KEYS),
        _row("views and sets", "d = dict(p=1)", "r.append(sorted(d.keys() | {'s'}))\nr.append(d.keys() == {'p'})", TWO_KEYS),
        _row("set add", "x = set()", "x.add(1)", "r.append(1 in x)\nx.add(2)", "sorted(x)"),
        _row("set discard", "x = {1}", "x.discard(1)", "r.append(1 in x)\nx.add(1)", "sorted(x)"),
        _row("set remove", "x = {1}", "x.remove(1)", "x.remove(1)"),
        _row("set pop", "x = {1}", "r.append(x.pop())", "r.append(x.pop())"),
        _row("set update", "x = set()\ny = {1}", "x.update(y)", "y.add(2)\nr.append(len(x))", "sorted(x)"),
        _row("set union method", "x = {1}\ny = [2, 3]", "r.append(sorted(x.union(y)))", "y[0] = 5\ny[1] = 5"),
        _row("set intersection_update", "x = {1, 2}\ny = {1}", "x.intersection_update(y)", "y.add(2)", "sorted(x)"),
        _row("set difference_update", "x = {1, 2}\ny = {1}", "x.difference_update(y)", "y.add(2)", "sorted(x)"),
        _row("set symmetric_difference_update", "x = {1, 2}\ny = {1}", "x.symmetric_difference_update(y)", "y.add(2)", "sorted(x)"),
        _row("issubset", "x = {1}\ny = {1}", "r.append(x.issubset(y))", "x.add(2)\ny.add(2)"),
        _row("isdisjoint", "x = {1}\ny = {2}", "r.append(x.isdisjoint(y))", "x.add(2)"),
        _row("deque methods", "x = collections.deque(maxlen=2)", "x.append(1)\nx.append(2)", "x.appendleft(3)\nr.append(list(x))", "list(x)",
             top="import collections\n"),
        _row("deque rotate", "x = collections.deque([1, 2, 3])", "x.rotate(1)", "r.append(x.popleft())", "x", top="import collections\n"),
        _row("deque extend", "x = collections.deque()\ny = [1, 2]", "x.extend(y)", "y[0] = 5\ny[1] = 5", "x", top="import collections\n"),
        _row("bytearray methods", "x = bytearray(b'ab')", "x.extend(b'cd')", "r.append(bytes(x))\nr.append(x.find(b'c'))"),
        _row("bytearray decode", "x = bytearray(b'ab')", "r.append(x.decode())", "x[0] = 99\nx[1] = 99"),
        _row("bytes of a list", "x = [1, 2]", "r.append(bytes(x))\nr.append(bytearray(x))", TWO_ITEMS),
        _row("Counter update", "c = collections.Counter()", "c.update('pq')", "r.append(c['p'])", "c", top="import collections\n"),
        _row("most_common", "c = collections.Counter('pqq')", "r.append(c.most_common(1))", "c['p'] = 7", top="import collections\n"),
        _row("OrderedDict popitem", "d = collections.OrderedDict(p=1, q=2)", "r.append(d.popitem(last=False))", "d.move_to_end('p')", "d",
             top="import collections\n"),
        _row("attrgetter", "x = Box(Box(1))", "r.append(operator.attrgetter('v.v')(x))", "x.v.v = 2\nx.v = Box(3)", top="import operator\n"),
        _row("itemgetter", "x = [1, 2]\nget = operator.itemgetter(0, 1)", "r.append(get(x))", TWO_ITEMS, top="import operator\n"),
        _row("methodcaller", "x = []\npush = operator.methodcaller('append', 1)", "push(x)", "r.append(len(x))", top="import operator\n"),
        _row("operator functions", "x = [1, 2]", "r.append(operator.getitem(x, 0))\noperator.setitem(x, 1, 7)\nr.append(operator.add(x, [3]))", TWO_ITEMS,
             top="import operator\n"),
        _row("operator.iadd", "x = [1]", "operator.iadd(x, [2])", "r.append(len(x))", "x", top="import operator\n"),
        _row("partial", "x = []\npush = functools.partial(x.append, 1)", "push()", "r.append(len(x))", top="import functools\n"),
        _row("partial of a function", "x = Box(0)", "functools.partial(bump, x)()", "functools.partial(bump, x=x)()", "x.v", top='''
import functools
def bump(x):
    x.v += 1
'''),
        _row("partial of setattr", "x = Box(0)\nf = functools.partial(setattr, x, 'v')", "f(3)", "r.append(x.v)", top="import functools\n"),
        _row("reduce", "x = [1, 2]", "r.append(functools.reduce(lambda p, q: p + q, x))", TWO_ITEMS, top="import functools\n"),
        _row("reduce with a builtin", "x = [1, 2]", "r.append(functools.reduce(max, x, 0))", TWO_ITEMS, top="import functools\n"),
        _row("cmp_to_key", "x = [2, 1]\ny = Box(1)", "r.append(sorted(x, key=functools.cmp_to_key(lambda p, q: (p - q) * y.v)))", "y.v = -1", top="import functools\n"),
        _row("copy.copy", "x = Pair(0, 0)", "c = copy.copy(x)\nr.append((c.p, c.q))", TWO_ATTRIBUTES, top="import copy\n" + PAIR),
        _row("copy.copy of a list", "x = [1, 2]", "r.append(copy.copy(x))", TWO_ITEMS, top="import copy\n"),
        _row("copy.deepcopy", "x = [[1], [2]]", "r.append(copy.deepcopy(x))", "x[0].append(3)\nx[1].append(3)", top="import copy\n"),
        _row("heappush", "x = []", "heapq.heappush(x, 2)", "heapq.heappush(x, 3)\nr.append(x[0])", "x", top="import heapq\n"),
        _row("heappop", "x = [1, 2]", "r.append(heapq.heappop(x))", "r.append(heapq.heappop(x))", top="import heapq\n"),
        _row("heap of objects", "x = []", "heapq.heappush(x, N(2))\nr.append(len(x))", "heapq.heappush(x, N(1))", "[n.n for n in x]", top='''
import heapq
class N:
    def __init__(self, n):
        self.n = n
    def __lt__(self, other):
        return self.n < other.n
'''),
        _row("heapq.nlargest", "x = [1, 2]", "r.append(heapq.nlargest(1, x))", TWO_ITEMS, top="import heapq\n"),
        _row("bisect", "x = [1, 3]", "bisect.insort(x, 2)", "bisect.insort(x, 0)\nr.append(bisect.bisect(x, 2))", "x", top="import bisect\n"),
        _row("random choice", "x = [1, 2]", "r.append(random.choice(x) in (1, 2, 5))", TWO_ITEMS, top="import random\n", quiet=True),
        _row("json", "d = dict(p=1, q=2)", "r.append(json.dumps(d))", TWO_KEYS, top="import json\n"),
        _row("struct pack_into", "x = bytearray(2)", "struct.pack_into('bb', x, 0, 1, 1)", "r.append(bytes(x))\nr.append(struct.unpack('bb', x))", top="import struct\n"),
        _row("re.sub with a function", "x = Box('p')", "r.append(re.sub('.', lambda m: x.v, 'ab'))", "x.v = 'q'", top="import re\n"),
        _row("lru_cache", "f.cache_clear()", "r.append(f(1))", "r.append(f(1))", "n.v", top='''
import functools
n = Box(0)
@functools.lru_cache
def f(k):
    n.v += 1
    return n.v
'''),
        _row("dataclass", "x = P(0, 0)", "r.append(x == P(1, 1))\nr.append(x == P(1, 0))", TWO_ATTRIBUTES, top='''
from dataclasses import dataclass
@dataclass
class P:
    p: int
    q: int
'''),
        _row("dataclass repr", "x = P(0, 0)", "r.append(repr(x))\nr.append(f'{x}')", TWO_ATTRIBUTES, top='''
from dataclasses import dataclass
@dataclass
class P:
    p: int
    q: int
'''),
        _row("dataclass order", "x = P(0)\ny = P(1)", "r.append(x < y)\nr.append([n.p for n in sorted([x, y])])", "x.p = 2", top='''
from dataclasses import dataclass
@dataclass(order=True)
class P:
    p: int
'''),
        _row("dataclass in a list", "x = P(0)\ny = [x]", "r.append(P(1) in y)\nr.append(y.count(P(1)))", "x.p = 1", top='''
from dataclasses import dataclass
@dataclass
class P:
    p: int
'''),
        _row("dataclass hash", "x = P(0)\nd = {P(1): 'p'}", "r.append(d.get(x))", "x.p = 1", top='''
from dataclasses import dataclass
@dataclass(unsafe_hash=True)
class P:
    p: int
'''),
        _row("dataclass made of shared", "x = P([])", "y = P(x.p)\ny.p.append(1)\nr.append(len(x.p))", "x.p.append(2)", top='''
from dataclasses import dataclass
@dataclass
class P:
    p: list
'''),
        _row("dataclass default factory", "x = P()", "x.p.append(1)", "r.append(len(x.p))", top='''
from dataclasses import dataclass, field
@dataclass
class P:
    p: list = field(default_factory=list)
'''),
        _row("dataclass post init", "x = Box(0)", "P(x)", "P(x)", "x.v", top='''
from dataclasses import dataclass
@dataclass
class P:
    x: object
    def __post_init__(self):
        self.x.v += 1
'''),
        _row("dataclass replace", "x = P(0, 0)", "y = dataclasses.replace(x)\nr.append((y.p, y.q))", TWO_ATTRIBUTES, top='''
import dataclasses
@dataclasses.dataclass
class P:
    p: int
    q: int
'''),
        _row("dataclass asdict", "x = P(0, 0)", "r.append(dataclasses.asdict(x))", TWO_ATTRIBUTES, top='''
import dataclasses
@dataclasses.dataclass
class P:
    p: int
    q: int
'''),
        _row("dataclass with slots", "x = P(0)", "x.p += 1", "x.p += 1", "x.p", top='''
from dataclasses import dataclass
@dataclass(slots=True)
class P:
    p: int
'''),
        _row("namedtuple equality", "x = T([1])\ny = T([2])", "r.append(x == y)\nr.append(x < y)", "x.p[0] = 2", top="import collections\nT = collections.namedtuple('T', 'p')\n"),
        _row("namedtuple repr", "x = T([1])", "r.append(repr(x))\nr.append(str(x._asdict()))", "x.p[0] = 2", top="import collections\nT = collections.namedtuple('T', 'p')\n"),
        _row("super", "x = D()", "x.bump()", "x.bump()", "x.n", top='''
class C:
    def __init__(self):
        self.n = 0
    def bump(self):
        self.n += 1
class D(C):
    def bump(self):
        super().bump()
        super(D, self).bump()
'''),
        _row("super with class attributes", "x = D()", "r.append(x.get())", "C.n = 2", top='''
class C:
    n = 1
class D(C):
    n = 7
    def get(self):
        return super().n
'''),
        _row("super of a list", "x = L()", "x.append(1)", "x.append(2)", "(x, x.n)", top='''
class L(list):
    n = 0
    def append(self, item):
        super().append(item)
        self.n = len(self)
'''),
        _row("super of a dict", "d = D()", "d['p'] = 1", "d['q'] = 2\nr.append(d.last)", "(d, d.last)", top='''
class D(dict):
    last = None
    def __setitem__(self, key, value):
        self.last = key
        super().__setitem__(key, value)
'''),
        _row("class of a list, list.append", "x = L()", "list.append(x, 1)", "r.append(len(x))\nlist.append(x, 2)", "x", top="class L(list):\n    pass\n"),
        _row("unbound methods", "x = []\nd = {}", "list.append(x, 1)\ndict.update(d, p=1)", "r.append(len(x))\nr.append(dict.get(d, 'p'))"),
        _row("weakref", "x = Box(1)\nw = weakref.ref(x)", "r.append(w().v)", "x.v = 2", top="import weakref\n"),
        _row("weakref of one that goes", "x = [Box(1)]\nw = weakref.ref(x[0])", "r.append(w() is None)", "x.clear()", top="import weakref\n"),
        _row("weakref callback", "x = [Box(1)]\ny = []\nw = weakref.ref(x[0], lambda _: y.append(1))", "x.clear()", "r.append(len(y))", "len(y)", top="import weakref\n"),
        _row("finalizer", "y = []\nx = [D(y)]", "x.clear()", "r.append(len(y))", "len(y)", top='''
class D:
    def __init__(self, y):
        self.y = y
    def __del__(self):
        self.y.append(1)
'''),
        _row("finalizer by del", "y = []\nx = [D(y)]", "o = x.pop()\ndel o", "r.append(len(y))", "len(y)", top='''
class D:
    def __init__(self, y):
        self.y = y
    def __del__(self):
        self.y.append(1)
'''),
        _row("finalizer by rebinding", "y = []\nx = Box(D(y))", "x.v = None", "r.append(len(y))\nr.append(x.v is None)", "len(y)", top='''
class D:
    def __init__(self, y):
        self.y = y
    def __del__(self):
        self.y.append(1)
'''),
        _row("weak set", "x = Box(1)\ny = weakref.WeakSet()", "r.append(len(y))", "y.add(x)", top="import weakref\n"),
        _row("contextvars", "v = contextvars.ContextVar('v', default=0)", "v.set(1)\nr.append(v.get())", "r.append(v.get())", top="import contextvars\n", quiet=True),
        _row("threading.local", "v = threading.local()\nv.n = 0", "v.n = 1\nr.append(v.n)", "r.append(hasattr(v, 'n'))", quiet=True),
        _row("eval", "x = Box(1)", "r.append(eval('x.v', {'x': x}))", "x.v = 2"),
        _row("exec", "x = Box(1)", "exec('x.v = 3', {'x': x})", "r.append(x.v)"),
        _row("pickle", "x = [1, 2]", "r.append(pickle.loads(pickle.dumps(x)))", TWO_ITEMS, top="import pickle\n"),
        _row("warnings of arguments", "x = [1, 2]", "r.append((lambda *a: a)(*x))", TWO_ITEMS),
        _row("staticmethod", "pass", "C.bump(x)", "C.bump(x)", "x.v", top='''
x = Box(0)
class C:
    @staticmethod
    def bump(x):
        x.v += 1
'''),
        _row("__call__ and closures", "bump = counter()", "r.append(bump())", "r.append(bump())", top='''
def counter():
    n = 0
    def bump():
        nonlocal n
        n += 1
        return n
    return bump
'''),
        _row("__new__", "C.made.clear()", "r.append(len(C().made))", "C()", top='''
class C:
    made = []
    def __new__(cls):
        self = super().__new__(cls)
        cls.made.append(1)
        return self
'''),
        _row("singleton by __new__", "C.one = None", "r.append(C())", "r.append(C())", "out[0][0] is out[1][0]", top='''
class C:
    one = None
    def __new__(cls):
        if cls.one is None:
            cls.one = super().__new__(cls)
        return cls.one
'''),
        _row("__init_subclass__", "B.known.clear()", "class P(B):\n    pass", "r.append(len(B.known))", top='''
class B:
    known = []
    def __init_subclass__(cls):
        B.known.append(cls.__name__)
'''),
        _row("__subclasses__", "class B:\n    pass", "class P(B):\n    pass\nr.append(P.__name__)", "r.append(len(B.__subclasses__()))"),
        _row("abs, round, divmod, pow", "x = Number(1)", "r.append((abs(x), round(x), divmod(x, 2), pow(x, 2)))", "x.v = 2", top=OPERATORS),
        _row("int and float", "x = I()", "r.append((int(x), float(x)))", "x.n = 2", top='''
class I:
    n = 1
    def __int__(self):
        return self.n
    def __float__(self):
        return float(self.n)
'''),
        _row("slice indices", "x = [1, 2, 3]", "r.append(list(range(3))[slice(len(x))])", "x.pop()"),
        _row("queue", "q = queue.Queue()", "q.put(1)\nr.append(q.qsize())", "r.append(q.empty())\nq.put(2)", "q.get()", top="import queue\n"),
        _row("lock passed as a function", "lock = threading.Lock()\nx = Box(0)\ndef bump(take, give):\n    take()\n    x.v += 1\n    give()", "bump(lock.acquire, lock.release)",
             "r.append(lock.locked())\nbump(lock.acquire, lock.release)", "x.v"),
        _row('getattr class attr', 'x = C()', "r.append(getattr(x, 'n'))", 'C.n = 1', top='class C:\n    n = 0\n'),
        _row('singledispatch register', 'pass', 'r.append(f(1))', "f.register(int)(lambda x: 'int')", top="import functools\n@functools.singledispatch\ndef f(x):\n    return 'any'\n"),
        _row('partial keywords changed', 'p = functools.partial(dict, a=1)', 'r.append(p())', "p.keywords['a'] = 2", top='import functools\n'),
        _row('slots descriptor', 'x = S()\nx.v = 1', 'r.append(S.v.__get__(x))', 'x.v = 2', top="class S:\n    __slots__ = ('v',)\n"),
        _row('slot by S.v.__set__', 'x = S()\nx.v = 1', 'S.v.__set__(x, 5)', 'r.append(x.v)', top="class S:\n    __slots__ = ('v',)\n"),
        _row('StringIO print', 'x = io.StringIO()', "print('a', 'b', file=x)", 'r.append(x.getvalue())', 'x.getvalue()', top='import io\n'),
        _row('redirect_stdout', 'x = io.StringIO()', "with contextlib.redirect_stdout(x):\n    print('a')", 'r.append(x.getvalue())', 'x.getvalue()', top='import io\nimport contextlib\n'),
        _row('operator.length_hint', 'x = [1]', 'r.append(operator.length_hint(x))', 'x.append(2)', top='import operator\n'),
        _row('operator.countOf', 'x = [1]', 'r.append(operator.countOf(x, 1))', 'x.append(1)', top='import operator\n'),
        _row('operator.indexOf', 'x = [1, 2]', 'r.append(operator.indexOf(x, 2))', 'x[0] = 2', top='import operator\n'),
        _row('exception str', 'e = ValueError(1)', 'r.append(str(e))', 'e.args = (2,)'),
        _row('frame globals', 'pass', "r.append(sys._getframe().f_globals['g'])", 'global g\ng = 2', top='import sys\ng = 1\n'),
        _row('inspect getmembers', 'x = Box(1)', "r.append([v for k, v in inspect.getmembers(x) if k == 'v'])", 'x.v = 2', top='import inspect\n'),
        _row('inspect signature', 'pass', 'r.append(len(inspect.signature(f).parameters))', 'f.__signature__ = inspect.Signature()', top='import inspect\ndef f(a, b):\n    pass\n'),
        _row('globals dict write', 'pass', "g_['g'] = 5\nr.append(g)", 'global g\nr.append(g)\ng = 3', 'g', top='g = 1\ng_ = globals()\n'),
        _row('globals dict update', 'pass', 'g_.update(g=5)', 'r.append(g)', 'g', top='g = 1\ng_ = globals()\n'),
        _row('globals dict pop', 'pass', "r.append(g_.pop('g', None))", "try:\n    r.append(g)\nexcept NameError:\n    r.append('none')", top='g = 1\ng_ = globals()\n'),
        _row('globals iterate', 'pass', "r.append('zz' in list(g_))", 'global zz\nzz = 1', top='g_ = globals()\n'),
        _row('module vars', 'pass', "vars(here)['g'] = 5", 'r.append(here.g)\nr.append(g)', top='import sys\nhere = sys.modules[__name__]\ng = 0\n'),
        _row('x.__dict__ clear', 'x = Box(1)', 'x.__dict__.clear()', "r.append(getattr(x, 'v', None))"),
        _row('vars in thread of new object', 'x = Box(None)', "y = Box(1)\nd = vars(y)\nx.v = y\nd['v'] = 2", 'r.append(x.v and x.v.v)'),
        _row('class vars iterate', 'pass', "r.append([k for k in vars(C) if k[0] != '_'])", 'C.m = 1', top='class C:\n    n = 1\n'),
        _row('mappingproxy items', "d = {'p': 1}\nx = types.MappingProxyType(d)", 'r.append(list(x.items()))\nr.append(dict(x))', "d['p'] = 5\nd['q'] = 6", top='import types\n'),
        _row('mappingproxy eq or', "d = {'p': 1}\nx = types.MappingProxyType(d)", "r.append(x == {'p': 1})\nr.append(x | {})\nr.append(bool(x))\nr.append(repr(x))", "d['p'] = 5\nd['q'] = 6", top='import types\n'),
        _row('mappingproxy of Mapping', 'd = M()\nx = types.MappingProxyType(d)', "r.append(x['a'])\nr.append(list(x))", 'd.n = 5', top='import types\nimport collections.abc\nclass M(collections.abc.Mapping):\n    n = 1\n    def __getitem__(self, k):\n        return (self.n, self.n)\n    def __iter__(self):\n        yield self.n\n    def __len__(self):\n        return 1\n'),
        _row('exitstack shared', 's = contextlib.ExitStack()\nx = []', 's.callback(x.append, 1)', 's.close()\nr.append(len(x))', 'len(x)', top='import contextlib\n'),
        _row('exec shared locals', "d = {'n': 1}", "exec('m = n + n', {}, d)\nr.append(d['m'])", "d['n'] = 5"),
        _row('eval shared locals', "d = {'n': 1}", "r.append(eval('(n, n)', {}, d))", "d['n'] = 5"),
        _row('patch in thread', 'pass', "with mock.patch.object(C, 'n', 5):\n    r.append(C.n)", 'r.append(C.n)', top='from unittest import mock\nclass C:\n    n = 1\n'),
        _row('patch dict', 'pass', "with mock.patch.dict(d, k=5):\n    r.append(d['k'])", "r.append(d['k'])", top="from unittest import mock\nd = {'k': 1}\n"),
        _row('object.__setattr__ class', 'x = C()', 'r.append(x.n)', "object.__setattr__(x, '__class__', D)", top='class C:\n    n = 1\nclass D:\n    n = 2\n'),
        _row('function attr callable', 'f.add = x_.append', 'f.add(1)', 'r.append(len(x_))', 'len(x_)', top='x_ = []\ndef f():\n    pass\n'),
        _row('publication through weakref', 'x = Box(None)\nkeep = Box(None)', 'y = Box(1)\nkeep.v = y\nx.v = weakref.ref(y)\ny.v = 2', 'e = x.v\nif e:\n    r.append(e().v)', top='import weakref\n'),
        _row('publication through cell_contents', 'n = None\ndef get():\n    return n', 'y = [1]\nget.__closure__[0].cell_contents = y\ny.append(2)', 'e = get()\nif e:\n    r.append(len(e))'),
        _row('publication through mappingproxy', 'x = Box(None)', 'y = {1: 1}\nx.v = types.MappingProxyType(y)\ny[2] = 2', 'e = x.v\nif e:\n    r.append(len(e))', top='import types\n'),
    ],
    "keyword": [
        _row("keyword arguments", "x = Pair(1, 1)", "r.append(f(p=x.p, q=x.q))", TWO_ATTRIBUTES.replace("1", "2"),
             top=PAIR + "def f(p, q):\n    return (p, q)\n"),
        _row("**kwargs", "d = dict(p=1, q=2)", "r.append(f(**d))", TWO_KEYS, top="def f(p, q):\n    return (p, q)\n"),
        _row("two **kwargs", "d = dict(p=1)\ne = dict(q=1)", "r.append(f(**d, **e))", "d['p'] = 5\ne['q'] = 5", top="def f(p, q):\n    return (p, q)\n"),
        _row("**kwargs to dict()", "d = dict(p=1, q=2)", "r.append(dict(s=1, **d))", TWO_KEYS),
        _row("**kwargs of a mapping", "x = M()", "r.append(f(**x))", "x.n = 5", top='''
def f(p, q):
    return (p, q)
class M:
    n = 1
    def keys(self):
        return ['p', 'q']
    def __getitem__(self, key):
        return self.n
'''),
        _row("**kwargs received", "d = dict(p=1)", "r.append(f(**d))", "d['q'] = 2", "d", top="def f(**kw):\n    kw['s'] = 1\n    return kw\n"),
        _row("class keyword", "d = dict(p=1, q=2)", "class P(B, **d):\n    pass\nr.append(P.kw)", TWO_KEYS, top='''
class B:
    def __init_subclass__(cls, **kw):
        cls.kw = kw
'''),
    ],
    "Starred": [
        _row("star arguments", "x = [1, 2]", "r.append(f(*x))", TWO_ITEMS, top="def f(p, q):\n    return (p, q)\n"),
        _row("two star arguments", "x = [1]\ny = [2]", "r.append(f(*x, *y))", "x[0] = 5\ny[0] = 5", top="def f(p, q):\n    return (p, q)\n"),
        _row("star of a dict", "d = {}", "r.append(f(*d))", TWO_KEYS, top="def f(*a):\n    return a\n"),
        _row("star of a generator", "x = [1, 2]", "r.append(f(*(n for n in x)))", TWO_ITEMS, top="def f(*a):\n    return a\n"),
        _row("star of the program", "x = Number(1)", "r.append(f(*x))", "x.v = 2", top=OPERATORS + "def f(*a):\n    return a\n"),
        _row("star to a builtin", "x = [1, 2]", "r.append(max(*x))", TWO_ITEMS),
        _row("star in a list", "x = [1, 2]", "r.append([0, *x])", TWO_ITEMS),
        _row("star in a set", "x = [1, 2]", "r.append(sorted({0, *x}))", TWO_ITEMS),
        _row("star in a tuple", "x = [1, 2]", "r.append((0, *x))", TWO_ITEMS),
        _row("star in an assignment", "x = [1, 2, 3]", "p, *q = x\nr.append((p, q))", TWO_ITEMS),
        _row("star in a for", "x = [[1, 2]]", "for p, *q in x:\n    r.append((p, q))", "x[0][0] = 5\nx[0][1] = 5"),
        _row("star in a return", "x = [1, 2]\ndef f():\n    return 0, *x", "r.append(f())", TWO_ITEMS),
        _row("star in a subscript", "d = {(1, 2): 'p'}\nx = [1, 2]", "r.append(d.get((*x,)))", "x[0] = 5"),
    ],
    "Lambda": [
        _row("lambda body", "x = Box(1)\nf = lambda: (x.v, x.v)", "r.append(f())", "x.v = 2"),
        _row("lambda default", "x = []\nf = lambda y=x: len(y)", "r.append(f())", "x.append(1)"),
        _row("lambda that writes", "x = [0]\nf = lambda: x.__setitem__(0, x[0] + 1)", "f()", "f()", "x"),
    ],
    "FunctionDef": [
        _row("default argument", "pass", "r.append(list(f(1)))", "r.append(list(f(2)))", top="def f(n, kept=[]):\n    kept.append(n)\n    return kept\n"),
        _row("default evaluated", "x = Box(1)", "def f(n=x.v):\n    return n\nr.append(f())", "x.v = 2"),
        _row("keyword-only default", "pass", "r.append(f())", "r.append(f())", top="def f(*, kept={}):\n    kept[len(kept)] = 1\n    return len(kept)\n"),
        _row("decorator", "calls.clear()", "f()", "f()", "calls", top='''
calls = {'n': 0}
def counted(g):
    def wrapper():
        calls['n'] = calls.get('n', 0) + 1
        return g()
    return wrapper
@counted
def f():
    pass
'''),
        _row("decorator evaluated", "x = []", "@x.append\ndef f():\n    pass", "r.append(len(x))", "len(x)"),
        _row("decorator with arguments", "x = Box(0)", "f(x)", "f(x)", "x.v", top='''
import functools
def times(n):
    def decorate(g):
        @functools.wraps(g)
        def wrapper(x):
            for _ in range(n):
                g(x)
        return wrapper
    return decorate
@times(2)
def f(x):
    x.v += 1
'''),
        _row("decorator that is a class", "f.n = 0", "f()", "f()", "f.n", top='''
class Counted:
    def __init__(self, g):
        self.g = g
        self.n = 0
    def __call__(self):
        self.n += 1
        return self.g()
@Counted
def f():
    pass
'''),
        _row("recursion", "x = []", "fill(x, 2)", "r.append(len(x))", "x", top='''
def fill(x, n):
    if n:
        x.append(n)
        fill(x, n - 1)
'''),
        _row("argument that is shared", "x = [1]", "r.append(f(x))", "x[0] = 2", top="def f(y):\n    return (y[0], y[0])\n"),
    ],
    "ClassDef": [
        _row("class body reads", "x = Box(1)", "class C:\n    p = x.v\n    q = x.v\nr.append((C.p, C.q))", "x.v = 2"),
        _row("class body writes", "x = Box(0)", "class C:\n    x.v += 1", "class C:\n    x.v += 1", "x.v"),
        _row("class decorator", "x = []", "@x.append\nclass C:\n    pass", "r.append(len(x))"),
        _row("base evaluated", "x = Box(P)", "class C(x.v):\n    pass\nr.append(C.n)", "x.v = Q", top="class P:\n    n = 1\nclass Q:\n    n = 2\n"),
        _row("metaclass __prepare__", "made.clear()", "class C(metaclass=M):\n    p = 1", "r.append(len(made))", top='''
made = []
class M(type):
    @classmethod
    def __prepare__(cls, name, bases):
        made.append(name)
        return {}
'''),
        _row("metaclass __call__", "pass", "r.append(C())", "r.append(C())", "out[0][0] is out[1][0]", top='''
class M(type):
    one = None
    def __call__(cls):
        if cls.one is None:
            cls.one = super().__call__()
        return cls.one
class C(metaclass=M):
    pass
'''),
    ],
    "Return": [
        _row("return of a load", "x = Box(1)\ndef f():\n    return x.v", "r.append(f())", "x.v = 2"),
        _row("return of two loads", "x = Pair(0, 0)\ndef f():\n    return x.p, x.q", "r.append(f())", TWO_ATTRIBUTES, top=PAIR),
        _row("return through finally", "x = Box(0)\ndef f():\n    try:\n        return x.v\n    finally:\n        x.v = 5", "r.append(f())", "x.v = 2\nr.append(x.v)", "x.v"),
    ],
    # ------------------------------------------------------------------ statements
    "Assign": [
        _row("swap of attributes", "x = Pair(1, 2)", "x.p, x.q = x.q, x.p", "x.p, x.q = x.q, x.p", "(x.p, x.q)", top=PAIR),
        _row("swap of items", "x = [1, 2]", "x[0], x[1] = x[1], x[0]", "x[0], x[1] = x[1], x[0]", "x"),
        _row("chained", "x = Pair(0, 0)", "x.p = x.q = 1", "r.append((x.q, x.p))", top=PAIR),
        _row("order of value and target", "x = Pair(0, None)\nx.q = x", "x.q.p = x.p + 1", "x.q = Pair(5, 5)", "(x.p, x.q.p)", top=PAIR),
        _row("unpacking of a list", "x = [1, 2]", "p, q = x\nr.append((p, q))", TWO_ITEMS),
        _row("unpacking of a list that grows", "x = [1, 2]", "p, q = x\nr.append((p, q))", "x.append(3)"),
        _row("unpacking of a dict", "d = dict(p=1, q=2)", "p, q = d.values()\nr.append((p, q))", TWO_KEYS),
        _row("unpacking of the program", "x = Number(1)", "p, q = x\nr.append((p, q))", "x.v = 2", top=OPERATORS),
        _row("unpacking of a shared iterator", "x = iter([1, 2, 3, 4])", "p, q, *_ = x\nr.append((p, q))", "r.append(next(x, None))"),
        _row("nested unpacking", "x = [1, [2, 3]]", "p, (q, s) = x\nr.append((p, q, s))", "x[1][0] = 5\nx[1] = [7, 7]"),
        _row("publication of an object", "x = Box()", "y = Box(1)\nx.v = y\ny.v = 2", "r.append(x.v.v)"),
        _row("publication of a list", "x = []", "y = [1]\nx.append(y)\ny.append(2)", "r.append(len(x[0]))"),
        _row("publication through a tuple", "x = Box()", "y = [1]\nx.v = (y,)\ny.append(2)", "r.append(len(x.v[0]))"),
        _row("publication through a closure", "x = Box(int)", "y = [1]\nx.v = lambda: len(y)\ny.append(2)", "r.append(x.v())"),
        _row("publication by a bound method", "x = Box(int)", "y = [1]\nx.v = y.__len__\ny.append(2)", "r.append(x.v())"),
        _row("publication by a partial", "x = Box(int)", "y = [1]\nx.v = functools.partial(len, y)\ny.append(2)", "r.append(x.v())", top="import functools\n"),
        _row("publication by a generator", "x = Box(iter('z'))", "y = [1]\nx.v = (len(y) for _ in 'z')\ny.append(2)", "r.append(next(x.v))"),
        _row("publication by an iterator", "x = Box(iter('z'))", "y = [1]\nx.v = iter(y)\ny[0] = 2", "r.append(next(x.v))"),
        _row("publication by a thread", "pass", "y = [1]\nt = threading.Thread(target=y.append, args=(3,))\nt.start()\ny.append(2)\nt.join()\nr.append(y)", "pass", quiet=True),
        _row("publication by an exception", "x = Box()", "y = [1]\ntry:\n    raise ValueError(y)\nexcept ValueError as e:\n    x.v = e\ny.append(2)",
             "r.append(x.v and len(x.v.args[0]))"),
        _row("publication by a class", "x = Box()", "y = [1]\nclass C:\n    n = y\nx.v = C\ny.append(2)", "r.append(x.v and len(x.v.n))"),
        _row("publication by a class attribute", "C.n = None", "y = [1]\nC.n = y\ny.append(2)", "r.append(C.n and len(C.n))", top="class C:\n    n = None\n"),
        _row("publication by a default", "x = Box(int)", "y = [1]\ndef f(y=y):\n    return len(y)\nx.v = f\ny.append(2)", "r.append(x.v())"),
        _row("publication by a global", "pass", "global g\ny = [1]\ng = y\ny.append(2)", "r.append(g and len(g))", top="g = None\n"),
        _row("publication by a deque", "x = collections.deque()", "y = [1]\nx.append(y)\ny.append(2)", "r.append(x and len(x[0]))", top="import collections\n"),
        _row("publication by a set", "x = set()", "y = Box(1)\nx.add(y)\ny.v = 2", "r.append([n.v for n in x])"),
        _row("publication by a dict view", "d = {}", "y = [1]\nd.update(p=y)\ny.append(2)", "r.append([len(n) for n in d.values()])"),
        _row("publication by setdefault", "d = {}", "y = [1]\nd.setdefault('p', y)\ny.append(2)", "r.append(d and len(d['p']))"),
        _row("publication by setattr", "x = Box()", "y = [1]\nsetattr(x, 'v', y)\ny.append(2)", "r.append(x.v and len(x.v))"),
        _row("publication by object.__setattr__", "x = Box()", "y = [1]\nobject.__setattr__(x, 'v', y)\ny.append(2)", "r.append(x.v and len(x.v))"),
        _row("publication by __dict__", "x = Box()", "y = [1]\nx.__dict__['v'] = y\ny.append(2)", "r.append(x.v and len(x.v))"),
        _row("publication by a slot", "x = S()\nx.v = None", "y = [1]\nx.v = y\ny.append(2)", "r.append(x.v and len(x.v))", top="class S:\n    __slots__ = ('v',)\n"),
        _row("publication by a dataclass", "x = Box()", "y = [1]\nx.v = P(y)\ny.append(2)", "r.append(x.v and len(x.v.p))",
             top="from dataclasses import dataclass\n@dataclass\nclass P:\n    p: list\n"),
        _row("publication by a slice", "x = []", "y = [1]\nx[:] = [y]\ny.append(2)", "r.append(x and len(x[0]))"),
        _row("publication by extend", "x = []", "y = [1]\nx.extend([y])\ny.append(2)", "r.append(x and len(x[0]))"),
        _row("publication by a generator's send", "def keep():\n    kept = None\n    while True:\n        new = yield kept\n        if new is not None:\n            kept = new\nx = keep()\nnext(x)",
             "y = [1]\nx.send(y)\ny.append(2)", "z = next(x)\nr.append(z and len(z))"),
        _row("publication by a queue", "q = queue.Queue()", "y = [1]\nq.put(y)\ny.append(2)", "r.append(len(q.get()))", top="import queue\n"),
        _row("publication by a weak reference", "x = Box()", "y = Box(1)\nx.v = weakref.ref(y)\ny.v = 2", "w = x.v\nr.append(w and w() and w().v)", top="import weakref\n"),
        _row("publication by a future", "f = Future()", "y = [1]\nf.set_result(y)\ny.append(2)", "r.append(len(f.result()))", top="from concurrent.futures import Future\n"),
        _row("publication by the cell of the starter", "n = None", "nonlocal n\ny = [1]\nn = y\ny.append(2)", "r.append(n and len(n))"),
    ],
    "AnnAssign": [
        _row("annotated store", "x = Box(1)", "x.v: int = 2", "r.append(x.v)"),
        _row("annotated item", "x = [1]", "x[0]: int = 2", "r.append(x[0])"),
        _row("annotated global", "pass", "set_g()", "r.append(g)", top="g = 0\ndef set_g():\n    globals().update(g=1)\n    n: int = g\n"),
    ],
    "AugAssign": [
        _row("attribute", "x = Box(0)", "x.v += 1", "x.v += 1", "x.v"),
        _row("list item", "x = [0]", "x[0] += 1", "x[0] += 1", "x"),
        _row("dict item", "d = {'p': 0}", "d['p'] += 1", "d['p'] += 1", "d"),
        _row("list of an attribute", "x = Box([])", "x.v += [1]", "x.v += [2]\nr.append(len(x.v))", "x.v"),
        _row("list of an attribute replaced", "x = Box([])", "x.v += [1]", "x.v = [2]", "x.v"),
        _row("list by a name", "x = []", "y = x\ny += [1]", "r.append(len(x))\nx.append(2)", "x"),
        _row("list from a shared list", "x = []\ny = [1, 2]", "z = x\nz += y", "y[0] = 5\ny[1] = 5", "x"),
        _row("list from a dict", "x = []\nd = {}", "z = x\nz += d", TWO_KEYS, "x"),
        _row("list repeated", "x = [1]", "z = x\nz *= 2", "x.append(3)", "x"),
        _row("set", "x = {1}", "z = x\nz |= {2}\nz -= {1}", "r.append(sorted(x))", "sorted(x)"),
        _row("set, others", "x = {1, 2}\ny = {1}", "z = x\nz &= y\nz ^= y", "y.add(2)", "sorted(x)"),
        _row("dict", "d = {}\ne = dict(p=1, q=1)", "z = d\nz |= e", "e['p'] = 5\ne['q'] = 5\nr.append(len(d))", "d"),
        _row("deque", "x = collections.deque()\ny = [1, 2]", "z = x\nz += y", "y[0] = 5\nr.append(len(x))", "x", top="import collections\n"),
        _row("bytearray", "x = bytearray()", "z = x\nz += b'ab'", "r.append(len(x))", "x"),
        _row("Counter", "c = collections.Counter()", "z = c\nz += collections.Counter('p')", "r.append(len(c))", "c", top="import collections\n"),
        _row("string", "x = Box('')", "x.v += 'p'", "x.v += 'q'", "x.v"),
        _row("tuple", "x = Box(())", "x.v += (1,)", "x.v += (2,)", "x.v"),
        _row("of the program", "x = I()", "y = x\ny += 1", "y = x\ny += 1", "x.n", top='''
class I:
    n = 0
    def __iadd__(self, other):
        self.n = self.n + other
        return self
'''),
        _row("of the program, no __iadd__", "x = Box(Number(1))", "x.v += 1", "x.v.v = 2", "type(x.v) is tuple and x.v", top=OPERATORS),
        _row("of the program, on the right", "x = Box(1)\ny = Number(1)", "x.v -= y", "y.v = 2", "x.v", top=OPERATORS),
        _row("nested target", "x = [[0]]", "x[0][0] += 1", "x[0] = [5]", "x"),
        _row("key with an effect", "x = [0, 0]\ni = iter([0, 1])", "x[next(i)] += 1", "r.append(next(i))", "x"),
        _row("in a list in a tuple", "x = ([],)", "x[0] += [1]", "r.append(len(x[0]))"),
        _row("closure list", "n = []", "nonlocal n\nn += [1]", "n.append(2)\nr.append(len(n))", "n"),
        *[
            _row(f"operator {sign}=", "x = Box(Number(1))", f"y = x.v\ny {sign}= 1\nr.append(y)", "x.v.v = 2", "None", top=OPERATORS)
            for sign in _BINARY.values()
            if sign not in ("+", "-")
        ],
    ],
    "Delete": [
        _row("attribute", "x = Box(1)", "del x.v", "r.append(x.v)\nx.v = 2", "vars(x)"),
        _row("attribute twice", "x = Box(1)", "del x.v", "del x.v"),
        _row("dict item", "d = {'p': 1}", "del d['p']", "r.append('p' in d)\nd['p'] = 2", "d"),
        _row("dict item twice", "d = {'p': 1}", "if 'p' in d:\n    del d['p']", "if 'p' in d:\n    del d['p']"),
        _row("list item", "x = [1, 2]", "del x[0]", "r.append(x[0])\nx[0] = 7", "x"),
        _row("several", "x = [1, 2]\nd = {'p': 1}", "del x[0], d['p']", "r.append((len(d), len(x)))"),
        _row("closure", "n = 1", "nonlocal n\ndel n", "r.append(n)"),
        _row("of the program", "x = D()", "del x['p']", "r.append(x.gone)", "x.gone", top='''
class D:
    gone = ''
    def __delitem__(self, key):
        self.gone += key
        self.gone += key
'''),
        _row("class attribute", "x = D()", "del D.n", "r.append(x.n)", top="class C:\n    n = 1\nclass D(C):\n    pass\n".replace("pass", "n = 2")),
        _row("deque item", "x = collections.deque([1, 2])", "del x[0]", "r.append(x[0])", "x", top="import collections\n"),
    ],
    "For": [
        _row("list", "x = [1, 2]", "for n in x:\n    r.append(n)", TWO_ITEMS),
        _row("list that grows", "x = [1]", "for n in x:\n    r.append(n)", "x.append(2)\nx.append(3)"),
        _row("list that shrinks", "x = [1, 2, 3]", "for n in x:\n    r.append(n)", "x.pop(0)"),
        _row("dict", "d = dict(p=1, q=2)", "for k in d:\n    r.append(d[k])", TWO_KEYS),
        _row("dict that grows", "d = dict(p=1)", "for k in d:\n    r.append(k)", "d['q'] = 1"),
        _row("dict with a key exchanged", "d = dict(p=1, q=2)", "for k in d:\n    r.append(k)", "del d['q']\nd['s'] = 1"),
        _row("items", "d = dict(p=1, q=2)", "for k, n in d.items():\n    r.append(n)", TWO_KEYS),
        _row("values", "d = dict(p=1, q=2)", "for n in d.values():\n    r.append(n)", "d['q'] = 5\ndel d['p']"),
        _row("set", "x = {1}", "for n in x:\n    r.append(n)", "x.add(2)"),
        _row("set with an element exchanged", "x = {1, 2}", "for n in x:\n    r.append(n)", "x.remove(2)\nx.add(3)"),
        _row("deque", "x = collections.deque([1, 2])", "for n in x:\n    r.append(n)", "x.append(3)", top="import collections\n"),
        _row("deque item", "x = collections.deque([1, 2])", "for n in x:\n    r.append(n)", "x[1] = 3", top="import collections\n"),
        _row("bytearray", "x = bytearray(b'ab')", "for n in x:\n    r.append(n)", "x.append(3)"),
        _row("string of an attribute", "x = Box('ab')", "for n in x.v:\n    r.append(n + x.v)", "x.v = 'c'"),
        _row("__iter__", "x = Number(1)", "for n in x:\n    r.append(n)", "x.v = 2", top=OPERATORS),
        _row("__getitem__ protocol", "x = G()", "for n in x:\n    r.append(n)", "x.n = 1\nx.n = 3", top='''
class G:
    n = 2
    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError
        return i
'''),
        _row("shared generator", "x = iter(range(3))", "for n in x:\n    r.append(n)", "r.append(next(x, None))"),
        _row("shared generator of the program", "def g():\n    yield 1\n    yield 2\nx = g()", "for n in x:\n    r.append(n)", "r.append(next(x, None))"),
        _row("target is an attribute", "x = Box(0)", "for x.v in (1, 2):\n    r.append(x.v)", "x.v = 5", "x.v"),
        _row("target is an item", "x = [0]", "for x[0] in (1, 2):\n    r.append(x[0])", "x[0] = 5", "x"),
        _row("else and break", "x = Box(0)", "for n in (1, 2):\n    if x.v == n:\n        break\nelse:\n    r.append('none')", "x.v = 2"),
        _row("list iterated twice", "x = [1, 2]", "for n in x:\n    for m in x:\n        r.append((n, m))", "x.pop()"),
        _row("reversed list that changes", "x = [1, 2]", "for n in reversed(x):\n    r.append(n)", "x.pop()"),
        _row("file-like", "x = io.StringIO('p\\nq\\n')", "for line in x:\n    r.append(line)", "r.append(x.readline())", top="import io\n"),
    ],
    "While": [
        _row("truth of a list", "x = [1, 2]", "while x:\n    r.append(x.pop())", "r.append(x.pop())"),
        _row("truth of an attribute", "x = Box(2)", "while x.v:\n    x.v -= 1", "x.v += 1\nr.append(x.v)", "x.v"),
        _row("comparison", "x = [1]", "while len(x) < 3:\n    x.append(2)", "x.append(3)", "x"),
        _row("walrus", "x = [2, 1, 0]", "while (n := x.pop()) < 2:\n    r.append(n)", "x.append(7)"),
    ],
    "If": [
        _row("truth of a list", "x = []", "if x:\n    r.append(1)\nif not x:\n    r.append(2)", "x.append(1)"),
        _row("truth of a dict", "d = {}", "if d:\n    r.append(1)", "d['p'] = 1"),
        _row("truth of a set", "x = set()", "if x:\n    r.append(1)", "x.add(1)"),
        _row("truth of a deque", "x = collections.deque()", "if x:\n    r.append(1)", "x.append(1)", top="import collections\n"),
        _row("truth of a bytearray", "x = bytearray()", "if x:\n    r.append(1)", "x.append(1)"),
        _row("truth of an attribute", "x = Box(0)", "if x.v:\n    r.append(x.v)", "x.v = 1\nx.v = 0"),
        _row("truth by __bool__", "x = Number(0)", "if x:\n    r.append(1)", "x.v = 1", top=OPERATORS),
        _row("truth by __len__", "x = L()", "if x:\n    r.append(1)", "x.items.append(1)", top='''
class L:
    def __init__(self):
        self.items = []
    def __len__(self):
        return len(self.items)
'''),
        _row("truth of a view", "d = {}", "if d.keys():\n    r.append(1)", "d['p'] = 1"),
        _row("truth of a class attribute", "x = C()", "if x.n:\n    r.append(1)", "C.n = 1", top="class C:\n    n = 0\n"),
        _row("elif", "x = Box(0)", "if x.v == 1:\n    r.append(1)\nelif x.v == 0:\n    r.append(2)\nelse:\n    r.append(3)", "x.v = 1\nx.v = 2"),
        _row("check then act", "d = {}", "if 'p' not in d:\n    d['p'] = []\nd['p'].append(1)", "if 'p' not in d:\n    d['p'] = []\nd['p'].append(2)", "d"),
        _row("truth of OrderedDict", "d = collections.OrderedDict()", "if d:\n    r.append(1)", "d['p'] = 1", top="import collections\n"),
    ],
    "IfExp": [
        _row("test", "x = []", "r.append(1 if x else 0)", "x.append(1)"),
        _row("value", "x = [1]", "r.append(x[0] if x else 0)", "x.pop()"),
    ],
    "Assert": [
        _row("test", "x = []", "assert not x", "x.append(1)"),
        _row("message", "x = Box(1)", "assert x.v == 0, f'{x.v}'", "x.v = 0"),
    ],
    "BoolOp": [
        _row("and", "x = []\ny = []", "r.append(bool(x and y))\nr.append((x and y) is y)", "x.append(1)\ny.append(1)"),
        _row("or", "x = []\ny = []", "r.append((x or y) is x)", "x.append(1)"),
        _row("and of loads", "x = Pair(1, 1)", "r.append(x.p and x.q)", "x.p = 0\nx.q = 0", top=PAIR),
        _row("or of the program", "x = Number(0)", "r.append((x or 5) == 5)", "x.v = 1", top=OPERATORS),
        _row("and and or", "x = [1]", "r.append(x and x[0] or 7)", "x.clear()"),
        _row("default by or", "x = Box(None)", "y = x.v or []\ny.append(1)\nx.v = y", "y = x.v or []\ny.append(2)\nx.v = y", "x.v"),
    ],
    "And": [_row("three", "x = []\ny = [1]", "if x and y and x[0]:\n    r.append(1)", "x.append(1)\ny.clear()")],
    "Or": [_row("three", "x = []\ny = []", "if x or y or x:\n    r.append(1)", "x.append(1)\ny.append(1)\nx.clear()")],
    "UnaryOp": [
        _row("minus", "x = Number(1)", "r.append(-x)", "x.v = 2", top=OPERATORS),
    ],
    "Not": [
        _row("list", "x = []", "r.append(not x)", "x.append(1)"),
        _row("program", "x = Number(0)", "r.append(not x)", "x.v = 1", top=OPERATORS),
        _row("twice", "x = []", "r.append(not not x)", "x.append(1)"),
    ],
    "USub": [
        _row("Counter", "c = collections.Counter(p=1)", "r.append(-c)", "c['p'] = -1", top="import collections\n"),
        _row("attribute", "x = Box(1)", "r.append(-x.v)", "x.v = 2"),
    ],
    "UAdd": [
        _row("program", "x = Number(1)", "r.append(+x)", "x.v = 2", top=OPERATORS),
        _row("Counter", "c = collections.Counter(p=1)", "r.append(+c)", "c['p'] = -1", top="import collections\n"),
    ],
    "Invert": [_row("program", "x = Number(1)", "r.append(~x)", "x.v = 2", top=OPERATORS)],
    "BinOp": [
        _row("reflected", "x = Number(1)", "r.append(1 + x)\nr.append(1 - x)", "x.v = 2", top=OPERATORS),
        _row("list + list", "x = [1, 2]\ny = [1]", "r.append(x + y)", "x[0] = 5\ny[0] = 5"),
        _row("list * int", "x = [1, 2]", "r.append(x * 2)\nr.append(2 * x)", TWO_ITEMS),
        _row("tuple + tuple", "x = Box((1,))", "r.append(x.v + x.v)", "x.v = (2,)"),
        _row("sets", "x = {1}\ny = {2}", "r.append(sorted(x | y))", "x.add(5)\ny.add(5)"),
        _row("sets &", "x = {1, 2}\ny = {2}", "r.append(sorted(x & y))", "x.discard(2)\ny.add(1)"),
        _row("sets - ^", "x = {1, 2}\ny = {2}", "r.append(sorted(x - y))\nr.append(sorted(x ^ y))", "x.discard(2)\ny.add(1)"),
        _row("dicts", "d = {'p': 1}\ne = {'q': 1}", "r.append(d | e)", "d['p'] = 5\ne['q'] = 5"),
        _row("Counters", "c = collections.Counter('p')", "r.append(c + collections.Counter('q'))", "c['p'] = 5", top="import collections\n"),
        _row("deque + deque", "x = collections.deque([1, 2])", "r.append(x + x)", TWO_ITEMS, top="import collections\n"),
        _row("bytearray + bytes", "x = bytearray(b'ab')", "r.append(x + b'c')\nr.append(b'c' + x)", "x[0] = 99\nx.append(9)"),
        _row("% of a string", "x = [1, 2]", "r.append('%s' % x)\nr.append('%s %s' % (x, x))", TWO_ITEMS),
        _row("% with a mapping", "d = dict(p=1, q=2)", "r.append('%(p)s %(q)s' % d)", TWO_KEYS),
        _row("% of a tuple of attributes", "x = Pair(0, 0)", "r.append('%s %s' % (x.p, x.q))", TWO_ATTRIBUTES, top=PAIR),
        _row("% of the program", "x = P()", "r.append('%s' % x)\nr.append('%r' % (x,))", "x.n = 2", top='''
class P:
    n = 1
    def __repr__(self):
        return str(self.n)
'''),
        _row("operands from left to right", "x = Pair(0, 0)", "r.append(x.p * 10 + x.q)", TWO_ATTRIBUTES, top=PAIR),
    ],
    "Compare": [
        _row("chain", "x = [1, 5]", "r.append(x[0] < 3 < x[1])", "x[0] = 4\nx[1] = 2"),
        _row("chain of three", "x = [1]\ny = [2]", "r.append(x < y < [5])", "x[0] = 3\ny[0] = 6"),
        _row("lists of objects", "x = [N(1)]\ny = [N(1)]", "r.append(x == y)", "x[0].n = 2", top='''
class N:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return self.n == other.n
'''),
        _row("tuples of lists", "x = ([1],)\ny = ([2],)", "r.append(x < y)\nr.append(x == y)", "x[0][0] = 2\nx[0][0] = 3"),
        _row("list and tuple", "x = [1]", "r.append(x == (1,))\nr.append(x == None)", "x[0] = 2", quiet=True),
        _row("dict ==", "d = dict(p=1, q=1)", "r.append(d == dict(p=5, q=1))\nr.append(dict(p=5, q=5) == d)", TWO_KEYS),
        _row("dicts of lists", "d = {'p': [1]}", "r.append(d == {'p': [2]})", "d['p'][0] = 2"),
        _row("set ==", "x = {1}", "r.append(x == {1, 2})\nr.append({1} < x)", "x.add(2)"),
        _row("deque ==", "x = collections.deque([1])", "r.append(x == collections.deque([2]))", "x[0] = 2", top="import collections\n"),
        _row("bytearray ==", "x = bytearray(b'a')", "r.append(x == b'b')\nr.append(b'b' == x)", "x[0] = 98"),
        _row("views ==", "d = {'p': 1}", "r.append(d.items() == {('p', 2)})", "d['p'] = 2"),
        _row("Counter ==", "c = collections.Counter('p')", "r.append(c == collections.Counter('pp'))", "c['p'] = 2", top="import collections\n"),
        _row("OrderedDict ==", "d = collections.OrderedDict(p=1)", "r.append(d == collections.OrderedDict(p=2))", "d['p'] = 2", top="import collections\n"),
        _row("identity of an attribute", "x = Box(None)", "r.append(x.v is None)\nr.append(x.v is not None)", "x.v = 1"),
        _row("total_ordering", "x = N(1)\ny = N(2)", "r.append(x >= y)", "x.n = 3", top='''
import functools
@functools.total_ordering
class N:
    def __init__(self, n):
        self.n = n
    def __lt__(self, other):
        return self.n < other.n
    def __eq__(self, other):
        return self.n == other.n
'''),
    ],
    "Is": [_row("of items", "x = [None]", "r.append(x[0] is None)", "x[0] = 1")],
    "IsNot": [_row("of a global", "pass", "r.append(g is not None)", "global g\ng = 1", top="g = None\n")],
    "In": [
        _row("list", "x = [1, 2]", "r.append(5 in x)", TWO_ITEMS),
        _row("dict", "d = {}", "r.append('p' in d)\nr.append('q' in d)", TWO_KEYS),
        _row("set", "x = set()", "r.append(1 in x)", "x.add(1)"),
        _row("values", "d = {}", "r.append(5 in d.values())", TWO_KEYS),
        _row("tuple of lists", "x = [1]", "r.append([2] in (x, [3]))", "x[0] = 2"),
        _row("program", "x = Number(1)", "r.append(1 in x)\nr.append(bool(3 in x))", "x.v = 0", top=OPERATORS.replace("return (seen, self.v)", "return seen == 1 and self.v")),
        _row("iterator", "x = iter([1, 2, 3])", "r.append(2 in x)", "r.append(next(x, None))"),
        _row("__iter__ only", "x = It()", "r.append(2 in x)", "x.items.append(2)", top='''
class It:
    def __init__(self):
        self.items = [1]
    def __iter__(self):
        return iter(self.items)
'''),
        _row("set of objects", "x = Key(1)\ny = {x}", "r.append(Key(2) in y)", "x.n = 2", top='''
class Key:
    def __init__(self, n):
        self.n = n
    def __hash__(self):
        return 7
    def __eq__(self, other):
        return self.n == other.n
'''),
        _row("bytearray", "x = bytearray(b'ab')", "r.append(99 in x)\nr.append(b'cc' in x)", "x[0] = 99\nx[1] = 99"),
        _row("deque", "x = collections.deque([1, 2])", "r.append(5 in x)", TWO_ITEMS, top="import collections\n"),
    ],
    "NotIn": [_row("list", "x = []", "if 1 not in x:\n    x.append(1)", "if 1 not in x:\n    x.append(1)", "x")],
    "NamedExpr": [
        _row("attribute", "x = Box(1)", "if (n := x.v) == 1:\n    r.append((n, x.v))", "x.v = 2"),
        _row("pop", "x = [1]", "if (n := x and x.pop()):\n    r.append(n)", "r.append(len(x))"),
    ],
    # ------------------------------------------------------------------ displays and comprehensions
    "List": [_row("display", "x = Pair(0, 0)", "r.append([x.p, x.q])", TWO_ATTRIBUTES, top=PAIR)],
    "Tuple": [_row("display", "x = Pair(0, 0)", "r.append((x.q, x.p))", TWO_ATTRIBUTES, top=PAIR)],
    "Set": [
        _row("display", "x = Pair(0, 0)", "r.append(sorted({x.p, x.q}))", TWO_ATTRIBUTES, top=PAIR),
        _row("display of keys that change", "x = [Key(1), Key(2)]", "r.append(len({x[0], x[1]}))", "x[0].n = 2", top='''
class Key:
    def __init__(self, n):
        self.n = n
    def __hash__(self):
        return 7
    def __eq__(self, other):
        return self.n == other.n
'''),
    ],
    "Dict": [
        _row("display", "x = Pair(0, 0)", "r.append({'p': x.p, 'q': x.q})", TWO_ATTRIBUTES, top=PAIR),
        _row("** in a display", "d = dict(p=1, q=2)", "r.append({'s': 1, **d})", TWO_KEYS),
        _row("two ** in a display", "d = {'p': 1}\ne = {'q': 1}", "r.append({**d, **e})", "d['p'] = 5\ne['q'] = 5"),
    ],
    "ListComp": [
        _row("list", "x = [1, 2]", "r.append([n for n in x])", TWO_ITEMS),
        _row("element", "x = Box(1)", "r.append([x.v for _ in (1, 2)])", "x.v = 2"),
        _row("dict items", "d = dict(p=1, q=2)", "r.append([n for _, n in d.items()])", TWO_KEYS),
        _row("dict that grows", "d = dict(p=1)", "r.append([k for k in d])", "d['q'] = 5"),
    ],
    "SetComp": [_row("list", "x = [1, 2]", "r.append(sorted({n for n in x}))", TWO_ITEMS)],
    "DictComp": [
        _row("list", "x = [1, 2]", "r.append({n: x[0] for n in x})", TWO_ITEMS),
        _row("dict", "d = dict(p=1, q=2)", "r.append({n: k for k, n in d.items()})", TWO_KEYS),
    ],
    "GeneratorExp": [
        _row("list", "x = [1, 2]", "r.append(list(n for n in x))", TWO_ITEMS),
        _row("late", "x = [1, 2]", "g = (n for n in x)\nr.append(next(g))\nr.append(next(g))", TWO_ITEMS),
        _row("shared", "x = (n for n in [1, 2, 3])", "r.extend(x)", "r.extend(x)"),
        _row("over a shared iterator", "y = iter([1, 2, 3])\nx = (n for n in y)", "r.append(next(x))", "r.append(next(y))"),
    ],
    "comprehension": [
        _row("if", "x = [1, 2]\ny = Box(1)", "r.append([n for n in x if n > y.v])", "y.v = 0\nx[1] = 5"),
        _row("truth of a list", "x = []", "r.append([1 for _ in (1, 2) if x])", "x.append(1)"),
        _row("two fors", "x = [1, 2]", "r.append([(n, m) for n in x for m in x])", "x[1] = 5\nx.pop()"),
        _row("nested lists", "x = [[1], [2]]", "r.append([n for y in x for n in y])", "x[1].append(3)\nx[0].append(3)"),
        _row("walrus", "x = [1, 2]", "r.append([m for n in x if (m := n + x[0])])", TWO_ITEMS),
    ],
    # ------------------------------------------------------------------ text
    "JoinedStr": [
        _row("list", "x = [1, 2]", "r.append(f'{x}')", TWO_ITEMS),
        _row("two parts", "x = Pair(0, 0)", "r.append(f'{x.p} {x.q}')", TWO_ATTRIBUTES, top=PAIR),
    ],
    "FormattedValue": [
        _row("dict", "d = dict(p=1, q=2)", "r.append(f'{d!r:>40}')", TWO_KEYS),
        _row("__format__", "x = Number(1)", "r.append(f'{x}')\nr.append(f'{x:>3}')", "x.v = 2", top=OPERATORS),
        _row("__str__", "x = P()", "r.append(f'{x} {x!r} {x!s} {x!a}')", "x.n = 2", top='''
class P:
    n = 1
    def __str__(self):
        return str(self.n)
    def __repr__(self):
        return f'<{self.n}>'
'''),
        _row("list of objects", "x = [P()]", "r.append(f'{x}')", "x[0].n = 2", top='''
class P:
    n = 1
    def __repr__(self):
        return f'<{self.n} {self.n}>'
'''),
        _row("width", "x = Box(3)", "r.append(f'{1:>{x.v}}')", "x.v = 5"),
        _row("debug", "x = Box(3)", "r.append(f'{x.v=}')", "x.v = 5"),
    ],
    # ------------------------------------------------------------------ with, try, raise
    "With": [
        _row("program's manager", "x = M()", "with x:\n    r.append(x.n)", "with x:\n    r.append(x.n)", "x.n", top='''
class M:
    n = 0
    def __enter__(self):
        self.n += 1
        return self
    def __exit__(self, *_):
        self.n -= 1
'''),
        _row("lock", "x = Box(0)\nlock = threading.Lock()", "with lock:\n    x.v += 1\n    x.v += 1", "r.append(x.v)\nwith lock:\n    r.append(x.v)", "x.v"),
        _row("two managers", "p = M()\nq = M()", "with p, q:\n    r.append((p.n, q.n))", "r.append((p.n, q.n))", top='''
class M:
    n = 0
    def __enter__(self):
        self.n = 1
    def __exit__(self, *_):
        self.n = 2
'''),
        _row("manager that swallows", "x = M()", "with x:\n    raise ValueError(x.n)\nr.append(x.n)", "x.n = 5", top='''
class M:
    n = 0
    def __enter__(self):
        return self
    def __exit__(self, kind, error, traceback):
        self.n = error.args
        return True
'''),
        _row("contextmanager", "x = Box(0)", "with held(x):\n    r.append(x.v)", "with held(x):\n    r.append(x.v)", "x.v", top='''
import contextlib
@contextlib.contextmanager
def held(x):
    x.v += 1
    try:
        yield
    finally:
        x.v -= 1
'''),
        _row("closing", "x = C()", "with contextlib.closing(x):\n    r.append(x.open)", "r.append(x.open)", "x.open", top='''
import contextlib
class C:
    open = True
    def close(self):
        self.open = False
'''),
        _row("suppress", "d = {'p': 1}", "with contextlib.suppress(KeyError):\n    del d['p']\n    r.append(1)", "with contextlib.suppress(KeyError):\n    del d['p']\n    r.append(1)",
             top="import contextlib\n"),
        _row("ExitStack", "x = []", "with contextlib.ExitStack() as stack:\n    stack.callback(x.append, 1)\n    r.append(len(x))", "r.append(len(x))\nx.append(2)", "x",
             top="import contextlib\n"),
        _row("memoryview with", "x = bytearray(b'a')", "with memoryview(x) as m:\n    r.append(m[0])", "x.append(1)"),
        _row('__enter__ replaced', 'x = C()', 'with x as y:\n    r.append(y)', 'C.__enter__ = lambda self: 2', top='class C:\n    def __enter__(self):\n        return 1\n    def __exit__(self, *_):\n        pass\n'),
    ],
    "withitem": [
        _row("as an attribute", "x = Box(0)\nlock = threading.Lock()", "with lock as x.v:\n    r.append(x.v)", "x.v = 5", "x.v"),
        _row("as a tuple", "x = M()", "with x as (p, q):\n    r.append((p, q))", "x.v[0] = 5\nx.v[1] = 5", top='''
class M:
    def __init__(self):
        self.v = [1, 2]
    def __enter__(self):
        return self.v
    def __exit__(self, *_):
        pass
'''),
    ],
    "Try": [
        _row("except of a lookup", "d = {}", "try:\n    r.append(d['p'])\nexcept KeyError:\n    d['p'] = 1\nelse:\n    r.append('there')", "d['p'] = 2", "d"),
        _row("finally", "x = Box(0)", "try:\n    r.append(x.v)\nfinally:\n    x.v = 1", "r.append(x.v)\nx.v = 2", "x.v"),
        _row("error between", "x = [1]\ny = Box(0)", "y.v = 1\nx[5]\ny.v = 2", "r.append(y.v)", "y.v"),
        _row("exceptions across operations", "x = Box(0)", "try:\n    try:\n        x.v += 1\n        raise ValueError(x.v)\n    except ValueError as e:\n        r.append(e.args[0])\n        x.v += 1\n        raise KeyError from e\nexcept KeyError as e:\n    r.append(str(e.__cause__))",
             "x.v = 10", "x.v"),
    ],
    "ExceptHandler": [
        _row("type is looked up", "x = Box(ValueError)", "try:\n    raise ValueError\nexcept x.v:\n    r.append('caught')", "x.v = KeyError"),
        _row("types in a tuple", "x = Box((ValueError, KeyError))", "try:\n    raise ValueError\nexcept x.v:\n    r.append('caught')", "x.v = ()"),
        _row("type is a global", "pass", "try:\n    raise ValueError\nexcept E:\n    r.append('caught')", "global E\nE = KeyError", top="E = ValueError\n"),
    ],
    "TryStar": [
        _row("group", "x = Box(0)", "try:\n    raise ExceptionGroup('g', [ValueError(1)])\nexcept* ValueError as e:\n    r.append(x.v)\nexcept* KeyError:\n    pass", "x.v = 1"),
    ],
    "Raise": [
        _row("shared exception", "e = ValueError(1)", "try:\n    raise e\nexcept ValueError as f:\n    r.append(f.args)", "e.args = (2,)"),
        _row("attribute", "x = Box(ValueError)", "raise x.v", "x.v = KeyError"),
        _row("cause", "x = Box(ValueError(1))", "try:\n    raise KeyError from x.v\nexcept KeyError as e:\n    r.append(str(e.__cause__))", "x.v = ValueError(2)"),
        _row("context of a shared exception", "e = ValueError(1)", "try:\n    raise e from KeyError(1)\nexcept ValueError:\n    pass", "r.append(str(e.__cause__))"),
    ],
    "Import": [
        _row("of a changed module", "pass", "import string\nr.append(string.n)", "import string\nstring.n = 1", top="import string\nstring.n = 0\n"),
    ],
    "ImportFrom": [
        _row("of a changed module", "pass", "from string import n\nr.append(n)", "string.n = 1", top="import string\nstring.n = 0\n"),
        _row('from import two', 'pass', 'from string import p_, q_\nr.append((p_, q_))', 'string.p_ = 1\nstring.q_ = 1', top='import string\nstring.p_ = 0\nstring.q_ = 0\n'),
    ],
    "alias": [
        _row("binds a closure cell", "n = None", "nonlocal n\nimport math as n\nr.append(n is None)", "nonlocal n\nn = None", "n is None"),
    ],
    "Expr": [
        _row("load for its effect", "x = P()", "x.n", "x.n", "x.count", top='''
class P:
    count = 0
    @property
    def n(self):
        self.count += 1
'''),
    ],
    # ------------------------------------------------------------------ generators
    "Yield": [
        _row("generator entered by two", "def g():\n    x.v += 1\n    yield x.v\n    yield x.v\nx = Box(0)\ny = g()", "r.append(next(y))", "r.append(next(y))"),
        _row("send", "def g():\n    total = 0\n    while True:\n        total += yield total\nx = g()\nnext(x)", "r.append(x.send(1))", "r.append(x.send(2))"),
        _row("close", "y = []\ndef g():\n    try:\n        yield 1\n    finally:\n        y.append(1)\nx = g()\nnext(x)", "x.close()", "r.append(len(y))\nr.append(next(x, None))", "len(y)"),
        _row("throw", "y = []\ndef g():\n    try:\n        yield 1\n    except ValueError:\n        y.append(1)\n        yield 2\nx = g()\nnext(x)", "r.append(x.throw(ValueError))", "r.append(next(x, None))", "len(y)"),
        _row("generator private, data shared", "x = [1, 2]\ndef g():\n    yield x[0]\n    yield x[1]", "r.extend(g())", TWO_ITEMS),
        _row("generator method", "x = C()", "r.extend(x.g())", "x.n = 5", top='''
class C:
    n = 1
    def g(self):
        yield self.n
        yield self.n
'''),
        _row("generator state", "def g():\n    if not x:\n        yield 1\nx = g()", "r.append(next(x, None))", "r.append(x.gi_frame is None)"),
        _row('gen var dropped finally', 'x = Box(0)\ndef g():\n    try:\n        yield 1\n    finally:\n        x.v += 1', 'y = g()\nnext(y)\ndel y\nr.append(1)', 'x.v += 1\nr.append(x.v)', 'x.v'),
    ],
    "YieldFrom": [
        _row("list", "x = [1, 2]\ndef g():\n    yield from x", "r.extend(g())", TWO_ITEMS),
        _row("generator", "x = Box(0)\ndef h():\n    yield x.v\n    return x.v\ndef g():\n    r = yield from h()\n    yield r", "r.extend(g())", "x.v = 1"),
        _row("shared", "def h():\n    yield 1\n    yield 2\ndef g():\n    yield from h()\nx = g()", "r.append(next(x, None))", "r.append(next(x, None))"),
        _row("shared inner", "y = iter([1, 2, 3])\ndef g():\n    yield from y", "r.append(next(g()))", "r.append(next(y))"),
        _row("send through", "def h():\n    n = 0\n    while True:\n        n += yield n\ndef g():\n    yield from h()\nx = g()\nnext(x)", "r.append(x.send(1))", "r.append(x.send(2))"),
    ],
    "Await": [
        _row("shared coroutine", "n = Box(0)\nasync def c():\n    n.v += 1\n    return 7\nx = c()\nasync def m():\n    return await x", "m().send(None)", "m().send(None)", "n.v"),
        _row("asend", "async def g():\n    yield 1\n    yield 2\nx = g()\nasync def m():\n    return await x.asend(None)", "m().send(None)", "m().send(None)"),
    ],
    # ------------------------------------------------------------------ match
    "Match": [
        _row("subject", "x = Box(1)", "match x.v:\n    case 1:\n        r.append('one')\n    case 2:\n        r.append('two')", "x.v = 2"),
        _row("guard", "x = Box(1)", "match 1:\n    case n if n == x.v:\n        r.append('same')\n    case _:\n        r.append('other')", "x.v = 2"),
    ],
    "match_case": [
        _row("guard of a list", "x = []", "match 1:\n    case 1 if x:\n        r.append('full')\n    case 1:\n        r.append(len(x))", "x.append(1)"),
    ],
    "MatchValue": [
        _row("dotted name", "x = Box(1)", "match 1:\n    case x.v:\n        r.append('same')\n    case _:\n        r.append('other')", "x.v = 2"),
        _row("dotted class attribute", "pass", "match 1:\n    case C.n:\n        r.append('same')", "C.n = 2", top="class C:\n    n = 1\n"),
        _row("two dotted class attributes", "pass", "match 2:\n    case C.n:\n        r.append('n')\n    case C.m:\n        r.append('m')\n    case _:\n        r.append('-')", "C.n = 2\nC.m = 1", top="class C:\n    n = 1\n    m = 2\n"),
        _row("alternatives", "x = Box(Box(1)); y = Box(2)", "match 2:\n    case x.v.v | y.v:\n        r.append('one')\n    case _:\n        r.append('none')", "x.v.v = 2\ny.v = 1"),
        _row("after a guard", "x = Box(1); y = Box(2)", "match 2:\n    case n if x.v == 2:\n        r.append('x')\n    case y.v:\n        r.append('y')\n    case _:\n        r.append('-')", "x.v = 2\ny.v = 1"),
        _row("in a sequence", "x = Box(1); y = Box(2)", "match [1, 1]:\n    case [x.v, y.v]:\n        r.append('both')\n    case _:\n        r.append('-')", "y.v = 1\nx.v = 2"),
        _row("program's ==", "x = N()", "match x:\n    case 1:\n        r.append('one')\n    case 2:\n        r.append('two')", "x.n = 2", top='''
class N:
    n = 1
    def __eq__(self, other):
        return self.n == other
'''),
    ],
    "MatchSingleton": [
        _row("None of an attribute", "x = Box(None)", "match x:\n    case Box(v=None):\n        r.append('none')\n    case _:\n        r.append('some')", "x.v = 1"),
    ],
    "MatchSequence": [
        _row("list", "x = [1, 2]", "match x:\n    case [1, 2]:\n        r.append('p')\n    case [5, 5]:\n        r.append('q')\n    case _:\n        r.append('s')", TWO_ITEMS),
        _row("length", "x = [1]", "match x:\n    case []:\n        r.append(0)\n    case [_]:\n        r.append(1)\n    case [_, _]:\n        r.append(2)", "x.append(2)"),
        _row("nested", "x = [1, [2]]", "match x:\n    case [_, [n]]:\n        r.append(n)\n    case _:\n        r.append('s')", "x[1][0] = 5\nx[1].append(6)"),
        _row("deque", "x = collections.deque([1])", "match x:\n    case [n]:\n        r.append(n)\n    case _:\n        r.append('s')", "x[0] = 5\nx.append(6)", top="import collections\n"),
    ],
    "MatchStar": [
        _row("list", "x = [1, 2]", "match x:\n    case [n, *rest]:\n        r.append((n, rest))", "x[0] = 5\nx.append(6)"),
    ],
    "MatchMapping": [
        _row("keys", "d = dict(p=1)", "match d:\n    case {'q': n}:\n        r.append(n)\n    case {'p': n}:\n        r.append(n)", TWO_KEYS),
        _row("dotted keys", "x = Box('p'); y = Box('q')", "match {'q': 1}:\n    case {x.v: n}:\n        r.append('x')\n    case {y.v: n}:\n        r.append('y')\n    case _:\n        r.append('-')", "x.v = 'q'\ny.v = 'p'"),
        _row("rest", "d = dict(p=1)", "match d:\n    case {'p': n, **rest}:\n        r.append((n, rest))", TWO_KEYS),
        _row("empty", "x = Box({})", "match x.v:\n    case {}:\n        r.append('map')\n    case _:\n        r.append('other')", "x.v = 1"),
    ],
    "MatchClass": [
        _row("attributes", "x = Pair(0, 0)", "match x:\n    case Pair(p=1, q=0):\n        r.append('mixed')\n    case Pair(p=p, q=q):\n        r.append((p, q))", TWO_ATTRIBUTES, top=PAIR),
        _row("positional", "x = P(0)", "match x:\n    case P(0):\n        r.append('p')\n    case P(n):\n        r.append(n)", "x.n = 5", top='''
class P:
    __match_args__ = ('n',)
    def __init__(self, n):
        self.n = n
'''),
        _row("property", "x = P()", "match x:\n    case P(n=1):\n        r.append('p')\n    case P(n=n):\n        r.append(n)", "x.v = 5", top='''
class P:
    v = 1
    @property
    def n(self):
        return self.v
'''),
        _row("nested", "x = Box(Box(1))", "match x:\n    case Box(v=Box(v=n)):\n        r.append(n)\n    case _:\n        r.append('other')", "x.v.v = 2\nx.v = 3"),
        _row("dataclass", "x = P(0)", "match x:\n    case P(0):\n        r.append('p')\n    case P(n):\n        r.append(n)", "x.n = 5", top='''
from dataclasses import dataclass
@dataclass
class P:
    n: int
'''),
        _row("class replaced", "pass", "match 1:\n    case C():\n        r.append('p')\n    case _:\n        r.append('q')", "global C\nC = str", top="C = int\n"),
        _row("built-in class", "x = Box(1)", "match x.v:\n    case int(n):\n        r.append(n)\n    case str():\n        r.append('s')", "x.v = 's'"),
    ],
    "MatchAs": [
        _row("as", "x = [1, 2]", "match x:\n    case [1, _] as y:\n        r.append(y[0])\n    case y:\n        r.append(list(y))", TWO_ITEMS),
    ],
    "MatchOr": [
        _row("or", "x = [1, 2]", "match x:\n    case [5, _] | [_, 5]:\n        r.append('p')\n    case _:\n        r.append('q')", TWO_ITEMS),
    ],
    # ------------------------------------------------------------------ one row for each operator
    **{
        node: [
            _row(f"operator {sign}", "x = Number(1)", f"r.append(x {sign} 1)", "x.v = 2", top=OPERATORS),
        ]
        for node, sign in _BINARY.items()
    },
    **{
        node: [
            _row(f"operator {sign}", "x = Number(1)", f"r.append(x {sign} 1)", "x.v = 2", top=OPERATORS),
            _row(f"lists {sign}", "x = [1, 2]\ny = [1, 3]", f"r.append(x {sign} y)", "x[1] = 3\nx[0] = 5"),
        ]
        for node, sign in _COMPARISONS.items()
    },
}

if sys.version_info >= (3, 14):
    ROWS["TemplateStr"] = [_row("two parts", "x = Pair(0, 0)", "r.append(t'{x.p} {x.q}'.values)", TWO_ATTRIBUTES, top=PAIR)]
    ROWS["Interpolation"] = [
        _row("its format", "x = Pair(0, 0)", "r.append(t'{x.p:>{x.q + 3}}'.interpolations[0].format_spec)", TWO_ATTRIBUTES, top=PAIR),
        _row("a list, which it holds", "x = [1, 2]", "r.extend(t'{x}'.values[0])", TWO_ITEMS),
    ]
if sys.version_info >= (3, 15):
    ROWS["ListComp"].append(_row("unpacking", "x = [1, 2]", "r.extend([*y for y in [x]])", TWO_ITEMS))
    ROWS["SetComp"].append(_row("unpacking", "x = [1, 2]", "r.extend(sorted({*y for y in [x]}))", TWO_ITEMS))
    ROWS["GeneratorExp"].append(_row("unpacking", "x = [1, 2]", "r.extend((*y for y in [x]))", TWO_ITEMS))
    ROWS["DictComp"].append(_row("unpacking", "d = dict(p=1, q=2)", "r.extend({**y for y in [d]}.items())", TWO_KEYS))

# fmt: on
NOTHING: dict[str, str] = {
    "Module": "the whole program",
    "Interactive": "not in files",
    "Expression": "not in files",
    "FunctionType": "comments of types only",
    "TypeIgnore": "comments of types only",
    "AsyncFunctionDef": "asyncio programs are refused",
    "AsyncFor": "asyncio programs are refused",
    "AsyncWith": "asyncio programs are refused",
    "Pass": "does nothing",
    "Break": "jumps only; what a loop looks at is in For and While",
    "Continue": "jumps only; what a loop looks at is in For and While",
    "Constant": "cannot change",
    "Load": "a mark on the node that loads",
    "Store": "a mark on the node that stores",
    "Del": "a mark on the node that deletes",
    "arguments": "names of parameters; defaults are in FunctionDef",
    "arg": "the name of a parameter",
    "TypeAlias": "evaluated when asked for, by a class of CPython",
    "TypeVar": "made anew, private to its scope",
    "ParamSpec": "made anew, private to its scope",
    "TypeVarTuple": "made anew, private to its scope",
}
