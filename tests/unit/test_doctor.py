"""`dpor doctor`: what it looks at, and that it notices."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dpor.app import doctor
from dpor.cli.main import cli
from dpor.core import interpreter
from dpor.core.plural import plural
from dpor.python.rewrite import cache


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["doctor", *arguments])


def test_all_is_well_here() -> None:
    done = run()
    assert done.exit_code == 0
    assert "a known race: dpor.workloads.racy_counter:main: fail, 34 executions; replayed" in done.output
    assert "a known correct program: dpor.workloads.locked_counter:main: pass, 20 executions" in done.output


def test_a_python_without_the_lock_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert interpreter.remark() == ""
    monkeypatch.setattr(interpreter, "is_free_threaded", lambda: True)
    told = "dpor is not tested on free-threaded builds"
    assert told in run().output.splitlines()[1]
    checked = CliRunner().invoke(cli, ["check", "locked_counter", "--quiet"])
    assert (checked.exit_code, checked.stderr.startswith(f"dpor: {told}")) == (0, True)


def test_a_version_on_which_it_is_not_tested_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "TESTED", ((2, 7), (3, 0)))
    assert re.match(r"dpor is tested on CPython 2\.7 to 3\.0, not on CPython 3\.1\d$", interpreter.remark())


def test_another_number_of_executions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LOCKED_CLASSES", 21)
    done = run()
    assert done.exit_code == 4
    assert (
        "WRONG  a known correct program: dpor.workloads.locked_counter:main: pass, 20 executions; expected"
        in done.output
    )


def test_where_rewritten_modules_are_kept_and_how_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "rewritten modules are not kept on disk" in run().output
    monkeypatch.delenv(cache.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache.Cache(tmp_path / "dpor").get(lambda: ("x" * 999_900,), "test")
    told = run().output
    assert f"rewritten modules are kept in {tmp_path / 'dpor'}: " in told
    entries, size = cache.Cache(tmp_path / "dpor").size()
    assert f": {plural(entries, 'file')}, {size / 1e6:.1f} MB" in told


def test_the_modules_of_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("doctored.py").write_text("from sortedcontainers import SortedDict\nimport json, helping\ndef main(): pass")
    Path("helping.py").write_text("import attrs")
    *told, tables = [one.strip() for one in run("doctored.py::main").output.splitlines() if "::main: " in one]
    assert told == [
        "doctored.py::main: instrumented: doctored.py",
        "doctored.py::main: instrumented: helping.py",
        "doctored.py::main: not instrumented, until its code runs among threads: attrs",
        "doctored.py::main: not instrumented, until its code runs among threads: sortedcontainers",
    ]
    assert "trusted to be as in dpor's tables: abc " in tables
    told = run("doctored.py::main", "--trust", "sortedcontainers", "--only", "helping").output
    assert "doctored.py::main: trusted, each call is one step: sortedcontainers" in told
    assert "doctored.py::main: left out by --only, inconclusive if it runs among threads: attrs" in told


def test_a_target_that_is_not_there_is_wrong_usage() -> None:
    done = run("none.py::main")
    assert done.exit_code == 2
    assert "dpor: none.py::main: there is no file none.py" in done.output


def test_completion_in_fish_keeps_commas() -> None:
    script = CliRunner().invoke(cli, [], prog_name="dpor", env={"_DPOR_COMPLETE": "fish_source"}).output
    assert 'string split --max 1 "," $completion' in script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dpor do", ["plain,doctor"]),
        ("dpor check ba", ["file,ba"]),
        ("dpor check --strategy o", ["plain,optimal", "plain,original"]),
        ("dpor compare --strategies dpor,so", ["plain,dpor,source"]),
    ],
)
def test_completion(words: str, expected: list[str]) -> None:
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_DPOR_COMPLETE": "bash_complete"}
    assert CliRunner().invoke(cli, [], prog_name="dpor", env=environment).output.splitlines() == expected
