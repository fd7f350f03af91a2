"""What operations of lists touch, and that bound methods of lists behave as the methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpor.python.effects import lookup_target
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects
from tests.shared_objects import World, learnt, pretending


@pytest.fixture
def world() -> Iterator[World]:
    with pretending() as made:
        yield made


READ_ALL = "R l.structure, R l.elements"
CHANGE = "W l.structure"


@pytest.mark.parametrize(
    ("source", "touched"),
    [
        ("l[1]", "read: R l.structure, R l[1]"),
        ("l[True]", "read: R l.structure, R l[True]"),
        ("l[-1]", f"read: {READ_ALL}"),
        ("l[0:2]", f"read: {READ_ALL}"),
        ("l[1] = 5", "write: R l.structure, W l[1], U l.elements"),
        ("l[-1] = 5", f"write: {CHANGE}"),
        ("l[0:1] = [7, 8]", f"write: {CHANGE}"),
        ("del l[0]", f"delete: {CHANGE}"),
        ("del l[:]", f"delete: {CHANGE}"),
        ("l.append(4)", f"append: {CHANGE}"),
        ("l.insert(0, 4)", f"insert: {CHANGE}"),
        ("l.pop()", f"pop: {CHANGE}"),
        ("l.remove(2)", f"remove: {CHANGE}"),
        ("l.sort()", f"sort: {READ_ALL}"),
        ("l.sort(key=abs, reverse=True)", f"sort: {CHANGE}"),
        ("l.reverse()", f"reverse: {CHANGE}"),
        ("l.clear()", f"clear: {CHANGE}"),
        ("l.extend([4, 5])", f"extend: {CHANGE}"),
        ("l += [4]", f"__iadd__: {CHANGE}"),
        ("l *= 2", f"__imul__: {CHANGE}"),
        ("len(l)", "len: R l.structure"),
        ("if l: pass", "len: R l.structure"),
        ("while l and not l: pass", "len: R l.structure len: R l.structure"),
        ("bool(l)", "len: R l.structure"),
        ("1 in l", f"in: {READ_ALL}"),
        ("9 not in l", f"in: {READ_ALL}"),
        ("l.index(2)", f"index: {READ_ALL}"),
        ("l.count(2)", f"count: {READ_ALL}"),
        ("l.copy()", f"copy: {READ_ALL}"),
        ("l + [1]", f"add: {READ_ALL}"),
        ("[1] + l", f"add: {READ_ALL}"),
        ("l * 2", f"mul: {READ_ALL}"),
        ("2 * l", f"mul: {READ_ALL}"),
        ("l == [1]", f"__eq__: {READ_ALL}"),
        ("[1] != l", f"__ne__: {READ_ALL}"),
        ("l < [1]", f"__lt__: {READ_ALL}"),
        ("(l, 1) == (l, 2)", f"eq: {READ_ALL}"),
        ("repr(l)", f"repr: {READ_ALL}"),
        ("f'{l}'", f"format: {READ_ALL}"),
        ("'%s' % l", f"format: {READ_ALL}"),
        ("'%s %s' % (1, l)", f"format: {READ_ALL}"),
        ("'{}'.format(l)", f"format: {READ_ALL}"),
        ("sorted(l)", f"sorted: {READ_ALL}"),
        ("list(l)", f"list: {READ_ALL}"),
        ("sum(l)", f"sum: {READ_ALL}"),
        ("max(l)", f"max: {READ_ALL}"),
        ("any(l)", f"any: {READ_ALL}"),
        ("print(*l, end='', file=None) if 0 else (lambda *a: a)(*l)", f"unpack: {READ_ALL}"),
        ("a, b, c = l", f"unpack: {READ_ALL}"),
        ("[*l]", f"unpack: {READ_ALL}"),
        ("set(l)", f"set: {READ_ALL}"),
        ("dict.fromkeys(l)", f"fromkeys: {READ_ALL}"),
        ("','.join(l) if 0 else ','.join(map(str, l))", f"join: {READ_ALL}"),
        ("reversed(l)", "iter: R l.structure"),
        ("list.append(l, 4)", f"append: {CHANGE}"),
        ("f = l.append; f(4)", f"append: {CHANGE}"),
        ("getattr(l, 'append')(4)", f"append: {CHANGE}"),
        ("iter(l)", "iter: R l.structure"),
        ("id(l); l is l; isinstance(l, list); type(l)", ""),
    ],
)
def test_an_operation_touches(world: World, source: str, touched: str) -> None:
    assert " ".join(world.touches(source, l=[1, 2, 3])) == touched


def test_iteration_is_an_operation_for_each_step(world: World) -> None:
    assert world.touches("for x in l: pass", l=[1, 2]) == [f"next: R l.structure, R l[{i}]" for i in range(3)]


@pytest.mark.parametrize(
    "source", ["[x for x in l]", "list(enumerate(x for x in l))", "for i, x in enumerate(l): pass"]
)
def test_every_way_of_iterating_takes_such_steps(world: World, source: str) -> None:
    assert world.touches(source, l=[1, 2]) == [f"next: R l.structure, R l[{i}]" for i in range(3)]


def test_two_lists_at_once_are_read_in_turn(world: World) -> None:
    world.share(m=[5, 6])
    assert world.touches("for x, y in zip(l, m): pass", l=[1], m=[2]) == [
        "next: R l.structure, R l[0]",
        "next: R m.structure, R m[0]",
        "next: R l.structure, R l[1]",
    ]


def test_a_list_given_to_a_method_of_a_private_one_is_read(world: World) -> None:
    assert world.touches("a = []\na.extend(l)\na += l\na[0:1] = l", l=[1]) == [
        f"{kind}: {READ_ALL}" for kind in ("extend", "__iadd__", "write")
    ]


def test_comparing_reads_nested_lists(world: World) -> None:
    inner = [1]
    world.share(m=inner)
    assert world.touches("l == [[1]]", l=[inner]) == [
        "__eq__: R l.structure, R l.elements, R m.structure, R m.elements"
    ]


def test_what_is_stored_becomes_shared(world: World) -> None:
    a, b, c, d = [], [], [], []  # type: ignore[var-annotated]
    world.share(l=[0])
    kept = [0]
    world.share(l=kept)
    world.run("l.append(a); l[0] = b; l.extend([c]); l[0:0] = [d]", l=kept, a=a, b=b, c=c, d=d)
    assert [[x is y for y in world.published] for x in (a, b, c, d)] == [
        [True, False, False, False], [False, True, False, False],
        [False, False, True, False], [False, False, False, True],
    ]  # fmt: skip


def test_extending_by_code_of_the_program_is_done_step_by_step(world: World) -> None:
    source = "def two():\n    yield 1\n    yield len(l)\nl.extend(two())\nassert l == [1, 1], l"
    assert world.touches(source, l=[])[:3] == ["extend: W l.structure", "len: R l.structure", "extend: W l.structure"]


def test_sorting_with_a_key_function_lets_others_see_an_empty_list(world: World) -> None:
    source = (
        "seen = []\ndef key(x):\n    seen.append(len(l))\n    return -x\nl.sort(key=key)\nassert seen == [0, 0], seen"
    )
    l = [1, 2]  # noqa: E741
    assert world.touches(source, l=l)[0] == "sort: W l.structure"
    assert world.log[-1] == "sort: W l.structure"
    assert l == [2, 1]


def test_a_list_that_others_change_during_a_sort_is_restored(world: World) -> None:
    source = "def key(x):\n    l.append(7)\n    return x\ntry: l.sort(key=key)\nexcept ValueError as e: error = str(e)"
    l = [2, 1]  # noqa: E741
    world.share(l=l)
    assert world.run(source, l=l)["error"] == "list modified during sort"
    assert l == [1, 2]


def test_elements_with_an_eq_of_the_program_are_compared_one_by_one(world: World) -> None:
    source = """
