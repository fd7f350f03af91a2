"""A user's own modules may have the names of our folders: theirs change nothing for us, and ours nothing for them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = '''
"""Each thread notes what the three modules say; whatever the order, it is what the user's modules say."""

import threading

import bench
import statics
import workloads


def scenario():
    noted = []
    def note():
        noted.append((bench.WHOSE, statics.WHOSE, workloads.WHOSE))

    threads = [threading.Thread(target=note) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert noted == [("theirs", "theirs", "theirs")] * 2
'''

TEST = """
import dpor
from app import scenario

test_scenario = dpor.interleave(scenario)
"""


LAYOUTS = {
    "modules": ("bench.py", "statics.py", "workloads.py"),
    "packages": ("bench/__init__.py", "statics/__init__.py", "workloads/__init__.py"),
}


@pytest.fixture(params=LAYOUTS.values(), ids=list(LAYOUTS))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    for name in request.param:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text('WHOSE = "theirs"\n\n\ndef main():\n    raise LookupError("theirs was called")\n')
    (tmp_path / "app.py").write_text(PROGRAM)
    (tmp_path / "test_app.py").write_text(TEST)
    return tmp_path


def run(folder: Path, *command: str) -> tuple[int, str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


COMMAND = str(Path(sys.executable).with_name("dpor"))
MODULE = sys.executable, "-m", "dpor"


@pytest.mark.parametrize(
    ("front", "target", "strategy"),
    [
        ((COMMAND,), "app.py::scenario", "optimal"),
        ((COMMAND,), "app:scenario", "dpor+static"),
        (MODULE, "app.py::scenario", "dpor+static"),
        (MODULE, "app:scenario", "sa"),
    ],
)
def test_their_program_is_checked(folder: Path, front: tuple[str, ...], target: str, strategy: str) -> None:
    code, text = run(folder, *front, "check", target, "--strategy", strategy)
    assert (code, text.startswith(f"PASSED  {target}: no interleaving fails")) == (0, True), text


def test_their_program_is_compared_and_analysed(folder: Path) -> None:
    code, text = run(folder, *MODULE, "compare", "app.py::scenario", "--strategies", "optimal,sa", "--csv", "out.csv")
    assert (code, "agree: 1 outcome" in text) == (0, True), text
    code, text = run(folder, *MODULE, "analyze", "app.py::scenario", "--json", "-")
    assert code == 0, text
    assert {Path(name).parts[0].removesuffix(".py") for name in json.loads(text)["files"]} >= {"statics", "workloads"}


def test_their_program_is_tested_with_pytest(folder: Path) -> None:
    code, text = run(folder, sys.executable, "-m", "pytest", "-q", "test_app.py")
    assert (code, "1 passed" in text) == (0, True), text


def test_doctor_looks_at_our_programs(folder: Path) -> None:
    code, text = run(folder, *MODULE, "doctor", "app.py::scenario")
    assert (code, "WRONG" in text) == (0, False), text
    assert "a known race: dpor.workloads.racy_counter:main: fail, 34 executions" in text


def test_a_name_of_a_workload_means_ours_and_a_module_theirs(folder: Path) -> None:
    code, text = run(folder, *MODULE, "check", "racy_counter")
    assert (code, ": 4 hits, but hits is" in text) == (1, True), text
    code, text = run(folder, *MODULE, "check", "workloads:main")
    assert (code, "theirs was called" in text) == (1, True), text


def test_a_folder_without_init_is_theirs_too(tmp_path: Path) -> None:
    (tmp_path / "workloads").mkdir()
    (tmp_path / "workloads" / "sizes.py").write_text("SIZE = 2\n")
    (tmp_path / "app.py").write_text("from workloads.sizes import SIZE\n\ndef scenario():\n    assert SIZE == 3\n")
    code, text = run(tmp_path, *MODULE, "check", "app.py::scenario")
    assert (code, "FAILED  AssertionError" in text) == (1, True), text
