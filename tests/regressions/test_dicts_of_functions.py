"""Dicts that belong to functions and classes outlive a run: one that is changed in place is made anew for the next."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor

PROGRAM = """
import threading

class Box:
    kind: int

def f(a: int = 0, *, n=1):
    return n

def scenario():
    seen = []
    {change}
    thread = threading.Thread(target=lambda: seen.append({seen}))
    thread.start()
    seen.append(0)
    thread.join()
    return seen
"""


@pytest.mark.parametrize("strategy", ["optimal", "full"])
@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ("f.__kwdefaults__['n'] += 1", "f()"),
        ("f.__dict__['x'] = f.__dict__.get('x', 0) + 1", "f.x"),
        ("f.__annotations__[str(len(f.__annotations__))] = 1", "len(f.__annotations__)"),
        ("Box.__annotations__[str(len(Box.__annotations__))] = 1", "len(Box.__annotations__)"),
    ],
)
def test_every_run_begins_with_the_same(change: str, seen: str, strategy: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(change=change, seen=seen))
    report = dpor.check(f"{file}::scenario", strategy=strategy, all=True)
    assert (report.verdict, report.outcomes) == ("pass", 2)
