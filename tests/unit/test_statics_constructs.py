"""A row for every node type of `ast`: what a construct accesses is found where it stands, and what it writes is no
immutable field. A construct that is not laid, or laid without one of its parts, fails in its row."""

from __future__ import annotations

import ast
import sys

import pytest

from dpor.statics.facts import Facts, ProgramPoint, analyse

METHODS = [
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"),
    *("neg", "pos", "invert", "eq", "ne", "lt", "le", "gt", "ge", "contains", "bool", "call", "getitem", "setitem"),
    *("delitem", "iter", "next", "aiter", "anext", "enter", "exit", "aenter", "aexit", "await", "format"),
]
HEAD = (
    """\
import threading
class C:
    def __init__(self):
        self.x = self.y = self.z = 1
        self.l = [1]
        self.d = {1: 1}
        self.f = len
class T:
    def __init__(self):
        self.hit = 1
"""
    + "".join(f"    def __{name}__(self, *args):\n        self.hit = 2\n        return self\n" for name in METHODS)
    + """\
c = C()
t = T()
g = 1
def other():
    global g
    c.x = c.y = c.z = c.l = c.d = c.f = t.hit = g = 2
    c.l.append(1)
    c.d[1] = 1
"""
)
"""All fields of `c` and `t`, `g` and what is in the containers is written by another thread, so that none of them is
left out. Every special method of `t` writes `t.hit`."""

