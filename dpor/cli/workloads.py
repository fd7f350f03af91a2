"""The command `workloads`."""

from __future__ import annotations

import click

from dpor.cli.answers import draw, to_stdout


@click.command(short_help="List the programs that come with dpor.")
@click.option("--json", "json_", is_flag=True, help="As JSON: name, about and parameters of each.")
def workloads(json_: bool) -> None:
    """List the programs that come with dpor: to try it on, and to compare strategies.

    Each is a target by its name; after a colon come a bug and sizes, as in daisy:bug,length=2.
    """
    from dpor.core.workload_list import workloads as known

    if json_:
        import json

        each = [{"name": w.name, "about": w.about, "parameters": w.parameters} for w in known().values()]
        to_stdout(lambda: click.echo(json.dumps(each, indent=1)))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for workload in known().values():
        table.add_row(workload.name, workload.about, workload.usage, style=None)

    def show(console: Console) -> None:
        console.print(table)

    to_stdout(lambda: draw(show))
