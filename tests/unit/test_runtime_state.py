"""Every execution starts from the same program state, or says that it cannot."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

import dpor
from dpor.core.results import Report

PREAMBLE = """
import functools, itertools, threading

def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def check(tmp_path: Path, source: str, **options: object) -> Report:
    file = tmp_path / "program.py"
    file.write_text(PREAMBLE + dedent(source))
    return dpor.check(f"{file}::scenario", **{"all": True, "max_seconds": 60, **options})  # type: ignore[arg-type]


RACE = """
class Box:
    pass

def race(box):
    # Two classes of interleavings, so that there is more than one execution.
    def write():
        box.x = 1
    def read():
        getattr(box, "x", 0)
    run(write, read)
"""


@pytest.mark.parametrize(
    "use",
    [
        "counter = 0\ndef use():\n    global counter\n    counter += 1\n    return counter",
        "items = []\ndef use():\n    items.append(1)\n    return len(items)",
        "table = {}\ndef use():\n    table['n'] = table.get('n', 0) + 1\n    return table['n']",
        "class C:\n    n = 0\ndef use():\n    C.n += 1\n    return C.n",
        "class C:\n    seen = []\ndef use():\n    C.seen.append(1)\n    return len(C.seen)",
        "def use(seen=[]):\n    seen.append(1)\n    return len(seen)",
        "numbers = itertools.count(1)\ndef use():\n    return next(numbers)",
        "calls = []\n@functools.lru_cache\ndef cached(x):\n    calls.append(x)\n    return x\n"
        "def use():\n    cached(1)\n    return len(calls)",
        "def use():\n    use.n = getattr(use, 'n', 0) + 1\n    return use.n",
    ],
    ids=[
        "global",
        "list",
        "dict",
        "class attribute",
        "class list",
        "default",
        "itertools.count",
        "lru_cache",
        "function",
    ],
)
def test_state_is_restored_before_each_run(tmp_path: Path, use: str) -> None:
    source = f"{RACE}\n{use}\n\ndef scenario():\n    n = use()\n    race(Box())\n    assert n == 1, n\n"
    report = check(tmp_path, source)
    assert report.executions == 2
    assert report.verdict == "pass", report.findings


def test_a_module_global_written_by_threads_is_shared(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        counter = 0

        def add():
            global counter
            counter += 1

        def scenario():
            run(add, add)
            return counter
        """,
    )
    assert (report.executions, report.outcomes) == (4, 2)


def test_a_class_attribute_written_by_threads_is_shared(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        class C:
            n = 0

        def add():
            C.n += 1

        def scenario():
            run(add, add)
            return C.n
        """,
    )
    assert (report.executions, report.outcomes) == (4, 2)


def test_a_class_attribute_read_through_an_instance_is_shared(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        class C:
            n = 0

        def scenario():
            c, seen = C(), []

            def write():
                C.n = 1

            def read():
                seen.append(c.n)

            run(write, read)
            return seen
        """,
    )
    assert report.outcomes == 2


def test_a_closure_variable_is_shared(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        def scenario():
            count = 0

            def add():
                nonlocal count
                count += 1

            run(add, add)
            return count
        """,
    )
    assert (report.executions, report.outcomes) == (4, 2)


def test_thread_names_begin_anew(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        RACE
        + """
def scenario():
    race(Box())
    return threading.Thread(target=print).name
""",
    )
    assert (report.executions, report.outcomes) == (2, 1)


def test_daemon_threads_may_be_anywhere_when_the_program_ends(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        import atexit
        seen = []

        def scenario():
            box = []

            def daemon():
                box.append(1)
                box.append(2)

            threading.Thread(target=daemon, daemon=True).start()
            return len(box)
        """,
    )
    assert report.verdict == "pass"
    assert report.outcomes == 3


def test_a_blocked_daemon_is_no_finding(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        def scenario():
            lock = threading.Lock()
            lock.acquire()
            threading.Thread(target=lock.acquire, daemon=True).start()
        """,
    )
    assert report.verdict == "pass"


def test_a_data_choice_is_explored(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        import dpor

        def scenario():
            return dpor.choose(3), dpor.choose(2)
        """,
    )
    assert (report.executions, report.outcomes) == (6, 6)


def test_choices_and_threads_are_explored_together(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        import dpor

        def scenario():
            box = [0]

            def choose():
                box[0] = dpor.choose(2) + 1

            def read():
                seen.append(box[0])

            seen = []
            run(choose, read)
            return seen
        """,
    )
    assert report.outcomes == 3
    assert report.executions == 4


def test_a_loop_without_operations_ends(tmp_path: Path) -> None:
    report = check(tmp_path, "def scenario():\n    while True:\n        pass\n")
    assert report.verdict == "inconclusive"
    assert any("went round" in reason for reason in report.reasons)


def test_a_long_run_is_cut(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        def scenario():
            box = [0]
            def count():
                n = 0
                while box[0] == 0:
                    n += 1
            def write():
                box[0] = 1
            run(count, write)
        """,
        max_steps=100,
        all=False,
        max_executions=20,
    )
    assert report.verdict == "inconclusive"
    assert any("--max-steps" in reason for reason in report.reasons)


def test_a_program_that_swallows_everything_is_unwound(tmp_path: Path) -> None:
    report = check(
        tmp_path,
        """
        def scenario():
            lock = threading.Lock()
            lock.acquire()

            def stubborn():
                while True:
                    try:
                        lock.acquire()
                    except BaseException:
                        pass

            run(stubborn)
        """,
    )
    assert report.findings[0].kind.value == "deadlock"
