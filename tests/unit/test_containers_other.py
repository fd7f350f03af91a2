"""Containers that are one location each, iterators and generators: what they touch, and that they behave as before."""

from __future__ import annotations

import array
import collections
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpor.python.effects import lookup_target
from dpor.python.effects.kinds import container_types
from dpor.python.sharing import shared_object, shared_objects
from tests.shared_objects import World, learnt, pretending
from tests.source_outcomes import outcomes


@pytest.fixture
def world() -> Iterator[World]:
    with pretending() as made:
        yield made


READ, CHANGE = "R q.structure", "W q.structure"


@pytest.mark.parametrize(
    ("source", "touched"),
    [
        ("q.append(1)", f"append: {CHANGE}"),
        ("q.appendleft(1)", f"appendleft: {CHANGE}"),
        ("q.popleft()", f"popleft: {CHANGE}"),
        ("q.pop()", f"pop: {CHANGE}"),
        ("q.extend([1])", f"extend: {CHANGE}"),
        ("q += [1]", f"__iadd__: {CHANGE}"),
        ("q.rotate(1)", f"rotate: {READ}"),  # there is one element
        ("q *= 2\nq.rotate(1)", f"__imul__: {CHANGE} rotate: {CHANGE}"),
        ("q[0] = 1", f"write: {CHANGE}"),
        ("q[0]", f"read: {READ}"),
        ("len(q)", f"len: {READ}"),
        ("if q: pass", f"len: {READ}"),
        ("5 in q", f"in: {READ}"),
        ("q.count(5)", f"count: {READ}"),
        ("list(q)", f"list: {READ}"),
        ("q == q", f"__eq__: {READ}"),
        ("q.copy()", f"copy: {READ}"),
        ("for x in q: pass", f"iterate: {READ} next: {READ} next: {READ}"),
    ],
)
def test_a_deque_is_one_location(world: World, source: str, touched: str) -> None:
    assert " ".join(world.touches(source, q=collections.deque([5]))) == touched


@pytest.mark.parametrize(
    ("source", "touched"),
    [
        ("q.append(1)", f"append: {CHANGE}"),
        ("q[0] = 1", f"write: {CHANGE}"),
        ("q += b'x'", f"__iadd__: {CHANGE}"),
        ("q[0]", f"read: {READ}"),
        ("q.upper()", f"upper: {READ}"),
        ("len(q)", f"len: {READ}"),
        ("b'a' + q", f"add: {READ}"),
        ("bytes(q)", f"bytes: {READ}"),
        ("q == b'a'", f"__eq__: {READ}"),
        ("memoryview(q)[0]", f"memoryview: {READ} read: {READ}"),
        ("memoryview(q)[0] = 1", f"memoryview: {READ} write: {CHANGE}"),
    ],
)
def test_a_bytearray_is_one_location(world: World, source: str, touched: str) -> None:
    assert " ".join(world.touches(source, q=bytearray(b"a"))) == touched


def test_an_array_is_one_location(world: World) -> None:
    assert world.touches("q[0]; q[0] = 1; q.append(2); q.tolist()", q=array.array("i", [5])) == [
        f"read: {READ}", f"write: {CHANGE}", f"append: {CHANGE}", f"tolist: {READ}",
    ]  # fmt: skip


def test_what_nothing_changes_is_no_operation() -> None:
    with pretending(knowing=False) as world:
        assert world.touches("q[0]; len(q); list(q)", q=collections.deque([5])) == []
        assert world.touches("q.append(1)", q=collections.deque([5])) == [f"append: {CHANGE}"]
        assert learnt() == {"<structure>"}


@pytest.mark.parametrize(
    "kind",
    [list, dict, set, collections.deque, bytearray, array.array, collections.OrderedDict, collections.defaultdict],
)
def test_every_method_of_a_container_has_an_entry(kind: type) -> None:
    names = [name for name in dir(kind) if callable(getattr(kind, name)) and not hasattr(object, name)]
    special = {"__class_getitem__", "__alloc__", "__buffer__", "__release_buffer__"}
    missing = [name for name in names if name not in container_types[kind].entries and name not in special]
    assert not missing


# ---------------------------------------------------------------------- iterators

NEXT = "W it.structure"


@pytest.mark.parametrize(
    ("make", "touched"),
    [
        (lambda x: iter(x), f"next: {NEXT}, R l.structure, R l.elements"),
        (lambda x: enumerate(x), f"next: R l.structure, R l.elements, {NEXT}"),
        (lambda x: itertools.count(), f"next: {NEXT}"),
        (lambda x: itertools.cycle(x), f"next: R l.structure, R l.elements, {NEXT}"),
        (lambda x: zip(x, x, strict=False), f"next: R l.structure, R l.elements, {NEXT}"),
    ],
)
def test_a_step_of_a_shared_iterator_changes_it(world: World, make: Any, touched: str) -> None:
    l = [1, 2]  # noqa: E741
    world.share(l=l)
    it = make(l)
    shared_objects._publish(it)
    shared = shared_objects.table[id(it)]
    assert isinstance(shared, shared_object.SharedObject)
    world.names[shared.number] = "it"
    world.run("next(it)", it=it)
    assert len(world.log) == 1
    assert set(touched.removeprefix("next: ").split(", ")) <= set(world.log[0].removeprefix("next: ").split(", "))


