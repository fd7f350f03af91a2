"""What operations of dicts touch, and that bound methods of dicts behave as the methods."""

from __future__ import annotations

import collections
import itertools
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpor.python.dropins.locks import Lock
from dpor.python.dropins.simple_queue import SimpleQueue
from dpor.python.effects import lookup_target
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects
from tests.shared_objects import World, learnt, pretending
from tests.source_outcomes import outcomes


@pytest.fixture
def world() -> Iterator[World]:
    with pretending() as made:
        yield made


READ_KEY = "R d['k'], R d.any_key"
READ_ALL = "R d.structure"
MOVE_KEY = "W d['k'], W d.structure"
MOVE_KEYS = "W d.structure, W d['k']"
CHANGE_ALL = "W d.structure, W d.any_key"


@pytest.mark.parametrize(
    ("source", "touched"),
    [
        ("d['k']", f"read: {READ_KEY}"),
        ("d.get('k')", f"get: {READ_KEY}"),
        ("d.get('k', 1)", f"get: {READ_KEY}"),
        ("'k' in d", f"in: {READ_KEY}"),
        ("'k' not in d", f"in: {READ_KEY}"),
        ("'k' in d.keys()", f"in: {READ_KEY}"),
        ("('k', 1) in d.items()", f"in: {READ_KEY}"),
        ("1 in d.values()", f"in: {READ_ALL}"),
        ("try: d['x']\nexcept KeyError: pass", "read: R d['x'], R d.any_key"),
        ("d['k'] = 1", f"write: {MOVE_KEY}"),
        ("d['k'] += 1", f"read: {READ_KEY} write: {MOVE_KEY}"),
        ("del d['k']", f"delete: {MOVE_KEY}"),
        ("d.pop('k')", f"pop: {MOVE_KEY}"),
        ("d.pop('k', None)", f"pop: {MOVE_KEY}"),
        ("d.setdefault('k', 1)", "setdefault: R d['k'], R d.any_key"),
        ("d.update({'k': 1})", f"update: {MOVE_KEYS}"),
        ("d.update(k=1)", f"update: {MOVE_KEYS}"),
        ("d |= {'k': 1}", f"__ior__: {MOVE_KEYS}"),
        ("d.update([('k', 1)])", f"update: {CHANGE_ALL}"),
        ("d.update(zip('k', 'v'))", f"update: {CHANGE_ALL}"),
        ("d.popitem()", f"popitem: {CHANGE_ALL}"),
        ("d.clear()", f"clear: {CHANGE_ALL}"),
        ("len(d)", f"len: {READ_ALL}"),
        ("if d: pass", f"len: {READ_ALL}"),
        ("if d.keys(): pass", f"len: {READ_ALL}"),
        ("len(d.values())", f"len: {READ_ALL}"),
        ("d.copy()", f"copy: {READ_ALL}"),
        ("dict(d)", f"dict: {READ_ALL}"),
        ("d == {}", f"__eq__: {READ_ALL}"),
        ("d | {}", f"or: {READ_ALL}"),
        ("{} | d", f"or: {READ_ALL}"),
        ("{**d}", f"unpack: {READ_ALL}"),
        ("dict(**d)", f"unpack: {READ_ALL}"),
        ("repr(d)", f"repr: {READ_ALL}"),
        ("f'{d}'", f"format: {READ_ALL}"),
        ("list(d)", f"list: {READ_ALL}"),
        ("list(d.values())", f"list: {READ_ALL}"),
        ("sorted(d.items())", f"sorted: {READ_ALL}"),
        ("sum(d.values())", f"sum: {READ_ALL}"),
        ("d.keys() == {'k'}", f"eq: {READ_ALL}"),
        ("d.keys() - {'k'}", f"sub: {READ_ALL}"),
        ("d.keys(); d.values(); d.items()", ""),
        ("for k in d: pass", f"iterate: {READ_ALL} next: {READ_ALL} next: {READ_ALL}"),
        ("for k, v in d.items(): pass", f"iterate: {READ_ALL} next: {READ_ALL} next: {READ_ALL}"),
        ("[v for v in d.values()]", f"iterate: {READ_ALL} next: {READ_ALL} next: {READ_ALL}"),
        ("a, = d", f"unpack: {READ_ALL}"),
        ("d[[]] if 0 else None", ""),
    ],
)
def test_an_operation_touches(world: World, source: str, touched: str) -> None:
    assert " ".join(world.touches(source, d={"k": 5})) == touched


