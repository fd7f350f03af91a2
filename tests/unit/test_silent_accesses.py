"""Accesses of Python programs that are no events, as their locks keep their order: named and made events where one does
not keep to it, and seen by specifications, data races and reports all the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.core.errors import AssumptionBroken
from dpor.core.outcome import Kind
from dpor.core.results import Verdict
from dpor.explorers.dpor import Dpor
from dpor.python.program.silent_accesses import SilentAccesses
from dpor.python.program.system import PythonSystem

LOCKS = ["Lock", "RLock", "Condition"]
FORMS = {
    "with": "with {lock}:\n    {body}",
    "by hand": "{lock}.acquire()\ntry:\n    {body}\nfinally:\n    {lock}.release()",
}
OWN = ("self.lock", "self.n += 1", "Counter.n")
CONTAINED = ("self.lock", "self.items.append(len(self.items))", "list")
SPLIT = ("self.hours_lock", "self.hours['x'] = self.hours.get('x', 0) + 1", "dict")

COUNTER = """
import threading

class Counter:
    def __init__(self):
        self.lock = threading.{kind}()
        self.hours_lock = threading.{kind}()
        self.n = 0
        self.items = []
        self.hours = {{}}

    def add(self):
{add}

    def look(self):
{look}

def scenario():
    counter = Counter()
    threads = [threading.Thread(target=counter.add), threading.Thread(target=counter.look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counter.n, counter.items, counter.hours
"""


def indented(text: str) -> str:
    return "\n".join(" " * 8 + line for line in text.split("\n"))


def program(kind: str, form: str, pattern: tuple[str, str, str], *, broken: bool = False) -> str:
    lock, body, _ = pattern
    add = FORMS[form].replace("{lock}", lock).replace("{body}", body)
    return COUNTER.format(kind=kind, add=indented(add), look=indented(body if broken else add))


def check(tmp_path: Path, source: str, **options: Any) -> dpor.Report:
    file = tmp_path / "program.py"
    file.write_text(source)
    return dpor.check(f"{file}::scenario", **{"all": True, **options})


def both(tmp_path: Path, source: str, **options: Any) -> tuple[dpor.Report, dpor.Report]:
    """Check it as usual, and with an event for every access. The outcomes and the failures must be the same."""
    usual, every = (check(tmp_path, source, every_access=each, **options) for each in (False, True))
    assert usual.verdict is every.verdict
    assert set(usual.outcome_digests) == set(every.outcome_digests)
    assert {f.message for f in usual.findings} == {f.message for f in every.findings}
    return usual, every


@pytest.mark.parametrize("pattern", [OWN, CONTAINED, SPLIT], ids=["own", "contained", "split"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LOCKS)
def test_what_a_lock_guards_is_no_event(kind: str, form: str, pattern: tuple[str, str, str], tmp_path: Path) -> None:
    usual, every = both(tmp_path, program(kind, form, pattern), strategy="optimal")
    assert usual.executions == every.executions == 2
    sections = usual.events + usual.replayed - 2 * 8  # starts, ends and joins of threads, and the end
    assert sections <= 2 * 4, "acquiring and releasing, twice in each execution"
    assert not any("is accessed" in reason for reason in usual.restarts)


@pytest.mark.parametrize("pattern", [OWN, CONTAINED, SPLIT], ids=["own", "contained", "split"])
@pytest.mark.parametrize("kind", LOCKS)
def test_an_access_without_the_lock_is_named(kind: str, pattern: tuple[str, str, str], tmp_path: Path) -> None:
    usual, every = both(tmp_path, program(kind, "with", pattern, broken=True), strategy="optimal")
    assert usual.executions == every.executions
    assert usual.outcomes == every.outcomes > 1
    reason, *_ = usual.restarts
    lock = "RLock" if kind == "Condition" else kind
    named = rf"{pattern[2]}\b.* is accessed under {lock} \d+, and was accessed without, last in add at .*program.py:\d+"
    assert re.search(named, reason)


RARE = """
import threading

class Box:
    a = b = 0

def scenario():
    box, lock = Box(), threading.Lock()
    seen = []
    def one():
        with lock:
            box.a = 1
            box.a = 2
    def two():
        with lock:
            box.b = 1
    def three():
        with lock:
            first = box.b == 0
        if first:
            seen.append(box.a)
    threads = [threading.Thread(target=body) for body in (one, two, three)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen
"""


@pytest.mark.parametrize("strategy", ["optimal", "source", "dpor", "full", "original"])
def test_a_discipline_that_few_schedules_break(strategy: str, tmp_path: Path) -> None:
    """The first runs keep to it, and so do most: all outcomes are found, under every strategy."""
    usual, every = both(tmp_path, RARE, strategy=strategy, max_seconds=100)
    assert usual.exhaustive
    assert usual.outcomes == every.outcomes == 4
    assert any("Box.a is accessed without Lock" in reason for reason in usual.restarts)


HANDED_OVER = """
import threading

class Box:
    n = 0

def scenario():
    box, lock = Box(), threading.Lock()
    seen = []
    def one():
        lock.acquire()
        box.n = 1
        box.n = 2
        try:
            lock.release()
        except RuntimeError:
            pass
    def two():
        try:
            lock.release()
        except RuntimeError:
            pass
    def three():
        with lock:
            seen.append(box.n)
    threads = [threading.Thread(target=body) for body in (one, two, three)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen
"""


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_a_lock_that_another_thread_releases(strategy: str, tmp_path: Path) -> None:
    usual, _ = both(tmp_path, HANDED_OVER, strategy=strategy)
    assert usual.exhaustive
    assert "returned [1]" in usual.outcome_digests.values()


LATE = """
import threading

class Box:
    def __init__(self):
        self.n = 0

def scenario():
    shelf, lock, flags = [], threading.Lock(), Box()
    seen = []
    def one():
        early = flags.n == {first}
        if early:
            flags.n
        box = Box()
        if not early:
            box.n = 5
        with lock:
            shelf.append(box)
        if early:
            box.n = 5
    def two():
        with lock:
            box = shelf[-1] if shelf else None
        if box is not None:
            with lock:
                seen.append(box.n)
    def three():
        flags.n = 1
        flags.n = 0
    threads = [threading.Thread(target=body) for body in (one, two, three)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen
"""


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("strategy", ["optimal", "dpor", "full", "original"])
def test_an_object_that_is_handed_over_before_it_is_ready(strategy: str, first: int, tmp_path: Path) -> None:
    """It has another name on each way to the same state."""
    usual, _ = both(tmp_path, LATE.format(first=first), strategy=strategy)
    assert usual.exhaustive
    assert "returned [0]" in usual.outcome_digests.values()


BALANCED = """
import threading
import dpor

class Pair:
    left = right = 0

def scenario():
    pair, lock = Pair(), threading.Lock()
    dpor.invariant(lambda: pair.left == pair.right)
    def move():
        with lock:
            pair.left += 1
            pair.right += 1
    threads = [threading.Thread(target=move) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_an_invariant_sees_what_is_written_under_the_lock(tmp_path: Path) -> None:
    usual, _ = both(tmp_path, BALANCED, strategy="optimal", all=False)
    assert usual.verdict is Verdict.FAIL


GOES_ROUND = """
import threading

class Box:
    n = 0
    flag = False

def scenario():
    box, lock = Box(), threading.Lock()
    def one():
        while not box.flag:
            box.n += 1
            if box.n > 30:
                return
    def two():
        with lock:
            box.flag = {flag}
    threads = [threading.Thread(target=body) for body in (one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_a_loop_that_counts_silently_does_not_spin(strategy: str, tmp_path: Path) -> None:
    assert check(tmp_path, GOES_ROUND.format(flag=False), strategy=strategy).verdict is Verdict.PASS


ROUND = """
import threading

class Box:
    n = 0

def scenario():
    box, lock = Box(), threading.Lock()
    def one():
        while True:
            with lock:
                {body}
    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
"""


@pytest.mark.parametrize(("body", "livelock"), [("box.n = 1 - box.n", False), ("box.n", True)])
def test_a_livelock_changes_nothing(body: str, livelock: bool, tmp_path: Path) -> None:
    report, _ = both(tmp_path, ROUND.format(body=body), strategy="dpor")
    assert [finding.kind for finding in report.findings] == [Kind.LIVELOCK] * livelock
    assert report.terminates is False


DAEMON = """
import threading

class Box:
    n = 0

def scenario():
    box, lock = Box(), threading.Lock()
    def work():
        with lock:
            box.n = 1
            box.n = 2
            raise ValueError
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
"""


def test_the_program_may_end_between_two_accesses_of_a_daemon_thread(tmp_path: Path) -> None:
    both(tmp_path, DAEMON, strategy="optimal")


LOSES = """
import threading

class Box:
    def __init__(self):
        self.n = 0

def scenario():
    box, lock = Box(), threading.Lock()
    def add():
        with lock:
            n = box.n
        with lock:
            box.n = n + 1
    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert box.n == 2
"""


@pytest.mark.parametrize("strategy", ["optimal", "dpor", "pct"])
def test_a_report_shows_what_happens_under_the_lock_and_replays(strategy: str, tmp_path: Path) -> None:
    report = check(tmp_path, LOSES, strategy=strategy, all=False)
    (failure,) = report.findings
    assert not report.restarts[1:]
    kinds = [step.operation.partition(" ")[0] for step in failure.trace]
    assert kinds.count("read") == kinds.count("write") == 2
    assert failure.saved is not None
    saved = tmp_path / "saved.json"
    failure.saved.save(saved)
    again = dpor.replay(saved)
    assert (again.message, [step.operation for step in again.trace]) == (
        failure.message,
        [step.operation for step in failure.trace],
    )
    known = check(tmp_path, LOSES, strategy=strategy, all=False)
    assert known.findings[0].schedule


RACES = """
import threading

class Box:
    a = b = 0

def scenario():
    box, lock = Box(), threading.Lock()
    def one():
        with lock:
            box.a += 1
            box.b += 1
    def two():
        with lock:
            box.a += 1
        box.b += 1
    threads = [threading.Thread(target=body) for body in (one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_data_races_are_the_same(tmp_path: Path) -> None:
    usual, _ = both(tmp_path, RACES, races=True)
    assert usual.findings
    assert all("Box.b" in finding.message for finding in usual.findings)


WAITS_TO_STORE = """
import threading

def scenario():
    known = {}
    def store():
        known["x"] = []
    threads = [threading.Thread(target=store) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_what_is_known_of_accesses_is_no_part_of_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It grows from run to run. A thread looks again at what it stores when it has waited to do so."""
    file = tmp_path / "program.py"
    file.write_text(WAITS_TO_STORE)
    system = PythonSystem(f"{file}::scenario")
    whole, states = system.whole_state, list[bytes]()

    def noted() -> bytes | None:
        state = whole()
        states.append(state or b"")
        return state

    monkeypatch.setattr(system, "whole_state", noted)
    search = searched(system)
    assert search.stats.states == len(search.graph.numbers) > 10
    assert not any(SilentAccesses.__module__.encode() in state for state in states)


def searched(system: PythonSystem) -> Dpor:
    while True:
        system.see_every_access(False)
        search = Dpor(system)
        try:
            for _ in search.explore():
                pass
        except AssumptionBroken:
            continue
        return search
