"""`alone`: each of its conditions is needed, and what contradicts them is named."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.app.targets import open_target
from dpor.core.errors import UserError
from dpor.core.options import Options
from dpor.core.system import Escape, Locks, Pending, Run, Store
from dpor.explorers.alone import Alone
from dpor.explorers.full import Full
from dpor.explorers.search import threads_of
from dpor.model import AbstractSystem
from dpor.testing import Spec, explore
from tests.properties.test_alone_agrees import differs, guarded_program, wrong_in

ENDLESS_WRITER: Spec = {
    "vars": {"x": 0, "y": 0},
    "threads": [[["while", "1", ["w x 1"]]], ["w y 1"], ["r y a", "assert a==0"]],
}
"""T0 goes from a state to itself, and nobody else uses x."""

IN_BOTH_ORDERS: Spec = {
    "vars": {"x": 0, "y": 0},
    "locks": ["m", "n"],
    "threads": [
        ["lock m", "w x 1", "lock n", "w y 1", "unlock n", "unlock m"],
        ["lock n", "w y 2", "lock m", "w x 2", "unlock m", "unlock n"],
    ],
}

SEEN_FOR_A_MOMENT: Spec = {
    "vars": {"z": 0},
    "locks": ["m"],
    "threads": [["await z _==2"], ["lock m", "w z 2", "w z 0", "unlock m"]],
}
"""T0 can go on only while T1 runs alone."""

TRIED: Spec = {
    "vars": {"x": 0},
    "locks": ["m"],
    "threads": [["lock m", "w x 1", "unlock m"], ["try m a", "assert a==1", ["if", "a==1", ["unlock m"]]]],
}

TAKEN_AWAY: Spec = {
    "vars": {"x": 0},
    "locks": ["m"],
    "threads": [["lock m", "w x 1", "w x 2", "unlock m"], ["unlock m", "lock m", "r x a", "unlock m"]],
}
"""T1 releases the lock that T0 holds, and then reads what T0 has half done."""

ONE_ACCESS_WITHOUT: Spec = {
    "vars": {"x": 0},
    "locks": ["m"],
    "threads": [["lock m", "w x 1", "w x 2", "unlock m"], ["r x a"]],
}


class CyclesIgnored(Alone):
    def complete(self) -> bool:
        return True


class AcquisitionsAlone(Alone):
    """As printed: all operations on the lock of a guarded object are alone."""

    def is_alone(self, pending: Pending) -> bool:
        return pending.operation.kind == "lock" or super().is_alone(pending)


class OnlyThoseThatAreAsked(Alone):
    """As printed: a thread is held against the discipline only when it is considered."""

    def first(self, enabled: int) -> int:
        pending = {one.thread: one for one in self.system.pending()}
        for thread in (*self.trace.threads[-1:], *threads_of(enabled)):
            if enabled >> thread & 1:
                self.look_at(pending[thread])
                if self.is_alone(pending[thread]):
                    return 1 << thread
        return enabled

    def ended(self, state: int, run: Run) -> None:
        pass


class EndsNotLookedAt(Alone):
    def ended(self, state: int, run: Run) -> None:
        pass


class TriesIgnored(Alone):
    def __init__(self, system: Any) -> None:
        super().__init__(system)
        system.guarding(True, True).told = lambda lock: None


class ReleasesOfOthersIgnored(Alone):
    def __init__(self, system: Any) -> None:
        super().__init__(system)
        system.guarding(True, True).released = lambda lock: None


class Believed(Alone):
    """What contradicts the discipline is visible from then on, but the search does not begin again."""

    def __init__(self, system: AbstractSystem) -> None:
        super().__init__(system)
        system.guarding(True, True).contradicted = lambda found: None


MISTAKES = [
    (CyclesIgnored, ENDLESS_WRITER),
    (AcquisitionsAlone, IN_BOTH_ORDERS),
    (OnlyThoseThatAreAsked, SEEN_FOR_A_MOMENT),
    (EndsNotLookedAt, guarded_program(328)),
    (TriesIgnored, TRIED),
    (ReleasesOfOthersIgnored, TAKEN_AWAY),
    (Believed, ONE_ACCESS_WITHOUT),
]


@pytest.mark.parametrize(("mistake", "program"), MISTAKES, ids=lambda value: getattr(value, "__name__", ""))
def test_each_condition_is_needed(mistake: type[Alone], program: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPOR_CHECK", "0")
    assert wrong_in(program, {"right": Alone, "wrong": mistake}).keys() == {"wrong"}


COUNTERS = """
import threading

class Counter:
    def __init__(self):
        self.lock = threading.{lock}()
        self.value = 0

    def add(self):
        with self.lock:
            self.value += 1

counter = Counter()

def work():
    counter.add()
    counter.add()

def run(seen=lambda: None):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    seen()
    for thread in threads:
        thread.join()
    return counter.value

