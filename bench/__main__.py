"""The command line: `python -m bench [run] | compare REV1 [REV2] | memory | states | tables`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench import compare as comparing
from bench import memory as remembering
from bench import regenerating
from bench import tables as tabulating
from bench.measure import Measurement
from bench.programs import KNOWN, PROGRAMS
from bench.shape import AGREE, Cells, Holds, shape
from bench.stateful import TWINS, measured
from dpor.cli.answers import Exit
from dpor.core.workload_list import LARGER

ROOT = comparing.ROOT


class Default(click.Group):
    """Without a command: `run`."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, *context.help_option_names):
            args.insert(0, "run")
        return super().parse_args(context, args)


@click.group(cls=Default)
def cli() -> None:
    """Measures how fast programs are explored. Without a command: `run`."""


names_argument = click.argument("names", nargs=-1, metavar="[NAME]...", type=click.Choice(list(KNOWN)))
names_option = click.option(
    "--program", "names", multiple=True, type=click.Choice(list(KNOWN)), help="Only this one; may be repeated."
)
strategy_option = click.option("--strategy", default="optimal", show_default=True, metavar="NAME")
seconds_option = click.option(
    "--seconds", default=1.0, show_default=True, type=click.FloatRange(0), help="CPU time for each program and commit."
)
json_option = click.option(
    "--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write it there too."
)


def chosen(names: Sequence[str]) -> list[str]:
    return list(names) or [program.name for program in PROGRAMS]


@cli.command()
@names_argument
@strategy_option
@seconds_option
@json_option
def run(names: Sequence[str] = (), strategy: str = "optimal", seconds: float = 1.0, file: Path | None = None) -> None:
    """Explore each program again and again; the fastest exploration counts."""
    found = list(comparing.measured(ROOT, chosen(names), strategy, seconds).values())
    table = Table("program", *HEADINGS, box=None)
    for measurement in found:
        table.add_row(measurement["program"], *_cells(measurement))
    _print(table)
    factors = [
        peer / measurement["seconds"]
        for measurement in found
        if (peer := KNOWN[measurement["program"]].peer) is not None
    ]
    if factors:
        click.echo(f"geometric mean over the peer's rows: {comparing.geometric_mean(factors):.0f} times shorter")
    _write(file, found)


WIDEST = 100
"""Columns that a table needs: where the terminal has fewer, it wraps the lines itself."""

STATES_HEADINGS = ("program", "", "choices", "states", "matched", "states/s", "bytes", "end s", "JPF s")
HEADINGS = ("executions", "seconds", "executions/s", "us/event", "replayed", "x peer")


def _cells(m: Measurement) -> list[str]:
    events = m["events"] + m["replayed"]
    peer = KNOWN[m["program"]].peer
    return [
        f"{m['executions']:,}",
        f"{m['seconds']:.6f}",
        f"{m['executions'] / m['seconds']:,.0f}",
        f"{m['seconds'] / events * 1e6:.2f}",
        f"{m['replayed'] / events:.0%}",
        "" if peer is None else f"{peer / m['seconds']:,.0f}",
    ]


@cli.command()
@click.argument("before", metavar="REV1")
@click.argument("after", metavar="[REV2]", required=False)
@names_option
@strategy_option
@seconds_option
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1), help="So often, in turns.")
@json_option
def compare(
    before: str, after: str | None, names: Sequence[str], strategy: str, seconds: float, rounds: int, file: Path | None
) -> None:
    """Measure REV1 against REV2 (or the working tree); more than 1 is faster."""
    found = comparing.compare(before, after, chosen(names), strategy, seconds, rounds)
    table = Table("program", "executions/s", "then", "ratio", box=None)
    for row in found:
        rates = ["-" if m is None else f"{m['executions'] / m['seconds']:,.0f}" for m in (row.before, row.after)]
        table.add_row(row.program, *rates, "-" if row.ratio is None else f"{row.ratio:.2f}")
    _print(table)
    ratios = [row.ratio for row in found if row.ratio is not None]
    click.echo(f"geometric mean: {comparing.geometric_mean(ratios):.3f}")
    _write(file, [{"program": row.program, "before": row.before, "after": row.after} for row in found])


@cli.command()
@click.option("--program", default="racy_2x5", show_default=True, type=click.Choice(list(KNOWN)))
@click.option("--few", default=10_000, show_default=True, type=click.IntRange(1))
@click.option("--many", default=1_000_000, show_default=True, type=click.IntRange(1))
@json_option
def memory(program: str, few: int, many: int, file: Path | None) -> None:
    """Peak memory after MANY executions against FEW: at most 1.2 times as much."""
    small, large = remembering.peak(program, few), remembering.peak(program, many)
    click.echo(f"{program}: {small / 2**20:.1f} MB after {few:,} executions, {large / 2**20:.1f} MB after {many:,}")
    click.echo(f"ratio {large / small:.3f}")
    _write(file, {"program": program, "executions": [few, many], "bytes": [small, large]})


