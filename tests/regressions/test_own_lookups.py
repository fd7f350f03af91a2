"""Classes that say themselves what a look-up finds: hooks must neither go round it nor ask it unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from dpor.python.specs.frozen_values import freeze
from tests.regressions.test_runtime import results


@pytest.mark.parametrize("look_up", ["object.__getattribute__(self, name)", "super().__getattribute__(name)"])
def test_methods_in_c_found_by_it_are_operations_and_it_is_asked_once(look_up: str, tmp_path: Path) -> None:
    source = f"""
class Asked(list):
    times = 0
    def __getattribute__(self, name):
        if name == "append":
            Asked.times += 1
        return {look_up}

def scenario():
    Asked.times = 0
    x = Asked()
    seen = []
    run(lambda: seen.append((len(x), len(x))), lambda: x.append(1))
    return seen, Asked.times
"""
    expected = [((0, 0), 1), ((0, 1), 1), ((1, 1), 1)]
    assert results(source, tmp_path, "optimal") == {freeze(([lengths], times)) for lengths, times in expected}


def test_functions_found_by_it_may_be_others(tmp_path: Path) -> None:
    """It went round for ever."""
    source = """
import textwrap
class Found:
    wrap = textwrap.shorten
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)
    def __str__(self):
        return "a word"

def scenario():
    x = Found()
    run(lambda: x.wrap, lambda: setattr(x, "y", 1))
    return type(x).wrap("a  b", 9)
"""
    assert results(source, tmp_path, "optimal") == {freeze("a b")}


def test_hooks_do_not_ask_an_object_for_its_class(tmp_path: Path) -> None:
    source = """
class Asked:
    times = 0
    @property
    def __class__(self):
        Asked.times += 1
        return Asked

def scenario():
    Asked.times = 0
    x, y = Asked(), {}
    def body():
        x.z = 1
        y[x] = [x, (x,)]
        object.__setattr__(x, "__dict__", {})
        f"{[x]}", x in y, [x].index(x), sorted([x], key=id), max([x], key=id), vars(x), str({1: x}), x == x
    run(body)
    return Asked.times
"""
    assert results(source, tmp_path, "optimal") == {freeze(0)}


@pytest.mark.parametrize(
    "hostile",
    [
        "def __getattribute__(self, name): raise RuntimeError(name)",
        "__class__ = property(lambda self: 1 / 0)",
        "def __getattr__(self, name): raise RuntimeError(name)",
    ],
)
@pytest.mark.parametrize("where", ["module", "class", "closure"])
def test_objects_that_answer_no_look_up_are_not_asked(hostile: str, where: str, tmp_path: Path) -> None:
    source = f"""
class Lazy:
    {hostile}

settings = Lazy() if {where == "module"} else None

class Holds:
    settings = Lazy() if {where == "class"} else None

def scenario():
    here = Lazy() if {where == "closure"} else None
    seen = []
    run(lambda: seen.append(settings is None or here), lambda: seen.append(Holds))
    return len(seen)
"""
    assert results(source, tmp_path, "optimal") == {freeze(2)}


@pytest.mark.parametrize("base", ["dict", "list", "tuple", "bytes", "str", "int", "collections.deque", "io.StringIO"])
def test_the_class_of_an_object_is_called_by_its_name(base: str, tmp_path: Path) -> None:
    source = f"""
import collections, io

class Kind({base}):
    def again(self):
        return self.__class__()

def scenario():
    made, seen = Kind(), []
    run(lambda: seen.append(type(made.again())), lambda: seen.append(made.__class__().again().__class__))
    return seen == [Kind, Kind]
"""
    assert results(source, tmp_path, "optimal") == {freeze(True)}


@pytest.mark.parametrize("base", ["object", "property"])
def test_code_without_hooks_that_a_look_up_calls_gets_hooks(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the cached properties of boltons and werkzeug: what they store was not seen, so that nothing was to be
    interleaved."""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "cached_lib.py").write_text(
        f"""
class Cached({base}):
    def __init__(self, make):
        {"super().__init__(make)" if base == "property" else "pass"}
        self.make, self.name = make, make.__name__

    def __get__(self, obj, kind=None):
        found = obj.__dict__.get(self.name)
        if found is None:
            found = obj.__dict__[self.name] = self.make(obj)
        return found
"""
    )
    monkeypatch.syspath_prepend(str(installed))
    program = tmp_path / "program.py"
    program.write_text(
        """
import threading
import cached_lib

def scenario():
    made = []

    class Box:
        @cached_lib.Cached
        def value(self):
            made.append(1)
            return made

    box = Box()
    threads = [threading.Thread(target=lambda: box.value) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1], "made twice"
"""
    )
    report = dpor.check(f"{program}::scenario")
    assert [finding.message for finding in report.findings] == ["AssertionError: made twice"], report.reasons
