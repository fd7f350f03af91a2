"""A run that is recorded keeps nothing alive: what dies in a failing run dies when it is replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from dpor.core.results import Verdict
from dpor.python.program import unseen_calls
from dpor.python.program.unseen_calls import is_to_be_watched

PROGRAM = """
import threading, weakref

class Thing:
    pass

def scenario():
    things = weakref.WeakValueDictionary()
    thing = Thing()
    things["it"] = thing
    kept = [thing]
    del thing
    seen = []
    def drop():
        kept.clear()
    def look():
        seen.append(list(things))
    threads = [threading.Thread(target=function) for function in (drop, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [[]]
"""


def test_an_iteration_over_weak_values_fails_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames of the exception keep their variables, but no dicts of these."""
    monkeypatch.setattr(unseen_calls, "is_to_be_watched", is_to_be_watched)
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    report = dpor.check(f"{file}::scenario")
    assert report.verdict is Verdict.FAIL
    saved = report.findings[0].saved
    assert saved is not None
    assert dpor.replay(saved).message == report.findings[0].message
