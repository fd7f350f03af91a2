"""`--every-access`: what nobody writes is no longer left out, which makes events more and outcomes no more."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor

READERS = """
import threading

class Limits:
    def __init__(self):
        self.low = 1
        self.all = [1, 2]

def scenario():
    limits, found = Limits(), []

    def look():
        assert not found or {passes}
        found.append(limits.low + limits.all[0])

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
"""


def check(folder: Path, strategy: str, *, every_access: bool, passes: bool = True) -> dpor.Report:
    file = folder / "readers.py"
    file.write_text(READERS.replace("{passes}", str(passes)))
    return dpor.check(f"{file}::scenario", strategy=strategy, all=True, every_access=every_access)


@pytest.mark.parametrize("strategy", ["optimal", "original", "sa", "dpor", "dpor+static"])
def test_outcomes_are_the_same(strategy: str, tmp_path: Path) -> None:
    usual, every = (check(tmp_path, strategy, every_access=each) for each in (False, True))
    assert usual.outcome_digests.keys() == every.outcome_digests.keys()
    assert (usual.verdict, every.verdict) == ("pass", "pass")


def test_reads_of_what_nobody_writes_are_choices_of_original_and_not_of_sa(tmp_path: Path) -> None:
    usual, every, sa = (
        check(tmp_path, strategy, every_access=each).choices
        for strategy, each in (("original", False), ("original", True), ("sa", True))
    )
    assert usual < every
    assert sa < every


def test_the_schedule_of_a_failure_says_so(tmp_path: Path) -> None:
    failure = check(tmp_path, "original", every_access=True, passes=False).findings[0]
    assert failure.saved is not None
    assert failure.saved.settings["every_access"]
    assert dpor.replay(failure.saved).schedule == failure.schedule


WRITERS = {
    "generated": "o.__init__(2)",
    "by a computed name": "setattr(o, chr(120), 2)",
    "past the class": "object.__setattr__(o, 'x', 2)",
    "in its dict": "vars(o).update(x=2)",
    "by a decorated method": "o.put(2)",
}


@pytest.mark.parametrize("strategy", ["dpor+static", "sa", "dpor"])
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_store_that_an_analysis_does_not_see_shows_that_it_is_wrong(
    write: str, strategy: str, tmp_path: Path
) -> None:
    (tmp_path / "writers.py").write_text(f"""
import functools, threading
from dataclasses import dataclass

def storing(method):
    @functools.wraps(method)
    def store(self, value):
        self.__dict__["x"] = value
    return store

@dataclass
class A:
    x: int

    @storing
    def put(self, value): ...

def scenario():
    o = A(1)
    def look():
        one = o.x
        assert one == o.x
    def write():
        {write}
    threads = [threading.Thread(target=body) for body in (look, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""")
    report = dpor.check(f"{tmp_path}/writers.py::scenario", strategy=strategy, every_access=True)
    assert report.verdict is dpor.Verdict.FAIL
