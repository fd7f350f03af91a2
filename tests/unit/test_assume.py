"""`dpor.assume` drops runs and hides nothing else; `dpor.reached` must be met by a run that is not dropped."""

from __future__ import annotations

import random
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
from dpor.core.system import Ending
from dpor.core.told import result_of
from dpor.explorers.none import NoReduction
from dpor.primitives.assumed import NeverGoOn
from dpor.python.kernel import interest
from dpor.python.program.labels import labels_of

EXHAUSTIVE = ["optimal", "source", "classic", "none", "dpor", "original", "full"]


def run(*bodies: Any) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def looks_early() -> list[int]:
    """In the first run the assumption fails before the other thread has written: the other order must be tried."""
    box, out = [0], []

    def look() -> None:
        value = box[0]
        dpor.assume(value == 1)
        dpor.reached("saw it")
        out.append(value)

    def write() -> None:
        box[0] = 1

    run(look, write)
    return out


@pytest.mark.parametrize("strategy", [None, *EXHAUSTIVE])
def test_an_order_in_which_the_assumption_holds_is_found(strategy: str | None) -> None:
    report = dpor.check(looks_early, strategy=strategy)
    assert report.verdict == "pass"
    assert 0 < report.dropped < report.executions
    assert dpor.outcomes(looks_early, strategy=strategy) == [[1]]


@pytest.mark.parametrize("strategy", EXHAUSTIVE)
def test_a_check_of_which_everything_is_dropped_is_no_pass(strategy: str) -> None:
    def scenario() -> None:
        box = [0]

        def first() -> None:
            box[0] = 1
            dpor.assume(False)

        def second() -> None:
            box[0] = 2

        run(first, second)

    report = dpor.check(scenario, strategy=strategy)
    assert report.verdict == "inconclusive"
    assert report.reasons == ("every execution was dropped by dpor.assume",)
    assert report.dropped == report.executions
    assert not report.findings


@pytest.mark.parametrize("strategy", EXHAUSTIVE)
def test_failures_of_other_threads_are_not_hidden(strategy: str) -> None:
    def scenario() -> None:
        box = [0]

        def first() -> None:
            dpor.assume(box[0] == 7)

        def second() -> None:
            box[0] = 1
            raise ValueError(box[0])

        run(first, second)

    report = dpor.check(scenario, strategy=strategy)
    assert [failure.message for failure in report.findings] == ["ValueError: 1"]
    assert report.findings[0].saved is not None
    assert dpor.replay(report.findings[0].saved, scenario).message == "ValueError: 1"
    assert dpor.outcomes(scenario, strategy=strategy) == [dpor.Failed("exception", "ValueError: 1")]


def test_before_there_are_threads_and_outside_of_a_check() -> None:
    dpor.assume(False)
    dpor.reached("anything")

    def scenario() -> int:
        value = dpor.choose(3)
        dpor.assume(value != 1)
        box = [value]
        run(lambda: box.append(1), lambda: box.append(2))
        return value

    assert dpor.outcomes(scenario) == {0, 2}


def test_who_waits_for_a_dropped_thread_is_in_no_deadlock_or_livelock() -> None:
    def scenario(spins: bool) -> Any:
        def body() -> None:
            lock, flag = threading.Lock(), [0, 0]

            def first() -> None:
                with lock:
                    dpor.assume(flag[1])
                    flag[0] = 1

            def second() -> None:
                while spins and not flag[0]:
                    pass
                with lock:
                    flag[1] = 1

            run(first, second)

        return body

    for strategy in ("optimal", "dpor"):
        report = dpor.check(scenario(False), strategy=strategy)
        assert (report.verdict, report.findings) == ("pass", ())
        assert report.dropped
        report = dpor.check(scenario(True), strategy=strategy)
        assert (report.verdict, report.findings) == ("inconclusive", ())


# ---------------------------------------------------------------------- held against every schedule

PARTS = (
    "box[0] = {n}",
    "seen.append(box[0])",
    "box[0] += {n}",
    "with lock: box[1] = box[0]",
    "assert box[1] < 3",
    "dpor.assume(box[0] != {n})",
    "dpor.assume(box[1] < {n})",
    "with lock: dpor.assume(box[0] < {n})",
)


def made(rng: random.Random) -> str:
    bodies = [[rng.choice(PARTS).format(n=rng.randint(1, 2)) for _ in range(rng.randint(1, 3))] for _ in range(2)]
    text = "import threading, dpor\ndef scenario():\n    box, seen, lock = [0, 0], [], threading.Lock()\n"
    for number, body in enumerate(bodies):
        text += f"    def body{number}():\n" + "".join(f"        {line}\n" for line in body)
    text += "    threads = [threading.Thread(target=body) for body in (body0, body1)]\n"
    return text + "    for t in threads: t.start()\n    for t in threads: t.join()\n    return box, seen\n"


def every_result(target: str) -> set[str]:
    """The results of all schedules in which no assumption fails, and all failures."""
    system = open_target(target, Options(strategy="none"))
    system.see_every_access(True)
    while True:
        with suppress(AssumptionBroken):
            runs = NoReduction(system).explore()
            return {digest(result) for each in runs if (result := result_of(each, system.returned)) is not None}


def told(target: str, strategy: str) -> set[str]:
    keys = set()
    for outcome in dpor.outcomes(target, strategy=strategy):
        failures = tuple((failed.kind, failed.message) for failed in outcome.failures)
        keys.add(digest(("failed", failures) if failures else outcome.result))
    return keys


