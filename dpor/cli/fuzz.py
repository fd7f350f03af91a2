"""The command `fuzz`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from dpor.cli.answers import (
    EXIT_CODES,
    KEEP,
    Exit,
    check_outputs,
    keep_folder,
    our_errors,
    strategies_named,
    to_stdout,
    traceback_option,
    write_file,
)
from dpor.cli.options import StrategyOption, Whole
from dpor.core.errors import UserError
from dpor.core.plural import plural
from dpor.report.progress import counted

if TYPE_CHECKING:
    from dpor.testing import Disagreement

PROGRESS_LINES = 20


@click.command(epilog=EXIT_CODES, short_help="Test dpor itself on programs made at random.")
@click.option("--examples", type=Whole(1), default=300, show_default=True, metavar="N", help="Number of programs.")
@click.option("--strategies", metavar="A,B,C", cls=StrategyOption, help="Which to test. [default: all but {samplers}]")
@click.option(
    "--seed",
    type=Whole(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Seed of the first program; that of the next is N+1, and so on.",
)
@click.option(
    "--kind", type=click.Choice(["abstract", "python"]), default="abstract", show_default=True, help="Kind of programs."
)
@click.option("--cyclic", is_flag=True, help="Make every fourth program endless.")
@click.option(
    "--lies",
    is_flag=True,
    cls=StrategyOption,
    help="Give {static} facts about the program that are false at random.",
)
@click.option("--json", "json_", type=click.Path(dir_okay=False), metavar="FILE", help="Write the results.")
@click.option(
    "--save",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Folder for a program that shows a fault. [default: .dpor]",
)
@traceback_option
def fuzz(
    examples: int,
    strategies: str | None,
    seed: int,
    kind: Literal["abstract", "python"],
    cyclic: bool,
    lies: bool,
    json_: str | None,
    save: str | None,
    traceback: bool,
) -> None:
    """Test dpor itself: make programs at random and compare each strategy with listing all interleavings (none) and all
    states (full): outcomes, deadlocks, failures, trace classes.

    Programs that are too large to be listed are skipped. The first program on which a strategy is wrong is made as
    small as possible, and saved as files that pytest runs and dpor check explores; the exit code is then 4.
    """
    with our_errors(traceback):
        from dpor.explorers import STATIC
        from dpor.testing import fuzz as search

        check_outputs(json=json_)
        if save is not None and not Path(save).is_dir():
            raise UserError(f"--save {save}: there is no such folder")
        names = strategies_named(strategies)
        if lies and not set(names) & set(STATIC):
            raise UserError(f"--lies goes with {' or '.join(STATIC)}, of which none is among --strategies")
        begun, judged, too_large, interrupted = time.monotonic(), 0, 0, False
        found: Disagreement | None = None

        def each(number: int, was_judged: bool) -> None:
            nonlocal judged, too_large
            judged, too_large = judged + was_judged, too_large + (not was_judged)
            seconds = time.monotonic() - begun
            count.end(f"no fault up to seed {number:,}, {too_large:,} programs too large, {seconds:.0f} s")

        with counted(examples, PROGRESS_LINES, ticking=False) as count:
            count.begin(f"{kind} programs")
            try:
                found = search(names, examples=examples, seed=seed, kind=kind, cyclic=cyclic, lies=lies, each=each)
            except KeyboardInterrupt:
                interrupted = True
        files = [] if found is None else _save(found, save)
        lines = _in_words(found, files, names, judged, too_large, interrupted)
        to_stdout(lambda: click.echo("\n".join(lines)))
        if json_ is not None:
            from dpor.core.schedule import to_json_text

            content = {
                "schema": 1,
                "kind": kind,
                "cyclic": cyclic,
                "lies": lies,
                "seed": seed,
                "strategies": names,
                "judged": judged,
                "too_large": too_large,
                "interrupted": interrupted,
                "seconds": round(time.monotonic() - begun, 3),
                "disagreement": found
                and {"seed": found.seed, "wrong": found.wrong, "program": found.program, "files": files},
            }
            write_file(json_, to_json_text(content))
    sys.exit(Exit.OUR_ERROR if found else Exit.INCONCLUSIVE if interrupted else Exit.PASS)


def _save(found: Disagreement, folder: str | None) -> list[str]:
    if folder is None and not keep_folder():
        return []
    return [str(file) for file in found.save(Path(folder or KEEP))]


def _in_words(
    found: Disagreement | None, files: list[str], names: list[str], judged: int, too_large: int, interrupted: bool
) -> list[str]:
    passed = f" ({too_large:,} {'was' if too_large == 1 else 'were'} too large to be judged)" if too_large else ""
    if found is None:
        word = "INTERRUPTED" if interrupted else "PASSED"
        return [f"{word}  {', '.join(names)}: no fault on {plural(judged, 'program')}{passed}."]
    lines = [
        f"FAILED  {found.wrong}; seed {found.seed}, after {plural(judged, 'program')} without a fault{passed}.",
        "",
    ]
    if isinstance(found.program, str):
        lines += found.program.splitlines()
    else:
        import json

        lines.append(json.dumps(found.program))
    if files:
        target = files[-1] + ("::scenario" if isinstance(found.program, str) else "")
        lines += ["", f"Again: pytest {files[0]}", f"       dpor check {target}"]
    return lines
