"""The command `doctor`."""

from __future__ import annotations

import sys

import click

from dpor.cli.answers import (
    EXIT_CODES,
    Exit,
    our_errors,
    to_stdout,
    traceback_option,
)
from dpor.cli.completing import files

_MARKS = {True: ("ok", "green"), False: ("WRONG", "red"), None: ("", "")}


@click.command(epilog=EXIT_CODES, short_help="Test whether dpor works here.")
@click.argument("target", required=False, shell_complete=files)
@traceback_option
def doctor(target: str | None, traceback: bool) -> None:
    """Test whether dpor works here: show versions, find and replay a known race, and pass a known correct program.

    With a TARGET, as for dpor check, also list which of its files are instrumented, and which packages that it uses are
    not.
    """
    wrong = False
    with our_errors(traceback):
        from dpor.app.doctor import examine

        for each in examine(target):
            wrong = wrong or each.good is False
            mark, colour = _MARKS[each.good]
            line = f"{click.style(f'{mark:5}', fg=colour or None)}  {each.text}"
            to_stdout(lambda line=line: click.echo(line))  # type: ignore[misc]
    sys.exit(Exit.OUR_ERROR if wrong else Exit.PASS)
