"""The same targets under several strategies, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from dpor.checking import Session
from dpor.options import Options
from dpor.report.model import Report
from dpor.report.progress import Monitor

WORKLOADS = (
    "workloads.racy_counter:main",
    "workloads.locked_counter:main",
    "workloads.philosophers:main",
    "workloads.bounded_buffer:main",
    "workloads.readers:main",
)
"""What `dpor compare` runs unless told otherwise."""


def compare(
    targets: Iterable[str], strategies: Sequence[str], options: Options, monitor: Monitor | None = None
) -> Iterator[Report]:
    """A report for each target and strategy, in that order. Raises `UserError` where a target cannot be loaded."""
    for target in targets:
        for strategy in strategies:
            yield Session(target, attrs.evolve(options, strategy=strategy, all=True), monitor).run()


def agree(reports: Iterable[Report]) -> bool:
    """Do the searches that covered everything tell the same verdict, number of outcomes and number of deadlocks?"""
    results = {(r.verdict, r.outcomes, r.deadlocks) for r in reports if r.exhaustive}
    return len(results) <= 1
