"""The command `lincheck`: checks a class by its operations alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from dpor.cli.answers import (
    EXIT_CODES,
    Exit,
    check_outputs,
    draw,
    our_errors,
    to_stdout,
    traceback_option,
    write_file,
)
from dpor.cli.completing import files
from dpor.cli.options import Real, Whole
from dpor.core.results import Verdict
from dpor.report.text import show_failure

_EXIT_OF = {Verdict.PASS: Exit.PASS, Verdict.FAIL: Exit.FINDING, Verdict.INCONCLUSIVE: Exit.INCONCLUSIVE}
_LEVELS = ("linearizable", "serializable", "quiescent")


C = TypeVar("C", bound=Callable[..., Any])


def _size(flag: str, least: int, default: int, text: str) -> Callable[[C], C]:
    return click.option(flag, type=Whole(least), default=default, show_default=True, metavar="N", help=text)


@click.command(epilog=EXIT_CODES, short_help="Check a class by its operations alone.")
@click.argument("target", shell_complete=files)
@click.argument("operations", nargs=-1)
@_size("--threads", 2, 2, "At most N threads.")
@_size("--calls", 1, 2, "At most N calls in each thread.")
@_size("--beginning", 0, 1, "At most N calls before the threads.")
@click.option(
    "--specification", metavar="TARGET", help="What says which answers are right. [default: the class itself]"
)
@click.option(
    "--consistency", type=click.Choice(_LEVELS), default=_LEVELS[0], show_default=True, help="How answers are judged."
)
@click.option(
    "--max-seconds",
    type=Real(0),
    default=60.0,
    show_default=True,
    metavar="S",
    help="Stop after S seconds; 0: no limit.",
)
@click.option("--json", "json_", type=click.Path(dir_okay=False), metavar="FILE", help="Write the result; - is stdout.")
@click.option("--save", type=click.Path(dir_okay=False), metavar="FILE", help="Write a scenario that fails, as a test.")
@click.option("-q", "--quiet", is_flag=True, help="Do not explain a failure, and do not print its source.")
@traceback_option
def lincheck(
    target: str,
    operations: tuple[str, ...],
    max_seconds: float,
    json_: str | None,
    save: str | None,
    quiet: bool,
    traceback: bool,
    **settings: Any,
) -> None:
    """Check the class TARGET by its OPERATIONS, the names of methods (default: all public ones).

    Makes scenarios in which several threads call an object, small ones first, and explores every interleaving of each.
    The answers must be those of the calls in some order, one after another.
    """
    with our_errors(traceback):
        check_outputs(["json"], json=json_, save=save)
        from dpor.scenarios.concurrent import concurrent

        report = concurrent(target, *operations, save=save, max_seconds=max_seconds or None, **settings)
        if json_ is not None:
            from dpor.core.schedule import to_json_text

            text = to_json_text(report.to_json())
            if json_ == "-":
                to_stdout(lambda: click.echo(text, nl=False))
            else:
                write_file(json_, text)
        if json_ != "-":
            to_stdout(lambda: _print(report, quiet))
    sys.exit(_EXIT_OF[report.verdict])


def _print(report: Any, quiet: bool) -> None:
    click.echo("\n".join(report.lines()))
    broken = report.failure
    if broken is None or quiet:
        return
    click.echo()
    draw(lambda console: show_failure(broken.failure, console))
    if broken.file is not None:
        click.echo(f"\nThe scenario is kept: dpor check {broken.file}::scenario")
    elif broken.source is not None:
        click.echo("\nAs a test (--save FILE keeps it):\n")
        click.echo(broken.source.rstrip())
