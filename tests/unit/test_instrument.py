"""The rewriter's rules, one row each: source, and what becomes of it."""

from __future__ import annotations

import ast
import sys
import types
from textwrap import dedent
from typing import Any

import pytest

from dpor.core.errors import Unsupported
from dpor.python.rewrite import HOOK_NAMES, instrument, rewrite
from dpor.python.rewrite.expressions import NATURAL, ONLY_PARTS
from dpor.python.rewrite.statements import StatementRewriter
from tests.plain_hooks import PLAIN


def rewritten(source: str, *visible: str) -> str:
    return ast.unparse(rewrite(ast.parse(dedent(source)), visible_globals=frozenset(visible)))


def in_function(body: str) -> str:
    """The body as it is rewritten in a function whose parameters are a, b, c, d."""
    lines = dedent(body).strip().splitlines()
    source = "\n".join(["def f(a, b, c, d):", *("    " + line for line in lines)])
    return dedent("\n".join(rewritten(source).splitlines()[1:]))


def table(*rows: tuple[str, str]) -> Any:
    return pytest.mark.parametrize(("source", "expected"), rows, ids=[source for source, _ in rows])


# ---------------------------------------------------------------------- expressions


@table(
    ("a.x", ".attr(a, 'x').x"),
    ("a.x.y", ".attr(.attr(a, 'x').x, 'y').y"),
    ("a.m(b)", ".meth(a, 'm').m(b)"),
    ("a.m(b).n()", ".meth(.meth(a, 'm').m(b), 'n').n()"),
    ("f(a)", ".call(f)(a)"),
    ("f(g(a))", ".call_after(f)(.call(g)(a))"),
    ("a.m(b, (c, g()))", ".meth_after(a, 'm').m(b, (c, .call(g)()))"),
    ("f(a)(b)", ".call(.call(f)(a))(b)"),
    ("a[b]()", ".call(.getitem(a, b))()"),
    ("(lambda: 1)()", ".call(lambda: 1)()"),
)
def test_a_look_up_is_hooked_and_the_call_left_in_place(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@table(
    ("super().m(a.x)", ".meth_after(super(), 'm').m(.attr(a, 'x').x)"),
    ("super().x", ".getsuper(super(), 'x').x"),
    ("super().x.y()", ".meth(.getsuper(super(), 'x').x, 'y').y()"),
    ("super(A, a).m()", ".meth(super(A, a), 'm').m()"),
    ("super().x = a", "super().x = a"),
    ("super().x += a", "super().x += a"),
    ("del super().x", "del super().x"),
    ("super.m(a)", ".meth(super, 'm').m(a)"),
)
def test_super_stays(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@table(
    ("a[b]", ".getitem(a, b)"),
    ("a[1:]", ".getitem(a, .slice(1, None, None))"),
    ("a[b:c:d]", ".getitem(a, .slice(b, c, d))"),
    ("a[1:2, b]", ".getitem(a, (.slice(1, 2, None), b))"),
    ("a[*b, 1:2]", ".getitem(a, (*.unpack(b), .slice(1, 2, None)))"),
)
def test_subscripts(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@table(
    ("a + b", ".add(a, b)"),
    ("a @ b - c", ".sub(.matmul(a, b), c)"),
    ("a // b / c % d", ".mod(.div(.floordiv(a, b), c), d)"),
    ("a ** b << c >> d", ".rshift(.lshift(.pow(a, b), c), d)"),
    ("a & b | c ^ d", ".or(.and(a, b), .xor(c, d))"),
    ("-a", ".neg(a)"),
    ("+a", ".pos(a)"),
    ("~a", ".invert(a)"),
    ("a + 's'", ".add(a, 's')"),
    ("'%s' % a", ".mod('%s', a)"),
    ("[a] * 2", ".mul([a], 2)"),
    ("2 * a", ".mul(2, a)"),
)
def test_operators(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@table(
    ("a + 1", "a + 1"),
    ("-1 + a.x", "-1 + .attr(a, 'x').x"),
    ("a - 60 * 60", "a - 60 * 60"),
    ("a * 2.5", "a * 2.5"),
    ("a % 2", "a % 2"),
    ("a | 1", "a | 1"),
    ("-1", "-1"),
    ("'a' * 3 + 'b'", "'a' * 3 + 'b'"),
)
def test_arithmetic_with_a_number_needs_no_hook(source: str, expected: str) -> None:
    """No container takes part in it (but a list can be multiplied)."""
    assert rewritten(source) == expected


@table(
    ("a == b", ".eq(a, b)"),
    ("a != b", ".ne(a, b)"),
    ("a < b", ".lt(a, b)"),
    ("a <= b", ".le(a, b)"),
    ("a > b", ".gt(a, b)"),
    ("a >= b", ".ge(a, b)"),
    ("a in b", ".contains(a, b)"),
    ("a not in b", "not .contains(a, b)"),
    ("a == b'x'", ".eq(a, b'x')"),
    ("a == ()", ".eq(a, ())"),
    ("a in (1, b)", ".contains(a, (1, b))"),
    ("a in (b'x',)", ".contains(a, (b'x',))"),
    ("1 in a", ".contains(1, a)"),
)
def test_comparisons(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@table(
    ("a is b", "a is b"),
    ("a is not b.x", "a is not .attr(b, 'x').x"),
    ("a == 1", "a == 1"),
    ("-1 < a", "-1 < a"),
    ("a == 's'", "a == 's'"),
    ("a != None", "a != None"),
    ("a in (1, 's', None)", "a in (1, 's', None)"),
    ("a not in 'abc'", "a not in 'abc'"),
    ("1 < a.x <= 9", "1 < .attr(a, 'x').x <= 9"),
)
def test_comparisons_that_look_into_no_container(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@table(
    ("return a < b < c", "return .lt(a, b) and .lt(b, c)"),
    ("return a < b.x < c", "return (.lt(a, (.t1 := .attr(b, 'x').x)) and .lt(.t1, c), (.t1 := None))[0]"),
    ("return 0 <= a.x < b", "return (0 <= (.t1 := .attr(a, 'x').x) and .lt(.t1, b), (.t1 := None))[0]"),
    (
        "return a is b.x not in c",
        "return (a is (.t1 := .attr(b, 'x').x) and (not .contains(.t1, c)), (.t1 := None))[0]",
    ),
    ("return a < 1 < b == c", "return a < 1 and 1 < b and .eq(b, c)"),
)
def test_a_chain_in_a_function_evaluates_its_operands_once(source: str, expected: str) -> None:
    """The middle operand is kept in a temporary, which is then cleared; a local name or a constant needs none."""
    assert in_function(source) == expected


@table(
    ("a < b.x < c", ".operand(.lt, a) < .operand(.lt, .attr(b, 'x').x) < c"),
    ("a is b not in c", ".operand(.is, a) < .operand(.contains, b, True) < c"),
    ("a is not b in c", ".operand(.is, a, True) < .operand(.contains, b) < c"),
    ("[1 for x in a if a < x.y < b]", "[1 for x in .iter(a) if .operand(.lt, a) < .operand(.lt, .attr(x, 'y').y) < b]"),
)
def test_a_chain_elsewhere_is_one_of_operands(source: str, expected: str) -> None:
    assert rewritten(source) == expected


def test_a_chain_in_the_iterable_of_a_comprehension_binds_no_name() -> None:
    """`:=` is a syntax error there, also inside a lambda."""
    source = "return [x for x in (lambda: a < b() < c)()]"
    expected = "(lambda: .operand(.lt, a) < .operand(.lt, .call(b)()) < c)"
    assert in_function(source) == f"return [x for x in .iter(.call{expected}())]"


@table(
    ("a and b or c", ".truth(a) and .truth(b) or c"),
    ("not a", "not .truth(a)"),
    ("not (a and b)", "not (.truth(a) and .truth(b))"),
    ("a if b else c", "a if .truth(b) else c"),
    ("a if b and c else d", "a if .truth(b) and .truth(c) else d"),
    ("a if (b if c else d) else 0", "a if (.truth(b) if .truth(c) else .truth(d)) else 0"),
    ("a if b < c else d", "a if .lt(b, c) else d"),
    ("a if not b else c", "a if not .truth(b) else c"),
    ("a if isinstance(b, c) else d", "a if .truth(.call(isinstance)(b, c)) else d"),
    ("a if True else b", "a if True else b"),
    ("a if __debug__ else b", "a if __debug__ else b"),
    ("[x for x in a if x]", "[x for x in .iter(a) if .truth(x)]"),
    ("assert a, b.x", "assert .truth(a), .attr(b, 'x').x"),
    ("if a: b", "if .truth(a):\n    b"),
    ("if (x := a): b", "if .truth((x := a)):\n    b"),
    ("while a: b", "while .tick() or .truth(a):\n    b"),
    ("while True: b", "while .tick() or True:\n    b"),
    ("while a < b: c\nelse: d", "while .tick() or .lt(a, b):\n    c\nelse:\n    d"),
)
def test_truth(source: str, expected: str) -> None:
    """Where only the truth of an operand counts, it is hooked; the value of `and` and `or` is the operand itself."""
    assert rewritten(source) == expected


@table(
    ("f'{a}'", "f'{.format(a)}'"),
    ("f'{a.x!r:>{b}}'", "f'{.format(.attr(a, 'x').x)!r:>{.format(b)}}'"),
    ("f'{1}'", "f'{1}'"),
)
def test_texts(source: str, expected: str) -> None:
    assert rewritten(source).replace('"', "'") == expected


@table(
    ("f(*a, b, **c, k=d.x)", ".call_after(f)(*.unpack(a), b, **.unpackmap(c), k=.attr(d, 'x').x)"),
    ("[*a, b]", "[*.unpack(a), b]"),
    ("{*a, b}", "{*.unpack(a), b}"),
    ("{**a, b: c.x}", "{**.unpackmap(a), b: .attr(c, 'x').x}"),
    ("x = *a, b", "x = (*.unpack(a), b)"),
    ("class C(*a, **b): pass", "class C(*.unpack(a), **.unpackmap(b)):\n    pass"),
)
def test_unpacking_in_calls_and_displays(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@table(
    ("[x for x in a]", "[x for x in .iter(a)]"),
    ("{x: y.z for x in a}", "{x: .attr(y, 'z').z for x in .iter(a)}"),
    ("[x for x, y in a if x]", "[x for .t1 in .iter(a) for x, y in [.unpack(.t1)] if .truth(x)]"),
    ("[x for x, y in enumerate(a)]", "[x for x, y in .iter(.call(enumerate)(a))]"),
    (
        "[x for x, (y, *z) in zip(a)]",
        "[x for x, .t1 in .iter(.call(zip)(a)) for y, *z in [.unpack(.t1)]]",
    ),
    ("[1 for b.x in a]", "[1 for .t1 in .iter(a) for .g in [.setattr(.t1, b, 'x')]]"),
    (
        "[lambda: x for x in a]",
        "[lambda: .cload(lambda: x) or x for .t1 in .iter(a) for x in [.cstore(lambda: x, .t1)]]",
    ),
    ("(x async for x in a)", "(x async for x in a)"),
)
def test_comprehensions(source: str, expected: str) -> None:
    """`for x in [E]` is how a comprehension assigns; items of `enumerate` and `zip` are tuples."""
    assert rewritten(source) == expected


@table(
    ("yield a.x", "yield .attr(a, 'x').x"),
    ("yield from a", "yield from .iter(a)"),
)
def test_generators(source: str, expected: str) -> None:
    assert in_function(source) == expected


def test_what_is_awaited_is_hooked() -> None:
    assert "await .awaited(.attr(a, 'x').x)" in rewritten("async def f(a): await a.x")


# ---------------------------------------------------------------------- stores


@table(
    ("a.x = b.y", ".setattr(.attr(b, 'y').y, a, 'x')"),
    ("a[b] = c", ".setitem(c, a, b)"),
    ("a[1:2] = c", ".setitem(c, a, .slice(1, 2, None))"),
    ("x = y = a", "x = y = a"),
    ("x, *y = a", "x, *y = .unpack(a)"),
    ("x, y = a, b", "x, y = (a, b)"),
    ("x, *y = a, b", "x, *y = .unpack((a, b))"),
    ("a.x, b[c] = d", ".t1, .t2 = .unpack(d)\n.setattr(.t1, a, 'x')\n.setitem(.t2, b, c)\ndel .t1, .t2"),
    ("a[0], a[1] = b, c", ".t1, .t2 = (b, c)\n.setitem(.t1, a, 0)\n.setitem(.t2, a, 1)\ndel .t1, .t2"),
    ("x, a[x], y = b", "x, .t1, .t2 = .unpack(b)\n.setitem(.t1, a, x)\ny = .t2\ndel .t1, .t2"),
    ("(x, y), z = a", ".t1, .t2 = .unpack(a)\nx, y = .unpack(.t1)\nz = .t2\ndel .t1, .t2"),
    ("x, *a.y = b", "x, *.t1 = .unpack(b)\n.setattr(.t1, a, 'y')\ndel .t1"),
    ("a.x = b[0] = c", ".t1 = c\n.setattr(.t1, a, 'x')\n.setitem(.t1, b, 0)\ndel .t1"),
    ("x = (y, z) = a", ".t1 = a\nx = .t1\ny, z = .unpack(.t1)\ndel .t1"),
)
def test_assignments(source: str, expected: str) -> None:
    """The value comes first; targets that cannot stay are stored from temporaries, left to right."""
    assert in_function(source) == expected


@table(
    ("x += a", "x = .iadd(x, a)"),
    ("a += 1", "a += 1"),
    ("a *= 2", "a = .imul(a, 2)"),
    ("a *= 2.0", "a *= 2.0"),
    ("a.x += b", ".setattr(.iadd(.attr(a, 'x').x, b), a, 'x')"),
    ("a.x -= 1", ".setattr(.isub(.attr(a, 'x').x, 1), a, 'x')"),
    ("a[b] |= c", ".setitem(.ior(.getitem(a, b), c), a, b)"),
    ("a['k'] += 1", ".setitem(.iadd(.getitem(a, 'k'), 1), a, 'k')"),
    ("a.x.y += b", ".t1 = .attr(a, 'x').x\n.setattr(.iadd(.attr(.t1, 'y').y, b), .t1, 'y')\ndel .t1"),
    (
        "a[b()] += c",
        ".t1 = a\n.t2 = .call(b)()\n.setitem(.iadd(.getitem(.t1, .t2), c), .t1, .t2)\ndel .t1, .t2",
    ),
    ("a.x += (a := b)", ".t1 = a\n.setattr(.iadd(.attr(.t1, 'x').x, (a := b)), .t1, 'x')\ndel .t1"),
    ("g.x += 1", ".t1 = g\n.setattr(.iadd(.attr(.t1, 'x').x, 1), .t1, 'x')\ndel .t1"),
)
def test_augmented_assignments(source: str, expected: str) -> None:
    """The target's parts are evaluated once: a name that only this function binds may be looked up again."""
    assert in_function(source) == expected


@table(
    ("x: int = a.x", "x: int = .attr(a, 'x').x"),
    ("x: a.b[c]", "x: a.b[c]"),
    ("a.x: int = b", ".setattr(b, a, 'x')\n(.a): int"),
    ("a.b.x: int", ".attr(a, 'b').b.x: int"),
    ("def f(x: a.b=a.b) -> a.c: pass", "def f(x: a.b=.attr(a, 'b').b) -> a.c:\n    pass"),
)
def test_annotations_are_left_alone(source: str, expected: str) -> None:
    assert rewritten(source) == expected


def test_the_annotation_of_an_attribute_is_not_evaluated_in_a_function() -> None:
    assert in_function("a.x: int = b") == ".setattr(b, a, 'x')"


@table(
    ("del a.x", ".delattr(a, 'x')"),
    ("del a[b]", ".delitem(a, b)"),
    ("del a[1:]", ".delitem(a, .slice(1, None, None))"),
    ("del x, a.y", "del x\n.delattr(a, 'y')"),
    ("del (x, [a[0]])", "del x\n.delitem(a, 0)"),
    ("del ()", "pass"),
)
def test_deletions(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@table(
    ("for x in a: b", "for x in .iter(a):\n    b"),
    ("for x, y in a: b", "for .t1 in .iter(a):\n    x, y = .unpack(.t1)\n    del .t1\n    b"),
    ("for i, x in enumerate(a): b", "for i, x in .iter(.call(enumerate)(a)):\n    b"),
    ("for a.x in b: c", "for .t1 in .iter(b):\n    .setattr(.t1, a, 'x')\n    del .t1\n    c"),
    ("for x in a: b\nelse: c.x", "for x in .iter(a):\n    b\nelse:\n    .attr(c, 'x').x"),
)
def test_loops(source: str, expected: str) -> None:
    assert rewritten(source) == expected


def test_a_rebound_enumerate_is_not_trusted() -> None:
    assert "for .t1 in" in rewritten("enumerate = b\nfor i, x in enumerate(a): pass")
    assert "for .t1 in" in rewritten("from m import *\nfor i, x in enumerate(a): pass")
    assert "for .t1 in" in rewritten("def f():\n global enumerate\n enumerate = b\nfor i, x in enumerate(a): pass")


@table(
    ("with a.x as y: b", "with .managed(.attr(a, 'x').x) as y:\n    b"),
    ("with a as b.x: c", "with .managed(a) as .t1:\n    .setattr(.t1, b, 'x')\n    del .t1\n    c"),
    ("with a as (x, y): b", "with .managed(a) as .t1:\n    x, y = .unpack(.t1)\n    del .t1\n    b"),
    (
        "with a as b.x, c as d: d",
        "with .managed(a) as .t1:\n    .setattr(.t1, b, 'x')\n    del .t1\n    with .managed(c) as d:\n        d",
    ),
)
def test_with(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@table(
    ("case 1: b", "match .subject(a, ()):\n    case 1:\n        b"),
    ("case P(x=Q(y=1), z=_): b", "match .subject(a, ('x', 'z', 'y')):\n    case P(x=Q(y=1), z=_):\n        b"),
    ("case P(1): b", "match .subject(a, ('__match_args__',)):\n    case P(1):\n        b"),
    ("case [x] if b: c", "match .subject(a, ()):\n    case [x] if .truth(b):\n        c"),
    ("case b.C.x: c", "match .subject(a, ()):\n    case .attr(.attr(b, 'C').C, 'x').x:\n        c"),
    ("case {b.C: x}: c", "match .subject(a, ()):\n    case {.attr(b, 'C').C: x}:\n        c"),
    ("case b.C(): c", "match (.subject(a, ()), .attr(b, 'C'))[0]:\n    case b.C():\n        c"),
)
def test_match(source: str, expected: str) -> None:
    """Patterns stay as written. What they read is announced before: fields of the subject, and dotted names."""
    assert rewritten(f"match a:\n    {source}") == expected


# ---------------------------------------------------------------------- names


REBINDS = "def rebinds():\n    global x\n    x = .gstore('x', 1)"


@table(
    ("x", ".gload('x') or x"),
    ("x = a", "x = .gstore('x', a)"),
    ("x += 1", "x = .gstore('x', .iadd(.gload('x') or x, 1))"),
    ("(x := a)", "(x := .gstore('x', a))"),
    ("[x := a for y in b]", "[(x := .gstore('x', a)) for y in .iter(b)]"),
    ("x: int = a", "x: int = .gstore('x', a)"),
    ("y = x = a", ".t1 = a\ny = .t1\nx = .gstore('x', .t1)\ndel .t1"),
    ("x, y = a", ".t1, .t2 = .unpack(a)\nx = .gstore('x', .t1)\ny = .t2\ndel .t1, .t2"),
    ("del x", ".gdel('x')\ndel x"),
    ("for x in a: b", "for .t1 in .iter(a):\n    x = .gstore('x', .t1)\n    del .t1\n    b"),
    ("with a as x: b", "with .managed(a) as .t1:\n    x = .gstore('x', .t1)\n    del .t1\n    b"),
    ("import x", "import x as .t1\nx = .gstore('x', .t1)\ndel .t1"),
    ("import y, a.b as x", "import y, a.b as .t1\nx = .gstore('x', .t1)\ndel .t1"),
    ("import x.y", "import x.y\nx = .gstore('x', x)"),
    ("from a import b as x, c", "from a import b as .t1, c\nx = .gstore('x', .t1)\ndel .t1"),
    ("def x(): pass", "@lambda .v: .gstore('x', .v)\ndef x():\n    pass"),
    ("@a\ndef x(): pass", "@lambda .v: .gstore('x', .v)\n@.call_after(a)\ndef x():\n    pass"),
    ("class x: pass", "@lambda .v: .gstore('x', .v)\nclass x:\n    pass"),
    ("lambda: x", "lambda: .gload('x') or x"),
    ("lambda x: x", "lambda x: x"),
    ("class C: y = x", "class C:\n    global .gload\n    y = .gload('x') or x"),
    ("class C: x = x", "class C:\n    global .gload\n    x = .gload('x') or x"),
)
def test_globals_that_a_function_rebinds(source: str, expected: str) -> None:
    assert rewritten(source + "\n" + REBINDS.replace(".gstore('x', 1)", "1")) == f"{expected}\n\n{REBINDS}"


def test_an_exception_in_a_hooked_name_is_forgotten_when_the_handler_ends() -> None:
    source = "try: a\nexcept E as x: b"
    assert rewritten(source, "x") == dedent(
        """\
        try:
            a
        except E as .t1:
            x = .gstore('x', .t1)
            del .t1
            try:
                b
            finally:
                x = .gstore('x', None)
                .gdel('x')
                del x"""
    )


@table(
    ("case [x, *y]: b", "case [.t1, *y]:\n        x = .gstore('x', .t1)\n        del .t1\n        b"),
    ("case {**x}: b", "case {**.t1}:\n        x = .gstore('x', .t1)\n        del .t1\n        b"),
    ("case 1 as x if b: c", "case 1 as .t1 if ((x := .gstore('x', .t1)), (.t1 := None)) and .truth(b):\n        c"),
    ("case [x] | (1, x): b", "case [.t1] | [1, .t1]:\n        x = .gstore('x', .t1)\n        del .t1\n        b"),
)
def test_a_hooked_name_is_captured_before_the_guard(source: str, expected: str) -> None:
    assert rewritten(f"match a:\n    {source}", "x") == f"match .subject(a, ()):\n    {expected}"


def test_globals_are_hooked_if_the_caller_says_so() -> None:
    assert rewritten("x = 1\ndef f(): return x", "x") == "x = .gstore('x', 1)\n\ndef f():\n    return .gload('x') or x"


CELL = """\
def f():
    n = .cstore(lambda: n, 0)

    def g():
        nonlocal n
        n = .cstore(lambda: n, .cload(lambda: n) or n + 1)
        .cstore(lambda: n, None)
        del n"""


def test_a_cell_that_is_rebound() -> None:
    source = """
    def f():
        n = 0
        def g():
            nonlocal n
            n = n + 1
            del n
    """
    assert rewritten(source) == CELL.replace(".cload(lambda: n) or n + 1", "(.cload(lambda: n) or n) + 1")


@table(
    ("__x.__y", ".attr(__x, '_C__y').__y"),
    ("a.__y__", ".attr(a, '__y__').__y__"),
    ("a.__y = b", ".setattr(b, a, '_C__y')"),
    ("a.__m()", ".meth(a, '_C__m').__m()"),
    ("del a.__y", ".delattr(a, '_C__y')"),
    ("__g", ".gload('_C__g') or __g"),
)
def test_private_names_are_mangled_where_they_become_strings(source: str, expected: str) -> None:
    text = rewritten(f"class _C:\n    def f(self): {source}", "_C__g")
    assert text.splitlines()[-1].strip() == expected


# ---------------------------------------------------------------------- classes


def run(source: str, **names: Any) -> dict[str, Any]:
    namespace = {**PLAIN, "__name__": "program", **names}
    exec(instrument(dedent(source), "<program>"), namespace)
    return namespace


def test_a_class_body_finds_hooks_past_its_own_namespace() -> None:
    """A namespace that makes up whatever is asked for (as some enums have) is not asked for hooks."""

    class Inventive(dict[str, Any]):
        def __missing__(self, key: str) -> Any:
            if key.startswith("__"):
                raise KeyError(key)
            self[key] = key
            return key

    class Meta(type):
        @classmethod
        def __prepare__(cls, name: str, bases: Any) -> Any:
            return Inventive()

        def __new__(cls, name: str, bases: Any, namespace: dict[str, Any]) -> Any:
            return type.__new__(cls, name, bases, dict(namespace))

    source = """
    class C(metaclass=Meta):
        RED
        d = {}
        d['k'] = [1, 2]
        d['k'][0] += 5
        for x, y in [[1, 2]]:
            d[x], d[y] = y, x
        low = 0 < d['k'][0] < d['k'][1]
        pairs = [a for a, b in [[1, 2]]]
    """
    namespace = vars(run(source, Meta=Meta)["C"])
    assert [name for name in namespace if name[0] != "_"] == ["RED", "d", "x", "y", "low", "pairs"]
    assert namespace["d"] == {"k": [6, 2], 1: 2, 2: 1}


def test_temporaries_of_a_class_body_belong_to_the_call_around_it() -> None:
    """Two activations of the function, one inside the other, do not disturb each other."""
    source = """
    def make(n):
        class C:
            d = {}
            d['a'], d['b'] = n, (make(n - 1) if n else None)
            d['a'] += 0 if d['b'] is None else d['b'].d['a']
            class Inner:
                e = [0]
                e[0] += n
        return C
    """
    made = run(source)["make"](3)
    assert (made.d["a"], made.Inner.e) == (6, [3])
    assert [name for name in vars(made) if name[0] != "_"] == ["d", "Inner"]


def test_no_name_is_left_in_the_module() -> None:
    source = """
    d = {}
    d['a'], (d['b'], x) = 1, [2, 3]
    d['a'] += 1
    for d['c'], y in [[1, 2]]: pass
    low = 0 < d['a'] < d['b']
    class C: d['e'] = d['f'] = 1
    """
    assert run(source).keys() - PLAIN.keys() == {"__name__", "__builtins__", "d", "x", "y", "low", "C"}


def test_docstrings_and_future_imports_stay_first() -> None:
    source = '''
    """module"""
    from __future__ import annotations
    class C:
        """class"""
        x: undefined = print("", end="")
        def f(self) -> undefined:
            """function"""
    '''
    namespace = run(source)
    docs = (namespace["__doc__"], namespace["C"].__doc__, namespace["C"].f.__doc__)
    assert docs == ("module", "class", "function")
    assert namespace["C"].__annotations__ == {"x": "undefined"}


@pytest.mark.skipif(sys.version_info < (3, 13), reason="new in 3.13")
def test_static_attributes_are_known() -> None:
    """The compiler collects the attributes of `self` that methods store to."""
    source = """
    class C:
        def f(self):
            self.x = self.__y = 1
            self.u, other.v = 1, 2
            self.w += 1
            return lambda: self.z
    """
    plain: dict[str, Any] = {}
    exec(dedent(source), plain)
    assert set(run(source)["C"].__static_attributes__) == set(plain["C"].__static_attributes__)


def test_lines_and_columns_are_those_of_the_source() -> None:
    """An exception shows where the program is, also where one statement became several."""
    source = "def f(a, b):\n    a.x, b[\n        0] = 1, 2\n"
    with pytest.raises(TypeError) as caught:
        run(source)["f"](types.SimpleNamespace(), ())
    traced = caught.tb
    while traced.tb_frame.f_code.co_name != "f":
        assert traced.tb_next is not None
        traced = traced.tb_next
    positions = list(traced.tb_frame.f_code.co_positions())
    assert positions[traced.tb_lasti // 2] == (2, 3, 9, 10)


# ---------------------------------------------------------------------- the whole of the syntax


def test_every_node_is_handled_or_listed() -> None:
    """A node type that a new Python brings has to be thought about."""
    nodes = {name for name, node in vars(ast).items() if isinstance(node, type) and issubclass(node, ast.AST)}
    abstract = {"AST", "mod", "stmt", "expr", "expr_context", "boolop", "operator", "unaryop", "cmpop", "excepthandler"}
    abstract |= {"pattern", "type_ignore", "type_param"}
    old = {"slice", "Index", "ExtSlice", "Suite", "AugLoad", "AugStore", "Param", "Num", "Str", "Bytes", "NameConstant"}
    old |= {"Ellipsis", "_ast_Ellipsis"}
    handled = {name[6:] for name in dir(StatementRewriter) if name.startswith("visit_")}
    listed = {name for names in NATURAL.values() for name in names}
    assert nodes - abstract - old == (handled | listed | set(ONLY_PARTS)) & nodes
    assert not handled & listed


def test_an_unknown_node_is_refused() -> None:
    class New(ast.expr):
        _fields = ()

    tree = ast.Module([ast.Expr(New(lineno=3, col_offset=0))], [])
    with pytest.raises(Unsupported, match="line 3: New"):
        rewrite(tree)


def test_a_tree_that_is_passed_is_left_as_it_was() -> None:
    tree = ast.parse("a.x = b.y")
    before = ast.dump(tree, include_attributes=True)
    instrument(tree, "<program>")
    assert ast.dump(tree, include_attributes=True) == before


def test_all_hooks_are_named() -> None:
    assert PLAIN.keys() == HOOK_NAMES
    assert all(name.startswith(".") for name in HOOK_NAMES)
