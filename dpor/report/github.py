"""Findings for GitHub Actions: annotations (workflow commands on standard output) and the job summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dpor.core.plural import plural
from dpor.core.steps import change
from dpor.report.places import Located, SourceLine, located, place_of, within

LONGEST_MESSAGE = 4_000
"""Characters; GitHub cuts longer messages."""
MOST_STEPS = 60
"""Steps of an interleaving in the summary; the last ones are shown."""


def commands(reports: Iterable[Mapping[str, Any]], root: str, troubles: Sequence[str] = ()) -> Iterator[str]:
    """Yield the workflow commands: an error for each finding, a warning for each target without a verdict.

    root       the folder that paths are relative to
    troubles   what kept targets from being checked, a line each
    """
    reports = list(reports)
    for found in located(reports):
        yield command("error", f"{found.message}\n{found.target}", f"dpor: {found.finding['kind']}", found.place, root)
    for report in reports:
        if report["verdict"] == "inconclusive":
            text = f"{report['target']}: {'; '.join(report['reasons'])}"
            yield command("warning", text, "dpor: inconclusive", place_of(report["target"]), root)
    for line in troubles:
        yield command("error", line, "dpor: not checked", None, root)


def command(level: str, message: str, title: str, place: SourceLine | None, root: str) -> str:
    """Format one annotation.

    >>> command("error", "100 %,\\nor so", "a: b", SourceLine("bank.py", 3), ".")
    '::error file=bank.py,line=3,title=a%3A b::100 %25,%0Aor so'
    """
    properties = {}
    if place is not None:
        properties["file"] = within(place.file, root)
        if place.line is not None:
            properties["line"] = str(place.line)
    properties["title"] = title
    text = message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 3] + "..."
    told = ",".join(
        f"{name}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    )
    return f"::{level} {told}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


# ---------------------------------------------------------------------- the summary of the job


def job_summary(reports: Iterable[Mapping[str, Any]], root: str, troubles: Sequence[str] = ()) -> str:
    """Return the job summary in Markdown: a table of all checks, then each finding with its interleaving."""
    reports = list(reports)
    lines = ["## dpor", "", "| target | strategy | verdict | executions | seconds |", "|---|---|---|---:|---:|"]
    for report in reports:
        what = f"{_cell(report['target'])} | {report['strategy']} | **{report['verdict']}**"
        lines.append(f"| {what} | {report['executions']:,} | {report['seconds']:.2f} |")
    for found in located(reports):
        lines += ["", f"### {_cell(found.target)}", "", *_fenced(_lines(found, root))]
    lines += [f"\n- {_cell(line)}" for line in troubles]
    return "\n".join(lines) + "\n"


def _lines(found: Located, root: str) -> Iterator[str]:
    yield from found.message.splitlines()
    if found.place is not None:
        yield f"at {within(found.place.file, root)}:{found.place.line or ''}".rstrip(":")
    steps = [step for step in found.finding["trace"] if step["file"] is not None]
    if steps:
        yield ""
    if len(steps) > MOST_STEPS:
        yield f"... {plural(len(steps) - MOST_STEPS, 'step')} before"
    shown = steps[-MOST_STEPS:]
    rows = [
        (
            step["thread"],
            f"{within(step['file'], root)}:{step['line']}",
            step["source"],
            step["operation"],
            change(step["value"], step["after"]),
        )
        for step in shown
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    for row, step in zip(rows, shown, strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield f"{'>' if step['racing'] else ' '} {'  '.join([*cells, row[4]])}".rstrip()


def _fenced(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines as a code block whose fence does not occur in them."""
    lines = [line for each in lines for line in each.splitlines() or [""]]
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    yield f"{fence}text"
    yield from lines
    yield fence


def _cell(text: str) -> str:
    """Escape text for a table cell."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", text).replace("\n", " ")
