"""A search that is cut, kept in a file and resumed ends as one that was not."""

from __future__ import annotations

import datetime
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import count, repeat
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

import dpor
from dpor.app import checkpoint as checkpoint_module
from dpor.app import stages
from dpor.app.advice import next_step
from dpor.app.checking import Session
from dpor.app.checkpoint import Checkpoint, Keeper, options_to_json
from dpor.app.resuming import session_of
from dpor.core.errors import AssumptionBroken, BadCheckpoint, NotDeterministic, OutOfTime, UserError
from dpor.core.names import as_text
from dpor.core.operations import OperationTable
from dpor.core.options import Options, Order
from dpor.core.results import Estimate
from dpor.core.system import Run
from dpor.explorers import Classic, Dpor, Optimal, Source, Stats
from dpor.explorers.saved_tree import from_json, to_json
from dpor.explorers.search import Search
from dpor.explorers.tree import nodes_of
from dpor.model import AbstractSystem
from dpor.report.progress import Monitor
from dpor.testing import ALL, Spec, random_program, trace_class
from tests.litmus.test_orders import OUTCOMES_CHANGE, TAKEN_LONG_AGO
from tests.unit.test_silent_accesses import RARE

SCHEMA = json.loads((Path(dpor.__file__).parent / "app" / "checkpoint.schema.json").read_text())

COUNTER = """\
import threading

class Counter:
    n = 0

def scenario():
    counter = Counter()
    def work():
        for _ in range(3):
            counter.n += 1
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert counter.n >= {least}
    return counter.n
"""
CLASSES = 328


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(COUNTER.format(least=2))
    return "counter.py::scenario"


# ---------------------------------------------------------------------- the tree


def cut_and_resumed(make: Callable[[AbstractSystem], Search], system: AbstractSystem, cut: Callable[[], int]) -> Any:
    """The classes of a search that goes on in a new one after every `cut()` runs, and its counts. Every other time the
    last run is put back, as if it had come to nothing."""
    seen, tree, stats = [], None, Stats()
    while True:
        search = make(system)
        if tree is not None:
            search.resume(from_json(json.loads(tree)), stats)
        left, finished = cut(), True
        for _ in search.explore():
            if not left:
                search.take_back()
                finished = False
                break
            seen.append(trace_class(search.trace))
            left -= 1
            if not left and len(seen) % 2:
                search.settle()
                finished = False
                break
        content = to_json(search.nodes[0])
        jsonschema.validate(content, SCHEMA["properties"]["tree"])
        tree, stats = json.dumps(content), search.stats
        if finished:
            return seen, stats


def uncut(make: Callable[[AbstractSystem], Search], system: AbstractSystem) -> Any:
    search = make(system)
    return [trace_class(search.trace) for _ in search.explore()], search.stats


def makers(seed: int) -> list[Callable[[AbstractSystem], Search]]:
    return [
        Classic,
        *[lambda system, order=order: Source(system, order, seed) for order in Order],
        *[lambda system, order=order: Optimal(system, order, seed) for order in Order],
    ]


