"""Programs that recurse to the limit: to the same depth in every run, and never on into the search's own calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import dpor
from dpor.core import pulse

HEAD = """
import sys
import threading

class Node:
    def __init__(self):
        self.next, self.value = None, 0

def run(*bodies):
    sys.setrecursionlimit(200)
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

PROGRAMS = {
    "one place": """
def scenario():
    hits = [0]
    def deeper():
        hits[0] += 1
        deeper()
    def other():
        hits[0] += 1
    run(deeper, other)
""",
    "a new place at each level": """
def scenario():
    nodes = [Node() for _ in range(300)]
    for one, other in zip(nodes, nodes[1:]):
        one.next = other
    def deeper(node):
        node.value += 1
        deeper(node.next)
    def first_and_last():
        nodes[0].value += 1
        nodes[-1].value += 1
    run(lambda: deeper(nodes[0]), first_and_last)
""",
    "a lock": """
def scenario():
    lock = threading.RLock()
    def deeper():
        with lock:
            deeper()
    def other():
        with lock:
            pass
    run(deeper, other)
""",
    "only in one order": """
def scenario():
    hits = [0]
    def deeper():
        hits[0] += 1
        if hits[0] > 2:
            deeper()
    run(deeper, deeper, deeper)
""",
    "no place at all": """
def scenario():
    def deeper():
        deeper()
    run(deeper, lambda: None)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_failure_is_found_and_happens_again(name: str, tmp_path: Path) -> None:
    limit = sys.getrecursionlimit()
    file = tmp_path / "program.py"
    file.write_text(HEAD + PROGRAMS[name])
    report = dpor.check(f"{file}::scenario")
    (failure,) = report.findings
    saved = failure.saved
    assert saved is not None
    assert "RecursionError: maximum recursion depth exceeded" in failure.message
    assert not [reason for reason in report.reasons if "NotDeterministic" in reason]
    again = from_deeper(50, lambda: dpor.replay(saved))
    assert (again.message, again.trace) == (failure.message, failure.trace)
    assert sys.getrecursionlimit() == limit


def from_deeper(calls: int, then: Callable[[], dpor.Failure]) -> dpor.Failure:
    return from_deeper(calls - 1, then) if calls else then()


def test_the_limit_is_the_programs_own_affair(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        HEAD
        + """
def scenario():
    assert sys.getrecursionlimit() > 300
    seen = []
    def deeper(n):
        try:
            return deeper(n + 1)
        except RecursionError:
            return n
    run(lambda: seen.append(deeper(0)), lambda: seen.append(deeper(0)))
    assert sys.getrecursionlimit() == 200
    assert seen[0] == seen[1]
"""
    )
    report = dpor.check(f"{file}::scenario")
    assert report.verdict == "pass", report


def test_a_signal_at_the_limit_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its handler needs calls, which a program at the limit does not have left."""
    monkeypatch.setattr(pulse, "SECONDS", 0.001)
    file = tmp_path / "program.py"
    file.write_text(HEAD + PROGRAMS["a lock"])
    for _ in range(4):
        report = dpor.check(f"{file}::scenario", all=True, max_executions=100)
        assert not [reason for reason in report.reasons if "NotDeterministic" in reason]
