"""`python -m bench` works: on the smallest program, for no time at all. How fast anything is, no test says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.__main__ import cli
from bench.compare import ROOT


def answer(tmp_path: Path, *arguments: str) -> object:
    done = CliRunner().invoke(cli, [*arguments, "--json", str(tmp_path / "found.json")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads((tmp_path / "found.json").read_text())


def test_a_program_is_measured_compared_and_weighed(tmp_path: Path) -> None:
    (measured,) = answer(tmp_path, "deadlock", "--seconds", "0")  # type: ignore[misc]
    assert (measured["executions"], measured["explorations"]) == (3, 1)
    weighed = answer(tmp_path, "memory", "--program", "deadlock", "--few", "1", "--many", "4")
    assert weighed["executions"] == [1, 4]  # type: ignore[index]
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: no commits to compare")
    (compared,) = answer(tmp_path, "compare", "HEAD", "--program", "deadlock", "--seconds", "0", "--rounds", "1")  # type: ignore[misc]
    assert compared["before"]["events"] == compared["after"]["events"]


def test_states_are_counted_in_a_process_of_its_own(tmp_path: Path) -> None:
    (measured,) = answer(tmp_path, "states", "philosophers 3", "--seconds", "0")  # type: ignore[misc]
    assert (measured["strategy"], measured["verdict"], measured["exhaustive"]) == ("dpor", "fail", True)
    assert (measured["choices"], measured["states"], measured["matched"], measured["bytes"]) == (11, 89, 11, None)
