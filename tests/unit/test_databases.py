"""Calls of sqlite3 that find a database locked: the threads that hold it go on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.source_outcomes import outcomes

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""Threads that are unwound leave connections open, of which Python warns from 3.13 on."""

PROGRAM = """
import os, sqlite3, tempfile

def scenario():
    with tempfile.TemporaryDirectory() as folder:
        path, told = os.path.join(folder, "x.db"), []

        def opened(**options):
            return sqlite3.connect(path, **options)

        first = opened(isolation_level=None)
        first.execute("pragma synchronous = off")
        first.execute("create table t (n int)")
        first.execute("insert into t values (0)")

{body}

        first.close()
        last = opened()
        found = last.execute("select n from t").fetchone()[0]
        last.close()
        return found, *told
"""

IMMEDIATE = """
def bump():
    mine = opened(isolation_level=None)
    mine.execute("begin immediate")
    mine.execute("update t set n = n + 1")
    mine.execute("commit")
    mine.close()
run(bump, bump)
"""
BY_WITH = """
def bump():
    mine = opened()
    with mine:
        mine.execute("update t set n = n + 1")
run(bump, bump)
"""
NOT_WAITING = """
def bump():
    mine = opened(isolation_level=None, timeout=0)
    try:
        mine.execute("begin immediate")
        mine.execute("update t set n = n + 1")
        mine.execute("commit")
    except sqlite3.OperationalError as error:
        told.append(str(error))
    mine.close()
run(bump, bump)
"""
HELD = """
first.execute("begin immediate")
def bump():
    try:
        opened().execute("update t set n = n + 1")
    except sqlite3.OperationalError as error:
        told.append(str(error))
run(bump, lambda: told)
"""


@pytest.mark.parametrize(
    ("body", "strategy", "seen"),
    [
        (IMMEDIATE, "optimal", {(2,)}),
        (BY_WITH, "optimal", {(2,)}),
        (BY_WITH, "dpor", {(2,)}),
        (NOT_WAITING, "optimal", {(2,), (1, "database is locked")}),
        (HELD, "optimal", {(0, "database is locked")}),
        (HELD, "dpor", {(0, "database is locked")}),
    ],
)
def test_who_waits_for_a_lock_waits_for_the_thread_that_has_it(
    tmp_path: Path, body: str, strategy: str, seen: set[tuple[object, ...]]
) -> None:
    begun = time.monotonic()
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    found = outcomes(tmp_path, PROGRAM.replace("{body}", lines), strategy)
    assert found == seen
    assert not found.incomplete
    assert time.monotonic() < begun + 60  # nobody waits in C for the usual five seconds
