"""The map of what a search has explored (`dpor.report.class_map`): its runs, each described."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpor.core.errors import GivenUp
from dpor.core.system import Trace
from dpor.findings.explain import Checkable
from dpor.report.class_map import MOST_CLASSES, MOST_EVENTS, ClassMap, ExploredClass


def is_to_be_mapped(explored: Sequence[tuple[Trace, str]]) -> bool:
    """True if there is room for another run in the map."""
    return len(explored) < MOST_CLASSES and sum(len(one) for one, _ in explored) < MOST_EVENTS


def map_of(
    system: Checkable, explored: Sequence[tuple[Trace, str]], executions: int, is_over: Callable[[], bool]
) -> ClassMap:
    """Return the map of these runs, with their outcomes in words. Repeats them, until the time is over."""
    classes: list[ExploredClass] = []
    for trace, outcome in explored:
        if is_over():
            break
        try:
            steps = system.describe(trace).steps
        except GivenUp:
            break
        classes.append(ExploredClass(steps, outcome))
    return ClassMap(tuple(classes), executions - len(classes))
