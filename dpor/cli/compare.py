"""The command `compare`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from dpor.cli import completing
from dpor.cli.answers import (
    EXIT_CODES,
    Exit,
    check_outputs,
    draw,
    our_errors,
    strategies_named,
    to_stdout,
    traceback_option,
    write_file,
)
from dpor.cli.ci import ci_options, write_ci_outputs
from dpor.cli.options import Real, StrategyOption, options_for
from dpor.core.options import Options
from dpor.report.progress import counted

if TYPE_CHECKING:
    from dpor.app.comparing import Job
    from dpor.report.comparison import Comparison, Row


@click.command(epilog=EXIT_CODES, short_help="Explore targets under several strategies, side by side.")
@click.argument("targets", nargs=-1, shell_complete=completing.files)
@click.option(
    "--strategies",
    metavar="A,B,C",
    shell_complete=completing.strategies,
    cls=StrategyOption,
    help="Strategies to compare; ratios refer to the first. Also B, S, D, DA, LD and D+LD: alone, with the --escape,"
    " --locks and --store of the paper that has these names (it has --every-access). [default: all but {samplers}]",
)
@options_for(
    "compare",
    max_seconds={"type": Real(0, min_open=True), "default": 5.0, "help": "Seconds for one target under one strategy."},
    name={"help": "The program to take from a .json or .jsonl file. [default: all]"},
)
@click.option("--json", "json_", type=click.Path(dir_okay=False), metavar="FILE", help="Write all rows.")
@click.option("--csv", "csv_", type=click.Path(dir_okay=False), metavar="FILE", help="Write all rows, one a line.")
@ci_options
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the tables, with charts.")
@traceback_option
def compare(
    targets: tuple[str, ...],
    strategies: str | None,
    max_seconds: float,
    json_: str | None,
    csv_: str | None,
    sarif: str | None,
    github: bool,
    html: str | None,
    traceback: bool,
    **arguments: Any,
) -> None:
    """Explore TARGETS (by default a few small programs) fully under every strategy, each in a process of its own, and
    show verdicts, counts, times and memory side by side: one table for each target.

    Every program in a file of abstract programs is a target. An option that only some of the strategies use applies to
    these. Exit code 4 means that two strategies that finished disagree about a target (or that one of them met an error
    of dpor); the table then says what differs. Verdicts, and runs that were cut short, are shown and do not change the
    exit code.
    """
    with our_errors(traceback):
        from dpor.app import comparing
        from dpor.explorers import CONFIGURATIONS, SAMPLERS
        from dpor.report import comparison

        check_outputs(json=json_, csv=csv_, sarif=sarif, html=html)
        names = strategies_named(strategies, [*SAMPLERS, *CONFIGURATIONS])
        options = Options(max_seconds=max_seconds, **arguments)
        jobs = comparing.jobs(targets or comparing.WORKLOADS, names, options)
        done, interrupted = _compare(jobs, len(names))
        if json_ is not None:
            write_file(json_, comparison.json_text(done, max_seconds, interrupted))
        if csv_ is not None:
            write_file(csv_, comparison.to_csv(done))
        if html is not None:
            from dpor.report.html import to_html

            write_file(html, to_html(done, max_seconds, interrupted))
        reports = [row.report for each in done for row in each.rows if row.report]
        write_ci_outputs(reports, sarif, github, [*_troubles(done)])
    rows = [row for each in done for row in each.rows]
    if any(each.agree is False for each in done) or any(row.exit_code == Exit.OUR_ERROR for row in rows):
        sys.exit(Exit.OUR_ERROR)
    if interrupted:
        sys.exit(Exit.INCONCLUSIVE)
    sys.exit(Exit.USAGE if all(row.report is None for row in rows) else Exit.PASS)


def _troubles(done: Iterable[Comparison]) -> Iterator[str]:
    """Yield what is wrong with dpor, or kept a target from being explored, a line each."""
    for each in done:
        if each.agree is False:
            yield f"{each.target}: {' '.join(each.lines)}"
        for row in each.rows:
            if row.error is not None:
                yield f"{row.target} ({row.strategy}): {row.error}"


def _compare(jobs: Sequence[Job], width: int) -> tuple[list[Comparison], bool]:
    """Run the jobs; show each target when its `width` jobs are done. Return the comparisons, and True if Ctrl-C ended
    it."""
    from dpor.app import comparing
    from dpor.report.comparison import draw_table, progress_line

    done: list[Comparison] = []
    rows: list[Row] = []
    interrupted = False

    def show_table() -> None:
        if rows:
            each = comparing.compared(rows)
            done.append(each)
            rows.clear()
            to_stdout(lambda: draw(lambda console: draw_table(each, console)))

    with counted(len(jobs)) as count:
        try:
            for job in jobs:
                count.begin(f"{job.title}  {job.options.explorer}")
                rows.append(comparing.run_job(job))
                count.end(progress_line(rows[-1]))
                if len(rows) == width:
                    with count.paused():
                        show_table()
        except comparing.Interrupted as cut:
            rows.append(cut.row)
            interrupted = True
        except KeyboardInterrupt:
            interrupted = True
    show_table()
    return done, interrupted
