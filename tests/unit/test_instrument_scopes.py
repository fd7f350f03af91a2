"""Which globals and cells need a hook. A row: a program, and the names that are hooked, as `function: names`."""

from __future__ import annotations

import ast
import symtable
import sysconfig
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest

from dpor.python.rewrite.scopes import Hooked, Scope, ScopeKind, scopes_of


def hooked(source: str, *visible: str) -> dict[str, set[str]]:
    """The hooked names of each function (or class, or module) that has some."""
    tree = ast.parse(dedent(source))
    found: dict[str, set[str]] = {}
    for node, scope in scopes_of(tree, frozenset(visible)).items():
        if scope.hooked:
            found.setdefault(getattr(node, "name", scope.kind.name.lower()), set()).update(scope.hooked)
    return found


# ---------------------------------------------------------------------- cells


FINAL = {
    "a parameter": "def f(n): return lambda: n",
    "bound once, before": "def f():\n n = 1\n return lambda: n",
    "bound twice, both before": "def f(a):\n n = 1\n if a: n = 2\n return lambda: n",
    "bound in a loop that has ended": "def f(a):\n for n in a: pass\n return lambda: n",
    "augmented before": "def f(a):\n n = 0\n for i in a: n += i\n return lambda: n",
    "bound by with, import, match, :=": (
        "def f(a):\n with a as b: pass\n import c\n match a:\n  case [d]: pass\n (e := 1)\n return lambda: (b, c, d, e)"
    ),
    "a function that calls itself": "def f():\n def g(): return g()\n return g",
    "a lambda that calls itself": "def f():\n g = lambda: g()\n return g",
    "functions, each used by a later one": "def f():\n def g(): pass\n def h(): return g()\n return h",
    "a class whose methods name it": "def f():\n class C:\n  'doc'\n  x = 1\n  def m(self): return C()\n return C",
    "used at once by a list comprehension": "def f(a):\n for n in a: [n for x in a]\n return n",
    "used by a class body only": "def f(a):\n for n in a:\n  class C: x = n",
    "in a generator expression that any() uses up": "def f(a):\n for n in a: any(n == x for x in a)",
    "a type parameter's neighbour": "def f(a):\n n = 1\n def g(x: n) -> n: pass\n n = 2",
    "a class's own name, not the function's": "def f(n):\n class C:\n  n = 1\n  n = 2\n  x = n\n return lambda: n",
}


@pytest.mark.parametrize("source", FINAL.values(), ids=FINAL.keys())
def test_a_cell_is_final_if_no_binding_follows_a_closure_that_may_leak(source: str) -> None:
    assert hooked(source) == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n n = 0\n def g():\n  nonlocal n\n  n = 1", {"f": {"n"}, "g": {"n"}}),
        ("def f():\n def g(): return n\n n = 0", {"f": {"n"}, "g": {"n"}}),
        ("def f(a):\n n = 0\n h = a(lambda: n)\n n = 1", {"f": {"n"}, "function": {"n"}}),
        ("def f(a):\n for n in a: a(lambda: n)", {"f": {"n"}, "function": {"n"}}),
        ("def f(a):\n while a:\n  n = a\n  a(lambda: n)", {"f": {"n"}, "function": {"n"}}),
        ("def f(a):\n for i in a:\n  def g(): return g()", {"f": {"g"}, "g": {"g"}}),
        ("def f(a):\n @a\n def g(): return g()", {"f": {"g"}, "g": {"g"}}),
        ("def f(a):\n class C(a):\n  def m(self): return C", {"f": {"C"}, "m": {"C"}}),
        ("def f(a):\n g = a(lambda: g())", {"f": {"g"}, "function": {"g"}}),
        ("def f(a):\n n = 1\n x = (n for y in a)\n n = 2", {"f": {"n"}, "generator": {"n"}}),
        ("def f(a):\n n = 1\n x = lambda: n\n del n", {"f": {"n"}, "function": {"n"}}),
        ("def f(a):\n try: a\n except E as e: a(lambda: e)", {"f": {"e"}, "function": {"e"}}),
        ("def f(a):\n return [lambda: x for x in a]", {"comprehension": {"x"}, "function": {"x"}}),
        ("def f(a):\n [a(lambda: n) for x in a if (n := x)]", {"f": {"n"}, "comprehension": {"n"}, "function": {"n"}}),
        ("def f(a):\n n = 0\n any((n := x) for x in a)\n return n", {}),
        ("def f(a):\n n = 0\n a((n := x) for x in a)\n return n", {"f": {"n"}, "generator": {"n"}}),
        (
            "def f():\n n = 0\n class C:\n  nonlocal n\n  n = 1\n return lambda: n",
            {"f": {"n"}, "C": {"n"}, "function": {"n"}},
        ),
        ("def f(n):\n def g():\n  def h():\n   nonlocal n\n   n += 1", {"f": {"n"}, "h": {"n"}}),
    ],
)
def test_a_cell_that_is_bound_later_or_elsewhere_is_hooked(source: str, expected: dict[str, set[str]]) -> None:
    assert hooked(source) == expected


