"""What is called in place of a function, and what built-in functions touch."""

from __future__ import annotations

import collections
import copy
import functools
import heapq
import inspect
import json
import operator
from collections.abc import Iterator
from typing import Any

import pytest

from dpor.python.hooks.calls import call, registry
from dpor.python.kernel.run import run
from tests.shared_objects import World, pretending


@pytest.fixture
def world() -> Iterator[World]:
    with pretending() as made:
        yield made


READ_ALL, CHANGE = "R l.structure, R l.elements", "W l.structure"


# ---------------------------------------------------------------------- who is left alone


def test_functions_of_the_program_stay_as_they_are(world: World) -> None:
    source = """
import functools, collections, dataclasses, enum
def f(): pass
class C:
    def m(self): pass
    def __call__(self): pass
@dataclasses.dataclass
class D: x: int
class E(enum.Enum): A = 1
class X(Exception): pass
N = collections.namedtuple("N", "a")
c = C()
all = [f, C, c.m, c, D, E, X, N, functools.lru_cache(f), lambda: 0, chr, type, object, ValueError, range,
       functools.partial, collections.namedtuple, functools.wraps, super, "a".upper, (1).bit_length]
"""
    for callee in world.run(source)["all"]:
        assert call(callee) is callee, callee


def test_the_stand_ins_stay_as_they_are(world: World) -> None:
    from dpor.python.dropins.locks import Lock

    lock = Lock()
    assert call(Lock) is Lock
    assert call(lock.acquire) == lock.acquire


def test_a_decorator_that_takes_over_the_name_of_a_function_is_known_by_its_code(world: World) -> None:
    source = "import contextlib\n@contextlib.contextmanager\ndef f(x):\n    yield x\nwith f(l) as m: m.append(1)"
    assert world.touches(source, l=[]) == [f"append: {CHANGE}"]
    assert world.opaque == []


# ---------------------------------------------------------------------- what others touch


@pytest.mark.parametrize(
    ("source", "touched"),
    [
        ("import heapq\nheapq.heappush(l, 1)", f"heappush: {CHANGE}"),
        ("from heapq import heappop\nheappop(l)", f"heappop: {CHANGE}"),
        ("import heapq\nheapq.nsmallest(1, l)", f"nsmallest: {READ_ALL}"),
        ("import bisect\nbisect.bisect(l, 1)", f"bisect_right: {READ_ALL}"),
        ("import bisect\nbisect.insort(l, 1)", f"insort_right: {CHANGE}"),
        ("import operator\noperator.itemgetter(0)(l)", "read: R l.structure, R l[0]"),
        ("import operator\noperator.setitem(l, 0, 1)", "write: R l.structure, W l[0], U l.elements"),
        ("import operator\noperator.iadd(l, [1])", f"__iadd__: {CHANGE}"),
        ("import operator\noperator.methodcaller('append', 1)(l)", f"append: {CHANGE}"),
        ("import operator\noperator.not_(l)", "len: R l.structure"),
        ("import functools\nfunctools.partial(l.append, 1)()", f"append: {CHANGE}"),
        ("import functools\nfunctools.partial(len, l)()", "len: R l.structure"),
        ("import copy\ncopy.copy(l)", f"copy: {READ_ALL}"),
        ("import copy\ncopy.deepcopy(l)", f"deepcopy: {READ_ALL}"),
        ("import json\njson.dumps(l)", f"dumps: {READ_ALL}"),
        ("import pickle\npickle.dumps(l)", f"dumps: {READ_ALL}"),
        ("import statistics\nstatistics.mean(l)", f"mean: {READ_ALL}"),
        ("import math\nmath.fsum(l)", f"fsum: {READ_ALL}"),
        ("str(l)", f"str: {READ_ALL}"),
        ("format(l)", f"format: {READ_ALL}"),
        ("min(l, l)", f"min: {READ_ALL}"),
        ("print(l)", ""),
        ("isinstance(l, list), type(l), callable(l), id(l)", ""),
        ("hasattr(l, 'append')", ""),
        ("list.sort(l)", "sort: R l.structure, R l.elements"),
        ("list(map(l.append, [1, 2]))", f"append: {CHANGE} append: {CHANGE}"),
        ("sorted([0, 0], key=l.__getitem__)", "read: R l.structure, R l[0] read: R l.structure, R l[0]"),
        ("any(x > 9 for x in l)", "next: R l.structure, R l[0] next: R l.structure, R l[1]"),
    ],
)
def test_a_function_touches(world: World, source: str, touched: str) -> None:
    assert " ".join(world.touches(source, l=[7])) == touched


