"""`dpor.outcomes`: every outcome of a program, each with a schedule of the fewest switches that gives it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.app import sharing
from dpor.app.targets import open_target
from dpor.core.errors import AssumptionBroken
from dpor.core.options import Options
from dpor.core.outcome import digest
from dpor.core.schedule import follow
from dpor.core.system import Ending, Run, Trace
from dpor.core.told import result_of
from dpor.explorers.none import NoReduction
from dpor.findings import fewest as counting
from dpor.findings.explain import Checkable
from dpor.findings.fewest import fewest
from dpor.findings.minimise import switches
from dpor.model import AbstractSystem


def run(*bodies: Any) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def counter() -> int:
    hits = [0]

    def add() -> None:
        value = hits[0]
        hits[0] = value + 1

    run(add, add)
    return hits[0]


def crossed() -> list[Any]:
    first, second = threading.Lock(), threading.Lock()
    out: list[Any] = []

    def left() -> None:
        with first, second:
            out.append(1)

    def right() -> None:
        with second:
            if out:
                raise KeyError(3)
            with first:
                out.append({2: "x"})

    run(left, right)
    return out


CROSSED = [[{2: "x"}, 1], dpor.Failed("deadlock"), dpor.Failed("exception", "KeyError: 3")]
EXHAUSTIVE = ["optimal", "source", "classic", "none", "dpor", "original", "full"]


# ---------------------------------------------------------------------- comparing


@pytest.mark.parametrize("strategy", [None, *EXHAUSTIVE])
def test_values_exceptions_and_deadlocks_are_outcomes(strategy: str | None) -> None:
    assert dpor.outcomes(counter, strategy=strategy) == {1, 2}
    assert dpor.outcomes(crossed, strategy=strategy) == CROSSED


def test_what_is_missing_or_too_much_is_a_difference() -> None:
    found = dpor.outcomes(counter)
    assert found != {1}
    assert found != {1, 2, 3}
    assert found != {1, 2, dpor.Failed("deadlock")}
    assert found != {1}
    assert found != {1, 2.0}
    assert dpor.outcomes(crossed) != CROSSED[:2]
    assert dpor.outcomes(crossed) != [CROSSED[0], dpor.Failed("deadlock"), dpor.Failed("exception", "KeyError: 4")]
    assert found == dpor.outcomes(counter)
    assert found != dpor.outcomes(crossed)
    assert len(found) == 2
    assert 1 in found
    assert 3 not in found
    assert repr(found) == "{2, 1}"


def test_several_failures_of_one_run_are_one_outcome() -> None:
    def both() -> None:
        def fail(what: str) -> None:
            raise ValueError(what)

        run(lambda: fail("a"), lambda: fail("b"))

    failures = dpor.Failed("exception", "ValueError: a"), dpor.Failed("exception", "ValueError: b")
    assert dpor.outcomes(both, expect_threads=False, allow_incomplete=True) == [failures]
    assert dpor.outcomes(both, allow_incomplete=True) == [failures[::-1]]
    assert dpor.outcomes(both, allow_incomplete=True) != [*failures]


def test_incomplete_outcomes_are_not_compared() -> None:
    found = dpor.outcomes(counter, max_executions=1)
    assert not found.complete
    assert "--max-executions 1 reached" in repr(found)
    for compare in (lambda: found == {1, 2}, lambda: found != {1, 2}, lambda: dpor.outcomes(counter) == found):
        with pytest.raises(dpor.IncompleteOutcomes, match=r"not all known .*--max-executions 1"):
            compare()
    allowed = dpor.outcomes(counter, max_executions=2, allow_incomplete=True)
    assert allowed == [2]
    assert not allowed.complete


def test_a_kind_that_there_is_not_is_one_line() -> None:
    with pytest.raises(dpor.UserError, match="no kind of failure 'dead'; there are deadlock, assertion"):
        dpor.Failed("dead")


# ---------------------------------------------------------------------- refinement


def locked() -> int:
    hits, lock = [0], threading.Lock()

    def add() -> None:
        with lock:
            hits[0] += 1

    run(add, add)
    return hits[0]


def test_a_program_refines_another_if_it_has_no_outcome_more() -> None:
    assert dpor.refines(locked, locked)
    assert dpor.refines(locked, counter)
    found = dpor.refines(counter, locked)
    assert not found
    assert [each.text for each in found.more] == ["returned 1"]
    assert found.more[0].switches == 4
    assert found.more[0].trace
    assert dpor.refines(crossed, crossed)
    assert not dpor.refines(crossed, counter)


def test_what_is_not_known_is_no_refinement() -> None:
    cut = "the outcomes of .* are not all known"
    with pytest.raises(dpor.IncompleteOutcomes, match=cut):
        dpor.refines(locked, counter, preemptions=0)
    with pytest.raises(dpor.IncompleteOutcomes, match=cut):
        dpor.refines(counter, locked, max_executions=2)


# ---------------------------------------------------------------------- held against every schedule


def brute_force(system: Checkable) -> dict[str, int]:
    """Every result of every schedule, with the fewest switches of one that gives it."""
    least: dict[str, int] = {}
    explorer = NoReduction(system)
    for each in explorer.explore():
        assert each.ending in (Ending.COMPLETE, Ending.SPINNING), each.incomplete
        known = digest(result_of(each, system.returned))
        least[known] = min(switches(explorer.trace.actions), least.get(known, sys.maxsize))
    return least


def random_program(rng: random.Random) -> dict[str, Any]:
    statements = [
        "r x a",
        "w x 1",
        "r y b",
        "w y a+1",
        "lock m",
        "unlock m",
        "rmw x a a+1",
        "assert a!=1",
        "choose b 2",
    ]
    return {
        "vars": {"x": 0, "y": 0},
        "locks": ["m"],
        "threads": [[rng.choice(statements) for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(2, 3))],
    }


def test_schedules_of_abstract_programs_have_the_fewest_switches() -> None:
    rng = random.Random(11)
    results = poorer = 0
    for _ in range(60):
        system: Any = AbstractSystem(random_program(rng))
        system.see_every_access(True)

        def result(run: Run, system: Any = system) -> str | None:
            found = result_of(run, system.returned)
            return None if found is None else digest(found)

        ways: dict[str, tuple[int, ...]] = {}
        explorer = NoReduction(system)
        for each in explorer.explore():
            known = result(each)
            assert known is not None
            ways[known] = tuple(explorer.trace.actions)
        least = brute_force(system)
        for known, way in fewest(system, ways, result, lambda: False).items():
            assert way.switches == switches(way.schedule) == least[known]
            assert way.least
            assert result(system.run(Trace(), follow(way.schedule))) == known
            results += 1
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counting, "BUDGET", 100)
            patch.setattr(counting, "BUDGET_ALONE", 500)
            for known, way in fewest(system, ways, result, lambda: False).items():
                assert least[known] <= way.switches <= switches(ways[known])
                assert way.switches == least[known] or not way.least
                assert result(system.run(Trace(), follow(way.schedule))) == known
                poorer += way.switches > least[known]
    assert results > 100
    assert poorer


PARTS = [
    "box[0] = {n}",
    "seen.append(box[0])",
    "box[0] += {n}",
    "with lock: box[1] = box[0] + {n}",
    "assert box[1] < 3",
]


def made(rng: random.Random) -> str:
    """A program of two threads that may fail, and returns what they saw and left."""
    bodies = [[rng.choice(PARTS).format(n=rng.randint(1, 2)) for _ in range(rng.randint(1, 2))] for _ in range(2)]
    text = "import threading\ndef scenario():\n    box, seen, lock = [0, 0], [], threading.Lock()\n"
    for number, body in enumerate(bodies):
        text += f"    def body{number}():\n" + "".join(f"        {line}\n" for line in body)
    text += "    threads = [threading.Thread(target=body) for body in (body0, body1)]\n"
    return text + "    for t in threads: t.start()\n    for t in threads: t.join()\n    return box, seen\n"


def every_result(target: str) -> dict[str, int]:
    system = open_target(target, Options(strategy="none"))
    system.see_every_access(True)
    while True:
        with suppress(AssumptionBroken):
            return brute_force(system)


@pytest.mark.parametrize("seed", range(15))
def test_outcomes_of_generated_programs_are_those_of_every_schedule(seed: int, tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(made(random.Random(seed)))
    target = f"{tmp_path / 'made.py'}::scenario"
    least = every_result(target)
    for strategy in ("optimal", "dpor", None):
        found = dpor.outcomes(target, strategy=strategy)
        assert found.complete or not all(each.failures for each in found)
        keys = {}
        for outcome in found:
            failures = tuple((failed.kind, failed.message) for failed in outcome.failures)
            keys[digest(("failed", failures) if failures else outcome.result)] = outcome
        assert keys.keys() == least.keys()
        for known, outcome in keys.items():
            assert outcome.least
            assert outcome.switches == least[known]


def unsteady() -> int:
    """The invariant fails on the way to each outcome in some interleavings, and not in others."""
    pair = [0, 0]
    dpor.invariant(lambda: pair != [1, 0])

    def first() -> None:
        pair[0] = 1

    def second() -> None:
        pair[1] = 1

    run(first, second)
    return sum(pair)


@pytest.mark.parametrize("strategy", ["optimal", "none", "dpor", "original", "full"])
def test_an_invariant_that_fails_only_on_some_ways_hides_no_outcome(strategy: str) -> None:
    found = dpor.outcomes(unsteady, strategy=strategy)
    assert found == {2, dpor.Failed("invariant", found.found[-1].failures[0].message)}


def endless() -> int:
    """Two threads that give way to each other for ever, if both have raised their flags."""
    raised = [False, False]

    def enter(me: int) -> None:
        raised[me] = True
        while raised[1 - me]:
            raised[me] = False
            raised[me] = True
        raised[me] = False

    run(lambda: enter(0), lambda: enter(1))
    return 1


def stuck() -> int:
    """Waits by spinning for what nobody writes any more, if the other thread has looked too early."""
    flags = [False, False]

    def wait() -> None:
        flags[0] = True
        while not flags[1]:
            pass

    def answer() -> None:
        if flags[0]:
            flags[1] = True

    run(wait, answer)
    return 1


def test_a_livelock_is_an_outcome() -> None:
    assert dpor.outcomes(stuck) == {1, dpor.Failed("livelock")}
    assert dpor.outcomes(stuck, strategy="dpor") == {1, dpor.Failed("livelock")}
    assert dpor.outcomes(endless, strategy="dpor") == {1}  # it can always come to its end


# ---------------------------------------------------------------------- at a terminal, in pieces, by several processes

LARGE = """
import threading

