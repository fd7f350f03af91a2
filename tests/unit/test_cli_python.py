"""The commands on Python programs: what a user sees from the first check to the debugger."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import jsonschema
import pytest

import dpor

SCHEMA = json.loads((Path(dpor.__file__).parent / "report" / "schema.json").read_text())

COUNTER = """\
import threading


class Counter:
    def __init__(self):
        self.hits = 0

    def hit(self):
        self.hits += 1


def scenario():
    counter = Counter()
    threads = [threading.Thread(target=counter.hit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("hits", counter.hits)
    assert counter.hits == 2, f"hits is {counter.hits}"
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(COUNTER)


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
    return subprocess.run(
        [sys.executable, "-m", "dpor", *arguments], input=stdin, capture_output=True, text=True, env=env, timeout=600
    )


def write(name: str, source: str) -> None:
    Path(name).write_text(textwrap.dedent(source))


def test_a_first_bug() -> None:
    done = run("check", "counter.py::scenario", "--json", "r.json")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "FAILED  AssertionError in MainThread at counter.py:20: hits is 1"
    table = [line.split() for line in lines if "Counter.hits" in line and "before" not in line]
    assert sorted(row[6:9] for row in table) == [
        ["read", "Counter.hits", "0"],
        ["read", "Counter.hits", "0"],
        ["write", "Counter.hits", "1"],
        ["write", "Counter.hits", "1"],
    ]
    assert all("counter.py:9" in row and "self.hits" in row for row in table)
    assert done.stdout.count("<- races with") == 2
    assert "\n  Fails whenever\n" in done.stdout
    assert "  The program printed:\n  | hits 1\n" in done.stdout
    assert lines[-1] == "Again: dpor replay .dpor/counter-scenario-1.json"
    report = json.loads(Path("r.json").read_text())
    jsonschema.validate(report, SCHEMA)
    assert report["findings"][0]["output"] == "hits 1\n"

    again = run("replay", ".dpor/counter-scenario-1.json")
    assert again.returncode == 1, again.stderr
    assert again.stdout.splitlines()[0] == lines[0]
    assert "Traceback (most recent call last)" in again.stdout


@pytest.mark.parametrize("strategy", ["full", "original", "dpor"])
def test_searches_that_store_states(strategy: str) -> None:
    report = dpor.check("counter.py::scenario", strategy=strategy, all=True)
    assert (report.verdict, report.exhaustive, report.terminates) == ("fail", True, True)
    assert set(report.outcome_digests.values()) == {"returned None", "MainThread: AssertionError: hits is 1"}
    assert report.states


def test_the_same_from_python() -> None:
    report = dpor.check("counter.py::scenario", all=True)
    assert (report.verdict, report.exhaustive) == ("fail", True)
    assert set(report.outcome_digests.values()) == {"returned None", "MainThread: AssertionError: hits is 1"}
    (failure,) = report.findings
    assert (failure.kind, failure.line, failure.occurrences) == (dpor.Kind.ASSERTION, 20, 2)
    assert failure.saved is not None
    assert dpor.replay(failure.saved).trace == failure.trace


def test_a_changed_source_is_refused_with_the_lines() -> None:
    run("check", "counter.py::scenario", "--save", "s.json")
    Path("counter.py").write_text(COUNTER.replace("self.hits += 1", "self.hits += 2"))
    done = run("replay", "s.json")
    assert done.returncode == 2
    assert "counter.py has changed: line 9" in done.stderr


def test_the_debugger_stops_at_the_start_at_breakpoints_and_at_the_failure() -> None:
    """And changes nothing about the run."""
    run("check", "counter.py::scenario", "--save", "s.json")
    done = run(
        "replay", "s.json", "--pdb", stdin="b 9\nc\np self.hits\nc\np self.hits\nc\np 'failed', counter.hits\nq\n"
    )
    assert done.returncode == 1, done.stderr
    assert "-> def scenario():" in done.stdout
    assert done.stdout.count("-> self.hits += 1") == 2
    assert done.stdout.count("(Pdb) 0\n") == 2
    assert "('failed', 1)" in done.stdout
    assert "FAILED  AssertionError in MainThread at counter.py:20: hits is 1" in done.stdout


def test_leaving_the_debugger_lets_the_run_go_on() -> None:
    run("check", "counter.py::scenario", "--save", "s.json")
    for stdin in ("q\n", "", "b 9\nc\nquit\n"):
        done = run("replay", "s.json", "--pdb", stdin=stdin)
        assert done.returncode == 1, done.stderr
        assert "FAILED  AssertionError" in done.stdout


def test_a_deadlock_says_who_holds_what_and_where_it_was_made() -> None:
    write(
        "bank.py",
        """\
        import threading

        a = threading.Lock()
        b = threading.Lock()

        def left():
            with a:
                with b:
                    pass

        def right():
            with b:
                with a:
                    pass

        def scenario():
            threads = [threading.Thread(target=left, name="left"), threading.Thread(target=right, name="right")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        """,
    )
    done = run("check", "bank.py::scenario")
    assert done.returncode == 1, done.stderr
    assert "FAILED  deadlock: no thread can go on" in done.stdout
    for waiting, at, made, holder, since in (("left", 8, 4, "right", 12), ("right", 13, 3, "left", 7)):
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"  {waiting} at bank.py:{at} waits")]
        assert f"made at bank.py:{made}" in line
        assert f"held by {holder} since bank.py:{since}" in line
    assert run("replay", ".dpor/bank-scenario-1.json").returncode == 1


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("missing.py::main", "there is no file missing.py"),
        ("counter.py::nothing", "there is no 'nothing' in counter; it has"),
        ("counter.py", "path/file.py::name"),
        ("no_such_module:main", "there is no module no_such_module"),
        ("counter.py::Counter.hits", "there is no 'hits'"),
        ("bad.py::main", "bad.py:1: "),
        ("raises.py::main", "ZeroDivisionError"),
        ("asynchronous.py::main", "is async: asyncio programs are not checked yet"),
        ("arguments.py::main", "needs arguments (x)"),
    ],
)
def test_a_target_that_cannot_be_loaded_is_one_line(target: str, complaint: str) -> None:
    write("bad.py", "def main(:\n")
    write("raises.py", "1 / 0\ndef main(): pass\n")
    write("asynchronous.py", "async def main(): pass\n")
    write("arguments.py", "def main(x): pass\n")
    done = run("check", target)
    assert done.returncode == 2, done.stdout
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("body", ["pass", "time.sleep(0)"])
def test_ctrl_c_passes_any_except_of_the_program(body: str) -> None:
    write(
        "stubborn.py",
        f"""\
        import pathlib, threading, time

        class Shared:
            n = 0

        def work(shared):
            for _ in range(200):
                try:
                    shared.n += 1
                    {body}
                except:
                    pass

        def scenario():
            pathlib.Path("begun").touch()
            shared = Shared()
            threads = [threading.Thread(target=work, args=(shared,)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        """,
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "dpor", "check", "stubborn.py::scenario", "--json", "r.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not Path("begun").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 3, out + err
    assert "  because interrupted" in out
    assert "Traceback" not in err
    jsonschema.validate(json.loads(Path("r.json").read_text()), SCHEMA)


def test_assertions_are_checked_under_python_o(monkeypatch: pytest.MonkeyPatch) -> None:
    """It once was a pass: what fails had been left out."""
    write("asserts.py", "def scenario():\n    exec('assert True')\n    assert False\n")
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    assert run("check", "asserts.py::scenario").returncode == 1


def test_a_working_folder_that_is_gone_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("counter.py", "def main(): pass")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    done = run("check", f"{tmp_path}/counter.py::main")
    assert done.returncode == 2
    assert done.stderr.startswith("dpor: the working folder cannot be found")
    assert done.stderr.count("\n") == 1


def test_a_file_amid_a_package_is_checked_with_all_of_the_package() -> None:
    """Where nothing marks the project's folder."""
    files = {"__init__": "", "core": COUNTER, "sub/__init__": "", "sub/entry": "from ..core import scenario"}
    for name, text in files.items():
        Path("package", name).parent.mkdir(parents=True, exist_ok=True)
        write(f"package/{name}.py", text)
    assert run("check", "package/sub/entry.py::scenario").returncode == 1


def test_a_data_choice_is_explored_and_replayed() -> None:
    write(
        "dice.py",
        """\
        import dpor

        def scenario():
            assert dpor.choose(6) != 4
        """,
    )
    done = run("check", "dice.py::scenario", "--save", "s.json", "--all", "--json", "r.json")
    assert done.returncode == 1, done.stderr
    assert json.loads(Path("r.json").read_text())["executions"] == 6
    assert run("replay", "s.json").returncode == 1


def test_the_readme_s_first_bug_is_what_is_printed() -> None:
    readme = (Path(__file__).parent.parent.parent / "README.md").read_text()
    source, test = (
        readme.split(f'```python title="{name}"\n', 1)[1].split("```", 1)[0]
        for name in ("tickets.py", "test_tickets.py")
    )
    shown = readme.split("$ dpor check tickets.py::scenario\n", 1)[1].split("```", 1)[0]
    passed = readme.split("found in):\n\n```\n", 1)[1].split("```", 1)[0]
    Path("tickets.py").write_text(source)
    assert _without_times(run("check", "tickets.py::scenario").stdout) == _without_times(shown)

    book = "        if len(self.sold) < self.seats:\n            self.sold.append(name)\n"
    locked = "        with self.lock:\n" + textwrap.indent(book, "    ")
    fixed = source.replace(book, locked).replace(
        "self.sold = []", "self.sold = []\n        self.lock = threading.Lock()"
    )
    Path("tickets.py").write_text(fixed)
    assert _without_times(run("check", "tickets.py::scenario").stdout) == _without_times(passed)

    Path("test_tickets.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "dpor.pytest.plugin", "test_tickets.py"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "1 passed" in done.stdout


def _without_times(text: str) -> str:
    return re.sub(r"\d+\.\d\d s", "TIME", text)


def test_threads_that_threads_start_have_the_same_numbers_when_replayed() -> None:
    """The failing run starts them in another order than the first run of the search."""
    write(
        "nested.py",
        """\
        import threading

        def scenario():
            seen = []

            def work(name):
                seen.append(name)
                thread = threading.Thread(target=seen.append, args=(name,), name=f"leaf {name}")
                thread.start()
                thread.join()

            threads = [threading.Thread(target=work, args=(name,), name=name) for name in "ab"]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert seen != ["b", "b", "a", "a"]
        """,
    )
    assert run("check", "nested.py::scenario", "--save", "s.json").returncode == 1
    again = run("replay", "s.json")
    assert again.returncode == 1, again.stderr