def test_any_is_not_trusted_if_the_module_binds_it() -> None:
    source = "def f(a):\n for n in a: any(n == x for x in a)"
    assert hooked("from m import *\n" + source) == {"f": {"n"}, "generator": {"n"}}


# ---------------------------------------------------------------------- globals


def test_a_global_that_a_function_rebinds_is_hooked_everywhere() -> None:
    source = """
    x = y = 0
    def f():
        global x
        x += y
    def g(): return x
    def h(x): return x
    class C:
        z = x
        def m(self): return lambda: x
    """
    assert hooked(source) == {"module": {"x"}, "f": {"x"}, "g": {"x"}, "C": {"x"}, "function": {"x"}}


@pytest.mark.parametrize(
    "binding", ["x = 1", "del x", "import x", "def x(): pass", "for x in a: pass", "[x := 1 for y in a]"]
)
def test_every_binding_counts(binding: str) -> None:
    assert "x" in hooked(f"def f():\n global x\n {binding}")["f"]


def test_a_global_that_is_only_declared_is_not_hooked() -> None:
    assert hooked("x = 1\ndef f():\n global x\n return x") == {}


def test_a_function_inside_one_that_declares_it_sees_the_global() -> None:
    source = "def f(x):\n def g():\n  global x\n  x = 1\n  def h(): return x\n return lambda: x"
    assert hooked(source) == {"g": {"x"}, "h": {"x"}}


def test_a_name_that_a_class_binds_falls_back_to_the_global() -> None:
    scopes = scopes_of(ast.parse("class C:\n x = x\n y = y"), frozenset({"x"}))
    (inner,) = [scope for _, scope in scopes.items() if scope.kind is ScopeKind.CLASS]
    assert inner.hooked == {"x": Hooked.CLASS_ONLY}


def test_private_names_are_told_apart() -> None:
    source = "class C:\n def f(self):\n  global __x\n  __x = 1\ndef g(): return __x, _C__x"
    assert hooked(source) == {"f": {"_C__x"}, "g": {"_C__x"}}


# ---------------------------------------------------------------------- against symtable


def ours(source: str) -> Counter[tuple[str, int, str, str]]:
    """(kind, line, name, whose): of all names that a function or lambda uses or binds itself."""
    found: Counter[tuple[str, int, str, str]] = Counter()
    scopes = scopes_of(ast.parse(source))
    for node, scope in scopes.items():
        if scope.kind is ScopeKind.FUNCTION:
            title = getattr(node, "name", "lambda")
            for name in scope.names:
                found[title, node.lineno, name, whose(scope, name, scopes.module)] += 1
    return found


def whose(scope: Scope, name: str, module: Scope) -> str:
    owner = scope.owner(name)
    return "local" if owner is scope else "global" if owner is module else "free"


COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")


def theirs(source: str) -> Counter[tuple[str, int, str, str]]:
    found: Counter[tuple[str, int, str, str]] = Counter()
    tables = [symtable.symtable(source, "<source>", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        function = table.get_name().strip("<>")  # from 3.15 on, these are in the names of those that have none
        if isinstance(table, symtable.Function) and function not in COMPREHENSIONS:
            for symbol in table.get_symbols():
                kind = "free" if symbol.is_free() else "global" if symbol.is_global() else "local"
                found[function, table.get_lineno(), symbol.get_name(), kind] += 1
    return found


MODULES = ("functools", "threading", "dataclasses", "argparse", "typing", "contextlib", "tempfile", "inspect")


@pytest.mark.parametrize("module", MODULES)
def test_names_belong_to_whom_symtable_says(module: str) -> None:
    """(`symtable` also lists names that only pass through a function, and those of inlined comprehensions.)"""
    source = (Path(sysconfig.get_path("stdlib")) / f"{module}.py").read_text(encoding="utf-8")
    known = theirs(source)
    implicit = {"__class__", "super"}
    missing = {key: count for key, count in ours(source).items() if known[key] < count and key[2] not in implicit}
    assert missing == {}
