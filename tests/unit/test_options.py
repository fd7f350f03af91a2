"""An option is written in one place, and comes from there to the command line, to `dpor.check` and to pytest."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import attrs
import click
import pytest
from click.testing import CliRunner, Result

import dpor
from dpor.app import advice
from dpor.app.option_docs import table, takes_options
from dpor.app.targets import open_target
from dpor.cli.main import cli
from dpor.cli.options import options_for
from dpor.core.errors import UserError
from dpor.core.options import ABOUT, About, Group, Number, OfPytest, Options, options_of, plain
from dpor.core.results import Report
from dpor.explorers import STRATEGIES
from dpor.pytest.mark import add_options, marks_take, of_command_line

API = Path(__file__).parents[2] / "docs" / "api.md"
PATIENCE = OfPytest("--dpor-patience", "SECONDS", "how long to wait")


@attrs.frozen(kw_only=True)
class More(Options):
    """The options, and some that there are not."""

    patience: float | None = attrs.field(
        default=2.5,
        validator=Number(0, whole=False, or_none=True),
        metadata={
            ABOUT: About(line="wait so long", help="Wait S.", group=Group.RUNS, metavar="S", pytest=PATIENCE),
        },
    )
    cache: bool = attrs.field(
        default=True,
        metadata={ABOUT: About(line="is there a cache?", group=Group.RUNS, flag="--no-cache", commands=("check",))},
    )
    secret: bool = attrs.field(
        default=False, metadata={ABOUT: About(line="keep it", group=Group.RUNS, commands=(), mark=False)}
    )


def command_with(seen: dict[str, Any]) -> click.Command:
    @click.command()
    @options_for("check", More, depth={"default": 9})
    def command(**arguments: Any) -> None:
        seen.update(arguments)

    return command


def test_a_new_option_is_one_of_the_command() -> None:
    seen: dict[str, Any] = {}
    command = command_with(seen)
    assert {option.name for option in command.params} == {
        field.name for field, about in options_of(More) if "check" in about.commands
    }
    text = " ".join(CliRunner().invoke(command, ["--help"]).stdout.split())
    assert "--patience S" in text
    assert "Wait S. [default: 2.5; x>=0]" in text
    assert "--no-cache" in text
    assert "--secret" not in text
    assert CliRunner().invoke(command, []).exit_code == 0
    assert attrs.evolve(More(**seen), depth=3) == More()
    assert seen["depth"] == 9
    CliRunner().invoke(command, ["--patience", "0", "--no-cache", "--instrument", "a", "--instrument", "b"])
    assert (seen["patience"], seen["cache"], seen["instrument"]) == (None, False, ("a", "b"))
    assert CliRunner().invoke(command, ["--patience", "-1"]).exit_code == 2


def test_a_new_option_is_one_of_check() -> None:
    def function(target: str, **changes: Any) -> Report:
        """Does it."""
        raise NotImplementedError

    documented = cast(Any, takes_options(More)(function))
    lines = inspect.getdoc(documented)
    assert lines is not None
    assert lines.startswith("Does it.\n\nThe search:\n")
    assert "  patience=2.5                  wait so long" in lines.splitlines()
    signature = inspect.signature(documented)
    assert list(signature.parameters) == ["target", *(field.name for field in attrs.fields(More))]
    assert signature.parameters["patience"].default == 2.5
    assert signature.parameters["timeouts"].default == "any"


def test_a_new_option_is_one_of_pytest() -> None:
    assert {"patience", "cache"} < {*marks_take(More)}
    assert not {"secret", "all", "name"} & {*marks_take(More)}
    parser = pytest.Parser(_ispytest=True)
    add_options(parser.getgroup("dpor"), More)

    def given(*arguments: str) -> dict[str, Any]:
        known = parser.parse(arguments)
        config = SimpleNamespace(getoption=lambda flag: getattr(known, flag.lstrip("-").replace("-", "_")))
        return of_command_line(cast(pytest.Config, config), More)

    assert given() == {}
    assert given("--dpor-patience", "3") == {"patience": 3.0}
    assert given("--dpor-patience", "0", "--dpor-strategy", "pct") == {"patience": None, "strategy": "pct"}
    with pytest.raises(UserError, match="--dpor-patience: patience must be a number of 0 or more, not -1"):
        given("--dpor-patience", "-1")


def test_a_new_option_is_passed_on_to_the_processes_of_compare() -> None:
    options = More(strategy="none", patience=None, cache=False, secret=True, all=True)
    assert advice.arguments(options) == ["--strategy", "none", "--patience", "0", "--no-cache"]


def test_help_lists_the_options_of_check() -> None:
    text = inspect.getdoc(dpor.check)
    assert text is not None
    for field in attrs.fields(Options):
        assert f"  {field.name}={plain(field.default)!r}" in text


def test_the_table_of_the_docs_is_this_one() -> None:
    assert table() in API.read_text(encoding="utf-8"), table()


def test_each_option_of_a_strategy_is_one() -> None:
    assert {name for strategy in STRATEGIES.values() for name in strategy.options} <= {*marks_take()}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            {"preemption": 2},
            "dpor.check has no option 'preemption'; there are strategy, all, outcomes, max_seconds",
        ),
        ({"races": "no"}, "races must be True or False, not 'no'"),
        ({"strategy": ["none"]}, "strategy must be a name or None, not ['none']"),
        ({"instrument": 3}, "packages are given by name, or as a list of names, not as 3"),
        ({"store": "all"}, "store must be 'events' or 'choices' or 'nothing', not 'all'"),
    ],
)
def test_a_wrong_name_or_value_is_one_line(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UserError) as error:
        dpor.check(lambda: None, **changes)
    assert str(error.value).startswith(complaint)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["timeouts", "timeout_limit", "instrument"])
def test_what_only_python_has_is_refused_for_abstract_programs(name: str, tmp_path: Path) -> None:
    values = {"timeouts": "idle", "timeout_limit": 4, "instrument": "json"}
    file = tmp_path / "program.json"
    file.write_text('{"vars": {"x": 0}, "threads": [["w x 1"]]}')
    with pytest.raises(UserError, match=f"--{name.replace('_', '-')} means nothing for .*; leave it out"):
        open_target(str(file), Options(**{name: values[name]}))


def test_what_is_saved_gives_the_same_runs() -> None:
    options = Options(strategy="dpor", timeouts="idle", instrument=("a", "b"), max_steps=9, seed=4)
    saved = options.saved()
    assert (saved["timeouts"], saved["instrument"]) == ("idle", ["a", "b"])
    assert Options(**saved) == attrs.evolve(options, seed=0)


def help_of(command: str) -> Result:
    return CliRunner().invoke(cli, [command, "--help"])


@pytest.mark.parametrize("command", ["check", "compare", "fuzz"])
def test_help_can_be_asked_for_again(command: str) -> None:
    """The words in braces stay in the option: who is asked twice says the same."""
    before = [option.help for option in cli.commands[command].params if isinstance(option, click.Option)]
    first = help_of(command).stdout
    assert help_of(command).stdout == first
    assert "{" not in first
    assert [option.help for option in cli.commands[command].params if isinstance(option, click.Option)] == before
