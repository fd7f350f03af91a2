"""One search by several processes sees what one process sees, in whatever order parts come back and whoever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import types
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import dpor
from dpor.app import sharing
from dpor.app.checking import Session
from dpor.app.searching import Searching
from dpor.core.errors import UserError
from dpor.core.options import Options, Order
from dpor.explorers import Optimal, jobs, parts
from dpor.explorers.parts import SearchOfPart, SharedTree
from dpor.explorers.preemptions import preemptions
from dpor.explorers.saved_tree import nodes_of
from dpor.model import AbstractSystem
from dpor.report.progress import Monitor
from dpor.testing import ALL, random_program, trace_class
from tests.litmus.test_orders import OUTCOMES_CHANGE, TAKEN_LONG_AGO
from tests.unit.test_checkpoints import CLASSES, COUNTER, command, resumed_to_the_end, summary

FIRST = int(os.environ.get("DPOR_TREES_FIRST", "0"))
PROGRAMS = int(os.environ.get("DPOR_TREES", "40"))

# ---------------------------------------------------------------------- parts of a tree


def shared(system: AbstractSystem, order: Order, random: Random) -> tuple[Counter[object], Any]:
    """The classes of a search of which parts are given away, and come back at random, after a few runs or not at all;
    and its counts."""
    search, seen, runs = Optimal(system, order, 1), Counter[object](), random.randrange(1, 4)
    for _ in search.explore():
        seen[trace_class(search.trace)] += 1
        runs -= 1
        if not runs:
            search.settle()
            break
    tree = SharedTree(search.nodes[0], search.stats, random.choice([0, 3, 10]))
    most, given = random.choice([1, 2, 4, 8]), {}
    while True:
        while len(given) < most and (part := tree.give()) is not None:
            given[part[0]] = json.dumps(part[1])
        if not given:
            assert [*nodes_of(tree.root)] == [tree.root]
            return seen, search.stats
        number = random.choice([*given])
        worker = SearchOfPart(system, order, 1, json.loads(given[number]))
        left, found = random.randrange(1, 6), Counter[object]()
        for _ in worker.explore():
            found[trace_class(worker.trace)] += 1
            left -= 1
            if not left:
                worker.settle()
                break
        if random.random() < 0.2:  # it dies
            continue
        del given[number]
        tree.take(number, json.loads(json.dumps(worker.rest())))
        seen += found
        for name in ("executions", "blocked", "events", "choices"):
            setattr(search.stats, name, getattr(search.stats, name) + getattr(worker.stats, name))
        if random.random() < 0.1:
            tree.settle()  # as before it is written to a file


@pytest.mark.parametrize("order", Order)
def test_a_shared_tree_has_each_class_once(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second tree is soon too large, and so are its parts."""
    specs = [
        TAKEN_LONG_AGO,
        OUTCOMES_CHANGE,
        *[random_program(Random(seed), ALL, interleavings=300) for seed in range(FIRST, FIRST + PROGRAMS)],
    ]
    for seed, spec in enumerate(specs, FIRST):
        monkeypatch.setattr(parts, "LARGE", (400, 6)[seed % 2])
        monkeypatch.setattr(parts, "LOOK_EVERY", (100, 3)[seed % 2])
        monkeypatch.setattr(jobs, "MOST_NODES", (300_000, 20)[seed % 2])
        system = AbstractSystem(spec)
        whole = Optimal(system)
        classes = Counter(trace_class(whole.trace) for _ in whole.explore())
        if len(classes) > 2:
            seen, counts = shared(system, order, Random(seed))
            assert seen == classes, seed
            assert (counts.executions, counts.blocked) == (whole.stats.executions, 0)


# ---------------------------------------------------------------------- processes


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setattr("dpor.app.strategies.hash_seed", lambda: "0")
    monkeypatch.setattr(sharing, "AFTER", 300)
    Path("counter.py").write_text(COUNTER.format(least=2))
    return "counter.py::scenario"


