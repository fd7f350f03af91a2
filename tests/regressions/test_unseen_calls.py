"""Functions of a package that C code, modules without hooks, decorators and `raise` call: whatever leads there, the
package is instrumented."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpor
from dpor.python.program import unseen_calls
from dpor.python.program.unseen_calls import is_to_be_watched

LIBRARY = """
count = [0]

def bump(*given):
    value = count[0]
    count[0] = value + 1
    return value

def decorator(function):
    bump()
    return function

class Error(Exception):
    def __init__(self):
        bump()

class Value:
    @property
    def value(self):
        return bump()
"""

USES = {
    "json": "json.dumps(object(), default=installed_callbacks.bump)",
    "a key": "heapq.nlargest(1, [1], key=installed_callbacks.bump)",
    "a comparison": "sorted([1, 2], key=functools.cmp_to_key(installed_callbacks.bump))",
    "a context": "contextvars.copy_context().run(installed_callbacks.bump)",
    "a factory": "collections.defaultdict(installed_callbacks.bump)[1]",
    "a cache": "functools.lru_cache()(installed_callbacks.bump)(threading.get_ident())",
    "a weak reference": "o = O()\n    r = weakref.ref(o, installed_callbacks.bump)\n    del o",
    "a method wrapper": "installed_callbacks.bump.__call__()",
    "a decorator": "@installed_callbacks.decorator\n    def f(): pass",
    "an exception": "try:\n        raise installed_callbacks.Error\n    except Exception: pass",
    "another class": "o = O()\n    o.__class__ = installed_callbacks.Value\n    o.value",
    "a filter": "logger = logging.Logger('x')\n    logger.addFilter(installed_callbacks.bump)\n    logger.error('x')",
}

PROGRAM = """
import collections, contextvars, functools, heapq, json, logging, threading, weakref
import installed_callbacks

class O: pass

def use():
    {use}

def scenario():
    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert installed_callbacks.count[0] != 1
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("installed")
    (folder / "installed_callbacks.py").write_text(LIBRARY)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("use", USES.values(), ids=[*USES])
def test_a_lost_update_in_a_function_that_others_call_is_found(
    tmp_path: Path, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen_calls, "is_to_be_watched", is_to_be_watched)
    (tmp_path / "program.py").write_text(PROGRAM.format(use=use))
    report = dpor.check(f"{tmp_path}/program.py::scenario")
    assert report.verdict == "fail", report
    assert sys.getprofile() is None


@pytest.mark.usefixtures("installed")
def test_without_watching_calls_it_is_not_found(tmp_path: Path) -> None:
    """So the tests above test that."""
    (tmp_path / "program.py").write_text(PROGRAM.format(use=USES["an exception"]))
    assert dpor.check(f"{tmp_path}/program.py::scenario").verdict == "pass"


BESIDE_THREADS = """
import atexit, threading, weakref
import installed_callbacks

def scenario():
    {use}
    threads = [threading.Thread(target=int) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(installed_callbacks.count) == 1 and installed_callbacks.count[0] == {count}
"""


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("use", "count"),
    [
        ("installed_callbacks.bump()", 1),
        ("atexit.register(installed_callbacks.bump)", 0),
        ("weakref.finalize(installed_callbacks.Value, installed_callbacks.bump)", 0),
    ],
)
def test_what_a_package_changes_beside_threads_is_put_back(
    tmp_path: Path, use: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be counted on from run to run."""
    monkeypatch.setattr(unseen_calls, "is_to_be_watched", is_to_be_watched)
    (tmp_path / "program.py").write_text(BESIDE_THREADS.format(use=use, count=count))
    for _ in range(2):
        report = dpor.check(f"{tmp_path}/program.py::scenario", strategy="none")
        assert report.verdict == "pass", report


def test_the_first_runs_are_watched_and_some_later_ones() -> None:
    assert [number for number in range(40) if is_to_be_watched(number)] == [0, 1, 2, 4, 8, 16, 32]
