"""Which events of a long run a report shows; what the failure needs is always among them.

Both functions yield rows, and between them the number of events that are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from dpor.core.results import Failure
from dpor.report.folded import Row, rows_of
from dpor.report.words import is_shown

LONGEST_RUN = 60
"""Rows to show in columns."""
AROUND = 3
"""Rows to show before and after those that matter."""
LONGEST_BLOCK = 12
"""Consecutive rows of one thread to show in a table."""


def every_event(failure: Failure) -> Iterator[Row]:
    """Yield each event as a row."""
    return ((number,) for number in range(len(failure.trace)))


def of_run(failure: Failure) -> Iterator[Row | int]:
    """Yield the beginning, the end, and what is around the events that matter."""
    shown = _shown_rows(failure)
    if len(shown) <= LONGEST_RUN:
        return iter(shown)
    edge = LONGEST_RUN // 3
    matter = _matter(failure)
    kept = {*shown[:edge], *shown[-edge:]}
    for at, row in enumerate(shown):
        if not matter.isdisjoint(row):
            kept.update(shown[max(0, at - AROUND) : at + AROUND + 1])
    return _without(shown, kept)


def of_blocks(failure: Failure) -> Iterator[Row | int]:
    """Yield the beginning and the end of what each thread does before another goes on, and the events that matter."""
    shown = _shown_rows(failure)
    edge = LONGEST_BLOCK // 3
    matter = _matter(failure)
    kept = {row for row in shown if not matter.isdisjoint(row)}
    for _, rows in groupby(shown, lambda row: failure.trace[row[0]].thread):
        block = list(rows)
        kept.update(block if len(block) <= LONGEST_BLOCK else [*block[:edge], *block[-edge:]])
    return _without(shown, kept)


def _shown_rows(failure: Failure) -> list[Row]:
    return rows_of(failure.trace, [number for number, step in enumerate(failure.trace) if is_shown(step)])


def _matter(failure: Failure) -> set[int]:
    """Return the racing pair, and the events whose orders make the run fail."""
    orders = () if failure.explanation is None else failure.explanation.whenever
    racing = {number for number, step in enumerate(failure.trace) if step.racing}
    return racing | {number for order in orders for number in (order.earlier, order.later) if number is not None}


def _without(shown: Iterable[Row], kept: set[Row]) -> Iterator[Row | int]:
    """Yield the rows that are kept, and between them the number of events left out."""
    for is_kept, rows in groupby(shown, kept.__contains__):
        if is_kept:
            yield from rows
        else:
            yield sum(map(len, rows))