def wrong(seed: int, folder: Path, strategies: Any = ("optimal", "source", "dpor")) -> bool:
    (folder / "made.py").write_text(made(random.Random(seed)))
    target = f"{folder / 'made.py'}::scenario"
    expected = every_result(target)
    return any(told(target, strategy) != expected for strategy in strategies)


@pytest.mark.parametrize("seed", range(20))
def test_generated_programs(seed: int, tmp_path: Path) -> None:
    assert not wrong(seed, tmp_path)


def test_a_run_that_ends_at_a_failed_assumption_is_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the whole run stops there, not the thread alone. Orders in which the assumption holds are missed."""

    def stop(condition: object) -> None:
        if not condition and interest.run.current is not None and not interest.run.unwinding:
            interest.run.ending = Ending.DROPPED
            interest.run.hub.switch()

    (tmp_path / "early.py").write_text(
        "import threading, dpor\n"
        "def scenario():\n"
        "    box, out = [0], []\n"
        "    def look():\n"
        "        value = box[0]\n"
        "        dpor.assume(value == 1)\n"
        "        out.append(value)\n"
        "    def write(): box[0] = 1\n"
        "    threads = [threading.Thread(target=body) for body in (look, write)]\n"
        "    for t in threads: t.start()\n"
        "    for t in threads: t.join()\n"
        "    return out\n"
    )
    target = f"{tmp_path / 'early.py'}::scenario"
    assert dpor.outcomes(target) == [[1]]
    monkeypatch.setattr(dpor, "assume", stop)
    assert dpor.outcomes(target, allow_incomplete=True) != [[1]]


def test_the_rule_is_never_enabled() -> None:
    rule = NeverGoOn()
    assert rule.blocking
    assert not rule.enabled((), 0)


# ---------------------------------------------------------------------- reached


@pytest.mark.parametrize("strategy", EXHAUSTIVE)
def test_what_no_run_comes_to_is_told(strategy: str) -> None:
    def scenario() -> None:
        box = [0]

        def add() -> None:
            value = box[0]
            if value:
                dpor.reached("in sequence")
            box[0] = value + 1
            if box[0] > 2:
                dpor.reached("too many")

        run(add, add)

    report = dpor.check(scenario, strategy=strategy)
    assert report.verdict == "inconclusive"
    assert len(report.reasons) == 1
    assert report.reasons[0].startswith("never reached: too many (")


@pytest.mark.parametrize("strategy", EXHAUSTIVE)
def test_a_dropped_run_does_not_count(strategy: str) -> None:
    def scenario() -> None:
        box = [0]

        def look() -> None:
            value = box[0]
            if value == 0:
                dpor.reached("early")
            dpor.assume(value == 1)

        def write() -> None:
            box[0] = 1

        run(look, write)

    report = dpor.check(scenario, strategy=strategy)
    assert [reason.split(" (")[0] for reason in report.reasons] == ["never reached: early"]


@pytest.mark.parametrize("strategy", EXHAUSTIVE)
def test_ways_that_meet_in_a_state_are_told_apart(strategy: str) -> None:
    """Only one of two ways to the same data comes to the label, and then to an end."""

    def scenario() -> int:
        box = [0, 0]

        def first() -> None:
            box[0] = 1
            if box[1] == 0:
                dpor.reached("first")

        def second() -> None:
            box[1] = 1
            if box[0] == 0:
                dpor.reached("second")

        run(first, second)
        return sum(box)

    assert dpor.check(scenario, strategy=strategy).verdict == "pass"


def test_labels_are_those_that_the_target_may_come_to() -> None:
    text = (
        "import dpor\n"
        "class Used:\n"
        "    def put(self): dpor.reached('put')\n"
        "class Other:\n"
        "    def put(self): dpor.reached('other')\n"
        "def helper(): dpor.reached('helper')\n"
        "alias = helper\n"
        "def scenario():\n"
        "    def a(): dpor.reached('a')\n"
        "    Used().put(); alias(); a()\n"
        "def unrelated():\n"
        "    def a(): dpor.reached('b')\n"
        "    a()\n"
    )
    assert set(labels_of({"f.py": text}, "f.py::scenario", None)) == {"put", "helper", "a"}
    assert set(labels_of({"f.py": text}, "f.py::unrelated", None)) == {"b"}
    assert labels_of({"f.py": "def scenario(): pass"}, "f.py::scenario", None) == {}


def test_in_pieces_and_by_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sharing, "AFTER", 500)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setattr("dpor.app.strategies.hash_seed", lambda: "0")
    Path("large.py").write_text(
        "import threading, dpor\n"
        "def scenario():\n"
        "    box = [0, 0]\n"
        "    def add(n):\n"
        "        for _ in range(3):\n"
        "            value = box[0]\n"
        "            box[0] = value + n\n"
        "        dpor.assume(box[0] != 33)\n"
        "        if box[0] == 11: dpor.reached('eleven')\n"
        "    threads = [threading.Thread(target=add, args=(n,)) for n in (1, 10)]\n"
        "    for t in threads: t.start()\n"
        "    for t in threads: t.join()\n"
    )
    search = {"target": "large.py::scenario", "strategy": "optimal"}
    alone, workers = dpor.check(**search), dpor.check(**search, workers=2)
    dpor.check(**search, checkpoint="kept", max_executions=100)
    resumed = dpor.resume("kept")
    for report in (alone, workers, resumed):
        assert report.verdict == "pass"
        assert (report.executions, report.dropped) == (alone.executions, alone.dropped)
    assert 0 < alone.dropped < alone.executions