@pytest.mark.parametrize(
    ("source", "touched", "facts"),
    [
        ("d['k']; d.get('x'); 'k' in d; len(d); list(d); d == {}; repr(d); sum(d.values())", "", set()),
        ("for k, v in d.items(): pass", "", set()),
        ("d['k'] = 1", "write: W d['k'], U d.elements", {"<elements>"}),
        ("d['k'] = 1; d['k']; d.get('x')", "write: W d['k'], U d.elements read: R d['k'] get: R d['x']",
         {"<elements>"}),
        ("d['k'] = 1; len(d); list(d)", "write: W d['k'], U d.elements", {"<elements>"}),
        ("d['k'] = 1; d.values() == d", "write: W d['k'], U d.elements eq: R d.elements", {"<elements>"}),
        ("d['x'] = 1", "write: W d['x'], U d.structure", {"<structure>"}),
        ("d['x'] = 1; d['k']", "write: W d['x'], U d.structure read: R d['k']", {"<structure>"}),
        ("d['x'] = 1; d['k'] = 2", "write: W d['x'], U d.structure write: W d['k'], U d.structure", {"<structure>"}),
        ("d['x'] = 1; list(d); d['y'] = 2",
         "write: W d['x'], U d.structure list: R d.structure write: W d['y'], W d.structure", {"<structure>"}),
        ("d.setdefault('k', 1); d.pop('x', None)", "", set()),
        ("d.pop('k')", "pop: W d['k'], U d.structure", {"<structure>"}),
        ("d.clear(); d.get('k')", "clear: W d.structure, W d.any_key get: R d['k'], R d.any_key",
         {"<structure>", "<any key>"}),
    ],
)  # fmt: skip
def test_what_nothing_changes_is_no_operation(source: str, touched: str, facts: set[str]) -> None:
    with pretending(knowing=False) as world:
        assert " ".join(world.touches(source, d={"k": 5})) == touched
        assert learnt() == facts
        assert (run.broken is None) == (not facts)


class Plain:
    """Its objects are made without Python code."""


@pytest.mark.parametrize(
    "factory",
    [int, collections.deque, partial(collections.defaultdict, int), itertools.count, Plain, Lock, SimpleQueue],
)
def test_a_missing_key_of_a_defaultdict_is_inserted_in_one_step(factory: Any, world: World) -> None:
    assert world.touches("d['k']", d=collections.defaultdict(factory)) == [f"read: {MOVE_KEY}"]


def test_if_its_factory_is_code_of_the_program_in_two(world: World) -> None:
    source = "d['k']\nd['k']"
    made = world.run("def make():\n    return 1")["make"]
    insert = "setdefault" if sys.version_info >= (3, 14) else "write"
    assert world.touches(source, d=collections.defaultdict(made)) == [
        f"read: {READ_KEY}", f"{insert}: {MOVE_KEY}", f"read: {READ_KEY}",
    ]  # fmt: skip


def test_a_counter_does_not_insert_what_it_is_asked_for(world: World) -> None:
    assert world.touches("d['k']; d['k'] += 1", d=collections.Counter()) == [
        f"read: {READ_KEY}", f"read: {READ_KEY}", f"write: {MOVE_KEY}",
    ]  # fmt: skip


def test_the_order_of_an_ordered_dict_is_structure(world: World) -> None:
    d = collections.OrderedDict(k=1)
    assert world.touches("d.move_to_end('k')\nd.popitem(last=False)", d=d) == [
        f"move_to_end: {MOVE_KEY}", f"popitem: {CHANGE_ALL}",
    ]  # fmt: skip


def test_keys_and_values_become_shared_when_they_are_stored(world: World) -> None:
    key, value, d = object(), [], {}  # type: ignore[var-annotated]
    world.share(d=d)
    world.run("d[key] = value; d.setdefault(1, value); d.update({2: value})", d=d, key=key, value=value)
    assert world.published[:2] == [key, value]
    assert sum(x is value for x in world.published) == 3


def test_another_thread_can_change_the_size_between_two_steps(world: World) -> None:
    d = {1: 1, 2: 2}
    world.meanwhile = lambda: d.setdefault(len(d) + 1, 0) if len(world.log) == 2 else None
    with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
        world.touches("for k in d: pass", d=d)


def test_a_change_before_the_first_step_is_no_error(world: World) -> None:
    d = {1: 1}
    world.meanwhile = lambda: d.setdefault(2, 0)
    world.touches("seen = [k for k in d]\nassert seen == [1, 2]", d=d)


def test_a_view_of_a_shared_dict_is_no_snapshot(world: World) -> None:
    d = {"k": 1}
    world.share(d=d)
    world.run("v = d.values()\nd['k'] = 2\nassert list(v) == [2]", d=d)
    assert world.log == [f"write: {MOVE_KEY}", f"list: {READ_ALL}"]