@cli.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", type=click.Choice(list(TWINS)))
@click.option("--strategy", "strategies", multiple=True, type=click.Choice(["full", "original", "dpor"]))
@seconds_option
@json_option
def states(names: Sequence[str], strategies: Sequence[str], seconds: float, file: Path | None) -> None:
    """Stateful strategies [default: dpor] on twins of what Java Pathfinder was measured on: states stored and met again
    in a CPU second, bytes for each stored state, CPU seconds to an exhaustive verdict, Java Pathfinder's.
    """
    found = [measured(name, strategy, seconds) for name in names or TWINS for strategy in strategies or ["dpor"]]
    table = Table(*STATES_HEADINGS, box=None)
    for m in found:
        table.add_row(
            m["program"],
            m["strategy"],
            *(f"{m[count]:,}" for count in ("choices", "states", "matched")),
            f"{(m['states'] + m['matched']) / m['seconds']:,.0f}",
            "" if m["bytes"] is None else f"{m['bytes']:,.0f}",
            f"{m['verdict_seconds']:.2f}" if m["exhaustive"] else "-",
            f"{TWINS[m['program']].seconds}",
        )
    _print(table)
    _write(file, found)


@cli.command()
@click.argument("numbers", nargs=-1, metavar="[NUMBER]...", type=click.IntRange(2, 11))
@click.option("--workload", "workloads", multiple=True, type=click.Choice(LARGER), help="Only this one.")
@click.option(
    "--max-seconds", default=30.0, show_default=True, type=click.FloatRange(0, min_open=True), help="For each cell."
)
@click.option(
    "--max-states", type=click.IntRange(1), help="For each cell: the same on every machine. [default: no limit]"
)
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Write files there.")
@click.option("--again", is_flag=True, help="Write them from the cells that are in the folder: nothing is run.")
def tables(
    numbers: Sequence[int],
    workloads: Sequence[str],
    max_seconds: float,
    max_states: int | None,
    folder: Path | None,
    again: bool,
) -> None:
    """Tables 2 to 10 of Parizek and Lhotak's paper, for our workloads, and whether the paper's shape holds.

    In all of these every access is an event, as for the paper's searches; 11 is Table 10 once more, of the searches as
    they are by default.

    With a folder: as tables.json (results.schema.json), tables.md and figures, which need matplotlib.
    """
    chosen = tuple(workloads) or LARGER
    shown = tabulating.tables(sorted(set(numbers)) or range(2, 12), chosen)
    budget = regenerating.Budget(max_seconds, max_states)
    interrupted = False
    if again:
        if folder is None:
            raise click.UsageError("--again goes with --folder: where are the cells?")
        found, budget, interrupted = regenerating.from_json(json.loads((folder / "tables.json").read_text()))
    else:
        analysis = any(table.measure is tabulating.ANALYSIS for table in shown)
        found, interrupted = regenerating.measured(tabulating.wanted(shown), budget, analysis=analysis)
    lines = shape(chosen, found)
    for table in shown:
        click.echo(f"{table.heading}\n")
        _print(tabulating.as_rich(table, found))
        click.echo()
    for line in lines:
        click.echo(f"{line.demand}, {line.workload}: {line.holds} ({line.numbers})")
    click.echo(f"\n{tabulating.summary(lines)}")
    for cell in found.values():
        if not cell.finished:
            click.echo(f"{cell.workload} {regenerating.words(cell.setting)}: {cell.note}")
    if folder is not None:
        if not again:
            regenerating.write_json(regenerating.to_json(found, lines, budget, interrupted), folder / "tables.json")
        (folder / "tables.md").write_text(tabulating.as_markdown(shown, found, lines), encoding="utf-8")
        _draw(found, chosen, folder)
    if any(line.demand == AGREE and line.holds is Holds.NO for line in lines):
        sys.exit(Exit.OUR_ERROR)
    sys.exit(Exit.INCONCLUSIVE if interrupted else Exit.PASS)


def _draw(found: Cells, workloads: Sequence[str], folder: Path) -> None:
    try:
        from bench import figures
    except ImportError:
        click.echo("no figures: pip install -e '.[bench]' for matplotlib", err=True)
        return
    figures.draw(found, workloads, folder)


# ---------------------------------------------------------------------- output


def _print(table: Table) -> None:
    for column in table.columns[1:]:
        column.justify = "right"
    console = Console()
    Console(width=max(console.width, WIDEST)).print(table)


def _write(file: Path | None, found: object) -> None:
    if file is not None:
        file.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    cli(prog_name="python -m bench")
