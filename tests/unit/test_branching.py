"""A search that was cut names the accesses of which its alternatives are orders."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import dpor
from dpor.app import branching, searching, sharing
from dpor.app.checkpoint import Checkpoint
from dpor.explorers import Optimal
from dpor.model import AbstractSystem
from dpor.report.json import dumps
from dpor.report.text import verdict_lines

COUNTED = """\
import threading

class Stats:
    calls = 0

class Box:
    value = 0

def scenario():
    stats, box = Stats(), Box()
    def work(n):
        for _ in range(3):
            stats.calls += 1
        if n:
            box.value = n
    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert {asserted}
"""


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("counted.py").write_text(COUNTED.format(asserted="box.value"))
    return "counted.py::scenario"


def test_the_counter_that_branches_most_is_named(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "PROGRESS_EVERY", 0.5)
    report = dpor.check(target, strategy="optimal", max_memory=1)
    most = report.branching[0]
    assert (most.operation, most.line, most.source) == ("read Stats.calls", 13, "stats.calls += 1")
    assert most.share > 0.4
    lines = verdict_lines(report)
    what = "read Stats.calls at counted.py:13: stats.calls += 1"
    assert f"  {100 * most.share:.0f} % of the alternatives are orders of: {what}" in lines
    assert "    (leave out what threads need not share, or give each its own)" in lines
    schema = json.loads((Path(dpor.__file__).parent / "report" / "schema.json").read_text())
    jsonschema.validate(json.loads(dumps(report)), schema)


def test_the_default_names_it_though_it_is_cut_while_it_stores_states(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpor.app.stages.DEPTH_FIRST", 5_000)
    monkeypatch.setattr("dpor.app.stages.FEWEST_FIRST", 5_000)
    report = dpor.check(target, max_executions=400)
    assert report.branching[0].operation == "read Stats.calls"


def test_nothing_is_named_if_there_is_a_verdict_or_too_little_is_known(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dpor.check(target, strategy="optimal", max_executions=300).branching == ()  # it would take a run more
    monkeypatch.setattr(branching, "FEWEST", 10**9)
    assert dpor.check(target, strategy="optimal", max_memory=1).branching == ()
    Path("counted.py").write_text(COUNTED.format(asserted="stats.calls > 4"))
    report = dpor.check(target, strategy="optimal")
    assert (report.verdict, report.branching) == ("fail", ())


def test_counts_go_on_where_a_search_is_resumed(target: str) -> None:
    dpor.check(target, strategy="optimal", max_executions=200, checkpoint="kept.json")
    kept = Checkpoint.load("kept.json").results["branching"]
    before = sum(number for _, number in kept)
    assert before > 100
    dpor.resume("kept.json", max_executions=300)
    assert sum(number for _, number in Checkpoint.load("kept.json").results["branching"]) > before


def test_workers_count_too(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpor.app.strategies.hash_seed", lambda: "0")
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setattr(sharing, "AFTER", 300)
    dpor.check(target, strategy="optimal", max_executions=1500, workers=1, checkpoint="kept.json")
    assert sum(number for _, number in Checkpoint.load("kept.json").results["branching"]) > 700


def test_each_branch_is_counted_for_the_location_of_its_race() -> None:
    search = Optimal(AbstractSystem({"vars": {"x": 0, "y": 0}, "threads": [["w x 1", "w y 1"], ["w x 2"], ["r y a"]]}))
    executions = sum(1 for _ in search.explore())
    counts = search.branching
    assert counts.total() == executions - 1
    assert sorted(counts.values()) == [1, 2] or sorted(counts.values()) == [1, 1]
