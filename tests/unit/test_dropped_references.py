"""Weak references with callbacks that are dropped while several threads exist: the callback is called if the object
dies first. What is not tried is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from dpor.core.results import Verdict
from tests.source_outcomes import outcomes

HEAD = """
import weakref

class Thing:
    pass

class Reference(weakref.ref):
    pass

def scenario():
    box, died = [Thing(), Thing()], []
"""

DROPPED = {
    "in the step in which the object dies": """
def user():
    thing = box.pop()
    thing.x = 1
    ref = weakref.ref(thing, lambda _: died.append(1))
    del thing
    assert len(died) < 2
run(user, user)""",
    "in that step, and of a class of the program": """
def user():
    thing = box.pop()
    ref = Reference(thing, lambda _: died.append(1))
    del thing
    assert len(died) < 2
run(user, user)""",
    "by the thread that made it before the others": """
ref = weakref.ref(box[0], lambda _: died.append(1))
def user():
    thing = box.pop()
    del thing
    assert not died
threads = [threading.Thread(target=user) for _ in range(2)]
for thread in threads:
    thread.start()
ref = None
for thread in threads:
    thread.join()""",
    "by another thread": """
refs = [weakref.ref(box[0], lambda _: died.append(1))]
def user():
    thing = box.pop()
    del thing
    assert not died
run(refs.clear, user, user)""",
    "by detaching it": """
finalizer = weakref.finalize(box[0], died.append, 1)
def user():
    thing = box.pop()
    del thing
    assert not died
run(finalizer.detach, user, user)""",
}

NEVER_DROPPED = {
    "dropped by the thread in which the object dies": """
def user():
    thing = box.pop()
    ref = weakref.ref(thing, lambda _: died.append(1))
    ref = None
    len(box)
    del thing
    assert not died
run(user, user)""",
    "kept": """
ref = weakref.ref(box[0], lambda _: died.append(1))
run(box.clear, lambda: len(box), lambda: len(died))
assert ref() is None and died""",
    "dropped by its callback": """
refs = []
refs.append(weakref.ref(box[0], lambda _: refs.clear()))
run(box.clear, lambda: len(refs))
assert not refs""",
    "dropped by the finaliser of which it is a part": """
weakref.finalize(box[0], died.append, 1)
def user():
    held = list(box)
    assert not (held and died)
run(user, box.clear)
assert died == [1]""",
    "in a weak dict whose entry is replaced": """
entries = weakref.WeakValueDictionary(a=box[0])
other = Thing()
run(box.clear, lambda: entries.update(a=other))
assert entries["a"] is other""",
    "in a weak set": """
members = weakref.WeakSet(box)
thing = box[0]
run(box.clear, lambda: members.discard(thing))
thing = None
assert not members""",
}


def program(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.strip().splitlines())


@pytest.mark.parametrize("name", DROPPED)
def test_that_one_may_be_dropped_before_or_after_its_object_is_told(tmp_path: Path, name: str) -> None:
    found = outcomes(tmp_path, program(DROPPED[name]))
    assert found.incomplete or any("AssertionError" in str(outcome) for outcome in found)


@pytest.mark.parametrize("name", NEVER_DROPPED)
def test_nothing_is_told_where_that_makes_no_difference(tmp_path: Path, name: str) -> None:
    found = outcomes(tmp_path, program(NEVER_DROPPED[name]))
    assert found == {None}
    assert not found.incomplete


def test_a_callback_in_c_changes_what_it_refers_to(tmp_path: Path) -> None:
    body = """
ref = Reference(box[0], died.append)
def user():
    thing = box.pop()
    del thing
    assert not died
run(user, user)"""
    assert any("AssertionError" in str(outcome) for outcome in outcomes(tmp_path, program(body)))


def test_a_described_run_lets_go_of_what_it_has_written(tmp_path: Path) -> None:
    """The description of an event keeps no object alive in the step after it."""
    (tmp_path / "program.py").write_text(
        "import threading, weakref\n"
        "class Thing: pass\n"
        "def scenario():\n"
        "    things, died = [Thing(), Thing()], []\n"
        "    def user():\n"
        "        thing = things.pop()\n"
        "        thing.x = 1\n"
        "        ref = weakref.ref(thing, died.append)\n"
        "        del thing\n"
        "        things.append(0)\n"
        "        assert len(things) == 2\n"
        "    threads = [threading.Thread(target=user) for _ in range(2)]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n"
    )
    report = dpor.check(f"{tmp_path}/program.py::scenario")
    assert report.verdict is Verdict.FAIL
    assert not [reason for reason in report.reasons if "NotDeterministic" in reason]