def test_a_step_of_a_private_iterator_reads_what_is_behind_it(world: World) -> None:
    l = [1, 2]  # noqa: E741
    world.share(l=l)
    it = iter(l)
    world.run("next(it); next(it); next(it, None)", it=it)
    assert world.log == [f"next: R l.structure, R l[{i}]" for i in range(3)]


def test_a_chain_of_iterators_in_c_is_emptied_in_one_step(world: World) -> None:
    source = "list(zip(map(str, l), enumerate(reversed(l)))); dict(zip(l, l)); sum(map(abs, l)); ','.join(map(str, l))"
    assert world.touches(source, l=[1, 2]) == [
        "iter: R l.structure", *(f"{f}: R l.structure, R l.elements" for f in ("list", "dict", "sum", "join")),
    ]  # fmt: skip


def test_with_code_of_the_program_in_it_step_by_step(world: World) -> None:
    world.touches("def f(x): return len(l) and x\nassert sum(map(f, l)) == 3", l=[1, 2])
    assert world.log == [
        "next: R l.structure, R l[0]", "len: R l.structure", "next: R l.structure, R l[1]", "len: R l.structure",
        "next: R l.structure, R l[2]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        "r = list(enumerate(l, 1))", "r = list(zip(l, range(9)))", "r = list(map(abs, l))", "r = list(filter(None, l))",
        "import itertools\nr = list(itertools.chain(l, l))", "import itertools\nr = list(itertools.islice(l, 1))",
        "import itertools\nr = [(k, list(g)) for k, g in itertools.groupby(l, lambda x: x % 2)]",
        "import itertools\nr = list(itertools.accumulate(l))", "import itertools\nr = list(itertools.pairwise(l))",
        "import itertools\nr = [list(t) for t in itertools.tee(l)]", "import functools\nr = functools.reduce(max, l)",
        "import itertools\nr = list(itertools.chain.from_iterable([l, l]))", "r = [*reversed(l)]",
        "r = max(l, key=lambda x: -x), min(l, default=3), sorted(l, key=str, reverse=True)",
        "import itertools\nr = list(itertools.product(l, repeat=2))", "r = sum([l, l], [])", "r = any(l), all(l)",
        "import itertools\nr = list(itertools.starmap(pow, zip(l, l)))", "r = bytes(l), bytearray(l), frozenset(l)",
        "import collections\nr = collections.Counter(l), collections.deque(l, 1)", "r = dict.fromkeys(l, 0)",
        "import operator\nr = operator.itemgetter(0)(l), operator.add(l, l), operator.contains(l, 2)",
        "a, *b = l\nr = a, b", "r = [x for x in l if x in l]", "r = [*l, *l]", "r = (lambda *a: a)(*l)",
        "def g():\n    x = yield from l\n    yield x\nr = list(g())", "l += (5,)\nr = l",
        "l[1:1] = (x for x in (8, 9))\nr = l",
    ],
)  # fmt: skip
@pytest.mark.parametrize("shared", [True, False])
def test_results_are_those_of_the_plain_code(world: World, source: str, shared: bool) -> None:
    plain: dict[str, Any] = {"l": [3, 1, 2]}
    exec(source, plain)
    mine = [3, 1, 2]
    if shared:
        world.share(l=mine)
    assert world.run(source, l=mine)["r"] == plain["r"]


# ---------------------------------------------------------------------- generators

GENERATOR = "def g():\n    yield 1\n    return 2\n"


def test_a_shared_generator_is_entered_and_left(world: World) -> None:
    it = world.run(GENERATOR + "it = g()")["it"]
    assert world.touches("next(it)", it=it) == [f"next: {NEXT}", f"yield: {NEXT}"]
    assert world.touches("next(it, None)", it=it) == [f"next: {NEXT}", f"yield: {NEXT}"]


@pytest.mark.parametrize("source", ["for x in it: pass", "[*it]", "list(it)", "a, = it", "sum(it)"])
def test_so_it_is_by_whatever_takes_its_items(world: World, source: str) -> None:
    it = world.run(GENERATOR + "it = g()")["it"]
    assert world.touches(source, it=it) == [f"next: {NEXT}", f"yield: {NEXT}"] * 2


def test_a_generator_made_for_a_loop_is_its_own(world: World) -> None:
    world.run(GENERATOR + "for x in g(): pass\n[*g()]\nsum(x for x in g())")
    assert world.log == []


def test_sending_and_closing_change_it_too(world: World) -> None:
    it = world.run(GENERATOR + "it = g()")["it"]
    assert world.touches("it.send(None)\nit.close()", it=it) == [f"next: {NEXT}", f"yield: {NEXT}"] * 2


