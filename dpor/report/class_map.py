"""The classes of interleavings that a search covered, as a tree: what they have in common is told once.

Bounded: a map is to be looked at, and the first some dozens of classes show how the rest goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import attrs

from dpor.report.steps import Step
from dpor.report.words import plural

MOST_CLASSES = 64
MOST_EVENTS = 10_000


@attrs.frozen
class ExploredClass:
    """One complete run, for all that are equivalent to it."""

    steps: tuple[Step, ...]
    outcome: str


@attrs.frozen
class ClassMap:
    """
    classes    in the order in which they were explored
    left_out   how many more there were
    """

    classes: tuple[ExploredClass, ...]
    left_out: int = 0


class MapRow(NamedTuple):
    """A run of events without a branching, `depth` branchings from the start; `outcome` where a class ends, else ""."""

    depth: int
    texts: list[str]
    outcome: str


def rows(explored: ClassMap) -> list[MapRow]:
    """The tree, in preorder.

    >>> def run(*threads):
    ...     return ExploredClass(tuple(Step(name, None, None, "", "go", "") for name in threads), "ok")
    >>> for depth, texts, outcome in rows(ClassMap((run("A", "B"), run("B", "A")))):
    ...     print("  " * depth + ", ".join(texts), outcome)
    <BLANKLINE>
      A go, B go ok
      B go, A go ok
    """
    return list(_rows([([_told(step) for step in one.steps], one.outcome) for one in explored.classes], 0))


def _rows(runs: Sequence[tuple[list[str], str]], depth: int) -> Iterator[MapRow]:
    """Iterative: a tree can be as deep as it has classes."""
    left = [(depth, runs)] if runs else []
    while left:
        depth, runs = left.pop()
        common = _common([texts for texts, _ in runs])
        texts = runs[0][0][:common]
        branches: dict[str, list[tuple[list[str], str]]] = {}
        ended = ""
        for run, outcome in runs:
            if len(run) == common:
                ended = outcome or "end"
            else:
                branches.setdefault(run[common], []).append((run[common:], outcome))
        yield MapRow(depth, texts, ended)
        left += [(depth + 1, branch) for branch in reversed(branches.values())]


def _common(runs: Sequence[Sequence[str]]) -> int:
    length = 0
    for texts in zip(*runs, strict=False):
        if any(text != texts[0] for text in texts):
            return length
        length += 1
    return length


def summary(explored: ClassMap) -> str:
    """How much of what was explored the map shows."""
    shown = len(explored.classes)
    if explored.left_out:
        return f"The first {shown} of {plural(shown + explored.left_out, 'class')}"
    return f"{shown} class{'' if shown == 1 else 'es'}, all there are"


def _told(step: Step) -> str:
    line = "" if step.line is None else f" {step.line}"
    return f"{step.thread}{line} {step.operation or step.source}"
