"""The table of strategies, and what comes from it."""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import click
import pytest
from click.testing import CliRunner

from dpor.cli.completing import strategies
from dpor.cli.main import cli
from dpor.core.options import Options
from dpor.core.system import OracleSystem, StatefulSystem, System
from dpor.explorers import KNOWN_PROMISES, SAMPLERS, STATEFUL, STATELESS, STATIC, STRATEGIES, Strategy

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_an_entry_says_what_there_is(strategy: Strategy) -> None:
    assert set(strategy.options) <= {option.name for option in attrs.fields(Options)}
    assert set(strategy.promises) <= KNOWN_PROMISES.keys()
    assert strategy.needs in (System, StatefulSystem, OracleSystem)
    assert ("outcomes" in strategy.promises) is not strategy.samples
    papers = re.findall(r"^- \*\*(\w+)\*\*: ", (ROOT / "GLOSSARY.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert strategy.paper in ("", *papers)


def test_every_strategy_is_of_one_sort() -> None:
    assert sorted([*STATELESS, *STATEFUL, *SAMPLERS]) == sorted(STRATEGIES)
    assert STATIC == ("sa", "dpor+static")


def test_the_shell_completes_them() -> None:
    context = click.Context(cli)
    parameter = click.Option(["--strategies"])
    assert [item.value for item in strategies(context, parameter, "")] == [*STRATEGIES]
    assert [item.value for item in strategies(context, parameter, "none,dp")] == ["none,dpor", "none,dpor+static"]


def test_help_describes_them() -> None:
    text = " ".join(CliRunner().invoke(cli, ["check", "--help"]).stdout.split())
    for name, strategy in STRATEGIES.items():
        assert f"{name} ({strategy.one_line})" in text


def test_the_table_of_the_docs_is_this_one() -> None:
    """What differs is put right by hand: the lines expected are those of the message."""
    lines = [
        f"| `{name}` | {strategy.one_line} | {strategy.paper} | {', '.join(strategy.promises)} |"
        f" {', '.join(f'`{option}`' for option in strategy.options)} |"
        for name, strategy in STRATEGIES.items()
    ]
    page = (ROOT / "docs" / "explorers.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("| `")] == lines, "\n".join(lines)
