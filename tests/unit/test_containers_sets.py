"""What operations of sets touch, in which order they are gone through, and that bound methods behave as those of
Python."""

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


READ_ONE = "R s[5], R s.any_key"
MOVE_ONE = "W s[5], W s.structure"
READ_ALL = "R s.structure"
CHANGE_ALL = "W s.structure, W s.any_key"


@pytest.mark.parametrize(
    ("source", "touched"),
    [
        ("5 in s", f"in: {READ_ONE}"),
        ("s.add(5)", "add: R s[5], R s.any_key"),
        ("s.discard(5)", f"discard: {MOVE_ONE}"),
        ("s.remove(5)", f"remove: {MOVE_ONE}"),
        ("s.pop()", f"pop: {CHANGE_ALL}"),
        ("s.clear()", f"clear: {CHANGE_ALL}"),
        ("s.update([1])", f"update: {CHANGE_ALL}"),
        ("s |= {1}", f"__ior__: {CHANGE_ALL}"),
        ("s &= {1}", f"__iand__: {CHANGE_ALL}"),
        ("s.difference_update({1})", f"difference_update: {CHANGE_ALL}"),
        ("len(s)", f"len: {READ_ALL}"),
        ("if not s: pass", f"len: {READ_ALL}"),
        ("s.copy()", f"copy: {READ_ALL}"),
        ("s | {1}", f"or: {READ_ALL}"),
        ("{1} - s", f"sub: {READ_ALL}"),
        ("frozenset({1}) & s", f"and: {READ_ALL}"),
        ("s.union([1])", f"union: {READ_ALL}"),
        ("s.issubset([1])", f"issubset: {READ_ALL}"),
        ("s <= {1}", f"__le__: {READ_ALL}"),
        ("{1} >= s", f"__ge__: {READ_ALL}"),
        ("s == {1}", f"__eq__: {READ_ALL}"),
        ("repr(s)", f"repr: {READ_ALL}"),
        ("sorted(s)", f"sorted: {READ_ALL}"),
        ("frozenset(s)", f"frozenset: {READ_ALL}"),
        ("max(s)", f"max: {READ_ALL}"),
        ("for x in s: pass", f"iterate: {READ_ALL} next: {READ_ALL} next: {READ_ALL}"),
    ],
)
def test_an_operation_touches(world: World, source: str, touched: str) -> None:
    assert " ".join(world.touches(source, s={5})) == touched


@pytest.mark.parametrize(
    ("source", "touched", "facts"),
    [
        ("5 in s; len(s); s.add(5); s.discard(6); s | s; sorted(s)", "", set()),
        ("s.add(6); 5 in s", "add: W s[6], W s.structure in: R s[5]", {"<structure>"}),
        ("s.remove(5); len(s)", "remove: W s[5], W s.structure len: R s.structure", {"<structure>"}),
        ("s.pop(); 5 in s", "pop: W s.structure, W s.any_key in: R s[5], R s.any_key", {"<structure>", "<any key>"}),
    ],
)
def test_what_nothing_changes_is_no_operation(source: str, touched: str, facts: set[str]) -> None:
    with pretending(knowing=False) as world:
        assert " ".join(world.touches(source, s={5})) == touched
        assert learnt() == facts


def test_a_set_given_to_a_method_of_a_private_one_is_read(world: World) -> None:
    assert world.touches("a = set()\na.update(s)\na |= s\na.union(s)\nb = a & s", s={5}) == [
        f"{kind}: {READ_ALL}" for kind in ("update", "__ior__", "union", "and")
    ]


class Plain:
    """Hashed by its address."""


def test_objects_are_gone_through_in_the_order_of_their_numbers(world: World) -> None:
    objects = [Plain() for _ in range(50)]
    world.share(objects=objects)
    objects.sort(key=lambda obj: shared_objects.run_number(obj) or 0)
    s = set(objects)
    namespace = world.run("a = list(s); b = [x for x in s]; c = next(iter(s)); d, *e = s; f = s.pop()", s=s)
    assert namespace["a"] == namespace["b"] == objects == [namespace["d"], *namespace["e"]]
    assert namespace["c"] is namespace["f"] is objects[0]
    assert s == set(objects[1:])


def test_a_set_that_changes_while_it_is_gone_through_in_such_an_order(world: World) -> None:
    s = {Plain(), Plain(), Plain()}
    with pytest.raises(RuntimeError, match="Set changed size during iteration"):
        world.touches("for x in s: s.discard(x)", s=s)


def test_the_order_of_strings_and_numbers_is_their_own(world: World) -> None:
    s = {"a", "b", 3, 17, (1, "c")}
    assert world.run("a = list(s)", s=s)["a"] == list(s)


def test_elements_with_an_eq_of_the_program_could_be_any(world: World) -> None:
    source = """
class K:
    def __hash__(self): return 1
    def __eq__(self, other): return True
k = K()
s.add(k)
k in s
"""
    assert world.touches(source, s={5}) == [f"add: {CHANGE_ALL}", f"in: {READ_ALL}"]


def test_adding_by_code_of_the_program_is_done_step_by_step(world: World) -> None:
    source = "def two():\n    yield 1\n    yield len(s)\ns.update(two())"
    assert world.touches(source, s=set()) == [
        "update: W s[1], W s.structure", f"len: {READ_ALL}", "update: R s[1], R s.any_key",
    ]  # fmt: skip
    assert run.threads


ELEMENTS = st.one_of(st.integers(0, 3), st.booleans(), st.text(max_size=1), st.tuples(st.integers(0, 1)))
WRONG = st.one_of(ELEMENTS, st.lists(ELEMENTS, max_size=2))
SETS = st.sets(ELEMENTS, max_size=3)
OTHERS = st.one_of(SETS, st.lists(WRONG, max_size=3), st.frozensets(ELEMENTS, max_size=2), st.integers())
IN_PLACE = ["update", "intersection_update", "difference_update", "symmetric_difference_update", "__init__", "__ior__"]
MAKING = ["union", "intersection", "difference", "symmetric_difference", "__or__", "__and__", "__sub__", "__xor__"]
ASKING = ["issubset", "issuperset", "isdisjoint", "__le__", "__eq__", "__ne__", "__gt__", "__rsub__", "__isub__"]
CALLS = st.one_of(
    st.tuples(st.sampled_from(["add", "remove", "discard", "__contains__"]), st.tuples(st.one_of(WRONG, SETS))),
    st.tuples(st.sampled_from([*IN_PLACE, *MAKING, *ASKING]), st.tuples(OTHERS)),
    st.tuples(st.sampled_from(["update", "union", "intersection", "difference_update"]), st.tuples(OTHERS, OTHERS)),
    st.tuples(st.sampled_from(["clear", "copy", "pop", "__len__", "union", "add", "issubset"]), st.tuples()),
)


def outcome(call: Any) -> Any:
    """The result, or the error with its message."""
    try:
        result = call()
    except Exception as error:
        return type(error), str(error)
    return type(result), result


@pytest.mark.parametrize("knowing", [True, False])
@given(start=SETS, calls=st.lists(CALLS, max_size=4))
def test_a_bound_method_behaves_as_the_method(knowing: bool, start: Any, calls: Any) -> None:
    with pretending(knowing=knowing) as world:
        mine, plain = set(start), set(start)
        world.share(mine=mine)
        for name, args in calls:
            if name == "pop" and len(plain) > 1:
                continue  # any of them
            method = getattr(lookup_target(mine, shared_objects.shared_object_of(mine), name), name)
            assert outcome(lambda: method(*args)) == outcome(lambda: getattr(plain, name)(*args)), (name, args)
            assert mine == plain