HIT = "w T.hit"
ROWS: dict[str, dict[str, str]] = {
    # statements
    "FunctionDef": {
        "@c.f\ndef f():\n pass": "r C.f",
        "def f(a=c.x, *, b=c.y):\n pass": "r C.x r C.y",
        "def f(a: c.x) -> c.y:\n pass": "r C.x r C.y",
        "def f():\n c.x = 1\nf()": "w C.x",
        "def f():\n c.x = 1": "",
    },
    "AsyncFunctionDef": {
        "async def f(a=c.x):\n pass": "r C.x",
        "async def f():\n c.x = 1\nasync def h():\n await f()\nimport asyncio\nasyncio.run(h())": "w C.x",
    },
    "ClassDef": {
        "class D(c.x, k=c.y):\n z = c.z": "r C.x r C.y r C.z",
        "@c.f\nclass D:\n pass": "r C.f",
        "class D:\n def m(self):\n  c.x = 1\nD().m()": "w C.x",
        "class D(**c.d):\n pass": "r C.d r dict.[]",
    },
    "Return": {"return c.x": "r C.x", "return 1\nc.x": "", "try:\n return 1\nfinally:\n c.x": "r C.x"},
    "Delete": {
        "del c.x": "w C.x",
        "del c.l[0]": "r C.l w list.[]",
        "del t[c.y]": f"r C.y {HIT}",
        "del (c.x, c.y)": "w C.x w C.y",
    },
    "Assign": {
        "c.x = c.y": "r C.y w C.x",
        "c.l[0] = 1": "r C.l w list.[]",
        "t[c.x] = c.y": f"r C.x r C.y {HIT}",
        "a, b = c.l": "r C.l r list.[]",
        "(a, *c.x), c.y = t": f"w C.x w C.y {HIT}",
        "c.x = c.y = 1": "w C.x w C.y",
    },
    "AugAssign": {
        "c.x += c.y": "r C.x r C.y w C.x",
        "c.l[c.y] += c.x": "r C.l r C.x r C.y r list.[] w list.[]",
        "s = t\ns += c.x": f"r C.x {HIT}",
    },
    "AnnAssign": {"a: c.x = c.y": "r C.x r C.y", "c.x: int = 1": "w C.x", "a: c.x": "r C.x"},
    "For": {
        "for a in c.l:\n c.x = a\nelse:\n c.y": "r C.l r C.y r list.[] w C.x",
        "for c.x in t:\n pass": f"w C.x {HIT}",
    },
    "AsyncFor": {"async def f():\n async for a in t:\n  c.x\nimport asyncio\nasyncio.run(f())": f"r C.x {HIT}"},
    "While": {
        "while c.x:\n c.y = 1\nelse:\n c.z": "r C.x r C.z w C.y",
        "while t:\n pass": HIT,
        "while True:\n pass\nc.x": "",
    },
    "If": {"if c.x:\n c.y\nelif t:\n pass\nelse:\n c.z = 1": f"r C.x r C.y w C.z {HIT}"},
    "With": {
        "with t as c.x, c.y:\n c.z": f"r C.y r C.z w C.x {HIT}",
        "with t:\n raise ValueError\nc.x": f"r C.x {HIT}",
    },
    "AsyncWith": {
        "async def f():\n async with t as c.x:\n  c.y\nimport asyncio\nasyncio.run(f())": f"r C.y w C.x {HIT}"
    },
    "Match": {
        "match c.l:\n case _:\n  pass": "r C.l r list.[]",
        "match 1:\n case 1 if c.x:\n  c.y\n case _ if t:\n  pass": f"r C.x r C.y {HIT}",
    },
    "Raise": {
        "raise c.x from c.y": "r C.x r C.y",
        "def f():\n c.x\ntry:\n raise ValueError(f)\nexcept ValueError as e:\n e.args[0]()": "r C.x",
        "raise ValueError\nc.x": "",
    },
    "Try": {
        "try:\n c.x\nexcept ValueError:\n c.y = 1\nelse:\n c.z = 1\nfinally:\n c.d": "r C.d r C.x w C.y w C.z",
        "try:\n 1 + 1\nexcept c.x:\n pass": "r C.x",
    },
    "TryStar": {"try:\n 1 + 1\nexcept* ValueError:\n c.x = 1\nelse:\n c.y\nfinally:\n c.z": "r C.y r C.z w C.x"},
    "Assert": {"assert c.x, c.y": "r C.x r C.y", "assert t": HIT},
    "Import": {"import other_module": "w C.z", "import other_module as o\no.f(c)": "w C.x w C.z"},
    "ImportFrom": {"from other_module import f\nf(c)": "w C.x w C.z", "from other_module import *": "w C.z"},
    "Global": {"global g\ng = c.x": "r C.x w m.py.g"},
    "Nonlocal": {"n = 1\ndef f():\n nonlocal n\n n = lambda: c.x\nf()\nn()": "r C.x"},
    "Expr": {"c.x": "r C.x"},
    "Pass": {"pass\nc.x": "r C.x"},
    "Break": {"for a in 1, 2:\n break\n c.x\nelse:\n c.z\nc.y": "r C.y r C.z", "while True:\n break\nc.x": "r C.x"},
    "Continue": {
        "for a in 1, 2:\n continue\n c.x\nc.y": "r C.y",
        "while c.x:\n try:\n  continue\n finally:\n  c.y": "r C.x r C.y",
    },
    # expressions
    "BoolOp": {
        "c.x and c.y or t": "r C.x r C.y",
        "if c.x and t:\n pass": f"r C.x {HIT}",
        "(t or 1) and c.x": f"r C.x {HIT}",
    },
    "NamedExpr": {"(a := c).x": "r C.x", "(lambda: (f := c.x))()": "r C.x"},
    "BinOp": {"c.x + c.y": "r C.x r C.y", "'%s' % c.l": "r C.l r list.[]", "1 @ t": HIT},
    "UnaryOp": {"-c.x": "r C.x", "not c.l": "r C.l r list.[]"},
    "Lambda": {"(lambda: c.x)()": "r C.x", "lambda a=c.y: c.x": "r C.y", "f = lambda: c.x": ""},
    "IfExp": {"(c.x if c.y else c.z)": "r C.x r C.y r C.z", "1 if t else 2": HIT},
    "Dict": {"{c.x: c.y, **c.d}": "r C.d r C.x r C.y r dict.[]"},
    "Set": {"{c.x, *c.l}": "r C.l r C.x r list.[]"},
    "List": {"[c.x, *t]": f"r C.x {HIT}"},
    "Tuple": {"c.x, *c.l": "r C.l r C.x r list.[]"},
    "ListComp": {
        "[c.x for a in c.l if c.y]": "r C.l r C.x r C.y r list.[]",
        "[a for a in t]": HIT,
    },
    "SetComp": {"{c.x for a in c.l for b in t if t}": f"r C.l r C.x r list.[] {HIT}"},
    "DictComp": {"{c.x: c.y for a in c.d}": "r C.d r C.x r C.y r dict.[]"},
    "GeneratorExp": {
        "list(c.x for a in c.l if c.y)": "r C.l r C.x r C.y r list.[]",
        "(c.x for a in c.l)": "r C.l r list.[]",
    },
    "Await": {"async def f():\n await t\nimport asyncio\nasyncio.run(f())": HIT},
    "Yield": {"def f():\n c.x = yield c.y\nfor a in f():\n pass": "r C.y w C.x", "def f():\n yield c.y\nf()": ""},
    "YieldFrom": {
        "def f():\n yield from t\nfor a in f():\n c.x": f"r C.x {HIT}",
        "def f():\n yield from c.l\nlist(f())": "r C.l r list.[]",
    },
    "Compare": {
        "c.x < c.y < c.z": "r C.x r C.y r C.z",
        "1 in c.l": "r C.l r list.[]",
        "c.x is c.y": "r C.x r C.y",
        "1 < 2 < t": HIT,
    },
    "Call": {
        "c.f(c.x, *c.l, k=c.y, **c.d)": "r C.d r C.f r C.l r C.x r C.y r dict.[] r list.[]",
        "t()": HIT,
        "getattr(c, 'x')": "r C.* w C.*",
        "c.l.append(c.x)": "r C.l r C.x r list.[] w list.[]",
    },
    "FormattedValue": {"f'{t}{c.x:{c.y}}'": f"r C.x r C.y {HIT}"},
    "JoinedStr": {"f'{c.l}'": "r C.l r list.[]"},
    "Constant": {"1": ""},
    "Attribute": {"c.x": "r C.x", "c.x = 1": "w C.x"},
    "Subscript": {"c.l[0]": "r C.l r list.[]", "t[c.x]": f"r C.x {HIT}"},
    "Starred": {"a, *b = c.l": "r C.l r list.[]", "len(*t)": HIT},
    "Name": {"g": "r m.py.g", "a = c\na.x": "r C.x"},
    "Slice": {"c.l[c.x:c.y:c.z]": "r C.l r C.x r C.y r C.z r list.[]", "c.l[:] = t": f"r C.l w list.[] {HIT}"},
    # patterns
    "MatchValue": {"match t:\n case 1:\n  c.x": f"r C.x {HIT}", "class D:\n E = t\nmatch 1:\n case D.E:\n  pass": HIT},
    "MatchSingleton": {"match c.x:\n case None:\n  c.y": "r C.x r C.y"},
    "MatchSequence": {
        "match c.l:\n case [a, b]:\n  pass": "r C.l r list.[]",
        "match (1, [lambda: c.x]):\n case [_, [f]]:\n  f()": "r C.x r list.[]",
    },
    "MatchMapping": {
        "match c.d:\n case {1: a, **rest}:\n  pass": "r C.d r dict.[]",
        "match {1: lambda: c.x}:\n case {1: f}:\n  f()": "r C.x r dict.[]",
    },
    "MatchClass": {
        "match c:\n case C(x=1, y=a):\n  pass": "r C.x r C.y",
        "match (1, c):\n case [_, C(x=1)]:\n  pass": "r C.x",
    },
    "MatchStar": {"match [lambda: c.x]:\n case [*a]:\n  a[0]()": "r C.x r list.[]"},
    "MatchAs": {"match c:\n case C(x=1) as a:\n  a.y = 1": "r C.x w C.y", "match c:\n case a:\n  a.x": "r C.x"},
    "MatchOr": {"match c:\n case C(x=1) | C(y=2):\n  c.z": "r C.x r C.y r C.z"},
    # parts
    "ExceptHandler": {"try:\n 1 + 1\nexcept (ValueError, KeyError) as e:\n c.x": "r C.x"},
    "comprehension": {"[a for a in c.l if c.x if c.y]": "r C.l r C.x r C.y r list.[]"},
    "arguments": {"def f(a, /, b, *c_, d, **e):\n c.x = 1\nf(1, 2, 3, d=4, e=5)": "w C.x"},
    "arg": {
        "def f(a):\n a.x\nf(c)": "r C.x",
        "def f(*a):\n a[0].x\nf(c)": "r C.x",
        "def f(**k):\n k['a'].x\nf(a=c)": "r C.x",
    },
    "keyword": {"len(a=c.x, **c.d)": "r C.d r C.x r dict.[]"},
    "alias": {"import other_module as o\no.f(c)": "w C.x w C.z"},
    "withitem": {"with c.x as c.y:\n pass": "r C.x w C.y"},
    "match_case": {"match 1:\n case 1:\n  c.x\n case 2:\n  c.y": "r C.x r C.y"},
}
if sys.version_info >= (3, 12):
    ROWS |= {
        "TypeAlias": {"type A = c.x": "r C.x"},
        "TypeVar": {"def f[A: c.x]():\n c.y\nf()": "r C.x r C.y"},
        "ParamSpec": {"def f[**A]():\n c.y\nf()": "r C.y"},
        "TypeVarTuple": {"class D[*A]:\n a = c.y": "r C.y"},
    }
