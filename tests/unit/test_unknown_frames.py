"""On a Python whose frames are laid out in a way that is not known, no memory is read, and all that is safe works."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.app.doctor import _states
from dpor.python.states import contents, frames, memory
from dpor.python.states.stacks import StateUnknown

STATEFUL: tuple[dict[str, Any], ...] = (
    *({"strategy": name} for name in ("full", "original", "dpor", "sa")),
    {"strategy": "original", "sync_choices": "shared"},
)
STATELESS: tuple[dict[str, Any], ...] = tuple(
    {"strategy": name} for name in ("none", "classic", "source", "optimal", "random", "pct")
)
TOLD = "are laid out in a way that is not known"

SPINS = """
import threading

class Box:
    ready = False

def scenario():
    box = Box()
    def body():
        box.ready = True
    thread = threading.Thread(target=body)
    thread.start()
    while not box.ready:
        pass
    thread.join()
"""

HIDDEN = """
import threading

class Orders:
    def __init__(self, value):
        self.value = value
    def __lt__(self, other):
        with lock:
            return self.value < other.value

lock = threading.Lock()

def steps():
    try:
        raise ValueError
    except ValueError:
        with lock:
            pass
        yield {1, 2, object()}

def scenario():
    seen = []
    def body():
        for found in steps():
            seen.append(sorted([Orders(2), Orders(1)])[0].value + len(found))
    threads = [threading.Thread(target=body) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [4, 4]
"""


class Nowhere:
    """Memory that nobody may read."""

    def __getitem__(self, word: int) -> Any:
        pytest.fail("memory was read whose layout is not known")


@pytest.fixture(autouse=True)
def unknown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is known of this Python's frames, and their memory may not be read."""
    asked = (memory.why_unreadable, memory._greenlets_are_as_expected, contents._tables_are_known)
    monkeypatch.setattr(memory, "TESTED", ())
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("dpor.python"):
            for name in ("WORDS", "OBJECTS"):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, Nowhere())
    for each in asked:
        each.cache_clear()
    yield
    monkeypatch.undo()
    for each in asked:
        each.cache_clear()


def check(tmp_path: Path, source: str, **options: Any) -> dpor.Report:
    path = tmp_path / "program.py"
    path.write_text(source)
    return dpor.check(f"{path}::scenario", **options)


def test_every_reader_asks() -> None:
    with pytest.raises(StateUnknown, match=TOLD):
        memory.slots_of(sys._getframe())
    with pytest.raises(StateUnknown, match=TOLD):
        frames.Layouts(()).of(test_every_reader_asks.__code__)
    with pytest.raises(RuntimeError, match="cannot be read"):
        memory.handled_by(memory.getcurrent())


@pytest.mark.parametrize("options", STATEFUL, ids=str)
def test_searches_that_store_states_find_and_prove_without_them(options: dict[str, Any]) -> None:
    assert dpor.check("workloads.racy_counter:main", **options).verdict == "fail"
    report = dpor.check("workloads.locked_counter:main", **options)
    assert report.verdict == "pass"
    (reason,) = report.unstored
    assert TOLD in reason


@pytest.mark.parametrize("options", STATELESS, ids=str)
def test_searches_that_store_none_are_as_ever(options: dict[str, Any]) -> None:
    if options["strategy"] in ("random", "pct"):
        options = {**options, "max_executions": 50}
    assert dpor.check("workloads.racy_counter:main", **options).verdict == "fail"
    report = dpor.check("workloads.locked_counter:main", **{"max_executions": 30_000, **options})
    assert not report.findings
    assert not report.unstored


@pytest.mark.parametrize("options", [*STATEFUL, {"strategy": "optimal"}], ids=str)
def test_what_is_hard_to_read_is_not_read(tmp_path: Path, options: dict[str, Any]) -> None:
    report = check(tmp_path, HIDDEN, max_executions=200, **options)
    assert not report.findings
    assert report.verdict == "pass" or any("--max-executions 200" in reason for reason in report.reasons)


@pytest.mark.parametrize("options", [*STATEFUL, {"strategy": "optimal"}], ids=str)
def test_a_loop_that_spins_is_cut_and_the_reason_is_one_line(tmp_path: Path, options: dict[str, Any]) -> None:
    report = check(tmp_path, SPINS, max_steps=100, max_executions=20, **options)
    assert report.verdict == "inconclusive"
    told = [reason for reason in report.reasons if "loops that wait by spinning are not recognised" in reason]
    assert told
    assert all(TOLD in reason and "\n" not in reason for reason in told)


def test_the_doctor_says_what_goes_without_in_one_line() -> None:
    found = _states()
    assert found.good is None
    assert "states cannot be stored" in found.text
    assert "no loop is seen to wait by spinning" in found.text
    assert TOLD in found.text
    assert "\n" not in found.text
