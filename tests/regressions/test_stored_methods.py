"""A method of a shared object that the program keeps leads to nothing but the object."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from dpor.core.results import Verdict

PROGRAM = """
import io, threading

class Thing:
    pass

class Box:
    pair = None

def scenario():
    box, out = Box(), io.StringIO()

    def work():
        out.write("1")
        out.encoding
        if box.pair is not None:
            box.pair[0].count += 1

    thread = threading.Thread(target=work)
    thread.start()
    thing = Thing()
    thing.count = 0
    box.pair = thing, out.write
    box.pair[1]("2")
    thing.count += 1
    thread.join()
    assert sorted(out.getvalue()) == ["1", "2"]
    assert thing.count != 0
"""


@pytest.mark.parametrize("strategy", [None, "optimal", "source", "dpor", "full"])
def test_runs_name_what_is_stored_beside_it_alike(strategy: str | None, tmp_path: Path) -> None:
    """In the first run what is known of the object has no operations yet."""
    file = tmp_path / "stored.py"
    file.write_text(PROGRAM)
    report = dpor.check(f"{file}::scenario", strategy=strategy)
    assert (report.verdict, report.reasons) == (Verdict.PASS, ())
