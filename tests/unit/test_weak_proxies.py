"""An operation on a weak proxy is the operation on its object, for threads and for results."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source_outcomes import outcomes

CLASSES = """\
import weakref
class Plain:
    def __init__(self): self.n = 0
    def bump(self): self.n += 1
class Rich(Plain):
    __hash__ = None
    def __len__(self): return 3
    def __bool__(self): return False
    def __iter__(self): return iter('abc')
    def __contains__(self, x): return x == 'a'
    def __getitem__(self, key): return key, 'got'
    def __call__(self, *args): return args
    def __add__(self, other): return 'add', other
    def __radd__(self, other): return 'radd', other
    def __iadd__(self, other): return 'iadd', other
    def __neg__(self): return 'neg'
    def __pow__(self, *others): return 'pow', others
    def __divmod__(self, other): return 'divmod', other
    def __eq__(self, other): return type(other).__name__
    def __lt__(self, other): return type(other).__name__
    def __str__(self): return 'text'
    def __int__(self): return 7
class Items(dict): pass
"""

RACES = {
    "a field": ("Plain()", "p.n += 1", "c.n", {"1", "2"}),
    "a method": ("Plain()", "p.bump()", "c.n", {"1", "2"}),
    "a bound method": ("Plain()", "bump = p.bump; bump()", "c.n", {"1", "2"}),
    "setattr": ("Plain()", "setattr(p, 'n', getattr(p, 'n') + 1)", "p.n", {"1", "2"}),
    "an item": ("Items(a=0)", "p['a'] = p['a'] + 1", "p['a']", {"1", "2"}),
    "one step": ("Items(a=0)", "p.update(a=1)", "sorted(p.items())", {"[('a', 1)]"}),
}


@pytest.mark.parametrize("name", RACES)
def test_threads_meet_at_the_object(tmp_path: Path, name: str) -> None:
    made, act, result, wanted = RACES[name]
    source = (
        f"{CLASSES}def scenario():\n    c = {made}\n    p = weakref.proxy(c)\n    def act():\n        {act}\n"
        f"    run(act, act)\n    return repr({result})\n"
    )
    found = outcomes(tmp_path, source)
    assert not found.incomplete
    assert found == wanted


OPERATIONS = [
    "len(p)", "bool(p)", "[*p]", "list(p)", "'a' in p", "'b' in p", "p[5]", "p(1, 2)", "p + 1", "1 + p",
    "p + p is None", "-p", "p ** 2", "pow(p, 2, 3)", "divmod(p, 4)", "p == p", "p < 1", "str(p)", "int(p)",
    "f'{p}'", "p.n",
    "isinstance(p, Rich)", "p.__class__.__name__", "hasattr(p, 'nothing')", "repr(p)[:11]", "sum([1], p)",
    "repr(weakref.proxy(Plain()))[:10]", "weakref.proxy(3)", "hash(p)",
    "max([p, p], key=len) is p",
    "dir(p) == dir(c)",
]  # fmt: skip


def test_each_operation_is_that_of_cpython(tmp_path: Path) -> None:
    given: dict[str, object] = {}
    exec(f"{CLASSES}c = Rich()\np = weakref.proxy(c)\n{LOOK}", given)
    source = (
        f"{CLASSES}{LOOK}def scenario():\n    c = Rich()\n    p = weakref.proxy(c)\n    seen = []\n"
        "    def act():\n        names = dict(globals(), c=c, p=p)\n"
        f"        seen.extend(look(text, names) for text in {OPERATIONS!r})\n"
        "    run(act)\n    return repr(seen)\n"
    )
    wanted = [given["look"](text, dict(given)) for text in OPERATIONS]  # type: ignore[operator]
    assert outcomes(tmp_path, source) == {repr(wanted)}


LOOK = """\
def look(text, names):
    try:
        return repr(eval(text, names))
    except Exception as error:
        return type(error).__name__
"""


def test_the_callback_gets_the_proxy(tmp_path: Path) -> None:
    source = (
        CLASSES
        + """
def scenario():
    c, seen = Plain(), []
    p = weakref.proxy(c, lambda q: seen.append(q is p))
    run(lambda: seen.append(p.n))
    del c
    try:
        p.n
    except ReferenceError as error:
        seen.append(str(error))
    return repr(seen)
"""
    )
    assert outcomes(tmp_path, source) == {"[0, True, 'weakly-referenced object no longer exists']"}
