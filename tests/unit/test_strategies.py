"""The table of strategies, and what comes from it."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import attrs
import click
import pytest
from click.testing import CliRunner

from dpor.app.advice import next_step
from dpor.app.stages import stages
from dpor.cli.completing import strategies
from dpor.cli.main import cli
from dpor.core.options import Options, options_of
from dpor.core.system import LockingSystem, OracleSystem, StatefulSystem, System, TellsData
from dpor.explorers import (
    CAUSAL,
    DIVIDED,
    KNOWN_PROMISES,
    SAMPLERS,
    STATEFUL,
    STATELESS,
    STATIC,
    STRATEGIES,
    Optimal,
    Strategy,
)
from dpor.model import AbstractSystem

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_an_entry_says_what_there_is(strategy: Strategy) -> None:
    assert set(strategy.options) <= {option.name for option in attrs.fields(Options)}
    assert set(strategy.promises) <= KNOWN_PROMISES.keys()
    assert strategy.needs in (System, StatefulSystem, OracleSystem, LockingSystem, TellsData)
    assert len({"outcomes", "observations"} & {*strategy.promises}) == (not strategy.samples)
    papers = re.findall(r"^- \*\*(\w+)\*\*: ", (ROOT / "GLOSSARY.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert strategy.paper in ("", *papers)


def test_every_strategy_is_of_one_sort() -> None:
    assert sorted([*STATELESS, *STATEFUL, *CAUSAL, *SAMPLERS]) == sorted(STRATEGIES)
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


def test_other_processes_search_parts_as_the_strategy_that_divides_its_tree() -> None:
    """`SearchOfPart` is an `Optimal`."""
    system = AbstractSystem({"vars": {"x": 0}, "threads": [["w x 1"], ["r x a"]]})
    assert tuple(name for name in STATELESS if type(STRATEGIES[name](system)) is Optimal) == DIVIDED


def test_what_the_default_tries_is_what_its_help_says() -> None:
    about = {field.name: about for field, about in options_of(Options)}["strategy"]
    tried = [name for name, _ in groupby(stage.options.explorer for stage in stages(Options()))]
    help_text = about.help.partition("the default:")[2]
    assert re.findall("|".join(STRATEGIES), help_text)[: len(tried)] == tried
    bounded = about.line.partition("with preemptions, ")[2]
    assert (*re.findall(r"[a-z]+$", bounded),) == (Options(preemptions=1).explorer,)


def test_the_advice_to_sample_names_a_strategy_that_does() -> None:
    command = next_step("a.py::f", Options(preemptions=0), 500, 3e6, None, None)
    assert command.rpartition("--strategy ")[2].split()[0] in SAMPLERS
