"""What goes through the fields of a dataclass reads them one after the other, while other threads may write them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import dpor
from dpor.core.results import Verdict

PROGRAM = """
import copy, dataclasses, threading
from dataclasses import asdict, dataclass, field

@dataclass
class Point:
    x: int
    y: int
    path: list = field(default_factory=list)

def scenario():
    point, seen = Point(0, 0), []
    def change():
        point.x = 1
        point.y = 1
    thread = threading.Thread(target=change)
    thread.start()
    got = {call}
    seen.append((got[{x!r}], got[{y!r}]))
    thread.join()
    assert seen != [{seen}]
"""

CALLS = {
    "asdict": ("dataclasses.asdict(point)", "x", "y"),
    "asdict, imported": ("asdict(point)", "x", "y"),
    "a dict of its own": ("asdict(point, dict_factory=dict)", "x", "y"),
    "inside a list": ("asdict(Point([point], 0))['x'][0]", "x", "y"),
    "astuple": ("dataclasses.astuple(point)", 0, 1),
    "replace": ("vars(dataclasses.replace(point, path=[]))", "x", "y"),
}
if sys.version_info >= (3, 13):
    CALLS["copy.replace"] = ("vars(copy.replace(point, path=[]))", "x", "y")


@pytest.mark.parametrize("seen", [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)])
@pytest.mark.parametrize("call", CALLS)
def test_all_mixtures_of_old_and_new_are_found(call: str, seen: tuple[int, int], tmp_path: Path) -> None:
    file = tmp_path / "points.py"
    text, x, y = CALLS[call]
    file.write_text(PROGRAM.format(call=text, x=x, y=y, seen=seen))
    report = dpor.check(f"{file}::scenario")
    assert (report.verdict, report.exhaustive) == ((Verdict.PASS, True) if seen == (2, 0) else (Verdict.FAIL, False))