def peek():
    if counter.value == 3:
        raise ValueError("three")

def pry():
    if counter.lock.acquire(blocking=False):
        counter.lock.release()
        return True

def kept():
    return run()

def waits():
    with counter.lock:
        counter.lock.wait()

def stuck():
    return run(waits)

def broken():
    return run(peek)

def tried():
    return run(pry)
"""


def check(folder: Path, name: str, lock: str = "Lock", **options: Any) -> dpor.Report:
    path = folder / "counters.py"
    path.write_text(COUNTERS.format(lock=lock))
    return dpor.check(f"{path}::{name}", all=True, every_access=True, max_seconds=None, **options)


@pytest.mark.parametrize("lock", ["Lock", "RLock", "Condition"])
def test_an_attribute_under_a_lock_needs_no_choices(tmp_path: Path, lock: str) -> None:
    full, alone = (check(tmp_path, "kept", lock, strategy=name) for name in ("full", "alone"))
    assert alone.verdict is full.verdict is dpor.Verdict.PASS
    assert alone.outcome_digests == full.outcome_digests
    assert alone.restarts == ()
    assert alone.states < full.states / 2, (alone.states, full.states)


def test_threads_that_are_blocked_for_good(tmp_path: Path) -> None:
    full, alone = (check(tmp_path, "stuck", "Condition", strategy=name) for name in ("full", "alone"))
    assert [f.kind for f in alone.findings] == [f.kind for f in full.findings] == [dpor.Kind.DEADLOCK]
    assert alone.outcome_digests == full.outcome_digests


def test_an_access_without_the_lock_is_named(tmp_path: Path) -> None:
    full, alone = (check(tmp_path, "broken", strategy=name) for name in ("full", "alone"))
    assert alone.outcome_digests == full.outcome_digests
    assert [f.message for f in alone.findings] == [f.message for f in full.findings] == ["ValueError: three"]
    (why,) = alone.restarts
    line = COUNTERS[: COUNTERS.index("counter.value == 3")].count("\n") + 1
    assert why.startswith("Counter.value is accessed without Lock 2, under which it always was, last in peek at ")
    assert why.endswith(f"counters.py:{line}")


def test_a_lock_that_is_tried_is_named(tmp_path: Path) -> None:
    full, alone = (check(tmp_path, "tried", strategy=name) for name in ("full", "alone"))
    assert alone.outcome_digests == full.outcome_digests
    assert len(alone.restarts) <= 1
    assert all("is tried" in why for why in alone.restarts)


def test_every_configuration_finds_the_same(tmp_path: Path) -> None:
    full = check(tmp_path, "broken", strategy="full")
    for escape, locks, store in product(Escape, Locks, (Store.EVENTS, Store.CHOICES)):
        report = check(tmp_path, "broken", strategy="alone", escape=escape, locks=locks, store=store)
        assert report.outcome_digests == full.outcome_digests
        assert [f.message for f in report.findings] == [f.message for f in full.findings]


def test_other_processes_have_no_part_of_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not with alone"):
        check(tmp_path, "kept", strategy="alone", workers=2)


def test_a_search_relies_on_no_more_than_it_is_told_to() -> None:
    """Without locks, a guarded variable is one that several threads use."""
    system = AbstractSystem(IN_BOTH_ORDERS)
    for by_use, by_locks in ((True, False), (False, True), (True, True)):
        assert system.guarding(by_use, by_locks) is system.guarding(by_use, by_locks)
    wrong = wrong_in(IN_BOTH_ORDERS, {"": partial(Alone, escape=Escape.UNSHARED, locks=Locks.NONE)})
    assert wrong == {}


THIEF = """
import threading

class Box:
    def __init__(self):
        self.m = threading.Lock()
        self.n = threading.Lock()
        self.y = 0
        self.items = [0]

box = Box()

def thief(seen):
    for lock in (box.n, box.m):
        try:
            lock.release()
        except RuntimeError:
            pass

def holder(seen):
    with box.n:
        if box.y == 1:
            box.y = 2
        seen.append(len(box.items))
        try:
            box.m.release()
        except RuntimeError:
            pass
    with box.n:
        box.y += 1
        seen.append(len(box.items))

def scenario():
    seen = [[], []]
    threads = [threading.Thread(target=f, args=(s,)) for f, s in zip((thief, holder), seen)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen, box.y, box.items
"""


@pytest.mark.parametrize("locks", Locks)
def test_a_release_of_a_lock_that_another_thread_may_hold_is_a_choice(tmp_path: Path, locks: Locks) -> None:
    path = tmp_path / "thief.py"
    path.write_text(THIEF)
    system = open_target(f"{path}::scenario", Options())
    full, alone = (explore(make, system) for make in (Full, partial(Alone, escape=Escape.DYNAMIC, locks=locks)))
    assert len(full.outcomes) == 3
    assert differs(full, alone) == ""
