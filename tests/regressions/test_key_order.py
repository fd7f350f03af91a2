"""Threads that insert or delete different keys of a dict commute, as long as nobody looks at the order of the keys.

Three threads that each stored a key of their own had six executions, for orders that nobody could tell apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.core.results import Verdict
from dpor.python.effects import dicts, key_order
from dpor.python.hooks.calls import objects, unknown
from dpor.python.program.layers import Layers
from tests.source_outcomes import Outcomes, outcomes

ALL: Any = [list(key_order.ALL)]
"""The facts with which every order counts."""

HEAD = """
import asyncio, collections, contextlib, copy, csv, dataclasses, enum, functools, gc, heapq, inspect, io, itertools
import json, logging, marshal, operator, pickle, pprint, queue, string, sys, types, urllib.parse, warnings, weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, namedtuple
from concurrent.futures import ThreadPoolExecutor

said = []

class Box:
    def __init__(self, name):
        self.name = name
    def __repr__(self):
        said.append(self.name)
        return self.name
    def __eq__(self, other):
        said.append(self.name)
        return self is other
    __hash__ = None

class Dying:
    def __init__(self, name):
        self.name = name
    def __del__(self, say=said.append):
        say(self.name)

class Equal:
    def __hash__(self):
        return hash(-2)
    def __eq__(self, other):
        said.append(other)
        return False

def put(d, key, value=None):
    d[key] = key if value is None else value

def two(d, one="a", other="b"):
    run(lambda: put(d, one), lambda: put(d, other))
    return d

def three(d):
    run(lambda: put(d, "a"), lambda: put(d, "b"), lambda: put(d, "c"))
    return d

def first(d):
    for key in d:
        return key

def logged(d):
    stream = io.StringIO()
    logging.basicConfig(stream=stream, force=True)
    logging.warning("%s", d)
    return stream.getvalue()

def printed(d):
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        print(d)
    return stream.getvalue()

def in_a_thread(look):
    found = []
    run(lambda: found.append(look()))
    return found[0]

def named(**given):
    return list(given)

def matched(d):
    match d:
        case {**rest}:
            return list(rest)