def test_what_makes_workers_has_imported_all_that_they_need_and_not_dask(target: str) -> None:
    code = f"""
import importlib, sys
from contextlib import suppress
from dpor.app.forking import USED
from dpor.core.errors import AssumptionBroken
for module in USED: importlib.import_module(module)
known = set(sys.modules)
from dpor.app.targets import beat_of, open_target
from dpor.core.options import Options
from dpor.explorers import Optimal
beat_of({target!r})
search = Optimal(open_target({target!r}, Options(strategy="optimal")))
with suppress(AssumptionBroken): next(search.explore())
print([name for name in sys.modules.keys() - known if name.startswith("dpor.")])
import dpor
print("distributed" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout == "[]\nFalse\n"


@pytest.mark.parametrize("order", [Order.DEPTH, Order.RANDOM])
def test_two_workers_have_the_report_of_one(target: str, order: Order) -> None:
    options = {"strategy": "optimal", "order": order, "all": True}
    assert summary(dpor.check(target, **options, workers=2)) == summary(dpor.check(target, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("order", Order)
def test_the_first_failure_does_not_depend_on_the_number_of_workers(target: str, order: Order) -> None:
    Path("counter.py").write_text(COUNTER.format(least=3))
    found = []
    for workers in (1, 2, 3):
        report = dpor.check(target, strategy="optimal", workers=workers, order=order)
        (failure,) = report.findings
        found.append((failure.first_schedule, failure.execution, report.executions, report.reasons))
    assert found[0] == found[1] == found[2]


def given(order: Order, seed: int = 0) -> list[tuple[int, int]]:
    """Preemptions and depth of the parts of a tree, in the order in which they are given away: first a few, of each of
    which one run is made, then all others."""
    system = AbstractSystem({"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 3] * 3})
    search = Optimal(system)
    next(search.explore())
    search.settle()
    tree = SharedTree(search.nodes[0], search.stats, 0, order, seed)
    found = []
    for number in range(200):
        if (part := tree.give()) is None:
            break
        worker = SearchOfPart(system, order, 0, part[1])
        if number < 60:
            next(worker.explore())
            worker.settle()
            tree.take(part[0], worker.rest())
        else:
            found.append((preemptions(worker.part), worker.part.depth))
    return found


def test_parts_are_given_away_in_the_order_of_the_search() -> None:
    fewest, nearest = given(Order.PREEMPTIONS), given(Order.DEPTH)
    assert fewest == sorted(fewest)
    assert nearest != sorted(nearest)
    assert [depth for _, depth in nearest] == sorted(depth for _, depth in nearest)
    assert given(Order.RANDOM, 1) == given(Order.RANDOM, 1) != given(Order.RANDOM, 2)


def test_the_default_search_is_shared(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpor.app.stages.DEPTH_FIRST", 300)
    monkeypatch.setattr("dpor.app.stages.FEWEST_FIRST", 300)
    report = dpor.check(target, workers="auto")
    assert (report.executions, report.strategy, report.exhaustive) == (CLASSES, "optimal", True)


def test_an_abstract_program_is_shared(target: str) -> None:
    program = {"name": "p", "spec": {"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 3] * 2}}
    Path("p.json").write_text(json.dumps(program))
    assert dpor.check("p.json", strategy="optimal", workers=2).executions == 328


def children_of(process: int) -> list[int]:
    """The processes that search, or the one that makes them."""
    found = []
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        for child in tasks.read_text().split():
            command = Path(f"/proc/{child}/cmdline")
            if command.exists() and "dpor.app.forking" in command.read_text():
                found.append(int(child))
    return found


class Killing(Monitor):
    """Kills a worker as soon as there is one, or with all of them what makes them."""

    def __init__(self, all_: bool) -> None:
        self.lines: list[str] = []
        self._all = all_
        self._killed = False

    def progress(self, progress: object) -> None:
        for server in children_of(os.getpid()):
            for worker in children_of(server)[:1]:
                if not self._killed:
                    self._killed = True
                    os.kill(server if self._all else worker, signal.SIGKILL)

    def say(self, line: str) -> None:
        self.lines.append(line)


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker in /proc")
@pytest.mark.parametrize("all_", [False, True])
def test_workers_that_are_killed_cost_their_parts_only(target: str, all_: bool) -> None:
    Path("counter.py").write_text(COUNTER.format(least=2).replace("range(3)", "range(4)"))
    monitor = Killing(all_)
    report = Session(target, Options(strategy="optimal", workers=2), monitor).run()
    assert (report.executions, report.exhaustive) == (3334, True)
    ended = "a worker has ended (SIGKILL)"
    told = {ended, f"{ended}; another one searches its part again"}  # it has a part, or none just then
    if all_:  # a part may have been with one after the other
        told.add("the same part of the search has ended 2 workers (SIGKILL): one process goes on alone")
    assert set(monitor.lines) <= told
    assert len(monitor.lines) in ((1, 2) if all_ else (1,))


LATE = """\
import os, threading
class C: a = b = 0
def scenario():
    c = C()
    def work():
        for _ in range(2):
            c.a += 1
    def look():
        if c.a == 1:
            {then}
    threads = [threading.Thread(target=t) for t in (work, work, look)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return c.a, c.b
"""


def test_a_fact_that_a_worker_learns_starts_all_again(target: str) -> None:
    Path("late.py").write_text(LATE.format(then="c.b = c.b + 1"))
    whole = dpor.check("late.py::scenario", strategy="optimal")
    report = dpor.check("late.py::scenario", strategy="optimal", workers=2)
    assert len(whole.restarts) == 2
    assert summary(report) == summary(whole)
    assert report.restarts == whole.restarts


def test_a_program_that_ends_its_workers_is_searched_by_one_process(target: str) -> None:
    Path("late.py").write_text(
        f"import ctypes, os\nWORKS = os.getpid() != {os.getpid()}\n"
        + LATE.format(then="ctypes.string_at(0) if WORKS else None")
    )
    lines: list[str] = []

    class Hearing(Monitor):
        def say(self, line: str) -> None:
            lines.append(line)

    report = Session("late.py::scenario", Options(strategy="optimal", workers=2), Hearing()).run()
    assert lines[-1].startswith("the same part of the search has ended 2 workers (SIGSEGV)")
    assert report.executions == dpor.check("late.py::scenario", strategy="optimal").executions


def test_a_shared_search_is_cut_and_resumed(target: str) -> None:
    Path("counter.py").write_text(COUNTER.format(least=2).replace("range(3)", "range(4)"))

    class Impatient(Monitor):
        """Ctrl-C, a little later each time."""

        interruptible, seen = True, 0

        def progress(self, progress: object) -> None:
            self.seen += 1
            self.stops = int(self.seen > 8)

    options = Options(strategy="optimal", workers=2, checkpoint="kept.json")
    report = Session(target, options, Impatient()).run()
    assert (report.reasons, report.checkpoint) == (("interrupted",), "kept.json")
    assert report.executions < 3334
    report = dpor.resume("kept.json", workers=2)
    assert (report.executions, report.exhaustive) == (3334, True)


def test_a_shared_search_ends_with_its_time(target: str) -> None:
    Path("counter.py").write_text(COUNTER.format(least=2).replace("range(3)", "range(9)"))
    begun = time.monotonic()
    report = dpor.check(target, strategy="optimal", workers=2, max_seconds=2, checkpoint="kept.json")
    assert time.monotonic() - begun < 8
    assert any("--max-seconds 2 reached" in reason for reason in report.reasons)
    assert Path("kept.json").exists()


def of_workers() -> list[str]:
    """The processes that search, and the one that makes them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_text()
            if "dpor.app.forking" in line and os.readlink(process / "cwd") == os.getcwd():
                found.append(process.name)
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_the_search(target: str, how: signal.Signals) -> None:
    Path("counter.py").write_text(COUNTER.format(least=2).replace("range(3)", "range(9)"))
    process: subprocess.Popen[str] = command("check", target, "--strategy", "optimal", "--workers", "2")
    end = time.monotonic() + 30
    while len(of_workers()) < 3 and time.monotonic() < end:
        time.sleep(0.1)
    assert len(of_workers()) == 3
    process.send_signal(how)
    process.communicate(timeout=30)
    end = time.monotonic() + 15
    while of_workers() and time.monotonic() < end:
        time.sleep(0.1)
    assert of_workers() == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"strategy": "source"}, "--workers goes with --strategy optimal or .*, not with source"),
        ({"preemptions": 1}, "--workers goes with --strategy optimal or .*, not with classic"),
        ({"workers": 0}, "workers must be a number from 1 to 16, or auto, not 0"),
        ({"workers": "many"}, "workers must be a number from 1 to 16, or auto, not 'many'"),
    ],
)
def test_what_cannot_be_shared_is_refused(target: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        dpor.check(target, **{"workers": 2, **options})


def test_hashes_must_be_the_same(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpor.app.strategies.hash_seed", lambda: None)
    with pytest.raises(UserError, match="set PYTHONHASHSEED"):
        dpor.check(target, workers=2)


def test_a_function_of_a_module_is_shared(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("counter")
    module.__file__ = os.path.abspath("counter.py")
    exec(compile(Path("counter.py").read_text(), module.__file__, "exec"), vars(module))
    with pytest.raises(UserError, match="other processes cannot search this target"):
        Session(module.scenario, Options(workers=2))
    monkeypatch.setitem(sys.modules, "counter", module)
    report = dpor.check(module.scenario, strategy="optimal", workers=2)
    assert (report.target, report.executions, report.exhaustive) == (target, CLASSES, True)


def test_a_function_that_has_no_name_is_not_shared() -> None:
    with pytest.raises(UserError, match="other processes cannot search this target"):
        Session(lambda: None, Options(workers=2))


def test_a_budget_of_executions_is_shared(target: str) -> None:
    """It ends after exactly so many; for any number of workers from two on, they are the same."""
    most = 200
    reports = [dpor.check(target, strategy="optimal", workers=n, max_executions=most, checkpoint="f") for n in (2, 3)]
    assert summary(reports[0]) == summary(reports[1])
    assert reports[0].executions + reports[0].executions_besides == most
    assert reports[0].reasons == (f"--max-executions {most} reached",)
    resumed = dpor.resume("f", workers=2, max_executions=most + 1)
    assert resumed.executions + resumed.executions_besides == most + 1
    report = dpor.resume("f", workers=2)
    assert (report.executions, report.exhaustive) == (CLASSES, True)


def test_a_budget_that_is_enough_is_not_reached(target: str) -> None:
    with_restart = CLASSES + 1
    report = dpor.check(target, strategy="optimal", workers=2, max_executions=with_restart)
    assert (report.executions, report.exhaustive) == (CLASSES, True)


def test_it_goes_on_with_more_processes(target: str) -> None:
    dpor.check(target, strategy="optimal", checkpoint="kept.json", max_executions=30)
    report = dpor.resume("kept.json", workers=2)
    assert (report.executions, report.exhaustive) == (CLASSES, True)
    dpor.check(target, strategy="optimal", checkpoint="kept.json", max_executions=30)
    assert resumed_to_the_end("kept.json", 30, 100).executions == CLASSES


UNDER_LOCKS = """
import threading

class Box:
    a = b = n = 0

def scenario():
    box, lock = Box(), threading.Lock()
    seen = []
    def one():
        with lock:
            box.a = 1
            box.a = 2
        box.n += 1
    def two():
        with lock:
            box.b = 1
        box.n += 1
    def three():
        with lock:
            first = box.b == 0
        box.n += 1
        if first:
            seen.append(box.a)
    threads = [threading.Thread(target=body) for body in (one, two, three)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen, box.n
"""


def test_what_is_seen_of_accesses_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("locks.py").write_text(UNDER_LOCKS)
    monkeypatch.setattr(sharing, "AFTER", 30)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    alone, shared_by_two, every = (
        dpor.check("locks.py::scenario", strategy="optimal", all=True, **options)  # type: ignore[arg-type]
        for options in ({}, {"workers": 2}, {"every_access": True})
    )
    assert summary(shared_by_two) == summary(alone)
    assert (alone.executions, set(alone.outcome_digests)) == (every.executions, set(every.outcome_digests))
    assert any("Box.a is accessed without Lock" in reason for reason in shared_by_two.restarts)


LOST = """
import threading

class Box:
    n = 0

def scenario():
    box, lock = Box(), threading.Lock()
    def add():
        with lock:
            n = box.n
        with lock:
            box.n = n + 1
    threads = [threading.Thread(target=add) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert box.n > 1
"""


def test_a_failure_that_a_worker_finds_has_a_schedule_of_all_accesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is followed here before it counts, and the search goes on with accesses that are no events."""
    monkeypatch.chdir(tmp_path)
    Path("lost.py").write_text(LOST)
    monkeypatch.setattr(sharing, "AFTER", 30)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    fails_here, asked = sharing.Sharing._fails_here, list[bool]()

    def noted(self: sharing.Sharing, seen: Any) -> bool:
        asked.append(fails_here(self, seen))
        return asked[-1]

    monkeypatch.setattr(sharing.Sharing, "_fails_here", noted)
    monkeypatch.setattr(Searching, "_estimate", lambda *_: False)  # it would find the failure first
    report = dpor.check("lost.py::scenario", strategy="optimal", all=True, workers=2)
    assert (report.executions, len(report.outcome_digests), len(report.findings)) == (90, 2, 1)
    assert asked == [True]