def scenario():
    box = [0, 0]
    def add(n):
        for _ in range(3):
            value = box[0]
            box[0] = value + n
    threads = [threading.Thread(target=add, args=(n,), name=f"t{n}") for n in (1, 10)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert box[0] != 22
    return box[0]
"""


def cli(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dpor", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_the_table(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(LARGE.replace("range(3)", "range(1)"))
    done = cli("check", "small.py::scenario", "--outcomes", "--json", "out.json", folder=tmp_path)
    assert done.returncode == 0
    _, heading, *rows = done.stdout.splitlines()
    assert heading == "3 outcomes"
    assert rows[0] == "   1  returned 11  3 switches: MainThread 2, t1 3, t10 3, MainThread 3"
    assert [row.split("  ")[2] for row in rows[1:]] == ["returned 1", "returned 10"]
    report = json.loads((tmp_path / "out.json").read_text())
    assert {one["text"] for one in report["outcome_list"]} == {"returned 1", "returned 10", "returned 11"}
    assert all(len(one["trace"]) == len(one["schedule"]) and one["least"] for one in report["outcome_list"])


def test_in_pieces_and_by_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sharing, "AFTER", 500)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setattr("dpor.app.strategies.hash_seed", lambda: "0")
    Path("large.py").write_text(LARGE)
    target, search = "large.py::scenario", {"strategy": "optimal"}
    alone = dpor.outcomes(target, **search)
    assert alone == {3, 30, 33, 13, 23, 31, 32, 11, 12, 21, dpor.Failed("assertion")}
    assert alone == dpor.outcomes(target, workers=2, **search)
    cut = dpor.check(target, outcomes=True, checkpoint="kept", max_executions=200, **search)
    assert not cut.exhaustive
    whole = dpor.resume("kept")
    assert whole.exhaustive
    assert {each.text for each in whole.outcome_list} == {each.text for each in alone}