def test_python_functions_that_are_not_instrumented_are_one_step_and_told(world: World) -> None:
    world.touches("import copy, json\ncopy.deepcopy(l)\njson.dumps(l)\njson.dumps([1])", l=[1])
    assert world.opaque == ["copy.deepcopy", "json.dumps"]


def foreign(*values: Any) -> list[Any]:
    """Not instrumented, and not known."""
    values[0].append(5)
    return list(values)


def test_an_unknown_function_writes_what_it_can_reach(world: World) -> None:
    l: list[int] = []  # noqa: E741
    world.share(l=l)
    world.run("f(l)\nf([], 1)\nf([l])", l=l, f=foreign)
    assert world.log == [f"foreign: {CHANGE}"] * 2
    assert world.opaque == [f"{__name__}.foreign"] * 2


def test_operations_inside_it_are_part_of_the_step(world: World) -> None:
    source = "def back():\n    l.append(1)\nf(l, back)"
    world.touches(source, l=[], f=lambda items, back: back())
    assert world.log == [f"<lambda>: {CHANGE}"]
    assert run.current is not None


def test_an_unknown_c_function_is_one_step_that_is_not_told(world: World) -> None:
    import array

    world.touches("a.frombytes(b)", b=bytearray(4), a=array.array("i"))
    assert world.log == ["frombytes: R b.structure, W a.structure"]
    assert world.opaque == []


# ---------------------------------------------------------------------- attributes and namespaces


def test_attributes_by_name_are_those_of_the_hooks(world: World) -> None:
    world.know(("field", "program", "C", "x"))
    source = """
class C:
    def __init__(self): self.x = 0
c = C()
"""
    c = world.run(source)["c"]
    world.share(c=c)
    world.run(
        "getattr(c, 'x'); hasattr(c, 'x'); setattr(c, 'x', 1); delattr(c, 'x'); getattr(c, 'x', 3)\n"
        "object.__setattr__(c, 'x', 2)\nobject.__getattribute__(c, 'x')\n"
        "import operator\noperator.attrgetter('x')(c)",
        c=c,
    )
    read, write = "read: R c['x']", "write: W c['x']"
    assert world.log == [read, read, write, write, read, write, read, read]


def test_a_setattr_of_the_program_can_go_on_to_that_of_object(world: World) -> None:
    world.know(("field", "program", "C", "x"))
    source = """
class C:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
c = C()
"""
    c = world.run(source)["c"]
    world.share(c=c)
    world.run("c.x = 5\nassert c.x == 5", c=c)
    assert world.log[-2:] == ["write: W c['x']", "read: R c['x']"]


def test_namespaces_do_not_show_our_names(world: World) -> None:
    source = """
def f(x):
    [0 for _ in x]
    return locals(), vars(), dir(), eval("x")
class K:
    a = 1
    locals()["b"] = 2
a, b, c, d = f([1])
names = dir()
"""
    made = world.run(source)
    assert made["a"] == made["b"] == {"x": [1]}
    assert made["c"] == ["x"]
    assert made["K"].b == 2
    assert not [name for name in made["names"] if name.startswith(".")]


def test_ids_are_numbers_that_all_runs_agree_on() -> None:
    def run() -> list[int]:
        with pretending() as world:
            shared: list[int] = []
            world.share(shared=shared)
            source = "a = object(); b = object(); r = [id(a), id(b), id(a), id(s), hash(a)]"
            return world.run(source, s=shared)["r"]  # type: ignore[no-any-return]

    first, second = run(), run()
    assert first == second
    assert first[0] == first[2]
    assert len(set(first)) == 4


# ---------------------------------------------------------------------- classes derived from containers


def test_classes_derived_from_containers_are_containers(world: World) -> None:
    source = """
class Jobs(list):
    def push(self, x):
        self.append(x)
        return len(self)
    def __len__(self):
        return 10 + list.__len__(self)
j = Jobs([1])
"""
    j = world.run(source)["j"]
    world.share(j=j)
    assert world.run("r = j.push(2), j[0], 1 in j\nj[0] = 5\nfor x in j: pass", j=j)["r"] == (12, 1, True)
    assert world.log[:5] == [
        "append: W j.structure", "len: R j.structure", "read: R j.structure, R j[0]",
        "in: R j.structure, R j.elements", "write: R j.structure, W j[0], U j.elements",
    ]  # fmt: skip