def test_delegating_to_a_kept_generator_passes_everything_on(world: World) -> None:
    source = """
def inner():
    try:
        got = yield 1
        try:
            yield got
        except KeyError:
            yield "caught"
    finally:
        done.append(True)
    return 5
def outer(it):
    result.append((yield from it))
done, result = [], []
it = inner()
o = outer(it)
seen = [next(o), o.send(7), o.throw(KeyError)]
try: next(o)
except StopIteration: pass
left = outer(it2 := inner())
next(left)
left.close()
"""
    made = world.run(source)
    assert (made["seen"], made["result"], made["done"]) == ([1, 7, "caught"], [5], [True, True])


def test_a_loop_that_is_left_leaves_the_generator_as_it_is(world: World) -> None:
    made = world.run("g = (x for x in range(3))\nfor x in g: break\nrest = list(g)")
    assert made["rest"] == [1, 2]


# ---------------------------------------------------------------------- the same results

ITEMS = st.one_of(st.integers(0, 3), st.text(max_size=1), st.lists(st.integers(0, 2), max_size=2))
MANY = st.one_of(st.lists(ITEMS, max_size=3), ITEMS)
DEQUE_CALLS = st.one_of(
    st.tuples(st.sampled_from(["append", "appendleft", "count", "remove", "__contains__"]), st.tuples(ITEMS)),
    st.tuples(st.sampled_from(["extend", "extendleft", "__iadd__", "__init__", "__eq__", "__add__"]), st.tuples(MANY)),
    st.tuples(st.sampled_from(["pop", "popleft", "clear", "copy", "reverse", "rotate", "append"]), st.tuples()),
    st.tuples(st.sampled_from(["rotate", "__getitem__", "__delitem__", "__mul__", "__imul__"]), st.tuples(ITEMS)),
    st.tuples(st.sampled_from(["insert", "__setitem__"]), st.tuples(st.integers(-3, 3), ITEMS)),
    st.tuples(st.just("index"), st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple)),
)
BYTES = st.one_of(st.binary(max_size=2), st.integers(-1, 300), st.lists(st.integers(0, 300), max_size=2))
BYTEARRAY_CALLS = st.one_of(
    st.tuples(st.sampled_from(["append", "remove", "count", "find", "__contains__", "pop"]), st.tuples(BYTES)),
    st.tuples(st.sampled_from(["extend", "join", "__iadd__", "__add__", "split", "__eq__"]), st.tuples(BYTES)),
    st.tuples(st.sampled_from(["pop", "clear", "copy", "reverse", "upper", "decode", "hex"]), st.tuples()),
    st.tuples(st.sampled_from(["insert", "__setitem__", "replace"]), st.tuples(BYTES, BYTES)),
)


def outcome(call: Any) -> Any:
    """The result, or the error with its message."""
    try:
        result = call()
    except Exception as error:
        return type(error), str(error)
    return type(result), result


@pytest.mark.parametrize(
    ("kind", "calls"),
    [(collections.deque, DEQUE_CALLS), (lambda items: collections.deque(items, 2), DEQUE_CALLS),
     (bytearray, BYTEARRAY_CALLS)],
)  # fmt: skip
@given(data=st.data(), start=st.lists(st.integers(0, 3), max_size=3))
def test_a_bound_method_behaves_as_the_method(kind: Any, calls: Any, data: Any, start: list[int]) -> None:
    with pretending() as world:
        mine, plain = kind(start), kind(start)
        world.share(mine=mine)
        for name, args in data.draw(st.lists(calls, max_size=4)):
            method = getattr(lookup_target(mine, shared_objects.shared_object_of(mine), name), name)
            assert outcome(lambda: method(*args)) == outcome(lambda: getattr(plain, name)(*args)), (name, args)
            assert mine == plain


@pytest.mark.parametrize(
    ("look", "changes", "seen"),
    [
        ("''.join(sorted(c.elements()))", "c['a'] = 2; c['b'] = 2", {"ab", "aab", "aabb"}),
        ("sum(chain.from_iterable([m, n]))", "m[0] = 10; n[0] = 20", {3, 12, 30}),
        ("sum(chain.from_iterable((m, n)))", "m[0] = 10; n[0] = 20", {3, 12, 30}),
        ("sum(chain.from_iterable(x for x in (m, n)))", "m[0] = 10; n[0] = 20", {3, 12, 21, 30}),
    ],
)
def test_iterables_that_are_chained_in_c_are_emptied_in_one_step(
    look: str, changes: str, seen: set[object], tmp_path: Path
) -> None:
    source = f"""
        from collections import Counter
        from itertools import chain
        def scenario():
            c, m, n, seen = Counter("ab"), [1], [2], []
            def change():
                {changes}
            run(lambda: seen.append({look}), change)
            return seen[0]
        """
    assert outcomes(tmp_path, source) == seen
