"""`dpor compare`: one row for each target and strategy; strategies that disagree are an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dpor.cli import cli
from dpor.comparing import agree
from dpor.explorers import STRATEGIES, NoReduction
from dpor.report.model import Report, Verdict


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sb.json").write_text(
        json.dumps({"vars": {"x": 0, "y": 0}, "threads": [["w x 1", "r y a"], ["w y 1", "r x a"]]})
    )


def compare(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["compare", *arguments], catch_exceptions=False)


def test_every_strategy_has_a_row() -> None:
    done = compare("sb.json")
    assert done.exit_code == 0
    header, *rows = done.stdout.splitlines()
    assert header.split()[:4] == ["target", "strategy", "verdict", "executions"]
    assert [row.split()[1] for row in rows] == list(STRATEGIES)
    counts = {row.split()[1]: int(row.split()[3]) for row in rows}
    assert counts["none"] == 6
    assert counts["optimal"] == counts["source"] == 3


def test_strategies_can_be_chosen() -> None:
    done = compare("sb.json", "--strategy", "optimal")
    assert len(done.stdout.splitlines()) == 2
    assert compare("sb.json", "--strategy", "magic").exit_code == 2
    assert compare("missing.json").exit_code == 2


def test_strategies_that_disagree_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(NoReduction):
        """Loses all outcomes but the first."""

        def explore(self):  # type: ignore[no-untyped-def]
            yield next(iter(super().explore()))

    monkeypatch.setitem(STRATEGIES, "classic", Forgetful)
    done = compare("sb.json")
    assert done.exit_code == 1
    assert "the strategies disagree about sb.json" in done.stderr


def test_searches_that_did_not_finish_say_nothing_against_each_other() -> None:
    def report(outcomes: int, exhaustive: bool) -> Report:
        verdict = Verdict.PASS if exhaustive else Verdict.INCONCLUSIVE
        return Report(target="t", strategy="s", verdict=verdict, exhaustive=exhaustive, outcomes=outcomes)

    assert agree([report(3, True), report(1, False), report(3, True)])
    assert not agree([report(3, True), report(2, True)])
