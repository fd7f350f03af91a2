"""A comparison as one HTML file: tables, and bar charts on a logarithmic scale. It needs no network, and is light or
dark like the reader's system."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from dpor.core.version import VERSION
from dpor.report.comparison import MEASURES, Comparison, Measure, Row, findings, notes, ratio, value

CHARTED = ("states", "executions", "events", "seconds", "MB")
WIDTH = 260.0
"""The length of the longest bar, in units of the drawing."""


class Bar(NamedTuple):
    strategy: str
    verdict: str
    width: float
    text: str


class Tick(NamedTuple):
    x: float
    text: str


class Chart(NamedTuple):
    """A chart: `bars`, with `ticks` at the powers of ten, all measured from the left edge of the bars."""

    name: str
    bars: list[Bar]
    ticks: list[Tick]


def chart(rows: Sequence[Row], measure: Measure) -> Chart | None:
    """Return the bars of the strategies that have such a number; None if none has a positive one."""
    numbers = {row.strategy: measure.of(row.report) for row in rows if row.report is not None}
    positive = [number for number in numbers.values() if number]
    if not positive:
        return None
    low = floor(log10(min(positive)))
    if 10.0**low == min(positive):
        low -= 1  # so that the smallest bar is visible
    high = max(ceil(log10(max(positive))), low + 1)

    def x(number: float) -> float:
        return round(WIDTH * (log10(number) - low) / (high - low), 1)

    bars = [
        Bar(row.strategy, row.verdict, x(number) if number else 0.0, value(row, measure))
        for row in rows
        if (number := numbers.get(row.strategy)) is not None
    ]
    ticks = [Tick(x(10.0**power), f"{10.0**power:,g}") for power in range(low, high + 1)]
    return Chart(measure.name, bars, ticks)


def to_html(comparisons: Sequence[Comparison], max_seconds: float, interrupted: bool) -> str:
    """Return the HTML file. All text in it is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("dpor.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    charted = [measure for measure in MEASURES if measure.name in CHARTED]
    return templates.get_template("comparison.html").render(
        comparisons=comparisons,
        measures=MEASURES,
        value=value,
        ratio=ratio,
        findings=findings,
        notes=notes,
        charts=lambda rows: [drawn for measure in charted if (drawn := chart(rows, measure))],
        width=WIDTH,
        max_seconds=f"{max_seconds:g}",
        interrupted=interrupted,
        version=VERSION,
    )
