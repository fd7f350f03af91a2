"""Loops that wait by spinning, in the searches that store no states: the counts are those of trace classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.core.results import Report

HEAD = """
import threading
import time


class Box:
    pass


def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def mutual_exclusion(enter, leave):
    box = Box()
    box.flag, box.turn, box.inside = [False, False], 0, 0

    def body(me):
        def both():
            enter(box, me, 1 - me)
            box.inside += 1
            assert box.inside == 1
            box.inside -= 1
            leave(box, me, 1 - me)
        return both

    run(body(0), body(1))
"""

PETERSON = """
def scenario():
    def enter(box, me, other):
        {first}
        {second}
        while box.flag[other] and box.turn == other:
            pass

    def leave(box, me, other):
        box.flag[me] = False

    mutual_exclusion(enter, leave)
"""

DEKKER = """
def scenario():
    def enter(box, me, other):
        box.flag[me] = True
        while box.flag[other]:
            if box.turn != me:
                box.flag[me] = False
                while box.turn != me:
                    pass
                box.flag[me] = True

    def leave(box, me, other):
        box.turn = other
        box.flag[me] = False

    mutual_exclusion(enter, leave)
"""

WAITING = """
def scenario():
    box = Box()
    box.ready, box.data = False, 0

    def write():
        {write}

    def read():
        {read}

    run(write, read)
    return box.data