if sys.version_info >= (3, 14):
    ROWS |= {
        "TemplateStr": {"t'{c.x}'.values[0]": "r C.x", "for a in t'{c}'.values:\n a.y": "r C.* w C.*"},
        "Interpolation": {"t'{c.x:{c.y}}'": "r C.x r C.y"},
    }
if sys.version_info >= (3, 15):
    ROWS["ListComp"]["[a.x for a in [*b for b in [[c]]]]"] = "r C.x r list.[]"
    ROWS["DictComp"]["[a.x for a in {**b for b in [{1: c}]}.values()]"] = "r C.x r dict.[]"
    ROWS["GeneratorExp"]["[a.x for a in (*b for b in [[c]])]"] = "r C.x r list.[]"
OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**",
    "LShift": "<<", "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^",
}  # fmt: skip
COMPARISONS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}
CONTAINMENTS = {"In": "in", "NotIn": "not in"}
UNARY = {"UAdd": "+", "USub": "-", "Invert": "~", "Not": "not "}
ROWS |= {name: {f"t {sign} 1": HIT, f"s = t\ns {sign}= 1": HIT} for name, sign in OPERATORS.items()}
ROWS |= {name: {f"t {sign} 1": HIT, f"1 {sign} t": HIT} for name, sign in COMPARISONS.items()}
ROWS |= {name: {f"1 {sign} t": HIT} for name, sign in CONTAINMENTS.items()}
ROWS |= {name: {f"{sign}t": HIT} for name, sign in UNARY.items()}
ROWS |= {name: {f"c.x {sign} c.y": "r C.x r C.y"} for name, sign in (("Is", "is"), ("IsNot", "is not"))}
ROWS |= {name: {f"1 {sign} c.x": "r C.x", f"t {sign} 1": HIT} for name, sign in (("And", "and"), ("Or", "or"))}

