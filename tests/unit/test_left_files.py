"""A run that finds a file as another run has left it is incomplete; nothing is said of files that runs remove again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.source_outcomes import outcomes

LEAVES = {
    "a file that is made": "open(path, 'w').close()",
    "a file that grows": "with open(path, 'a') as file: file.write('x')",
    "a file that is removed": "if os.path.exists(path + '.old'): os.remove(path + '.old')",
    "a folder": "os.path.isdir(path) or os.mkdir(path)",
    "a file that is moved": "if os.path.exists(path + '.old'): os.replace(path + '.old', path)",
    "a database": "c = sqlite3.connect(path + '.db'); c.execute('insert into t values (1)'); c.commit(); c.close()",
}
LEAVES_NOTHING = {
    "a file that is removed again": "open(path, 'w').close(); os.remove(path)",
    "the same contents": "with open(path + '.old', 'w') as file: file.write('old')",
    "a file that is only read": "open(path + '.old').close()",
    "a temporary file": "with open(os.path.join(tempfile.mkdtemp(), 'x'), 'w') as file: file.write('x')",
    "a database in a temporary folder": """
path = os.path.join(tempfile.mkdtemp(), "db")
c = sqlite3.connect(path); c.execute('create table t (n)'); c.commit(); c.close()""",
}


def reasons(directory: Path, body: str) -> set[str]:
    (directory / "kept.old").write_text("old")
    with sqlite3.connect(directory / "kept.db") as made:
        made.execute("create table t (n)")
    made.close()
    source = f"""
import os, sqlite3, tempfile
box = []
def scenario():
    def body():
        path = {str(directory / "kept")!r}
{chr(10).join(" " * 8 + line for line in body.splitlines())}
        box.append(1)
    run(body, lambda: box.append(2))
"""
    return outcomes(directory, source).incomplete


@pytest.mark.parametrize("name", LEAVES)
def test_what_another_run_has_left_is_told(tmp_path: Path, name: str) -> None:
    (reason,) = reasons(tmp_path, LEAVES[name])
    assert "kept" in reason
    assert "is not as an earlier run has found it" in reason


@pytest.mark.parametrize("name", LEAVES_NOTHING)
def test_of_what_runs_leave_as_it_was_nothing_is_said(tmp_path: Path, name: str) -> None:
    assert reasons(tmp_path, LEAVES_NOTHING[name]) == set()
