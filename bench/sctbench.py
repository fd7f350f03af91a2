"""Executions to the first failure, in the mean over some seeds, beside published figures: the table of docs/hunt.md.

    python -m bench.sctbench FOLDER [--seeds 20] [--strategy NAME] [--most 2000] [PROGRAM]...

The folder has programs, `sct_NAME.py::scenario`, and `published.json`: for each name, "rff", "pos" and "pct3", each
null or [mean, found, of]. A check that finds nothing counts as the most executions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

import dpor

PUBLISHED = ("rff", "pos", "pct3")


def to_failure(program: Path, strategy: str | None, seed: int, most: int) -> int | None:
    """Return the number of executions to the first failure, those before the search began again included; None if
    there is none."""
    report = dpor.check(f"{program}::scenario", strategy=strategy, seed=seed, max_executions=most)
    return report.executions_besides + report.executions if report.verdict == "fail" else None


def geometric_mean(numbers: Iterable[float]) -> float:
    logarithms = [math.log(number) for number in numbers]
    return math.exp(sum(logarithms) / len(logarithms))


def _as_published(figure: Any) -> str:
    if figure is None or figure[0] is None:
        return "not found" if figure else ""
    mean, found, of = figure
    return f"{mean:,.1f}" if found == of else f"{mean:,.1f} ({found} of {of})"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("names", nargs=-1)
@click.option("--seeds", default=20, show_default=True)
@click.option("--strategy", default=None, help="Instead of the default.")
@click.option("--most", default=2000, show_default=True, help="Executions of one check.")
def main(folder: Path, names: tuple[str, ...], seeds: int, strategy: str | None, most: int) -> None:
    """Print the table."""
    published = json.loads((folder / "published.json").read_text())
    ours, theirs = [], []
    print("| program | mean | at most | found | RFF | POS | PCT, d = 3 |\n|---|---:|---:|---:|---:|---:|---:|")
    for name in names or sorted(published):
        counts = [to_failure(folder / f"sct_{name}.py", strategy, seed, most) for seed in range(seeds)]
        mean = sum(count or most for count in counts) / seeds
        found = [count for count in counts if count is not None]
        figures = [published[name][by] for by in PUBLISHED]
        if figures[0] is not None:
            ours.append(mean)
            theirs.append(figures[0][0])
        shown = " | ".join(map(_as_published, figures))
        print(f"| `{name}` | {mean:.1f} | {max(found, default=0)} | {len(found)} of {seeds} | {shown} |", flush=True)
    if ours:
        print(f"| geometric mean | {geometric_mean(ours):.2f} | | | {geometric_mean(theirs):.2f} | | |")


if __name__ == "__main__":
    main()