def test_keys_with_an_eq_of_the_program_could_be_any_key(world: World) -> None:
    source = """
class K:
    def __init__(self, n): self.n = n
    def __hash__(self): return hash(self.n)
    def __eq__(self, other): return self.n == other.n
d[K(1)] = 1
assert d[K(1)] == 1
assert K(2) not in d
"""
    assert world.touches(source, d={}) == [f"write: {CHANGE_ALL}", f"read: {READ_ALL}", f"in: {READ_ALL}"]


def test_a_dict_that_is_the_namespace_of_an_object_has_its_fields(world: World) -> None:
    class Box:
        pass

    box = Box()
    box.a = 1  # type: ignore[attr-defined]
    world.share(box=box)
    world.run("vars(box)['a'] = 2\nassert box.__dict__['a'] == 2", box=box)
    assert world.log[0].startswith("write: W box['a']")
    assert any(fact[0] == "field" and fact[3] == "a" for fact in run.facts)  # type: ignore[index]


KEYS = st.one_of(st.integers(0, 3), st.booleans(), st.none(), st.text(max_size=1), st.tuples(st.integers(0, 1)))
WRONG = st.one_of(KEYS, st.lists(KEYS, max_size=2))
PAIRS = st.lists(st.one_of(st.tuples(KEYS, KEYS), st.lists(KEYS, max_size=3), KEYS), max_size=3)
DICTS = st.dictionaries(KEYS, KEYS, max_size=3)
NO_ARGS = ["popitem", "clear", "copy", "__len__", "keys", "values", "items", "get", "update", "pop", "__reversed__"]
CALLS = st.one_of(
    st.tuples(
        st.sampled_from(["get", "pop", "setdefault", "__getitem__", "__delitem__", "__contains__"]), st.tuples(WRONG)
    ),
    st.tuples(st.sampled_from(["get", "pop", "setdefault", "__setitem__"]), st.tuples(WRONG, KEYS)),
    st.tuples(st.sampled_from(["update", "__ior__", "__init__"]), st.tuples(st.one_of(DICTS, PAIRS, KEYS))),
    st.tuples(st.sampled_from(["__or__", "__eq__", "__lt__", "fromkeys"]), st.tuples(st.one_of(DICTS, PAIRS))),
    st.tuples(st.sampled_from(NO_ARGS), st.tuples()),
)


def outcome(call: Any) -> Any:
    """The result, or the error with its message."""
    try:
        result = call()
    except Exception as error:
        return type(error), str(error)
    if isinstance(result, dict) or not hasattr(result, "__iter__"):
        return type(result), result
    return type(result), list(result)


@pytest.mark.parametrize("knowing", [True, False])
@pytest.mark.parametrize("kind", [dict, collections.OrderedDict, lambda start: collections.defaultdict(list, start)])
@given(start=DICTS, calls=st.lists(CALLS, max_size=4))
def test_a_bound_method_behaves_as_the_method(kind: Any, knowing: bool, start: Any, calls: Any) -> None:
    with pretending(knowing=knowing) as world:
        mine, plain = kind(start), kind(start)
        world.share(mine=mine)
        for name, args in calls:
            method = getattr(lookup_target(mine, shared_objects.shared_object_of(mine), name), name)
            assert outcome(lambda: method(*args)) == outcome(lambda: getattr(plain, name)(*args)), (name, args)
            assert list(mine.items()) == list(plain.items())


@given(start=DICTS, pairs=PAIRS, more=DICTS)
def test_updating_from_a_generator_gives_the_same(start: Any, pairs: Any, more: Any) -> None:
    with pretending() as world:
        mine, plain = dict(start), dict(start)
        world.share(mine=mine)
        method = lookup_target(mine, shared_objects.shared_object_of(mine), "update").update
        more = {key: value for key, value in more.items() if isinstance(key, str)}
        got = outcome(lambda: method((pair for pair in pairs), **more))
        assert got == outcome(lambda: plain.update((pair for pair in pairs), **more))
        assert mine == plain


def test_what_another_thread_has_inserted_meanwhile_is_kept_or_overwritten(tmp_path: Path) -> None:
    """As `defaultdict` does here: it keeps it from 3.14 on."""
    found = outcomes(
        tmp_path,
        """
        import collections
        def scenario():
            made, seen = [], [0, 0]
            def make():
                made.append(0)
                return object()
            d = collections.defaultdict(make)
            run(lambda: seen.__setitem__(0, d["k"]), lambda: seen.__setitem__(1, d["k"]))
            return len(made), seen[0] is seen[1]
        """,
    )
    assert found == {(1, True), (2, sys.version_info >= (3, 14))}
