"""The classes of interleavings that a search covered, as a tree: what several have in common is shown once.

The map is bounded, because it is meant to be looked at; the first few dozen classes show how the rest looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import attrs

from dpor.core.steps import Step

MOST_CLASSES = 64
MOST_EVENTS = 10_000


@attrs.frozen
class ExploredClass:
    """One complete run, representing all that are equivalent to it."""

    steps: tuple[Step, ...]
    outcome: str


@attrs.frozen
class ClassMap:
    """The classes that were explored.

    classes    in the order in which they were explored
    left_out   how many more there were
    """

    classes: tuple[ExploredClass, ...]
    left_out: int = 0


EventText: TypeAlias = tuple[str, str]
"""An event in words: its thread, and line and operation."""


class MapRow(NamedTuple):
    """A sequence of events without a branching, `depth` branchings from the start: one text for each stretch of one
    thread. `outcome` if a class ends there, else ""."""

    depth: int
    texts: list[str]
    outcome: str


def rows(explored: ClassMap) -> list[MapRow]:
    """Return the tree, in preorder.

    >>> def run(*threads):
    ...     return ExploredClass(tuple(Step(name, None, 7, "", "go", "") for name in threads), "ok")
    >>> for depth, texts, outcome in rows(ClassMap((run("A", "A", "B"), run("B", "A", "A")))):
    ...     print("  " * depth + "; ".join(texts), outcome)
    <BLANKLINE>
      A: 7 go (2 times); B: 7 go ok
      B: 7 go; A: 7 go (2 times) ok
    """
    return list(_rows([([_event_text(step) for step in one.steps], one.outcome) for one in explored.classes], 0))


def _rows(runs: Sequence[tuple[list[EventText], str]], depth: int) -> Iterator[MapRow]:
    """Like `rows`. Iterative, because a tree can be as deep as it has classes."""
    left = [(depth, runs)] if runs else []
    while left:
        depth, runs = left.pop()
        common = _common([texts for texts, _ in runs])
        texts = runs[0][0][:common]
        branches: dict[EventText, list[tuple[list[EventText], str]]] = {}
        ended = ""
        for run, outcome in runs:
            if len(run) == common:
                ended = outcome or "end"
            else:
                branches.setdefault(run[common], []).append((run[common:], outcome))
        stretches = groupby(texts, key=itemgetter(0))
        yield MapRow(depth, [f"{thread}: {_stretch(events)}" for thread, events in stretches], ended)
        left += [(depth + 1, branch) for branch in reversed(branches.values())]


def _stretch(events: Iterable[EventText]) -> str:
    counted = [(what, len(list(same))) for (_, what), same in groupby(events)]
    return ", ".join(what if times == 1 else f"{what} ({times} times)" for what, times in counted)


def _common(runs: Sequence[Sequence[EventText]]) -> int:
    length = 0
    for texts in zip(*runs, strict=False):
        if any(text != texts[0] for text in texts):
            return length
        length += 1
    return length


def coverage_line(explored: ClassMap) -> str:
    """Say how much of what was explored the map shows.

    >>> coverage_line(ClassMap((), left_out=1200))
    'The first 0 of 1,200 classes; the others were explored, too, but are left out here'
    """
    shown = len(explored.classes)
    if explored.left_out:
        everything = f"{shown + explored.left_out:,}"
        return f"The first {shown} of {everything} classes; the others were explored, too, but are left out here"
    return f"{shown} class{'' if shown == 1 else 'es'}, all there are"


def _event_text(step: Step) -> EventText:
    line = "" if step.line is None else f"{step.line} "
    return step.thread, f"{line}{step.operation or step.source}"