OTHERS = ("list.[]", "dict.[]", "m.py.g")
OTHER_MODULE = "import m\ndef f(c):\n    c.x = 1\nm.c.z = 1\n"
_NO_CODE = {"expr_context", "mod", "type_ignore"}
"""They mark other nodes, or stand for whole files and comments."""


def facts_of(body: str) -> Facts:
    inside = "\n".join(f"    {line}" for line in body.splitlines())
    main = "def main():\n    threading.Thread(target=other).start()\n    uses()\n"
    sources = {"m.py": f"{HEAD}def uses():\n{inside}\n{main}", "other_module.py": OTHER_MODULE}
    return analyse(sources, "m.py::main")


def accesses(facts: Facts) -> set[str]:
    uses = next(i for i in facts.points_to.instances if i.function.name == "uses").function
    told = {str(a) for a in facts.accesses_from([ProgramPoint("m.py", uses.positions[0])])}
    if {"r C.*", "w C.*"} <= told:  # code that is not seen may do anything to the object
        told = {access for access in told if not access[2:].startswith("C.") or access.endswith("*")}
    return {access for access in told if access[2:].split(".")[0] in ("C", "T") or access[2:] in OTHERS}


def concrete(kind: type[ast.AST]) -> set[str]:
    inner = {k for k in kind.__subclasses__() if k.__module__ in ("ast", "_ast")}
    if not inner:
        return {kind.__name__}
    return {name for k in inner if k.__name__ not in _NO_CODE for name in concrete(k)}


def test_every_node_type_has_a_row() -> None:
    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "slice", "Index", "ExtSlice", "Suite"}
    assert concrete(ast.AST) - old | {"Constant"} == set(ROWS)


@pytest.mark.parametrize("node", sorted(ROWS))
def test_rows_contain_their_node(node: str) -> None:
    for body in ROWS[node]:
        tree = ast.parse("\n".join(["def f():", *(f" {line}" for line in body.splitlines())]))
        assert any(isinstance(found, getattr(ast, node)) for found in ast.walk(tree)), body


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(body, expected, id=f"{node}: {body}")
        for node, rows in ROWS.items()
        for body, expected in rows.items()
    ],
)
def test_what_the_construct_accesses(body: str, expected: str) -> None:
    facts = facts_of(body)
    words = expected.split()
    wanted = {f"{mode} {field}" for mode, field in zip(words[::2], words[1::2], strict=True)}
    assert accesses(facts) == wanted
    written = {access[2:] for access in wanted if access.startswith("w ")}
    assert not written & {str(field) for field in facts.immutable}
