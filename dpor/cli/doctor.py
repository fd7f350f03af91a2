"""The command `doctor`."""

from __future__ import annotations

import sys
from typing import Any

import click

from dpor.cli.answers import (
    EXIT_CODES,
    Exit,
    our_errors,
    to_stdout,
    traceback_option,
)
from dpor.cli.completing import files
from dpor.cli.options import options_for

_MARKS = {True: ("ok", "green"), False: ("WRONG", "red"), None: ("", "")}


@click.command(epilog=EXIT_CODES, short_help="Test whether dpor works here.")
@click.argument("target", required=False, shell_complete=files)
@options_for("doctor")
@traceback_option
def doctor(target: str | None, traceback: bool, **options: Any) -> None:
    """Test whether dpor works here: show versions, find and replay a known race, and pass a known correct program.

    With a TARGET, as for dpor check, also list which of its files are instrumented, which packages that it uses are
    not, and which are trusted.
    """
    wrong = False
    with our_errors(traceback):
        from dpor.app.doctor import examine
        from dpor.core.options import Options

        for each in examine(target, Options(**options)):
            wrong = wrong or each.good is False
            mark, colour = _MARKS[each.good]
            line = f"{click.style(f'{mark:5}', fg=colour or None)}  {each.text}"
            to_stdout(lambda line=line: click.echo(line))  # type: ignore[misc]
    sys.exit(Exit.OUR_ERROR if wrong else Exit.PASS)
