"""Hooks of operators: what they do with operands that are not the usual ones, and that results are the plain ones."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpor.python.effects.iteration import StepwiseIterator
from dpor.python.hooks import operators
from dpor.python.hooks.operators import HOOKS
from dpor.python.rewrite import HOOK_NAMES, SUPPORT
from tests.plain_hooks import PLAIN
from tests.shared_objects import World, pretending


@pytest.fixture
def world() -> Iterator[World]:
    with pretending() as made:
        yield made


def test_every_hook_is_here_or_elsewhere() -> None:
    elsewhere = {".attr", ".meth", ".meth_after", ".call", ".call_after", ".setattr", ".delattr", ".subject", ".tick"}
    elsewhere |= {".getspecial", ".setspecial", ".delspecial", ".getsuper", ".raises", ".managed", ".base", ".made"}
    elsewhere |= {".gload", ".gstore", ".gdel", ".cload", ".cstore"}
    assert HOOK_NAMES - set(HOOKS) - set(SUPPORT) <= elsewhere


VALUES = st.one_of(
    st.integers(-3, 3), st.floats(-2, 2), st.text(max_size=2), st.binary(max_size=2), st.none(), st.booleans(),
    st.lists(st.integers(0, 2), max_size=2), st.tuples(st.integers(0, 2)), st.sets(st.integers(0, 2), max_size=2),
    st.dictionaries(st.integers(0, 2), st.integers(0, 2), max_size=2), st.binary(max_size=2).map(bytearray),
    st.frozensets(st.integers(0, 2), max_size=2), st.dictionaries(st.integers(0, 2), st.none()).map(dict.keys),
)  # fmt: skip
BINARY = sorted(set(PLAIN) - {".operand"} & set(HOOKS))
TWO = [name for name in HOOKS if name[1:].lstrip("i") in ("add", "sub", "mul", "mod", "and", "or", "xor", "pow", "div")]
TWO += [".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".floordiv", ".lshift", ".rshift", ".matmul", ".contains"]


def outcome(call: Any) -> Any:
    """The result, or the error with its message."""
    try:
        result = call()
    except Exception as error:
        return type(error), str(error)
    return type(result), result


def copied(value: Any) -> Any:
    return type(value)(value) if isinstance(value, (list, set, dict, bytearray)) else value


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("name", TWO)
@given(a=VALUES, b=VALUES)
def test_results_of_two_operands_are_the_plain_ones(name: str, share: bool, a: Any, b: Any) -> None:
    if name in (".pow", ".lshift", ".ipow", ".ilshift", ".mul", ".imul") and isinstance(b, int):
        b = min(b, 3)
    with pretending() as world:
        mine = copied(a)
        if share:
            world.share(a=mine, b=b)
        assert outcome(lambda: HOOKS[name](mine, b)) == outcome(lambda: PLAIN[name](copied(a), b))


@pytest.mark.parametrize("share", [True, False])
@given(container=VALUES, key=st.one_of(VALUES, st.slices(3)), value=VALUES)
def test_results_of_subscripts_are_the_plain_ones(share: bool, container: Any, key: Any, value: Any) -> None:
    with pretending() as world:
        mine, plain = copied(container), copied(container)
        if share:
            world.share(container=mine)
        assert outcome(lambda: operators.getitem(mine, key)) == outcome(lambda: plain[key])
        got = outcome(lambda: operators.setitem(value, mine, key))
        assert got == outcome(lambda: operator.setitem(plain, key, value))
        assert mine == plain
        assert outcome(lambda: operators.delitem(mine, key)) == outcome(lambda: operator.delitem(plain, key))
        assert mine == plain


@pytest.mark.parametrize("share", [True, False])
@given(value=VALUES)
def test_what_is_gone_through_is_the_same(share: bool, value: Any) -> None:
    with pretending() as world:
        if share:
            world.share(value=value)
        expected = outcome(lambda: list(value))
        assert outcome(lambda: list(operators.iter_(value))) == expected
        assert outcome(lambda: [*operators.unpack(value)])[0] is expected[0]
        assert operators.truth(value) is value
        assert f"{operators.format_(value)!r:>5}" == f"{value!r:>5}"


def test_operators_of_the_program_are_left_to_themselves(world: World) -> None:
    source = """
class V:
    def __init__(self): self.items = []
    def __add__(self, other): return ("+", len(self.items))
    def __getitem__(self, key): return self.items
    def __contains__(self, item): return item == 1
    def __len__(self): return 3
    def __eq__(self, other): return "eq"
    def __iter__(self): return iter([1, 2])
v = V()
"""
    v = world.run(source)["v"]
    world.share(v=v, items=v.items)
    code = "r = v + 1, v[0], 1 in v, bool(v), v == v, [x for x in v], [*v]"
    assert world.run(code, v=v)["r"] == (("+", 0), [], True, True, "eq", [1, 2], [1, 2])
    assert world.log == ["len: R items.structure"]


def test_generated_comparisons_read_the_fields(world: World) -> None:
    source = """
from dataclasses import dataclass
@dataclass
class P:
    x: int
p, q = P(1), P(1)
"""
    made = world.run(source)
    p, q = made["p"], made["q"]
    world.know(("field", "program", "P", "x"))
    world.share(p=p, q=q)
    world.run("r = p == q, p in [q], repr(p)", p=p, q=q)
    reads = [sorted(line.partition(": ")[2].split(", ")) for line in world.log]
    assert reads == [["R p['x']", "R q['x']"], ["R p['x']", "R q['x']"], ["R p['x']"]]


def test_operators_in_python_that_is_not_instrumented_are_one_step(world: World) -> None:
    import collections

    a, b = collections.Counter("ab"), collections.Counter("b")
    world.share(a=a)
    assert world.run("r = a + b", a=a, b=b)["r"] == collections.Counter({"b": 2, "a": 1})
    assert world.opaque == ["collections.Counter.__add__"]
    assert len(world.log) == 1


def test_numbers_in_place_of_addresses(world: World) -> None:
    class Thing:
        pass

    thing = Thing()
    world.share(thing=thing)
    made = world.run("a = f'{thing}'; b = str(thing); c = f'{thing!r:>3}'; d = id(thing)", thing=thing)
    assert made["a"] == made["b"] == made["c"] != repr(thing)
    assert made["a"].startswith("<tests.unit.test_operators") or "Thing object at 0x" in made["a"]


def test_unpacking_takes_a_picture(world: World) -> None:
    l = [1, 2]  # noqa: E741
    source = "def grow():\n    l.append(3)\n    return {}\nr = (lambda *a, **k: a)(*l, **grow())"
    world.share(l=l)
    assert world.run(source, l=l)["r"] == (1, 2)


@pytest.mark.parametrize("hook", [operators.iter_, operators.unpack])
def test_only_an_iterator_that_nobody_else_has_is_left_alone(hook: Any) -> None:
    passed = hook(zip("ab"))
    kept = zip("ab")
    assert (type(passed), type(hook(kept))) == (zip, StepwiseIterator)
