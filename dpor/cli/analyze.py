"""The command `analyze`."""

from __future__ import annotations

import click

from dpor.cli.answers import (
    EXIT_CODES,
    our_errors,
    to_stdout,
    traceback_option,
    write_file,
)
from dpor.cli.completing import files
from dpor.cli.options import options_for
from dpor.core.options import FieldAccess, PointerAnalysis


@click.command(epilog=EXIT_CODES, short_help="Show what the static analysis knows about a program.")
@click.argument("target", shell_complete=files)
@options_for("analyze", instrument={"help": "Analyse this package too. May be given again."})
@click.option("--json", "json_", type=click.Path(dir_okay=False), metavar="FILE", help="Write the facts; - is stdout.")
@click.option("--dot", is_flag=True, help="Show the call graph instead, for Graphviz.")
@click.option(
    "--annotate",
    is_flag=True,
    help="Show the source instead, with each access marked as immutable, thread-local or relevant.",
)
@traceback_option
def analyze(
    target: str,
    field_access: FieldAccess,
    pointers: PointerAnalysis,
    instrument: tuple[str, ...],
    json_: str | None,
    dot: bool,
    annotate: bool,
    traceback: bool,
) -> None:
    """Show what the source of TARGET reveals without a run: which fields are immutable, what each function may access,
    and which accesses may matter to another thread. TARGET is as for dpor check; its modules are imported, but it is
    not called.

    Accesses to what nothing writes once the modules have been imported are left out.
    """
    if dot and annotate:
        raise click.UsageError("--dot and --annotate exclude each other; leave one out")
    with our_errors(traceback):
        from dpor.app.analysing import analyze as find
        from dpor.report.analysis import annotated, json_text, lines

        analysis, sources = find(target, FieldAccess(field_access), PointerAnalysis(pointers), instrument)
        if json_ == "-":
            to_stdout(lambda: click.echo(json_text(analysis), nl=False))
            return
        shown = [analysis.dot] if dot else annotated(analysis, sources) if annotate else lines(analysis)
        to_stdout(lambda: click.echo("\n".join(shown)))
        if json_ is not None:
            write_file(json_, json_text(analysis))
