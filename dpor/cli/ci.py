"""What the commands write for CI services: SARIF files, and the annotations and job summary of GitHub Actions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from dpor.cli.answers import to_stdout, write_file
from dpor.core.errors import UserError

F = TypeVar("F", bound=Callable[..., Any])

WORKSPACE, SUMMARY = "GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY"


def ci_options(command: F) -> F:
    """Add the options for these outputs to a command."""
    sarif = click.option(
        "--sarif",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write findings as SARIF 2.1.0, for code scanning.",
    )
    github = click.option(
        "--github", is_flag=True, help="Print annotations for GitHub Actions, and add to the summary of the job."
    )
    return sarif(github(command))


def check_ci(github: bool, json_: str | None) -> None:
    """Before the work is done: raise `UserError` if the options contradict each other."""
    if github and json_ == "-":
        raise UserError("--github and --json - both want standard output: give the JSON a file")


def write_ci_outputs(
    reports: Sequence[Mapping[str, Any]], sarif: str | None, github: bool, troubles: Sequence[str] = ()
) -> None:
    """Write the requested outputs.

    reports    JSON reports of `dpor check`
    troubles   what kept targets from being checked, or went wrong in dpor itself, a line each
    """
    root = os.environ.get(WORKSPACE) or os.getcwd()
    if sarif is not None:
        from dpor.report.sarif import to_sarif

        write_file(sarif, to_sarif(reports, root, troubles))
    if github:
        from dpor.report.github import commands, job_summary

        lines = [*commands(reports, root, troubles)]
        to_stdout(lambda: click.echo("".join(f"{line}\n" for line in lines), nl=False))
        if file := os.environ.get(SUMMARY):
            _append(Path(file), job_summary(reports, root, troubles))


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        click.echo(f"dpor: {SUMMARY}={file}: cannot be written: {error.strerror or error}", err=True)
