"""A failure, or a whole check, as one HTML page. It needs no network, and is light or dark like the reader's system.

All text of the program goes through the template's escaping, or into a block of JSON that the script shows as text. The
page allows no script but its own, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import linecache
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import attrs

from dpor.core.plural import plural
from dpor.core.results import Failure, Report
from dpor.core.steps import Step
from dpor.core.version import VERSION
from dpor.report.class_map import ClassMap, coverage_line, rows
from dpor.report.columns import thread_of_each
from dpor.report.sentences import closing, tried
from dpor.report.text import headline, headlines, verdict_lines
from dpor.report.words import done, place_text

MOST_FAILURES = 10
"""Failures to show in full on the page of a check."""
MOST_EVENTS = 3000
"""Events of one failure to show; of longer runs, the last ones."""
AROUND = 8
"""Source lines to show before and after those of the events."""


def failure_page(failure: Failure, target: str) -> str:
    """Return the page of one failure."""
    return _page(target, [], [failure], [headline(failure)], None)


def report_page(report: Report, classes: ClassMap | None = None) -> str:
    """Return the page of a check: its failures, and what it explored if it covered everything."""
    lines = verdict_lines(report)
    left_out = len(report.findings) - MOST_FAILURES
    if left_out > 0:
        lines.append(f"{plural(left_out, 'more failure')}: see the terminal, or --json.")
    return _page(report.target, lines, report.findings[:MOST_FAILURES], headlines(report)[:MOST_FAILURES], classes)


def _page(
    target: str, lines: Sequence[str], failures: Sequence[Failure], heads: Sequence[str], classes: ClassMap | None
) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    templates = Environment(
        loader=PackageLoader("dpor.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pairs = zip(failures, heads, strict=True)
    sections = [_section(failure, head, number) for number, (failure, head) in enumerate(pairs, 1)]
    return templates.get_template("explanation.html").render(
        hue=lambda column: (210 + 137 * column) % 360,
        target=target,
        lines=lines,
        sections=sections,
        map_rows=[] if classes is None else rows(classes),
        map_summary="" if classes is None else coverage_line(classes),
        script=Markup(_script()),
        script_hash=base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode(),
        version=VERSION,
    )


@cache
def _script() -> str:
    return (files("dpor.report") / "templates" / "explanation.js").read_text(encoding="utf-8")


class ListingLine(NamedTuple):
    number: int
    text: str
    run: bool
    """True if an event of the run is at this line."""


class Listing(NamedTuple):
    """The lines of a source file that the page shows, with None in `lines` where some are left out."""

    place: str
    lines: list[ListingLine | None]


@attrs.frozen
class EventRow:
    """An event for the template. `link`: the anchor of its source line on the page, or ""."""

    number: int
    column: int
    step: Step
    done: str
    link: str


@attrs.frozen
class Section:
    number: int
    head: str
    message: list[str]
    closing: list[str]
    tried: list[str]
    threads: list[str]
    events: list[EventRow]
    skipped: int
    listings: list[Listing]
    details: tuple[str, ...]
    output: str
    data: Any


def _section(failure: Failure, head: str, number: int) -> Section:
    from markupsafe import Markup

    owners = thread_of_each(failure)
    threads = sorted(set(owners))
    names = [failure.threads[thread] if thread < len(failure.threads) else f"thread {thread}" for thread in threads]
    skipped = max(0, len(failure.trace) - MOST_EVENTS)
    shown = failure.trace[skipped:]
    places = list(dict.fromkeys(step.file for step in shown if step.file is not None))
    events = [
        EventRow(
            number=at,
            column=threads.index(owner),
            step=step,
            done=done(step),
            link="" if step.file is None or step.line is None else f"L{number}-{places.index(step.file)}-{step.line}",
        )
        for at, (step, owner) in enumerate(zip(shown, owners[skipped:], strict=True), skipped)
    ]
    edges = () if failure.explanation is None else failure.explanation.edges
    data = {
        "threads": names,
        "first": skipped,
        "edges": [list(edge) for edge in edges if edge.earlier >= skipped],
        "events": [
            {
                "thread": event.column,
                "operation": event.step.operation,
                "done": event.done,
                "value": event.step.after or event.step.value,
                "locks": event.step.locks,
                "variables": event.step.variables,
            }
            for event in events
        ],
    }
    return Section(
        number=number,
        head=head,
        message=failure.message.splitlines() if "\n" in failure.message or failure.kind.value == "deadlock" else [],
        closing=closing(failure),
        tried=tried(failure, verbose=True),
        threads=names,
        events=events,
        skipped=skipped,
        listings=[Listing(place_text(place, None), list(_listing(place, shown))) for place in places],
        details=failure.details,
        output=failure.output,
        data=Markup(in_script(data)),
    )


def in_script(data: object) -> str:
    r"""Format the data as JSON that can stand in a script element: nothing in it ends the element or begins a comment.

    >>> in_script({"a": "</script><!--"})
    '{"a":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(data, separators=(",", ":"))  # non-ASCII characters are escaped
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _listing(file: str, steps: Sequence[Step]) -> Iterator[ListingLine | None]:
    lines = linecache.getlines(file)
    run = {step.line for step in steps if step.file == file and step.line is not None}
    last = 0
    for number in sorted({near for line in run for near in range(line - AROUND, line + AROUND + 1)}):
        if 1 <= number <= len(lines):
            if number != last + 1:
                yield None
            yield ListingLine(number, lines[number - 1].rstrip("\r\n"), number in run)
            last = number