"""


def check(tmp_path: Path, body: str, *, max_steps: int = 200, **options: Any) -> Report:
    (tmp_path / "p.py").write_text(HEAD + body)
    return dpor.check(f"{tmp_path}/p.py::scenario", max_seconds=None, max_steps=max_steps, **options)


def waiting(tmp_path: Path, write: str, read: str, **options: Any) -> Report:
    write, read = (text.replace("\n", "\n        ") for text in (write, read))
    return check(tmp_path, WAITING.format(write=write, read=read), all=True, **options)


def test_peterson(tmp_path: Path) -> None:
    report = check(tmp_path, PETERSON.format(first="box.flag[me] = True", second="box.turn = other"))
    assert (report.verdict, report.executions) == ("pass", 12)


def test_peterson_with_its_stores_swapped(tmp_path: Path) -> None:
    report = check(tmp_path, PETERSON.format(first="box.turn = other", second="box.flag[me] = True"))
    assert report.findings[0].kind.value == "assertion"


def test_dekker(tmp_path: Path) -> None:
    report = check(tmp_path, DEKKER)
    assert (report.verdict, report.executions) == ("pass", 19)


@pytest.mark.parametrize("strategy", ["classic", "source", "optimal"])
@pytest.mark.parametrize(
    ("read", "executions"),
    [
        ("while not box.ready:\n    pass", 2),
        ("while not box.ready:\n    time.sleep(0.01)", 2),
        ("while True:\n    seen = box.ready\n    if seen:\n        break", 2),
        ("def ready():\n    return box.ready\nwhile not ready():\n    mine = [1]", 2),
        ("def wait():\n    while not box.ready:\n        pass\nfor _ in range(2):\n    wait()", 2),
    ],
)
def test_a_flag_is_waited_for(tmp_path: Path, read: str, executions: int, strategy: str) -> None:
    report = waiting(tmp_path, "box.data = 1\nbox.ready = True", f"{read}\nassert box.data == 1", strategy=strategy)
    assert (report.verdict, report.executions, report.outcomes) == ("pass", executions, 1)


def test_a_round_that_counts_does_not_spin(tmp_path: Path) -> None:
    read = "n = 0\nwhile not box.ready and n < 3:\n    n += 1\nbox.data = n"
    assert waiting(tmp_path, "box.ready = True", read).outcomes == 4


def test_a_round_that_changes_what_only_its_thread_has_does_not_spin(tmp_path: Path) -> None:
    read = "mine = []\nwhile not box.ready and len(mine) < 3:\n    mine.append(1)\nbox.data = len(mine)"
    assert waiting(tmp_path, "box.ready = True", read).outcomes == 4


def test_a_loop_that_looks_at_the_clock_does_not_spin(tmp_path: Path) -> None:
    read = (
        "end = time.monotonic() + 0.03\nwhile not box.ready and time.monotonic() < end:\n    time.sleep(0.01)\n"
        "box.data = box.ready"
    )
    assert waiting(tmp_path, "box.ready = True", read).outcomes == 2
    late = "while not box.ready:\n    time.sleep(0.01)\nbox.data = time.monotonic()"
    assert waiting(tmp_path, "box.ready = True", late, max_steps=50, max_executions=3).verdict == "inconclusive"


POLLING = "lock = box.lock = threading.Lock()\nwhile True:\n    with lock:\n        if box.ready:\n            break"


def test_the_default_search_stores_states_once_a_run_was_cut(tmp_path: Path) -> None:
    report = waiting(tmp_path, "box.ready = True", POLLING)
    assert (report.verdict, report.exhaustive, report.strategy) == ("pass", True, "dpor")
    never = waiting(tmp_path, "box.ready = False", POLLING)
    assert (never.verdict, [finding.kind.value for finding in never.findings]) == ("fail", ["livelock"])
    counting = "n = 0\nlock = box.lock = threading.Lock()\nwhile True:\n    with lock: n += 1\n"
    report = waiting(tmp_path, "box.ready = True", counting, max_executions=20)
    assert report.verdict == "inconclusive"


def test_polling_through_a_lock_is_cut_with_the_loop_named(tmp_path: Path) -> None:
    report = waiting(tmp_path, "box.ready = True", POLLING, max_steps=50, max_executions=3, strategy="optimal")
    assert report.verdict == "inconclusive"
    assert any("--max-steps" in reason and "p.py:" in reason for reason in report.reasons)


@pytest.mark.parametrize("write", ["box.data = 1", "box.ready = False"])
def test_nobody_is_left_to_set_the_flag(tmp_path: Path, write: str) -> None:
    report = waiting(tmp_path, write, "while not box.ready:\n    pass")
    assert report.exhaustive
    (finding,) = report.findings
    assert finding.kind.value == "livelock"
    assert finding.thread == "Thread-2 (read)"
    assert finding.message.startswith("spins: nothing that is left to run writes ")


@pytest.mark.parametrize("strategy", ["full", "original", "dpor"])
def test_searches_that_store_states_tell_it_too(tmp_path: Path, strategy: str) -> None:
    """Even where nobody ever writes the flag, so that to read it is no operation."""
    report = waiting(tmp_path, "box.data = 1", "while not box.ready:\n    pass", strategy=strategy)
    assert report.exhaustive
    assert [finding.kind.value for finding in report.findings] == ["livelock"]


SOMETIMES = """
def scenario():
    box = Box()
    box.a = box.b = False

    def x():
        if box.a:
            while not box.b:
                pass
        box.b = True

    def y():
        box.a = True
        while not box.b:
            pass
        box.a = False

    run(x, y)
"""


def test_threads_that_wait_for_each_other_in_some_orders(tmp_path: Path) -> None:
    """The livelock is made small, saved and repeated like any other failure."""
    report = check(tmp_path, SOMETIMES, all=True)
    (finding,) = report.findings
    assert finding.kind.value == "livelock"
    assert "spins: nothing that is left to run writes Box.b" in finding.message
    assert len(finding.trace) == len(finding.schedule)
    again = dpor.check(f"{tmp_path}/p.py::scenario", strategy="full", all=True, max_seconds=None)
    assert [found.kind for found in again.findings] == [finding.kind]
    assert again.outcomes == report.outcomes == 1


def test_a_daemon_may_spin_for_ever(tmp_path: Path) -> None:
    body = WAITING.replace("run(write, read)", "threading.Thread(target=read, daemon=True).start()\n    write()")
    write, read = "box.data = 1\n        box.data = 2", "while box.data < 3:\n            pass"
    assert check(tmp_path, body.format(write=write, read=read)).verdict == "pass"
