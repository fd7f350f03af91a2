"""Files: what threads do to one path comes in every order, what they do to different ones in one."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

import dpor
from tests.source_outcomes import outcomes

PROGRAM = """
    import fcntl, os, pathlib, shutil, tempfile

    def answer(call, *args):
        try:
            return call(*args) and True
        except OSError as error:
            return type(error).__name__

    def write(path, text):
        with open(path, "w") as file:
            file.write(text)

    def read(path, mode="r"):
        with open(path, mode) as file:
            return file.read()

    def append(path, data):
        with open(path, "ab", buffering=0) as file:
            file.write(data)

    def lines(path):
        with open(path) as file:
            return len([*file])

    def lock(path, how):
        with open(path) as file:
            fcntl.flock(file, how)

    def make(path):
        with open(path, "x"):
            pass

    def scenario():
        folder = tempfile.mkdtemp()
        path = os.path.join(folder, "x")
        other = os.path.join(folder, "y")
        {first}
        seen = []
        def change():
            {change}
        def look():
            seen.append({look})
        run(look, change)
        return seen[0]
"""

CASES: dict[str, tuple[str, str, str, set[Any]]] = {
    "made": ("", "os.mkdir(path)", "os.path.exists(path)", {True, False}),
    "made, looked at by isdir": ("", "os.mkdir(path)", "os.path.isdir(path)", {True, False}),
    "made by pathlib": ("", "pathlib.Path(path).mkdir()", "pathlib.Path(path).is_dir()", {True, False}),
    "made by a name from another folder": (
        "",
        "os.mkdir(path)",
        "os.path.exists(folder + '/../' + os.path.basename(folder) + '/x')",
        {True, False},
    ),
    "touched": ("", "pathlib.Path(path).touch()", "pathlib.Path(path).exists()", {True, False}),
    "opened": ("", "open(path, 'w').close()", "os.path.isfile(path)", {True, False}),
    "removed": ("os.mkdir(path)", "os.rmdir(path)", "os.path.exists(path)", {True, False}),
    "unlinked": ("write(path, '')", "os.unlink(path)", "os.access(path, os.R_OK)", {True, False}),
    "locked, and closed": (
        "write(path, '')",
        "answer(lock, path, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "answer(lock, path, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        {None, "BlockingIOError"},
    ),
    "renamed": ("write(path, '')", "os.rename(path, other)", "os.path.exists(other)", {True, False}),
    "renamed away": ("write(path, '')", "os.replace(path, other)", "os.path.exists(path)", {True, False}),
    "folder renamed": (
        "os.makedirs(path + '/z')",
        "os.rename(path, other)",
        "os.path.exists(other + '/z')",
        {True, False},
    ),
    "renamed by pathlib": (
        "write(path, '')",
        "pathlib.Path(path).rename(other)",
        "os.path.exists(other)",
        {True, False},
    ),
    "linked": ("os.mkdir(path)", "os.symlink(path, other)", "os.path.isdir(other)", {True, False}),
    "listed": ("", "os.mkdir(path)", "len(os.listdir(folder))", {0, 1}),
    "listed by scandir": ("", "os.mkdir(path)", "len([*os.scandir(folder)])", {0, 1}),
    "walked": ("", "os.mkdir(path)", "len([*os.walk(folder)])", {1, 2}),
    "several made": (
        "",
        "os.makedirs(path + '/z')",
        "(os.path.exists(path), os.path.exists(path + '/z')) == (True, False)",
        {True, False},
    ),
    "listed and removed": ("", "answer(os.mkdir, path)", "answer(os.rmdir, folder)", {None, "OSError"}),
    "two make one": ("", "answer(os.mkdir, path)", "answer(os.mkdir, path)", {None, "FileExistsError"}),
    "made exclusively": ("", "answer(make, path)", "answer(make, path)", {None, "FileExistsError"}),
    "written": ("write(path, 'old')", "write(path, 'new')", "read(path)", {"old", "", "new"}),
    "written by pathlib": (
        "write(path, 'old')",
        "pathlib.Path(path).write_text('new')",
        "pathlib.Path(path).read_text()",
        {"old", "", "new"},
    ),
    "appended": (
        "write(path, 'old'); f = open(path, 'a')",
        "(f.write('new'), f.close())",
        "read(path)",
        {"old", "oldnew"},
    ),
    "appended, in bytes": ("write(path, 'old')", "append(path, b'new')", "read(path, 'rb')", {b"old", b"oldnew"}),
    "line by line": ("write(path, 'a\\n')", "append(path, b'b\\n')", "lines(path)", {1, 2}),
    "changed mode": ("write(path, '')", "os.chmod(path, 0)", "os.stat(path).st_mode & 0o777 == 0", {True, False}),
    "the umask": ("", "os.umask(0o77)", "(os.mkdir(path), os.stat(path).st_mode & 0o777)[1] == 0o700", {True, False}),
    "from the working folder": (
        "os.chdir('/')",
        "os.chdir(folder)",
        "os.path.exists(os.path.basename(folder))",
        {False},
    ),
    "below the working folder": ("os.mkdir(path)", "os.chdir(folder)", "os.path.exists('x')", {True, False}),
    "by descriptor": (
        "fd = os.open(path, os.O_CREAT | os.O_WRONLY)",
        "os.write(fd, b'x')",
        "os.path.getsize(path)",
        {0, 1},
    ),
    "whole trees": ("os.mkdir(path)", "shutil.rmtree(path)", "os.path.exists(path)", {True, False}),
}


def found(directory: Path, first: str, change: str, look: str, strategy: str = "optimal") -> Any:
    source = PROGRAM.format(first=first or "pass", change=change, look=look)
    return outcomes(directory, source, strategy)


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_seen_or_not(tmp_path: Path, name: str) -> None:
    first, change, look, seen = CASES[name]
    here = found(tmp_path, first, change, look)
    assert here == seen
    assert not here.incomplete


@pytest.mark.parametrize("name", ["made", "listed", "written", "linked"])
def test_a_search_over_states_finds_the_same(tmp_path: Path, name: str) -> None:
    first, change, look, seen = CASES[name]
    assert found(tmp_path, first, change, look, "dpor") == seen


@pytest.mark.parametrize(
    ("change", "look"),
    [
        ("os.path.exists(path)", "os.path.exists(path)"),
        ("os.mkdir(path)", "os.mkdir(other)"),
        ("write(path, 'x')", "write(other, 'x')"),
        ("os.mkdir(path)", "os.path.exists(other)"),
        ("write(tempfile.mkdtemp() + '/x', 'x')", "write(tempfile.mkdtemp() + '/x', 'x')"),
        ("os.listdir(folder)", "os.listdir(folder)"),
        ("tempfile.mkdtemp()", "tempfile.mkdtemp()"),
    ],
)
def test_what_is_apart_needs_no_order(tmp_path: Path, change: str, look: str) -> None:
    here = found(tmp_path, "", change, f"({look}, 1)[1]")
    assert here == {1}
    assert here.executions == 1
    assert not here.incomplete


def test_temporary_files_have_the_same_names_in_every_run_and_are_removed(tmp_path: Path) -> None:
    before = tempfile.gettempdir(), vars(tempfile)["_name_sequence"], os.listdir(tempfile.gettempdir())
    first = "write(path, 'left'); left = tempfile.mkstemp()[1]"
    (name,) = found(tmp_path, first, "tempfile.mkdtemp()", "left")
    assert found(tmp_path, first, "tempfile.mkdtemp()", "left") == {name}
    assert not os.path.exists(name)
    assert (tempfile.gettempdir(), vars(tempfile)["_name_sequence"]) == before[:2]


def test_a_folder_of_the_program_s_own_is_used(tmp_path: Path) -> None:
    tempdir = tempfile.tempdir
    first = f"tempfile.tempdir = {str(tmp_path)!r}"
    (name,) = found(tmp_path, first, "pass", "os.path.dirname(tempfile.mkdtemp())")
    assert name == str(tmp_path)
    assert tempfile.tempdir == tempdir


def test_a_lock_of_a_file_that_would_wait_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import fcntl, os, tempfile, threading\n"
        "def scenario():\n"
        "    path = tempfile.mkstemp()[1]\n"
        "    first, second = os.open(path, os.O_RDONLY), os.open(path, os.O_RDONLY)\n"
        "    fcntl.flock(first, fcntl.LOCK_EX)\n"
        "    thread = threading.Thread(target=lambda: fcntl.flock(second, fcntl.LOCK_EX))\n"
        "    thread.start()\n"
        "    thread.join()\n"
    )
    began = time.monotonic()
    (reason,) = dpor.check(f"{file}::scenario").reasons
    assert "fcntl.flock at" in reason
    assert "program.py:6 would wait in C" in reason
    assert time.monotonic() - began < 5


def test_a_run_that_leaves_files_elsewhere_is_told_with_a_cure(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    left = tmp_path / "left"
    left.write_text("")
    file.write_text(
        "import os, threading\n"
        "def scenario():\n"
        "    seen = []\n"
        "    t = threading.Thread(target=seen.append, args=(1,))\n"
        "    t.start()\n"
        f"    if os.path.getsize({str(left)!r}) % 2:\n"
        "        seen.append(2)\n"
        "    seen.append(3)\n"
        f"    with open({str(left)!r}, 'a') as f:\n"
        "        f.write('x')\n"
        "    t.join()\n"
        "    return seen\n"
    )
    report = dpor.check(f"{file}::scenario", all=True)
    assert report.verdict == "inconclusive"
    assert "folder that tempfile makes" in str(report.reasons)
