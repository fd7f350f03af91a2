"""What the program reads and prints: no input, printing kept for the run that is shown, all of it for itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import dpor
from dpor.python.program import initial_state

PROGRAM = """\
import sys

def asks():
    input("name? ")

def reads():
    assert sys.stdin.read() == "" and list(sys.stdin) == [] and sys.stdin.buffer.read() == b""

def writes():
    sys.stdout.buffer.write(b"\\xff\\n")
    sys.stdout.flush()
    print("error", file=sys.stderr)
    print("\\ud800")
    assert not sys.stdout.isatty()
    sys.stdout.close()
    assert False

def floods():
    for _ in range(300):
        print("x" * 9_999)
    assert False

class Failing(Exception):
    def __str__(self):
        raise ValueError

class Long(Exception):
    def __str__(self):
        return "y" * 10**6

def failing_text():
    raise Failing

def long_text():
    raise Long

def group():
    raise ExceptionGroup("many", [ValueError(number) for number in range(1000)])

def itself():
    error = ValueError("one\\ntwo")
    error.__cause__ = error
    error.add_note("a note")
    raise error
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.py").write_text(PROGRAM)


def run(*arguments: str, stdin: str = "") -> str:
    command = [sys.executable, "-m", "dpor", *arguments]
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=600, env={**os.environ, "PYTHONHASHSEED": "0"}
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_there_is_no_input() -> None:
    assert dpor.check("p.py::reads").verdict == "pass"
    assert run("check", "p.py::asks", stdin="secret\n").startswith(
        "FAILED  EOFError in MainThread at p.py:4: EOF when reading a line\n\n  The program printed:\n  | name?\n"
    )


def test_each_run_has_its_own_output_of_text_and_bytes() -> None:
    (failure,) = dpor.check("p.py::writes").findings
    assert failure.output == "\\xff\nerror\n\\ud800\n"


def test_a_program_that_prints_megabytes() -> None:
    (failure,) = dpor.check("p.py::floods").findings
    assert len(failure.output) < 1_001_000
    assert failure.output.endswith("... and 2,000,000 bytes more\n")
    assert len(run("check", "p.py::floods", "-q")) < 1000
    assert len(run("check", "p.py::floods")) < 20_000


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("failing_text", "Failing in MainThread at p.py:32: <its text cannot be had: __str__ failed>"),
        ("long_text", "Long in MainThread at p.py:35: " + "y" * 291 + "..."),
        ("group", "ExceptionGroup in MainThread at p.py:38: many (1000 sub-exceptions)"),
        ("itself", "ValueError in MainThread at p.py:44: one"),
    ],
)
def test_an_exception_is_one_short_line(name: str, line: str) -> None:
    out = run("check", f"p.py::{name}")
    assert out.splitlines()[0] == f"FAILED  {line}"
    assert out.count("\n") < 60


def test_the_debugger_holds_no_output_back() -> None:
    Path("two.py").write_text("def main():\n    print('one')\n    assert False\n")
    run("check", "two.py::main", "--save", "s.json")
    assert "\n(Pdb) one\n> " in run("replay", "s.json", "--pdb", stdin="n\nn\nc\nq\n")


def test_prints_of_several_threads_do_not_depend_on_where_output_is_kept(tmp_path: Path) -> None:
    source = """
        def scenario():
            count = {0: 0}
            def body():
                n = count[0]
                count[0] = n + 1
                print("x")
            threads = [threading.Thread(target=body) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert count[0] == 2
    """
    (tmp_path / "prints.py").write_text("import threading\n" + dedent(source))
    command = [sys.executable, "-m", "dpor", "check", f"{tmp_path}/prints.py::scenario", "--save", f"{tmp_path}/s.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "FAILED  AssertionError" in done.stdout, done.stdout


def test_what_is_printed_to_a_stream_that_a_module_holds_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules are restored between runs, and so hold the stream of the first one."""
    monkeypatch.setattr(initial_state, "LEAST_SIZE", 0)
    Path("holds.py").write_text(
        "import sys, threading\n\nseen = []\ndef say(text, out=sys.stdout):\n    print(text, file=out)\n\n"
        "def scenario():\n"
        "    threads = [threading.Thread(target=seen.append, args=(n,)) for n in range(2)]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n"
        "    say(seen)\n"
        "    assert seen == [0, 1], 'another order'\n"
    )
    (failure,) = dpor.check("holds.py::scenario").findings
    assert failure.output == "[1, 0]\n"
