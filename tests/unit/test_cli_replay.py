"""`dpor replay` and `dpor.replay`: the same failure again, or one clear line why not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner, Result

import dpor
from dpor.cli.main import cli

RACY = {
    "vars": {"x": 0},
    "sems": {"s": 0},
    "threads": [["r x a", "w x a+1", "V s"], ["r x a", "w x a+1", "V s"], ["P s", "P s", "r x a", "assert a==2"]],
}


@pytest.fixture(autouse=True)
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A saved schedule of a failure, and its program, in the working folder."""
    monkeypatch.chdir(tmp_path)
    Path("racy.json").write_text(json.dumps(RACY))
    assert CliRunner().invoke(cli, ["check", "racy.json", "--save", "s.json"]).exit_code == 1
    return tmp_path / "s.json"


def replay(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["replay", *arguments], catch_exceptions=False)


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_the_failure_comes_again() -> None:
    done = replay("s.json")
    assert done.exit_code == 1
    assert done.stdout.startswith("FAILED  AssertionError in T2: T2: a==2\n")
    assert "T0:0  r x a    read" in done.stdout


def test_from_python(saved: Path) -> None:
    failure = dpor.replay(saved)
    assert failure.kind is dpor.Kind.ASSERTION
    assert failure.message == "AssertionError: T2: a==2"
    report = dpor.check("racy.json")
    assert report.verdict == "fail"
    again = report.findings[0].saved
    assert again is not None
    assert dpor.replay(again).schedule == failure.schedule == report.findings[0].schedule


def test_a_changed_source_is_refused() -> None:
    Path("racy.json").write_text(json.dumps(RACY).replace("a==2", "a==3"))
    done = replay("s.json")
    assert done.exit_code == 2
    assert "racy.json has changed: line 1" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_that_is_no_schedule_is_refused() -> None:
    for file in ("racy.json", "missing.json"):
        done = replay(file)
        assert done.exit_code == 2
        assert done.stderr.startswith(f"dpor: {file}: ")
        assert done.stderr.count("\n") == 1


def test_a_schedule_that_the_program_cannot_follow_is_not_deterministic(saved: Path) -> None:
    edit(saved, schedule=[2, 0])
    done = replay("s.json")
    assert done.exit_code == 3
    assert "not deterministic: event 1: the schedule runs thread 2, which cannot run here" in done.stderr


def test_a_schedule_that_does_not_fail_is_not_deterministic(saved: Path) -> None:
    edit(saved, schedule=[0, 0, 0, 1, 1, 1, 2, 2, 2])
    done = replay("s.json")
    assert done.exit_code == 3
    assert "this time nothing failed; it was saved for AssertionError: T2: a==2" in done.stderr


def test_settings_that_are_not_known_are_refused(saved: Path) -> None:
    edit(saved, settings={"height": 3})
    done = replay("s.json")
    assert done.exit_code == 2
    assert "settings that this dpor does not know" in done.stderr


def test_it_runs_with_the_hash_seed_that_it_was_saved_with(saved: Path) -> None:
    edit(saved, hash_seed="5")
    env = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "dpor", "replay", "s.json"], capture_output=True, text=True, env=env
    )
    assert done.returncode == 1
    starts = done.stderr.count("| site")
    assert starts == 3  # first start, with seed 0, with seed 5


def test_a_schedule_with_more_events_than_the_program_makes(saved: Path) -> None:
    edit(saved, schedule=[*json.loads(saved.read_text())["schedule"], 0, 1])
    done = replay("s.json")
    assert done.exit_code == 3
    assert "the schedule has 11 events, but the program ended after 9: AssertionError" in done.stderr


@pytest.mark.parametrize(
    "text",
    [b"\x80\x81", b"[" * 100_000, b'{"format": "dpor schedule", "schema": 1', b"", b'"dpor schedule"', b"null"],
)
def test_a_file_of_anything_else_is_one_line(saved: Path, text: bytes) -> None:
    saved.write_bytes(text)
    done = replay("s.json")
    assert done.exit_code == 2
    assert done.stderr.startswith("dpor: s.json: not a schedule file")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "changes",
    [{"hash_seed": "many"}, {"hash_seed": -1}, {"sources": {"racy.json": {"sha256": 1, "lines": None}}}],
)
def test_a_field_that_is_no_such_thing(saved: Path, changes: dict[str, Any]) -> None:
    edit(saved, **changes)
    done = replay("s.json")
    assert done.exit_code == 2
    assert done.stderr.startswith("dpor: s.json: a damaged schedule file: ")
    assert done.stderr.count("\n") == 1


def lost() -> None:
    """A Python target."""
    hits = [0]

    def hit() -> None:
        try:
            hits[0] += 1
        except BaseException:
            hits.append(0)

    threads = [threading.Thread(target=hit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hits == [2]


def test_python_schedules_that_do_not_fit() -> None:
    good = dpor.check(lost).findings[0].saved
    assert good is not None
    with pytest.raises(dpor.BadSchedule, match=r"made with Python 2.7.18, and this is 3\."):
        dpor.replay(attrs.evolve(good, python="2.7.18"), lost)
    with pytest.raises(dpor.BadSchedule, match="the facts of the schedule are damaged"):
        dpor.replay(attrs.evolve(good, facts={"facts": 3}), lost)
    schedule = good.schedule
    with pytest.raises(dpor.NotDeterministic, match="but the program ended after"):
        dpor.replay(attrs.evolve(good, schedule=(*schedule, 0)), lost)
    with pytest.raises(dpor.NotDeterministic, match=r"\(3 events; the program goes on\), and this time nothing"):
        dpor.replay(attrs.evolve(good, schedule=schedule[:3]), lost)
    with pytest.raises(dpor.NotDeterministic, match="event 3: the schedule runs thread 7, which cannot run here"):
        dpor.replay(attrs.evolve(good, schedule=(*schedule[:2], 7, *schedule[3:])), lost)
