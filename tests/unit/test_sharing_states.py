"""Several processes share a search that stores states: what they see and count does not depend on how many they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.app.checking import Session
from dpor.core.errors import UserError
from dpor.core.options import Options
from dpor.core.results import Report
from dpor.explorers import SHARING_STATES, shared_graph
from dpor.report.progress import Monitor
from tests.unit.test_sharing import Killing, target

__all__ = ["target"]  # a fixture

CACHE = """\
import threading
from collections import OrderedDict

class Cache:
    def __init__(self):
        self.kept, self.hits, self.lock = OrderedDict(), 0, threading.Lock()

    def get(self, key):
        with self.lock:
            if key in self.kept:
                self.hits += 1
                return self.kept[key]
        value = [key]
        with self.lock:
            self.kept[key] = value
            if len(self.kept) > 2:
                self.kept.popitem(last=False)
        return value

def scenario(most=6):
    cache = Cache()
    def work(number):
        for key in (1, 2):
            cache.get(key + number % 2)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert cache.hits < most, cache.hits
    return sorted(cache.kept), cache.hits

def fails():
    scenario(3)
"""
SEEN = ("verdict", "reasons", "executions", "outcome_digests", "deadlocks", "terminates", "restarts")
COUNTED = ("states", "matched", "choices", "events", "replayed", "blocked")


@pytest.fixture
def cache(target: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(shared_graph, "GRAIN", 4)
    Path("cache.py").write_text(CACHE)
    return "cache.py::scenario"


def told(report: Report, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(report, name) for name in names}


@pytest.mark.parametrize("strategy", SHARING_STATES)
def test_several_processes_have_the_report_of_one(cache: str, strategy: str) -> None:
    one = dpor.check(cache, strategy=strategy)
    two, three = (dpor.check(cache, strategy=strategy, workers=workers) for workers in (2, 3))
    assert told(two, SEEN + COUNTED) == told(three, SEEN + COUNTED)
    assert told(two, SEEN) == told(one, SEEN)
    if strategy == "full":
        assert told(two, ("states", "matched", "choices")) == told(one, ("states", "matched", "choices"))


@pytest.mark.parametrize("strategy", ["full", "dpor"])
def test_the_first_failure_does_not_depend_on_the_number_of_workers(cache: str, strategy: str) -> None:
    found = []
    for workers in (2, 3):
        report = dpor.check("cache.py::fails", strategy=strategy, workers=workers)
        (failure,) = report.findings
        found.append((failure.first_schedule, failure.execution, told(report, SEEN + COUNTED)))
    assert found[0] == found[1]


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker in /proc")
@pytest.mark.parametrize("all_", [False, True])
def test_workers_that_are_killed_cost_their_parts_only(cache: str, all_: bool) -> None:
    monitor = Killing(all_)
    report = Session(cache, Options(strategy="full", workers=2), monitor).run()
    assert monitor.lines
    assert told(report, ("verdict", "states", "matched", "executions")) == told(
        dpor.check(cache, strategy="full"), ("verdict", "states", "matched", "executions")
    )


def test_a_number_of_states_is_a_limit(cache: str) -> None:
    report = dpor.check(cache, strategy="full", workers=2, max_states=2_000)
    assert report.reasons == ("--max-states 2000 reached",)
    assert report.states is not None
    assert report.states > 2_000


def test_a_number_of_executions_is_a_limit(cache: str) -> None:
    report = dpor.check(cache, strategy="full", workers=2, max_executions=3)
    assert (report.executions + report.executions_besides, report.reasons) == (3, ("--max-executions 3 reached",))


def test_one_process_goes_on_if_no_other_can_name_what_states_have(cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    class Hearing(Monitor):
        def say(self, line: str) -> None:
            lines.append(line)

    monkeypatch.setattr("dpor.python.program.system.PythonSystem.states_are_common", lambda system: False)
    assert Session(cache, Options(strategy="dpor", workers=2), Hearing()).run().exhaustive
    assert lines == ["states have something that other processes cannot name: one process goes on alone"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"workers": 2, "store": "choices"}, "--workers needs --store events"),
        ({"cluster": "local"}, "--cluster goes with --strategy optimal, not with full"),
    ],
)
def test_what_cannot_be_shared_is_refused(cache: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        dpor.check(cache, strategy="full", **options)