"""


def found(tmp_path: Path, body: str, **how: Any) -> Outcomes:
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return outcomes(tmp_path, f"{HEAD}\ndef scenario():\n    said.clear()\n{lines}", **how)


# ---------------------------------------------------------------------- nobody looks

FREE = {
    "d = three({}); return d['a'] + d['b'] + d['c']": (6, 1),
    "d = three({}); return len(d)": (6, 1),
    "d = three({}); assert d": (6, 1),
    "d = three({}); return d == {'a': 'a', 'b': 'b', 'c': 'c'}": (6, 1),
    "d = three({}); return d != {}, 'a' in d, d.get('x'), d.pop('a')": (6, 1),
    "d = three({}); run(lambda: d.pop('a'), lambda: d.pop('b'))": (12, 1),
    "d = {}; run(lambda: d.setdefault('a', 1), lambda: d.update(b=1, c=1), lambda: d.update({'d': 1}))": (6, 1),
    "d = {'a': 1, 'b': 1}; run(lambda: d.pop('a'), lambda: d.__delitem__('b')); return len(d)": (2, 1),
    "d = {'a': 1}; run(lambda: d.pop('a'), lambda: put(d, 'b')); d.clear()": (2, 1),
    "d = defaultdict(list); run(lambda: d['a'].append(1), lambda: d['b'].append(1)); return d['a'], d['b']": (2, 1),
    "d = OrderedDict(a=1, b=1); run(lambda: d.move_to_end('a'), lambda: d.move_to_end('b'))": (2, 1),
    "d = {}; run(lambda: put(d, 'a', []), lambda: put(d, 'b', [])); return d['a'], d['b']": (2, 1),
    "d = {}; run(lambda: put(d, 'a'), lambda: put(d, 'b'), lambda: put({}, len(d)))": (6, 4),
    "d = {}; run(lambda: put(d, 'a'), lambda: put(d, 'b'), lambda: d.get('a'))": (4, 2),
    "d = {}; run(lambda: put(d, 'a', 1), lambda: put(d, 'a', 2), lambda: put(d, 'b')); return d['a']": (6, 2),
    "d = {}; run(lambda: put(d, 'a'), d.clear, lambda: put(d, 'b')); return len(d)": (6, 4),
}
"""Executions before and after."""


@pytest.mark.parametrize("body", FREE)
def test_different_keys_commute_while_nobody_looks(body: str, tmp_path: Path) -> None:
    body = "\n".join(body.split("; "))
    before, after = found(tmp_path, body, facts=ALL), found(tmp_path, body)
    assert (before.executions, after.executions) == FREE["; ".join(body.split("\n"))]
    assert before == after


# ---------------------------------------------------------------------- somebody does

LOOKS = [
    *("list(d)", "[*d]", "first(d)", "next(iter(d))", "list(reversed(d))", "[key for key in d]", "(lambda *a: a)(*d)"),
    *("list(d.keys())", "list(d.values())", "[key for key, _ in d.items()]", "next(iter(d.items()))", "list(view)"),
    *("repr(d)", "str(d)", "f'{d}'", "'%s' % d", "'{}'.format(d)", "str(d.keys())", "ascii([d])", "str(KeyError(d))"),
    *("list(d.copy())", "list(dict(d))", "list({**d})", "named(**d)", "list(d | {})", "list({} | d)"),
    "list(d.__or__({}))",
    *("list(copy.copy(d))", "list(copy.deepcopy(d))", "copy.deepcopy([d])", "list(pickle.loads(pickle.dumps(d)))"),
    *("json.dumps(d)", "pprint.pformat(d, sort_dicts=False)", "marshal.dumps(d)", "urllib.parse.urlencode(d)"),
    *("d", "[d]", "(1, {2: d})", "d.popitem()", "matched(d)", "list(types.MappingProxyType(d))", "list(ChainMap(d))"),
    *("max(d, key=lambda key: 0)", "sorted(d, key=lambda key: 0)", "','.join(d)", "list(map(str, d))", "list(zip(d))"),
    *("list(enumerate(d))", "functools.reduce(operator.add, d)", "list(itertools.chain(d))"),
    "list(itertools.islice(d, 1))",
    *("heapq.nlargest(1, d, key=lambda key: 0)", "[*filter(None, d)]", "list(dict.fromkeys(d))", "dict.__repr__(d)"),
    *("OrderedDict(d) == OrderedDict(a='a', b='b')", "list(operator.methodcaller('copy')(d))", "list(bound())"),
    *("namedtuple('N', d)._fields", "[m.name for m in enum.Enum('E', d)]", "gc.get_referents(d)", "list(vars()['d'])"),
    *("logged(d)", "printed(d)", "list(sys._getframe().f_locals['d'])", "in_a_thread(lambda: list(d))"),
    *("list(functools.partial(named, **d)())", "eval('list(d)')", "in_a_thread(lambda: namedtuple('N', d)._fields)"),
    *("list(Counter(d))", "list(UserDict(d))", "in_a_thread(lambda: str(d))", "list(type('C', (), d).__dict__)[:2]"),
]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_each_look_at_the_order_shows_both(look: str, tmp_path: Path) -> None:
    seen = found(tmp_path, f"d = {{}}\nview = d.keys()\nbound = d.__iter__\ntwo(d)\nreturn {look}")
    assert (seen.executions, len(seen)) == (2, 2)


OTHERS = {
    "an OrderedDict that is compared": "return two(OrderedDict()) == OrderedDict(a='a', b='b')",
    "values with an __eq__": "two({}) == {'a': Box('a'), 'b': Box('b')}\nreturn list(said)",
    "a key that is compared with each": "two({}, -1, -2).get(Equal())\nreturn list(said)",
    "text that nobody sees": "d = {}\nrun(lambda: put(d, 'a', Box('a')), lambda: put(d, 'b', Box('b')))\nprint(d)\n"
    "return list(said)",
    "values that die when all threads have ended": "d = {}\nrun(lambda: put(d, 'a', Dying('a')),"
    " lambda: put(d, 'b', Dying('b')))\nd.clear()\nreturn list(said)",
    "values that die before": "d = {}\nrun(lambda: put(d, 'a', Dying('a')), lambda: put(d, 'b', Dying('b')), d.clear)\n"
    "return list(said)",
    "an exception": "raise KeyError(two({}))",
    "a failed assertion": "d = two({})\nassert not d, d",
    "a look in one case": "d = {}\nrun(lambda: put(d, 'a', 1), lambda: put(d, 'a', 2), lambda: put(d, 'b'))\n"
    "if d['a'] == 2:\n    return list(d)",
    "a deletion and an insertion": "d = {'a': 1, 'b': 1}\nrun(lambda: put(d, 'a', d.pop('a')),"
    " lambda: put(d, 'b', d.pop('b')))\nreturn list(d)",
    "move_to_end": "d = OrderedDict(a=1, b=1)\nrun(lambda: d.move_to_end('a'), lambda: d.move_to_end('b'))\n"
    "return list(d)",
    "a second dict": "d, e = {}, {}\ntwo(d)\ne.update(d)\nreturn list(e)",
    "threads that start later": "d = two({})\nreturn in_a_thread(lambda: in_a_thread(lambda: list(d)))",
    "a pool": "d = {}\nwith ThreadPoolExecutor(2) as pool:\n    pool.submit(put, d, 'a')\n"
    "    pool.submit(put, d, 'b')\nreturn list(d)",
    "fields": "box = Box(1)\nrun(lambda: setattr(box, 'a', 1), lambda: put(box.__dict__, 'b'))\nreturn list(vars(box))",
    "fields that were a dict": "box = Box(1)\nbox.__dict__ = {}\n"
    "run(lambda: setattr(box, 'a', 1), lambda: setattr(box, 'b', 1))\nreturn list(vars(box))",
    "a WeakValueDictionary": "a, b, m = Dying('a'), Dying('b'), weakref.WeakValueDictionary()\n"
    "run(lambda: put(m, 'a', a), lambda: put(m, 'b', b))\nreturn list(m)",
    "a Counter": "m = Counter()\nrun(lambda: put(m, 'a', 1), lambda: put(m, 'b', 1))\nreturn m.most_common()",
    "a function that is looked up before threads start": "return namedtuple('N', two({}))._fields",
    "a UserDict": "return repr(two(UserDict()))",
}  # fmt: skip


@pytest.mark.parametrize("what", OTHERS)
def test_what_shows_the_order_by_the_way(what: str, tmp_path: Path) -> None:
    body = OTHERS[what]
    seen = found(tmp_path, body)
    assert len(seen) > 1
    assert seen == found(tmp_path, body, facts=ALL)


def test_a_search_that_stores_states_keeps_the_order(tmp_path: Path) -> None:
    assert len(found(tmp_path, "return list(two({}))", strategy="dpor")) == 2


KEEPING = """
kept = []

