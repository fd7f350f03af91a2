"""Locks of `multiprocessing` that threads of one process share."""

from __future__ import annotations

import _multiprocessing as real
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpor
from tests.source_outcomes import outcomes
from tests.under_control import once, stdlib

modelled: Any = stdlib.module_for_program("_multiprocessing")


def said(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize(
    ("kind", "value", "most"), [(0, 1, 1), (1, 1, 1), (1, 2, 2), (1, 0, 1), (1, 1, 3), (1, 0, 2**31 - 1)]
)
def test_one_thread_sees_what_it_sees_of_the_real_one(kind: int, value: int, most: int) -> None:
    def used(module: Any) -> Any:
        lock = module.SemLock(kind, value, most, f"/dpor-{kind}-{value}-{most}", True)

        def looks() -> Any:
            mine = lock._is_mine() if kind == 0 or value == most == 1 else None
            return lock._count(), lock._get_value(), lock._is_zero(), mine

        steps: list[Callable[[], Any]] = [
            lock.release,
            lambda: lock.acquire(False),
            lambda: lock.acquire(True, 0.001),
            lambda: lock.acquire(block=True, timeout=-1),
            lambda: lock.acquire(True, 0),
            lock.release,
            lock.release,
            lambda: lock.release() or lock.__enter__(),
            lambda: lock.__exit__(None, None, None),
            lambda: (lock.kind, lock.maxvalue, lock.name, module.SemLock.SEM_VALUE_MAX),
        ]
        return [looks(), *((said(step), looks()) for step in steps)]

    assert once(lambda: used(modelled)) == used(real)


PROGRAM = """
import multiprocessing, threading

def scenario():
    lock, shared = multiprocessing.{make}, []
    def act():
        with lock:
            before = len(shared)
            shared.append(before)
    threads = [threading.Thread(target=act) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return shared
"""


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        ("Lock()", {(0, 1)}),
        ("get_context('spawn').Lock()", {(0, 1)}),
        ("RLock()", {(0, 1)}),
        ("Condition()", {(0, 1)}),
        ("Semaphore()", {(0, 1)}),
        ("BoundedSemaphore(1)", {(0, 1)}),
        ("Semaphore(2)", {(0, 1), (0, 0)}),
    ],
)
def test_what_excludes_in_multiprocessing_excludes_here(
    tmp_path: Path, make: str, expected: set[tuple[int, ...]]
) -> None:
    assert {tuple(found) for found in outcomes(tmp_path, PROGRAM.format(make=make))} == expected


def test_a_deadlock_of_two_locks_is_found(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import multiprocessing, threading\n"
        "def scenario():\n"
        "    first, second = multiprocessing.Lock(), multiprocessing.Lock()\n"
        "    def one():\n"
        "        with first, second: pass\n"
        "    def other():\n"
        "        with second, first: pass\n"
        "    threads = [threading.Thread(target=f) for f in (one, other)]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n"
    )
    result = dpor.check(f"{tmp_path}/program.py::scenario")
    assert [finding.kind.value for finding in result.findings] == ["deadlock"]


WAITING = {
    "event": (
        "event, seen = multiprocessing.Event(), []",
        "event.wait(); seen.append('waited')",
        "seen.append('set'); event.set()",
        {("set", "waited")},
    ),
    "condition": (
        "changed, seen = multiprocessing.Condition(), []",
        "with changed:\n            while not seen: changed.wait()\n            seen.append('waited')",
        "with changed:\n            seen.append('set'); changed.notify()",
        {("set", "waited")},
    ),
    "barrier": (
        "barrier, seen = multiprocessing.Barrier(2), []",
        "barrier.wait(); seen.append('one')",
        "barrier.wait(); seen.append('other')",
        {("one", "other"), ("other", "one")},
    ),
    "a timed wait": (
        "lock, seen = multiprocessing.Lock(), []",
        "seen.append(lock.acquire(timeout=1))",
        "seen.append(lock.acquire(timeout=1))",
        {(True, False), (False, True)},
    ),
}


@pytest.mark.parametrize("name", WAITING)
def test_who_waits_is_woken(tmp_path: Path, name: str) -> None:
    made, one, other, expected = WAITING[name]
    source = (
        f"import multiprocessing, threading\ndef scenario():\n    {made}\n    def one():\n        {one}\n"
        f"    def other():\n        {other}\n"
        "    threads = [threading.Thread(target=f) for f in (one, other)]\n"
        "    for thread in threads: thread.start()\n    for thread in threads: thread.join()\n    return seen\n"
    )
    assert {tuple(found) for found in outcomes(tmp_path, source)} == expected


def test_processes_of_dummy_are_threads(tmp_path: Path) -> None:
    source = (
        "from multiprocessing import dummy\n"
        "def scenario():\n"
        "    seen = []\n"
        "    processes = [dummy.Process(target=seen.append, args=(n,)) for n in range(2)]\n"
        "    for process in processes: process.start()\n"
        "    for process in processes: process.join()\n"
        "    return seen\n"
    )
    assert {tuple(found) for found in outcomes(tmp_path, source)} == {(0, 1), (1, 0)}


def test_nobody_notices_the_death_of_what_no_fork_has_to_reset(tmp_path: Path) -> None:
    source = (
        "import multiprocessing, threading\n"
        "def scenario():\n"
        "    event, lock = multiprocessing.Event(), multiprocessing.Lock()\n"
        "    thread = threading.Thread(target=event.set)\n"
        "    thread.start()\n"
        "    del lock\n"
        "    event.wait()\n"
        "    thread.join()\n"
    )
    found = outcomes(tmp_path, source)
    assert found == {None}
    assert not found.incomplete
    assert found.executions == 2