SPECS: list[Spec] = [
    TAKEN_LONG_AGO,
    {"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 2] * 2},
    *[random_program(Random(seed), ALL, interleavings=60) for seed in range(24)],
]


@pytest.mark.parametrize("number", range(len(makers(0))))
def test_a_search_that_is_cut_sees_the_same_classes(number: int) -> None:
    for seed, spec in enumerate(SPECS):
        system, random = AbstractSystem(spec), Random(seed)
        make = makers(seed)[number]
        classes, stats = uncut(make, system)
        for cut in (lambda: 1, lambda random=random: random.randrange(5)):
            seen, counts = cut_and_resumed(make, system, cut)
            assert sorted(map(hash, seen)) == sorted(map(hash, classes)), seed
            assert (counts.executions, counts.blocked) == (stats.executions, stats.blocked)
            if number in (0, 1, 4):  # depth first: the tree is the same at every moment
                assert (counts.events, counts.choices) == (stats.events, stats.choices)


def test_modes_are_those_where_an_operation_stands() -> None:
    system = AbstractSystem(OUTCOMES_CHANGE)
    seen, counts = cut_and_resumed(lambda system: Optimal(system, Order.RANDOM, 7), system, lambda: 20)
    assert len({*seen}) == counts.executions == 437


def test_what_is_finished_is_not_in_the_file() -> None:
    search = Optimal(AbstractSystem({"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 3] * 2}))
    for number, _ in enumerate(search.explore()):
        if number % 50 == 49:
            search.settle()
            assert len(to_json(search.nodes[0])["nodes"]) < 60


def test_a_run_that_has_come_to_nothing_is_put_back() -> None:
    """Whether it has ended, or nothing has been learned from it yet, or only a part."""
    spec: Spec = {"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 2] * 2}
    _, whole = uncut(Optimal, AbstractSystem(spec))
    for when in range(0, 400, 3):
        search = Optimal(AbstractSystem(spec))
        paces = 0

        def pace(when: int = when) -> None:
            nonlocal paces
            paces += 1
            if paces > when:
                raise OutOfTime

        search.pace = pace
        try:
            for _ in search.explore():
                pace()
        except OutOfTime:
            with suppress(OutOfTime):
                search.settle()  # of which a part may have been done
            search.take_back()
        again = Optimal(AbstractSystem(spec))
        again.resume(from_json(to_json(search.nodes[0])), search.stats)
        for _ in again.explore():
            pass
        assert (again.stats.executions, again.stats.events) == (whole.executions, whole.events)


def test_nothing_tried_yet_is_not_everything() -> None:
    search = Optimal(AbstractSystem(TAKEN_LONG_AGO))
    for _ in search.explore():
        search.take_back()
        break
    again = Optimal(AbstractSystem(TAKEN_LONG_AGO))
    again.resume(from_json(to_json(search.nodes[0])), search.stats)
    assert sum(1 for _ in again.explore()) == 4


def test_a_way_that_leads_elsewhere_now_is_noticed() -> None:
    search = Optimal(AbstractSystem({"vars": {"x": 0}, "threads": [["r x a", "w x a+1"]] * 2}))
    for _ in search.explore():
        search.settle()
        break
    other = Optimal(AbstractSystem({"vars": {"x": 0}, "threads": [["w x 1", "w x 2"]] * 2}))
    other.resume(from_json(to_json(search.nodes[0])), search.stats)
    with pytest.raises(NotDeterministic, match="of the saved search is different now"):
        list(other.explore())


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree["nodes"].clear(),
        lambda tree: tree["nodes"][1].__setitem__(0, 7),
        lambda tree: tree["nodes"][0].__setitem__(1, 0),
        lambda tree: tree["nodes"][1].__setitem__(2, 99),
        lambda tree: tree["operations"][-1].pop(),
        lambda tree: tree.pop("operations"),
    ],
)
def test_a_tree_that_is_none_is_refused(change: Callable[[Any], None]) -> None:
    search = Optimal(AbstractSystem(TAKEN_LONG_AGO))
    for _ in search.explore():
        search.settle()
        break
    tree = to_json(search.nodes[0])
    assert len([*nodes_of(from_json(tree))]) == len(tree["nodes"])
    change(tree)
    with pytest.raises((ValueError, TypeError, LookupError)):
        from_json(tree)


# ---------------------------------------------------------------------- names of locations


@pytest.mark.parametrize(
    "equal", [(1, True, 1.0, Fraction(1), complex(1)), (0.5, Fraction(1, 2)), ("a",), (("a", 1), ("a", 1.0))]
)
def test_equal_names_have_one_text(equal: tuple[Any, ...]) -> None:
    assert len({as_text(name) for name in equal}) == 1


def test_different_names_have_different_texts() -> None:
    names = [
        1,
        "1",
        b"1",
        (1,),
        ("1",),
        ((1,),),
        frozenset({1}),
        None,
        "None",
        ...,
        1j,
        1.5,
        float("inf"),
        -1,
        ("a,b",),
        ("a", "b"),
    ]
    assert len({as_text(name) for name in names}) == len(names)
    assert as_text(("object", datetime.datetime.now(datetime.UTC))) is None


def test_another_table_numbers_the_same_locations_equally() -> None:
    table = OperationTable()
    for name in ("a", ("object", 1), (1, "n"), (1, 2.0)):
        table.location(name)
    other = OperationTable()
    other.reserve(table.names_as_text() or [])
    assert [other.location(name) for name in ((1, 2), "new", (1, "n"), "a")] == [3, 4, 2, 0]
    assert other.name_of(2) == (1, "n")
    assert other.names_as_text() == [*(table.names_as_text() or []), "'new'"]
    other.location(range(3))
    assert other.names_as_text() is None


# ---------------------------------------------------------------------- checks


def summary(report: dpor.Report) -> Any:
    found = sorted((f.kind.value, f.line, f.occurrences) for f in report.findings)
    counts = report.executions, report.blocked, report.outcomes, report.deadlocks, dict(report.outcome_digests)
    return report.verdict, report.reasons, counts, found


def resumed_to_the_end(file: str, most: int, step: int, target: Any = None) -> dpor.Report:
    while Path(file).exists():
        jsonschema.validate(json.loads(Path(file).read_text()), SCHEMA)
        most += step
        report = dpor.resume(file, target, max_executions=most, max_seconds=None)
    return report


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("least", [2, 3])
def test_a_check_that_is_cut_has_the_report_of_one_that_was_not(target: str, order: Order, least: int) -> None:
    Path("counter.py").write_text(COUNTER.format(least=least))
    options = {"strategy": "optimal", "order": order, "all": True, "max_seconds": None}
    whole = dpor.check(target, **options)  # type: ignore[arg-type]
    assert whole.executions == CLASSES
    cut = dpor.check(target, **options, checkpoint="kept.json", max_executions=30)  # type: ignore[arg-type]
    assert (cut.executions, cut.checkpoint) == (30 - len(cut.restarts), "kept.json")
    report = resumed_to_the_end("kept.json", 30, 70)
    assert summary(report) == summary(whole)
    assert report.checkpoint is None
    assert report.restarts == whole.restarts


def cut_with_states(target: str, monkeypatch: pytest.MonkeyPatch, *errors: Exception) -> dpor.Report:
    """A check by default whose searches with states end at once: each with one of the errors, then by the clock."""
    left = [*errors]

    def nothing(search: Dpor) -> Iterator[Run]:
        raise left.pop(0) if left else OutOfTime
        yield

    with monkeypatch.context() as patched:
        patched.setattr(stages, "DEPTH_FIRST", 500)
        patched.setattr(stages, "FEWEST_FIRST", 2_000)
        patched.setattr(Dpor, "explore", nothing)
        return Session(target, Options(), keeper=Keeper(Path("kept.json"), False)).run()


def test_the_tree_is_kept_though_the_search_was_cut_while_it_stored_states(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("counter.py").write_text(COUNTER.format(least=0))
    report = cut_with_states(target, monkeypatch)
    assert (report.strategy, report.checkpoint) == ("dpor", "kept.json")
    assert report.reasons == ("--max-seconds 60 reached",)
    kept = Checkpoint.load("kept.json")
    done = kept.results["counts"]["executions"]
    assert done > 20
    assert done + kept.besides == report.executions + report.executions_besides
    resumed = resumed_to_the_end("kept.json", done + kept.besides, 100)
    assert (resumed.strategy, resumed.executions, resumed.exhaustive) == ("optimal", CLASSES, True)


@pytest.mark.parametrize("known", [True, False])
def test_that_tree_is_void_once_the_program_is_known_better(
    known: bool, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = repeat(0) if known else count()
    monkeypatch.setattr("dpor.app.course.learnt", lambda system: next(facts))
    report = cut_with_states(target, monkeypatch, AssumptionBroken("planted"))
    assert Path("kept.json").exists() is known
    assert any("what is left is not kept" in reason for reason in report.reasons) is not known


def test_a_failure_of_a_part_that_was_cut_is_told(target: str) -> None:
    Path("counter.py").write_text(COUNTER.format(least=5))
    dpor.check(target, strategy="optimal", all=True, checkpoint="kept.json", max_executions=120)
    report = resumed_to_the_end("kept.json", 120, 500)
    (failure,) = report.findings
    assert dpor.replay(failure.saved).line == failure.line  # type: ignore[arg-type]


def test_facts_are_learnt_after_a_search_was_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search begins again, whatever the tree of the file was."""
    monkeypatch.chdir(tmp_path)
    Path("late.py").write_text(
        "import threading\nclass C: a = b = 0\ndef scenario():\n    c = C()\n    def work():\n        c.a += 1\n"
        "    def look():\n        if c.a == 0:\n            c.b = c.b + 1\n"
        "    threads = [threading.Thread(target=t) for t in (work, work, work, look)]\n"
        "    for thread in threads: thread.start()\n    for thread in threads: thread.join()\n    return c.a, c.b\n"
    )
    whole = dpor.check("late.py::scenario", strategy="optimal")
    assert len(whole.restarts) == 2
    dpor.check("late.py::scenario", strategy="optimal", checkpoint="kept.json", max_executions=2)
    assert len(Checkpoint.load("kept.json").restarts) < 2
    report = resumed_to_the_end("kept.json", 2, 40)
    assert summary(report) == summary(whole)
    assert report.restarts == whole.restarts


@pytest.mark.parametrize("cut_after", range(1, 7))
def test_what_was_seen_of_accesses_before_the_cut_counts(
    cut_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread writes under the lock in the part before it, another reads without in the part after it, or so."""
    monkeypatch.chdir(tmp_path)
    Path("rare.py").write_text(RARE)
    whole = dpor.check("rare.py::scenario", strategy="optimal")
    dpor.check("rare.py::scenario", strategy="optimal", checkpoint="kept.json", max_executions=cut_after)
    if Path("kept.json").exists():
        report = resumed_to_the_end("kept.json", cut_after, 1)
        assert summary(report) == summary(whole)
        assert len(report.restarts) == len(whole.restarts) > 0


def test_a_callable_is_given_again(tmp_path: Path) -> None:
    from tests.programs import twins

    file, counter = str(tmp_path / "kept.json"), twins.counter(2, 2)
    dpor.check(counter, strategy="source", checkpoint=file, max_executions=5)
    assert resumed_to_the_end(file, 5, 20, counter).executions == 34


def test_an_abstract_program(tmp_path: Path) -> None:
    program = tmp_path / "p.json"
    program.write_text(json.dumps({"name": "p", "spec": {"vars": {"x": 0}, "threads": [["r x a", "w x a+1"] * 2] * 2}}))
    file = str(tmp_path / "kept.json")
    dpor.check(str(program), strategy="classic", checkpoint=file, max_executions=5)
    assert resumed_to_the_end(file, 5, 20).executions == 34


class Impatient(Monitor):
    """Stops the search at its first sign of life."""

    interruptible = True

    def progress(self, progress: object) -> None:
        self.stops = 1


def test_the_stage_goes_along(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpor.app.stages.DEPTH_FIRST", 300)
    monkeypatch.setattr("dpor.app.stages.FEWEST_FIRST", 4000)
    options = Options(checkpoint="kept.json")
    stages = []
    dpor.check(target, options, max_executions=10)
    while Path("kept.json").exists():
        kept = Checkpoint.load("kept.json")
        stages.append(kept.stage)
        report = dpor.resume("kept.json", max_executions=kept.besides + kept.results["counts"]["executions"] + 50)
    assert {*stages} == {0, 1, 2}
    assert (report.executions, report.exhaustive) == (CLASSES, True)


def test_searches_that_no_file_keeps_are_refused(target: str) -> None:
    for options in (
        {"strategy": "dpor"},
        {"strategy": "none"},
        {"preemptions": 1},
        {"strategy": "pct", "max_seconds": 1},
    ):
        with pytest.raises(UserError, match="--checkpoint goes with --strategy classic, source, optimal"):
            dpor.check(target, checkpoint="kept.json", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("strategy", "why"), [("dpor", "since dpor stores states"), ("none", "by none")])
def test_what_is_not_kept_is_said(target: str, strategy: str, why: str) -> None:
    session = Session(target, Options(strategy=strategy, max_executions=3), keeper=Keeper(Path("kept.json"), False))
    report = session.run()
    assert any(f"what is left is not kept {why}" in reason for reason in report.reasons)
    assert not Path("kept.json").exists()


def test_a_key_without_a_name_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("keys.py").write_text(
        "import threading\nfrom datetime import datetime\nKEY = datetime(2020, 1, 1)\n"
        "def scenario():\n    d = {KEY: 0}\n"
        "    def work():\n        d[KEY] += 1\n    threads = [threading.Thread(target=work) for _ in range(2)]\n"
        "    for thread in threads: thread.start()\n    for thread in threads: thread.join()\n"
    )
    report = dpor.check("keys.py::scenario", strategy="optimal", checkpoint="kept.json", max_executions=2)
    assert any("has a key that no file can name" in reason for reason in report.reasons)
    assert report.checkpoint is None


def test_it_is_written_while_the_search_goes_on(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_module, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint_module, "SHARE", 1.0)
    monkeypatch.setattr("dpor.app.searching.PROGRESS_EVERY", 0.001)
    seen = []

    class Watching(Monitor):
        def progress(self, progress: Any) -> None:
            if Path("kept.json").exists():
                seen.append(Checkpoint.load("kept.json").results["counts"]["executions"])

    report = Session(target, Options(strategy="optimal", checkpoint="kept.json"), Watching()).run()
    assert (report.executions, report.exhaustive) == (CLASSES, True)
    assert len({*seen}) > 2
    assert not Path("kept.json").exists()


def test_a_file_that_cannot_be_written_is_told(target: str) -> None:
    report = dpor.check(target, strategy="optimal", checkpoint="nowhere/kept.json", max_executions=2)
    assert "nowhere/kept.json: cannot be written: No such file or directory" in report.reasons
    assert report.checkpoint is None


def test_the_next_step_is_to_resume() -> None:
    estimate = Estimate(900.0, 1000.0, 1100.0)
    options = Options()
    assert next_step("a.py::f", options, 500, 60.0, None, "f.json") == "dpor resume f.json --max-seconds 900"
    assert next_step("a.py::f", options, 1000, 60.0, estimate, "f.json") == "dpor resume f.json"
    assert next_step("a.py::f", Options(workers="auto"), 500, 60.0, None, "f.json").endswith(" 900 --workers auto")
    larger = Options(workers=2, checkpoint="f.json", max_seconds=600)
    smaller = "dpor check a.py::f --max-seconds 600 --preemptions 2"
    assert next_step("a.py::f", larger, 5, 600.0, estimate, "f.json") == smaller


# ---------------------------------------------------------------------- refused


@pytest.fixture
def kept(target: str) -> Path:
    dpor.check(target, strategy="optimal", checkpoint="kept.json", max_executions=20)
    return Path("kept.json")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"dpor": "0.0.1"}, "it was written by dpor 0.0.1, and this is"),
        ({"python": "3.9.1"}, "it was written with Python 3.9.1, and this is"),
        ({"schema": 9}, "a checkpoint of version 9; this dpor reads version 2"),
        ({"format": "dpor schedule"}, "not a checkpoint"),
        ({"tree": {}}, "a damaged checkpoint: 'operations' is missing"),
        ({"results": {}}, "a damaged checkpoint: 'counts' is missing"),
        ({"stage": 99}, "a damaged checkpoint"),
        ({"options": {"nope": 1}}, "a damaged checkpoint"),
        ({"new": 1}, "a damaged checkpoint"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(kept: Path, change: dict[str, Any], says: str) -> None:
    kept.write_text(json.dumps(json.loads(kept.read_text()) | change))
    with pytest.raises(BadCheckpoint) as refused:
        dpor.resume(kept)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_changed_source_is_refused_with_what_changed(kept: Path) -> None:
    Path("counter.py").write_text(COUNTER.format(least=1))
    with pytest.raises(BadCheckpoint, match=r"counter\.py has changed: line 14.*Run dpor check again"):
        dpor.resume(kept)


def test_a_result_that_has_changed_is_noticed(kept: Path) -> None:
    content = json.loads(kept.read_text())
    content["results"]["first"][1] = "0" * 16
    kept.write_text(json.dumps(content))
    report = dpor.resume(kept)
    assert report.verdict == "inconclusive"
    assert "ends with another result now" in report.reasons[0]
    assert kept.exists()


def test_no_file_and_no_json(tmp_path: Path) -> None:
    with pytest.raises(BadCheckpoint, match="cannot be read: No such file"):
        dpor.resume(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("{")
    with pytest.raises(BadCheckpoint, match="not a checkpoint"):
        dpor.resume(tmp_path / "text.json")


# ---------------------------------------------------------------------- processes


def command(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "dpor", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_search_and_keeps_what_is_left(target: str, how: signal.Signals) -> None:
    Path("counter.py").write_text(COUNTER.format(least=2).replace("range(3)", "range(5)"))
    process = command("check", target, "--strategy", "optimal", "--max-seconds", "0")
    assert process.stdout is not None
    assert any("executions" in line for line in process.stdout)  # a line of progress: it is searching
    process.send_signal(how)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3, out
    assert "because interrupted" in out
    kept = ".dpor/counter-scenario.checkpoint.json"
    assert f"to go on: dpor resume {kept}" in out
    done = Checkpoint.load(kept).results["counts"]["executions"]
    assert done > 0
    assert dpor.resume(kept, max_executions=done + 150).executions > done


def test_kill_loses_a_few_seconds_at_most(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("counter.py").write_text(COUNTER.format(least=2).replace("range(3)", "range(5)"))
    process = command("check", target, "--strategy", "optimal", "--max-seconds", "0", "--checkpoint", "kept.json")
    end = time.monotonic() + 30
    while not Path("kept.json").exists() and time.monotonic() < end:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    kept = Checkpoint.load("kept.json")
    done = kept.results["counts"]["executions"]
    assert done > 0
    most = done + 100 + kept.besides
    assert dpor.resume("kept.json", max_executions=most).executions == done + 100
    assert options_to_json(Options(**kept.options)) == kept.options


KILLS = int(os.environ.get("DPOR_KILLS", "2"))


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
def test_a_search_that_is_killed_again_and_again_has_the_counts_of_one_that_was_not(
    workers: list[str], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By SIGKILL, SIGTERM or Ctrl-C, at any moment."""
    size, executions = (5, "34,904") if KILLS > 2 else (4, "3,334")
    Path("counter.py").write_text(COUNTER.format(least=0).replace("range(3)", f"range({size})"))
    random = Random(len(workers))
    begin = ["check", target, "--strategy", "optimal", "--checkpoint", "kept.json"]
    for _ in range(KILLS):
        words = ["resume", "kept.json"] if Path("kept.json").exists() else begin
        process = command(*words, "--max-seconds", "0", *workers)
        with suppress(subprocess.TimeoutExpired):
            process.wait(random.uniform(0.3, 1.5 * (size - 3) ** 2))
        process.send_signal(random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        out, _ = process.communicate()
        assert process.returncode or f"{executions} executions" in out
    words = ["resume", "kept.json"] if Path("kept.json").exists() else begin
    out, _ = command(*words, "--max-seconds", "0", *workers).communicate(timeout=300)
    assert f"{executions} executions" in out


def test_runs_that_are_repeated_are_not_counted_twice(target: str) -> None:
    """A run that the clock ends is begun again; what it had found by then is found again."""
    Path("counter.py").write_text(COUNTER.format(least=6))
    session = Session(target, Options(strategy="optimal", all=True, max_executions=50, checkpoint="kept.json"))
    last: list[Run] = []
    write = session._remainder.write

    def written(search: Search, again: Run | None = None) -> None:
        last.append(again)  # type: ignore[arg-type]
        write(search, again)

    session._remainder.write = written  # type: ignore[method-assign]
    report = session.run()
    assert (report.executions + report.executions_besides, last) == (50, [None])
    assert Checkpoint.load("kept.json").results["seen"][0]["occurrences"] == report.findings[0].occurrences
    assert session_of(Checkpoint.load("kept.json"), "kept.json", {}).run().executions == CLASSES


def test_nothing_is_kept_if_nobody_wants_it(target: str) -> None:
    process = command("check", target, "--strategy", "optimal", "--max-executions", "5", "--no-checkpoint")
    out, _ = process.communicate(timeout=30)
    assert "dpor resume" not in out
    assert not Path(".dpor").exists()