def test_making_one_from_a_shared_container_reads_that(world: World) -> None:
    world.touches("class J(list): pass\nclass D(dict): pass\nJ(l)\nD(a=1)\nD([(1, l)])", l=[1])
    assert world.log == [f"J: {READ_ALL}"]


# ---------------------------------------------------------------------- results


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (dict, ([(1, 2)],)), (dict, ({1: 2},)), (dict, (5,)), (list, (5,)), (list, ()), (tuple, ("ab",)),
        (sum, ([1, 2], 3)), (sum, (["a"],)), (max, ([],)), (max, (1, 2)), (min, ([3, 1],)), (sorted, ([3, 1],)),
        (zip, ([1], [2])), (zip, (5,)), (enumerate, ([1],)), (map, (abs, [-1])), (map, (abs,)),
        (filter, (None, [0, 1])), (iter, (5,)), (iter, ([1],)), (next, (5,)), (next, (iter([]), 1)), (len, (5,)),
        (len, ([1],)), (str, (b"a", "ascii")), (repr, ("a",)), (bool, ()), (int, ("5",)), (getattr, (5, "real")),
        (getattr, (5, "x", 0)), (getattr, (5, "x")), (setattr, (5, "x", 0)), (hash, ([],)), (hash, ("a",)),
        (reversed, ([1, 2],)), (reversed, ({1: 2},)), (frozenset, ([1],)), (bytes, (3,)), (bytearray, ([1],)),
        (functools.reduce, (max, [1, 2])), (operator.add, ([1], [2])), (operator.itemgetter(0), ([5],)),
        (heapq.heappop, ([],)), (heapq.heappop, ([1] * 9,)), (copy.copy, ([1],)), (json.dumps, ({"a": [1]},)),
        (collections.deque, ([1, 2], 1)), (collections.Counter, ("aab",)), (collections.defaultdict, (list, {1: []})),
        (collections.OrderedDict, ([(1, 2)],)), (str.join, (",", ["a"])), (list.append, (5, 5)), (list.copy, ([1],)),
        (dict.fromkeys, ([1, 2], 0)), (any, ([0, 1],)), (all, ([],)), (format, (5, "03d")),
        ("{}-{}".format, (1, [2])), (id, ()), (isinstance, (5, int)), (memoryview, (bytearray(b"a"),)),
        (set, ([1, 1],)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("multi", [True, False])
def test_results_are_those_of_the_function(world: World, function: Any, args: Any, multi: bool) -> None:
    run.multi = multi
    try:
        assert outcome(lambda: call(function)(*args)) == outcome(lambda: function(*args))
    finally:
        run.multi = False


def outcome(run: Any) -> Any:
    """The result, or the error; items of iterators."""
    try:
        result = run()
    except Exception as error:
        return type(error)
    return (type(result), list(result)) if hasattr(result, "__next__") else (type(result), result)


_POSITION, _EITHER, _REST, _KEYWORD, _NAMED = inspect._ParameterKind


def test_every_wrapper_takes_what_its_function_takes() -> None:
    """Names and numbers of arguments, as this version of Python has them."""
    missing = []
    for function in registry._kept:
        wrapper = registry.wrappers.get(id(function), registry.AS_IS)
        try:
            theirs, ours = inspect.signature(function), inspect.signature(wrapper)
        except Exception:  # of functions in C, many do not tell it
            continue
        kinds = {parameter.kind for parameter in ours.parameters.values()}
        lacks_name = _NAMED not in kinds and not _named(theirs) <= _named(ours)
        lacks_place = _REST not in kinds and _positions(theirs) > _positions(ours)
        if lacks_name or lacks_place:
            missing.append((function, theirs, ours))
    assert not missing


def _named(signature: inspect.Signature) -> set[str]:
    return {name for name, each in signature.parameters.items() if each.kind in (_KEYWORD, _EITHER)}


def _positions(signature: inspect.Signature) -> int:
    return sum(each.kind in (_POSITION, _EITHER) for each in signature.parameters.values())
