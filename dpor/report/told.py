"""The outcomes of a check as a table of plain text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dpor.core.operations import THREAD_MASK
from dpor.core.plural import plural
from dpor.core.results import Report
from dpor.core.told import Outcome
from dpor.report.words import place_text, short

WIDEST = 60


def outcome_lines(report: Report, *, verbose: bool = False) -> Iterator[str]:
    """Yield a heading, and for each outcome a line with its schedule: which thread performs how many events, then which
    other one. Verbose: with each step."""
    outcomes = report.outcome_list
    yield f"{plural(len(outcomes), 'outcome')}{'' if report.exhaustive else ', and perhaps others'}"
    texts = [outcome.text.replace("\n", "; ") for outcome in outcomes]
    if not verbose:
        texts = [short(text, WIDEST) for text in texts]
    widest = max(map(len, texts), default=0)
    for number, (outcome, text) in enumerate(zip(outcomes, texts, strict=True), 1):
        noun = "switch" if outcome.switches == 1 else "switches"
        switches = f"{'' if outcome.least else 'at most '}{outcome.switches} {noun}"
        yield f"  {number:2}  {text:{widest}}  {switches}: {_blocks(outcome)}"
        for step in outcome.trace if verbose else ():
            place = place_text(step.file, step.line) if step.file else ""
            yield f"        {step.thread}  {place}  {step.source}  {step.operation}  {step.values}".rstrip()


def _blocks(outcome: Outcome) -> str:
    """Say how many events each thread performs before another one goes on."""
    blocks = [
        (thread, len(list(same))) for thread, same in groupby(action & THREAD_MASK for action in outcome.schedule)
    ]
    names = outcome.threads or [f"thread {thread}" for thread in range(1 + max((t for t, _ in blocks), default=0))]
    return ", ".join(f"{names[thread]} {events}" for thread, events in blocks)
