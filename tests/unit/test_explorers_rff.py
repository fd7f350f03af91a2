"""Reads-from fuzzing, the hunt that mixes it with others, and what both know of reads and writes."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import pytest

import dpor
from dpor.explorers import STRATEGIES
from dpor.explorers.hunt import Hunt
from dpor.explorers.reads_from import Pair, Placed, ReadsFrom
from dpor.explorers.rff import Rff
from dpor.model import AbstractSystem
from dpor.testing import TooLarge, explore, random_program

BETWEEN = """
import threading

a = b = 0

def setter():
    global a, b
    a = 1
    b = 1

def checker():
    assert a == b

def scenario():
    threads = [threading.Thread(target=setter) for _ in range(20)] + [threading.Thread(target=checker)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
"""The checker must come between the two writes of a setter, before any other has written both."""

SECTIONS = """
import threading

first, second = threading.Lock(), threading.Lock()
seen = []

def writer():
    with first:
        seen.append(1)
    with second:
        seen.append(2)

def reader():
    with first:
        if not seen:
            return
    with second:
        assert 2 in seen

def scenario():
    threads = [threading.Thread(target=writer) for _ in range(12)] + [threading.Thread(target=reader)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
"""The reader must take the second lock before any writer, and the first one after a writer."""

STEPS = {"vars": {"x": 0}, "locks": ["m"], "threads": [["w x 1", "w x 2"], ["r x r", "r x s"]]}


def found(tmp_path: Path, source: str, most: int, **options: object) -> list[bool]:
    file = tmp_path / "program.py"
    file.write_text(source)
    checks = [dpor.check(f"{file}::scenario", seed=seed, max_executions=most, **options) for seed in range(4)]  # type: ignore[arg-type]
    return [report.verdict == "fail" for report in checks]


@pytest.mark.parametrize("source", [BETWEEN, SECTIONS])
def test_an_unlikely_read_among_many_threads_is_found(source: str, tmp_path: Path) -> None:
    assert all(found(tmp_path, source, 60, strategy="rff"))
    assert not all(found(tmp_path, source, 60, strategy="pos"))


def test_it_is_not_found_if_nobody_waits_with_a_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: the reads of a schedule wait for their writes, but no write waits for them."""

    def forgets(self: Rff) -> None:
        begin(self)
        self._of_writes.clear()

    begin = Rff.begin
    monkeypatch.setattr(Rff, "begin", forgets)
    assert not all(found(tmp_path, BETWEEN, 60, strategy="rff"))


def test_it_is_not_found_if_locks_are_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: constraints are about memory alone, as in the paper."""
    monkeypatch.setattr(
        "dpor.explorers.reads_from.seen_by",
        lambda operation: [n for n, mode in operation.accesses if operation.rule is None and mode == 0],
    )
    assert not all(found(tmp_path, SECTIONS, 40, strategy="rff"))


@pytest.mark.parametrize("strategy", ["rff", "hunt"])
def test_the_same_seed_gives_the_same_runs(strategy: str) -> None:
    def runs(seed: int) -> list[list[int]]:
        system = AbstractSystem(random_program(Random(5)))
        search = STRATEGIES[strategy].make(system, dpor.Options(seed=seed))
        return [search.trace.threads.copy() for _ in islice(search.explore(), 50)]

    assert runs(1) == runs(1)
    assert runs(1) != runs(2)


@pytest.mark.parametrize("strategy", ["rff", "hunt"])
def test_every_outcome_is_reached(strategy: str) -> None:
    """Of small programs, in 2,000 runs."""
    judged = 0
    for seed in range(20):
        program = random_program(Random(seed), words=("r", "w", "rmw", "lock", "unlock"), interleavings=200)
        try:
            all_of_them = explore(STRATEGIES["optimal"], AbstractSystem(program), runs=40)
        except TooLarge:
            continue
        search = STRATEGIES[strategy].make(AbstractSystem(program), dpor.Options(seed=seed))
        seen = {run.outcome for run in islice(search.explore(), 2_000)} - {None}
        assert seen == all_of_them.outcomes, seed
        judged += 1
    assert judged >= 5


def test_runs_without_constraints_come_again() -> None:
    search = Rff(AbstractSystem(STEPS), 0)
    bare = [run for run in islice(search.explore(), 400) if not search._schedule]
    assert len(bare) > 10


def test_threads_that_go_round_end_a_schedule(tmp_path: Path) -> None:
    """Two threads spin in turn; whoever a constraint makes wait is the one who ends that."""
    source = (
        "import threading, time\ndone = 0\nlater = 0\n"
        "def spin():\n    while not done:\n        time.sleep(0)\n"
        "def end():\n    global done, later\n    later = 1\n    done = 1\n"
        "def scenario():\n"
        "    threads = [threading.Thread(target=f) for f in (spin, spin, end)]\n"
        "    for thread in threads: thread.start()\n    for thread in threads: thread.join()\n"
    )
    file = tmp_path / "spinning.py"
    file.write_text(source)
    report = dpor.check(f"{file}::scenario", strategy="rff", max_executions=40)
    assert not any("--max-steps" in reason for reason in report.reasons), report.reasons


# ---------------------------------------------------------------------- who sees whom


def learned(program: object, order: list[int]) -> ReadsFrom:
    """What is known after one run in which the threads move in this order."""
    system, known, left = Placed(AbstractSystem(program)), ReadsFrom(), order.copy()  # type: ignore[arg-type]
    trace = dpor.core.system.Trace()
    system.run(trace, lambda enabled: left.pop(0))
    known.learn(trace, system.places)
    return known


def test_pairs_are_told_by_place() -> None:
    known = learned(STEPS, [1, 0, 1, 0])
    first_read, second_read = ("read", (1, 0)), ("read", (1, 1))
    first_write, second_write = ("write", (0, 0)), ("write", (0, 1))
    assert known.seen == {Pair(None, first_read): 1, Pair(first_write, second_read): 1}
    assert {*known.possible} == {
        Pair(source, read) for source in (None, first_write, second_write) for read in (first_read, second_read)
    }


def test_what_a_thread_has_seen_does_not_vanish() -> None:
    """Once a write has been seen, the value of before cannot be seen: there is no such pair to try."""
    known = learned(STEPS, [0, 1, 1, 0])
    assert Pair(None, ("read", (1, 0))) in known.possible
    assert Pair(None, ("read", (1, 1))) not in known.possible


def test_what_one_thread_does_alone_is_no_pair() -> None:
    assert not learned({"vars": {"x": 0, "y": 0}, "threads": [["w x 1", "r x r"], ["w y 1"]]}, [0, 0, 1]).possible


# ---------------------------------------------------------------------- the mixture


def test_a_search_that_brings_something_gets_more_runs() -> None:
    """In a program whose pairs are soon known, the others get runs too; none is left out."""
    hunt = Hunt(AbstractSystem(STEPS), 0, 3)
    for _ in islice(hunt.explore(), 300):
        pass
    runs = [arm.walk.stats.executions for arm in hunt._arms]
    assert sum(runs) == hunt.stats.executions == 300
    assert min(runs) > 5
    assert hunt.stats.events == sum(arm.walk.stats.events for arm in hunt._arms)