class C:
    def __eq__(self, other):
        l.append(other)
        return False
l.append(C())
assert 5 not in l[:1]
assert 5 in l
"""
    l: list[Any] = []  # noqa: E741
    assert world.touches(source, l=l)[-2:] == ["append: W l.structure", "in: R l.structure, R l[1]"]


# ---------------------------------------------------------------------- what a search learns


@pytest.mark.parametrize(
    ("source", "touched", "facts"),
    [
        ("l[0]; l[-1]; l[:]; len(l); 1 in l; l == l; repr(l); sorted(l); list(l)", "", set()),
        ("for x in l: pass", "", set()),
        ("l[1] = 5", "write: W l[1], U l.elements", {"<elements>"}),
        ("l[-1] = 5", "write: W l[2], U l.elements", {"<elements>"}),
        ("try: l[3] = 5\nexcept IndexError: pass", "", set()),
        ("l.append(1)", "append: W l.structure", {"<structure>"}),
        ("l[0] = 7; l[-1]; l[0:2]", "write: W l[0], U l.elements read: R l[2] read: R l.elements", {"<elements>"}),
        ("l[0] = 7; len(l)", "write: W l[0], U l.elements", {"<elements>"}),
        ("l.pop(); l[0]; l[-1]", "pop: W l.structure read: R l.structure read: R l.structure", {"<structure>"}),
    ],
)
def test_what_nothing_changes_is_no_operation(source: str, touched: str, facts: set[str]) -> None:
    with pretending(knowing=False) as world:
        assert " ".join(world.touches(source, l=[1, 2, 3])) == touched
        assert learnt() == facts
        assert (run.broken is None) == (not facts)


# ---------------------------------------------------------------------- the same results

INDICES = st.one_of(st.integers(-4, 4), st.booleans(), st.none(), st.text(max_size=1), st.slices(4))
ITEMS = st.one_of(
    st.integers(0, 3), st.lists(st.integers(0, 2), max_size=3), st.text(max_size=2), st.tuples(), st.none()
)
CALLS = st.one_of(
    st.tuples(st.sampled_from(["append", "remove", "count", "extend", "pop", "__contains__"]), st.tuples(ITEMS)),
    st.tuples(st.just("insert"), st.tuples(INDICES, ITEMS)),
    st.tuples(st.sampled_from(["pop", "__getitem__", "__delitem__"]), st.tuples(INDICES)),
    st.tuples(st.just("__setitem__"), st.tuples(INDICES, ITEMS)),
    st.tuples(
        st.sampled_from(["pop", "clear", "reverse", "sort", "copy", "__len__", "append", "__init__"]), st.tuples()
    ),
    st.tuples(st.sampled_from(["__iadd__", "__add__", "__mul__", "__imul__", "__eq__", "__lt__"]), st.tuples(ITEMS)),
    st.tuples(st.just("index"), st.lists(st.integers(-3, 3), min_size=1, max_size=3).map(tuple)),
)


def outcome(call: Any) -> Any:
    """The result, or the error with its message."""
    try:
        result = call()
    except Exception as error:
        return type(error), str(error)
    return (type(result), result) if not hasattr(result, "__next__") else (type(result), list(result))


@given(st.lists(ITEMS, max_size=4), st.lists(CALLS, max_size=4))
def test_a_bound_method_behaves_as_the_method(start: list[Any], calls: list[tuple[str, tuple[Any, ...]]]) -> None:
    with pretending() as world:
        mine, plain = list(start), list(start)
        world.share(mine=mine)
        for name, args in calls:
            method = getattr(lookup_target(mine, shared_objects.shared_object_of(mine), name), name)
            assert outcome(lambda: method(*args)) == outcome(lambda: getattr(plain, name)(*args)), (name, args)
            assert mine == plain
