"""What becomes of the modules of the standard library that a program uses."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

import dpor
from dpor.python.dropins import stdlib
from dpor.python.kernel.library import CONSTANT, MODELLED


def test_the_modelled_modules_are_those_with_a_drop_in() -> None:
    assert {name.partition(".")[0] for name in stdlib._MAKERS} == MODELLED


@pytest.mark.parametrize("name", sorted(CONSTANT))
def test_what_is_instrumented_on_demand_is_in_python(name: str) -> None:
    module = __import__(name)
    assert name in sys.stdlib_module_names
    assert str(module.__file__).endswith(".py")


@pytest.mark.parametrize("name", ["threading", "functools", "concurrent.futures"])
def test_a_modelled_module_is_not_instrumented(name: str) -> None:
    with pytest.raises(dpor.UserError, match=f"--instrument {name}: programs get a model of this module"):
        dpor.check(lambda: None, instrument=(name,))


USES = {
    "collections.Counter": ("collections.Counter()", "{}.update('ab')", "{}.most_common(1)"),
    "collections.UserDict": ("collections.UserDict(a=0)", "{}.update(a=1)", "{}.get('a')"),
    "collections.ChainMap": ("collections.ChainMap({{}}, {{'a': 1}})", "{}.__setitem__('a', 2)", "{}['a']"),
    "configparser": ("configured()", "{}.set('s', 'x', '2')", "{}['s'].get('x')"),
    "contextlib": ("contextlib.ExitStack()", "{}.callback(print)", "{}.callback(len, ())"),
    "copy": ("[1, [2]]", "{}.append(3)", "copy.deepcopy({})"),
    "functools": ("[Ordered(1), Ordered(2)]", "setattr({}[0], 'n', 3)", "{0}[0] > {0}[1]"),
    "graphlib": ("graphlib.TopologicalSorter()", "{}.add(1, 2)", "{}.add(2, 3)"),
    "json": ("{{'a': [1]}}", "{}['a'].append(2)", "json.dumps({})"),
    "pprint": ("{{'a': [1]}}", "{}['a'].append(2)", "pprint.pformat({})"),
    "statistics": ("[1, 2]", "{}.append(3)", "statistics.mean({})"),
    "string": ("{{'x': 1}}", "{}.__setitem__('x', 2)", "string.Template('$x').substitute({})"),
}
"""An object that threads share, and what two of them do with it, in Python code of the library."""

PROGRAM = """
import collections, configparser, contextlib, copy, functools, graphlib, json, pprint, statistics, string
import threading, weakref

@functools.total_ordering
class Ordered:
    def __init__(self, n): self.n = n
    def __lt__(self, other): return self.n < other.n
    def __eq__(self, other): return self.n == other.n
    __hash__ = None

def configured():
    parser = configparser.ConfigParser()
    parser["s"] = {{"x": "1"}}
    return parser

def program():
    shared = {make}
    seen = []
    def first(): {first}
    def second(): seen.append({second})
    threads = [threading.Thread(target=f) for f in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen
"""


@pytest.mark.parametrize("name", USES)
def test_uses_of_the_library_are_covered(tmp_path: Path, name: str) -> None:
    make, first, second = (text.format("shared") for text in USES[name])
    file = tmp_path / f"uses_{name.replace('.', '_')}.py"
    file.write_text(PROGRAM.format(make=make, first=first, second=second))
    report = dpor.check(f"{file}::program", all=True, max_seconds=60)
    assert report.exhaustive, report.reasons
    assert report.executions > 1


def test_what_another_module_defines_is_instrumented_with_it(tmp_path: Path) -> None:
    file = tmp_path / "subscribers.py"
    file.write_text(PROGRAM.format(make="weakref.WeakSet()", first="shared.add(first)", second="len(shared)"))
    report = dpor.check(f"{file}::program", all=True)
    assert report.executions > 1
    assert not report.reasons


CATCHING = """
import json, sys, threading

def program():
    shared = {"a": 0}
    read = sys.modules["json_reader_of_the_host"].read

    def dump():
        json.dumps(shared)
        try:
            read("")
        except json.JSONDecodeError:
            return

    threads = [threading.Thread(target=f) for f in (dump, lambda: shared.update(a=1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_a_program_catches_what_the_library_raises_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = types.ModuleType("json_reader_of_the_host")
    exec("import json\ndef read(text): return json.loads(text)", vars(reader))
    monkeypatch.setitem(sys.modules, reader.__name__, reader)
    file = tmp_path / "catching.py"
    file.write_text(CATCHING)
    report = dpor.check(f"{file}::program")
    assert report.verdict == "pass", report.findings
    assert any("json is instrumented" in reason for reason in report.restarts)


def test_what_others_have_imported_of_a_package_is_there_when_it_is_instrumented() -> None:
    def program() -> None:
        import collections
        import threading

        counts = collections.UserDict({"a": 0})
        assert isinstance(counts, collections.abc.Mapping)

        def count() -> None:
            counts["a"] += 1

        threads = [threading.Thread(target=count) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counts["a"] == 2

    (failure,) = dpor.check(program).findings
    assert failure.message == "AssertionError"


WITHIN = {
    "a shared dict in a UserDict of one thread": (
        "u = collections.UserDict(); u.data = shared; u['x'] = 2",
        "(shared['x'], shared['x'])",
    ),
    "what an ExitStack of one thread calls": (
        "with contextlib.ExitStack() as s: s.callback(functools.partial(shared.__setitem__, 'x', 2))",
        "(shared['x'], shared['x'])",
    ),
}
"""What one thread does, by way of an object of its own, to what another looks at twice."""


@pytest.mark.parametrize("name", WITHIN)
def test_objects_of_one_thread_may_lead_to_shared_ones(tmp_path: Path, name: str) -> None:
    first, second = WITHIN[name]
    file = tmp_path / "within.py"
    file.write_text(PROGRAM.format(make="{'x': 1}", first=f"\n            {first}", second=second))
    report = dpor.check(f"{file}::program", all=True)
    assert report.outcomes == 3, report.outcome_digests
