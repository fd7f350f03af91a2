"""Words that several reports for people share."""

from __future__ import annotations

from collections.abc import Sequence

from dpor.core.schedule import relative
from dpor.core.steps import Step
from dpor.report.folded import Row

LONGEST_LINE = 300
"""Characters of a message or of a printed line (unless verbose)."""


def short(text: str, longest: int = LONGEST_LINE) -> str:
    """Return the text, cut if it is too long.

    >>> short("abcdefgh", 6)
    'abc...'
    """
    return text if len(text) <= longest else text[: longest - 3] + "..."


def place_text(file: str | None, line: int | None) -> str:
    """Return file and line, relative if the file lies under the working folder."""
    if file is None:
        return ""
    return relative(file) if line is None else f"{relative(file)}:{line}"


def done(step: Step) -> str:
    """Return what the event did, with the values."""
    return f"{step.operation}: {step.values}" if step.values else step.operation


def is_shown(step: Step) -> bool:
    """True if the step is worth showing: events without a place in program or library (the end of a thread) are only if
    they race."""
    return bool(step.source) or step.file is not None or step.racing or bool(step.call)


def races_with(row: Row, steps: Sequence[Step]) -> str:
    """Say with which event the racing one in the row races; "" if none does."""
    step = next((steps[number] for number in row if steps[number].racing), None)
    if step is None:
        return ""
    for other in steps:
        if other.racing and other is not step:
            place = f"line {other.line}" if other.file == step.file else place_text(other.file, other.line)
            return f"<- races with {other.thread}" + (f", {place}" if other.file else "")
    return "<- races with a thread that waits"