def keep(d):
    kept.append(d)

def first():
    return next(iter(kept[0]))
"""

KEPT = """
import threading
import keeping

def scenario():
    d = {}
    keeping.keep(d)
    def put(key):
        d[key] = 1
    threads = [threading.Thread(target=put, args=key) for key in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = keeping.first()
    # more
    assert first == "a"
"""


@pytest.mark.parametrize("more", ["pass", "threading.Thread(target=put, args='c').start()"])
def test_code_without_hooks_may_look_at_what_it_has_kept(more: str, installed: Callable[..., str]) -> None:
    assert dpor.check(installed(KEPT.replace("# more", more), keeping=KEEPING)).verdict is Verdict.FAIL


def test_trusted_code_may_look_too(installed: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    target = installed(KEPT, keeping=KEEPING)
    assert dpor.check(target, trust=("keeping",)).verdict is Verdict.FAIL
    monkeypatch.setattr(unknown.key_order, "may_look", nothing)
    assert dpor.check(target, trust=("keeping",)).verdict is Verdict.PASS


# ---------------------------------------------------------------------- planted mistakes


def nothing(*_: object) -> None:
    pass


def never(*_: object) -> bool:
    return False


MISTAKES: dict[str, tuple[Any, str, Any, str]] = {
    "looks are not noted": (key_order, "note_look", nothing, "return list(two({}))"),
    "the last thread is not watched": (Layers, "is_to_be_watched", staticmethod(never), "return list(two({}))"),
    "objects that die are forgotten": (
        key_order.deaths, "any_mortal", never, OTHERS["values that die when all threads have ended"],
    ),
    "code without hooks looks at nothing": (
        unknown.key_order, "may_look", nothing, "return namedtuple('N', two({}))._fields",
    ),
    "every comparison goes in any order": (
        dicts, "_compares_in_any_order", lambda value: True, OTHERS["an OrderedDict that is compared"],
    ),
    "values are not called when they are compared": (
        dicts, "has_plain_items", lambda value: True, OTHERS["values with an __eq__"],
    ),
    "text that nobody sees calls nothing": (objects, "_looks_to_show", nothing, OTHERS["text that nobody sees"]),
    "keys that call code are looked up at once": (
        dicts, "reads_all", dicts._reads_all_at_once, OTHERS["a key that is compared with each"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_condition_is_needed(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, wrong, body = MISTAKES[mistake]
    right = found(tmp_path, body)
    monkeypatch.setattr(owner, name, wrong)
    assert right - found(tmp_path, body)


def test_calls_that_cannot_be_seen_must_be_noted(
    installed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Layers, "may_have_looked", staticmethod(nothing))
    assert dpor.check(installed(KEPT, keeping=KEEPING)).verdict is not Verdict.FAIL


@pytest.mark.parametrize("act", ["d[k] = 1", "d.setdefault(k, 1)", "d.pop(k, None)", "d.update({k: 1})", "d |= {k: 1}"])
def test_a_key_is_compared_with_those_of_equal_hash_in_their_order(act: str, tmp_path: Path) -> None:
    source = f"""
    class Key:
        def __init__(self):
            self.seen = []
        def __hash__(self):
            return -2  # as -1 and -2 have
        def __eq__(self, other):
            self.seen.append(other)
            return False

    def scenario():
        d, k = {{}}, Key()
        run(lambda: d.update({{-1: 1}}), lambda: d.update({{-2: 1}}))
        {act}
        return k.seen[0]
    """
    assert outcomes(tmp_path, source) == {-1, -2}
