"""Before each run the program's modules are executed again. What an earlier execution has left where both find it, in
classes in C, in drop-ins, in abstract classes and in `sys.modules`, must not be there then: ZODB could not be checked,
as zope.interface found declarations of its own older classes."""

from __future__ import annotations

import gc
import importlib.util
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import dpor
from dpor.python.program.leftovers import Library
from dpor.python.sharing import host_fields

DECLARE = """
class Declaration:
    pass

def declare(kind):
    found = vars(kind).get("declaration")
    assert found is None or isinstance(found, Declaration), f"one of an earlier execution in {kind}"
    if found is None:
        kind.declaration = Declaration()

seen = {}

def note(n):
    seen[n] = seen.get(n, 0) + 1
"""
DECLARED = """
import sys
from abc import _get_dump
from collections.abc import Set, Sized
from types import ModuleType

import declare
from declared import _speedups

made = sys.modules["declared.made"] = ModuleType("declared.made")

class Made:
    pass

Made.__module__ = "declared.made"
made.Made = Made
Set.register(Made)
declare.declare(Sized)
for reference in _get_dump(Set)[0]:
    kind = reference()
    if kind is not None and kind.__module__ == "declared.made":
        declare.declare(kind)
"""
PROGRAM = """
import sys
import threading

import declare
import declared

declare.declare(threading.local)
declare.declare(threading.Thread)

def scenario():
    assert sys.modules["declared.made"].Made.declaration
    threads = [threading.Thread(target=declare.note, args=(0,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert declare.seen[0] in (1, 2)
"""


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_nothing_of_an_earlier_execution_is_left(tmp_path: Path, installed: Callable[..., str], strategy: str) -> None:
    target = installed(PROGRAM, declare=DECLARE)
    package = tmp_path / "installed" / "declared"
    package.mkdir()
    (package / "__init__.py").write_text(DECLARED)
    part_in_c = importlib.util.find_spec("markupsafe._speedups")
    assert part_in_c is not None
    assert part_in_c.origin is not None
    shutil.copy(part_in_c.origin, package)
    report = dpor.check(target, strategy=strategy)
    assert report.verdict == "pass", report.reasons


def test_classes_in_c_lose_what_goes() -> None:
    class InC:
        pass

    module, going = ModuleType("in_c"), ModuleType("going")
    module.InC = InC  # type: ignore[attr-defined]
    library = Library()
    library.remember_classes(module)
    kind = type("Kind", (), {"__module__": "going"})  # the module has been emptied
    InC.kept = object()  # type: ignore[attr-defined]
    InC.mark = kind()  # type: ignore[attr-defined]
    library.restore([going])
    assert hasattr(InC, "kept")
    assert not hasattr(InC, "mark")


def test_an_attribute_of_a_static_class_is_deleted_without_asking_the_metaclass() -> None:
    (names,) = gc.get_referents(vars(zlib.error.__mro__[-1]))  # those of `object`
    names["stored_by_a_metaclass_in_c"] = 1
    host_fields.store(object, "stored_by_a_metaclass_in_c", host_fields.ABSENT)
    assert not hasattr(object, "stored_by_a_metaclass_in_c")


CALLING = """
import threading
import zlib

def scenario():
    done = []
    threads = [threading.Thread(target=lambda: done.append(zlib.adler32(b"a"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {zlib.adler32: 1}
    assert len(done) == 2 and names[zlib.adler32]
"""


@pytest.mark.parametrize("said", [zlib, None, [], 5])
def test_a_function_in_c_may_say_anything_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: object
) -> None:
    monkeypatch.setattr(zlib.adler32, "__module__", said)
    (tmp_path / "program.py").write_text(CALLING)
    assert dpor.check(f"{tmp_path}/program.py::scenario").verdict == "pass"


MISSING = """
import threading
import trusted

def scenario():
    thing = trusted.Thing()
    found = []
    def work(n):
        found.append(getattr(thing, "missing", n))
        assert not hasattr(thing, "missing")
        try:
            getattr(thing, "missing")
        except AttributeError:
            pass
        thing.n += 1
    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 1]
"""
TRUSTED = """
class Thing:
    n = 0

    @property
    def missing(self):
        raise AttributeError("missing")
"""


def test_code_without_hooks_may_find_no_attribute(installed: Callable[..., str]) -> None:
    report = dpor.check(installed(MISSING, trusted=TRUSTED), trust=("trusted",))
    assert report.verdict == "pass", report.findings


REGISTRY = """
known = {}
hits = {}

def register(name, value):
    known[name] = value

def use(name):
    hits[name] = hits.get(name, 0) + 1
    return known[name]
"""
USING = """
import threading
import plugin
import registry

def scenario():
    def work():
        assert registry.use("a") == 5
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry.hits["a"] in (1, 2)
"""


@pytest.mark.parametrize(
    "plugin", ["import registry\nregistry.register('a', 5)", "from registry import known\nknown['a'] = 5"]
)
def test_plugins_register_themselves_before_each_run(installed: Callable[..., str], plugin: str) -> None:
    report = dpor.check(installed(USING, registry=REGISTRY, plugin=plugin), strategy="optimal")
    assert (report.verdict, report.executions) == ("pass", 4), report.findings
