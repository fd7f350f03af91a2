"""The command `explain`: repeats a saved failure and explains it in detail."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from dpor.cli.answers import (
    EXIT_CODES,
    Exit,
    check_outputs,
    draw,
    our_errors,
    same_hashes,
    to_stdout,
    traceback_option,
    write_file,
)
from dpor.report.text import headline, show_failure

if TYPE_CHECKING:
    from dpor.core.results import Failure


@click.command(epilog=EXIT_CODES)
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the explanation as a page for a browser."
)
@click.option(
    "--json", "json_", type=click.Path(dir_okay=False), metavar="FILE", help="Write the explanation; - is stdout."
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Show every event, with the variables that change; shorten nothing."
)
@traceback_option
def explain(file: str, html: str | None, json_: str | None, verbose: bool, traceback: bool) -> None:
    """Explain why the schedule in FILE, saved by dpor check, fails.

    Shows the run with a column for each thread, the two events whose order makes it fail, and, found by running them,
    which other orders of its events fail and which do not. Exit code 1 means that it failed as before.
    """
    with our_errors(traceback):
        from dpor.app.replaying import Replay
        from dpor.core.schedule import SavedSchedule

        check_outputs(["json"], html=html, json=json_)
        saved = SavedSchedule.load(file)
        same_hashes(saved.hash_seed)
        failure = Replay(saved).run()
        if html is not None:
            from dpor.report.page import failure_page

            write_file(html, failure_page(failure, saved.target))
        if json_ is not None:
            from dpor.report.json import dumps_failure

            text = dumps_failure(failure)
            if json_ == "-":
                to_stdout(lambda: click.echo(text, nl=False))
            else:
                write_file(json_, text)
        if json_ != "-":
            to_stdout(lambda: _print(failure, verbose))
    sys.exit(Exit.FINDING)


def _print(failure: Failure, verbose: bool) -> None:
    click.secho(headline(failure), fg="red", bold=True)
    draw(lambda console: show_failure(failure, console, verbose=verbose, traceback=True, columns=True))
