"""What is registered with `atexit` runs in the main thread, the last first, when all other threads have ended."""

from __future__ import annotations

import atexit
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.core.results import Report

AT_IMPORT = """
import atexit, threading

state = []

def closed():
    assert state == [1] * {expected}, state

atexit.register(closed)

def scenario():
    for _ in range(2):
        threading.Thread(target=state.append, args=(1,)).start()
"""


def check(program: Any) -> Report:
    return dpor.check(program, max_seconds=None)


def test_what_a_module_registers_runs_in_every_execution_after_all_threads(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(AT_IMPORT.format(expected=2))
    wrong.write_text(AT_IMPORT.format(expected=1))
    report = check(f"{right}::scenario")
    assert (report.verdict, report.reasons, report.executions) == ("pass", (), 2)
    assert check(f"{wrong}::scenario").verdict == "fail"


def test_the_last_registered_runs_first_and_what_is_unregistered_does_not_run() -> None:
    def program() -> None:
        seen: list[str] = []

        def last() -> None:
            assert seen == ["b", "a"], seen

        atexit.register(last)
        atexit.register(seen.append, "never")
        atexit.unregister(seen.append)
        atexit.register(seen.append, "a")
        atexit.register(seen.append, "b")

    assert check(program).verdict == "pass"


def test_threads_register_in_either_order() -> None:
    def program() -> None:
        seen: list[str] = []

        def last() -> None:
            assert seen == ["b", "a"], seen

        atexit.register(last)
        for letter in "ab":
            threading.Thread(target=atexit.register, args=(seen.append, letter)).start()

    assert check(program).verdict == "fail"


def test_a_failure_in_one_is_a_finding_and_the_others_run() -> None:
    def program() -> None:
        def first() -> None:
            raise ValueError("first")

        def second() -> None:
            raise ValueError("second")

        atexit.register(second)
        atexit.register(first)

    report = dpor.check(program, all=True)
    assert sorted(finding.message for finding in report.findings) == ["ValueError: first", "ValueError: second"]


def test_who_waits_for_what_is_done_at_exit_waits_for_ever() -> None:
    def program() -> None:
        lock = threading.Lock()
        lock.acquire()
        atexit.register(lock.release)
        threading.Thread(target=lock.acquire).start()

    report = check(program)
    assert report.verdict == "fail"
    assert "waits for the end of" in report.findings[0].message


def _can_leave(body: Any, expected: list[str]) -> bool:
    """True if `body(seen)` and its threads can leave this in `seen`."""

    def program() -> None:
        seen: list[str] = []
        body(seen)

        def compare() -> None:
            assert seen != expected

        atexit.register(compare)

    return check(program).verdict == "fail"


def test_what_is_registered_with_threading_runs_while_other_threads_do() -> None:
    def body(seen: list[str]) -> None:
        threading._register_atexit(seen.append, "end")  # type: ignore[attr-defined]
        threading.Thread(target=seen.append, args=("thread",)).start()

    assert _can_leave(body, ["end", "thread"])
    assert _can_leave(body, ["thread", "end"])


def test_a_thread_may_come_too_late_to_register_with_threading() -> None:
    def body(seen: list[str]) -> None:
        def work() -> None:
            try:
                threading._register_atexit(seen.append, "end")  # type: ignore[attr-defined]
            except RuntimeError:
                seen.append("too late")

        threading.Thread(target=work).start()

    assert _can_leave(body, ["end"])
    assert _can_leave(body, ["too late"])
    assert not _can_leave(body, [])


def test_a_failure_of_what_is_registered_with_threading_is_a_finding() -> None:
    def program() -> None:
        def fails() -> None:
            raise ValueError("early")

        threading._register_atexit(fails)  # type: ignore[attr-defined]
        threading.Thread(target=print).start()

    assert check(program).findings[0].message == "ValueError: early"


def test_a_thread_may_use_a_pool_too_late() -> None:
    def body(seen: list[str]) -> None:
        def work() -> None:
            try:
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(seen.append, "task").result()
            except RuntimeError as error:
                seen.append(str(error))

        threading.Thread(target=work).start()

    assert _can_leave(body, ["task"])
    assert _can_leave(body, ["cannot schedule new futures after interpreter shutdown"])


class Thing:
    pass


kept: list[Thing] = []


@pytest.mark.parametrize(("expected", "verdict"), [(["last", "first"], "pass"), ([], "fail")])
def test_finalisers_of_what_still_lives_are_called_at_the_end(expected: list[str], verdict: str) -> None:
    def program() -> None:
        seen: list[str] = []

        def compare() -> None:
            assert seen == expected

        atexit.register(compare)
        thing = Thing()
        kept.append(thing)
        weakref.finalize(thing, seen.append, "first")
        weakref.finalize(thing, seen.append, "never").atexit = False
        weakref.finalize(thing, seen.append, "last")
        threading.Thread(target=print).start()

    assert check(program).verdict == verdict
