"""Rows of a report: what one call of the library does without interruption, such as the events of a `Barrier.wait`,
is one row.

A row is a tuple of event numbers; `step_of` describes it like one event.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

import attrs

from dpor.core.steps import Step

Row: TypeAlias = tuple[int, ...]


def rows_of(steps: Sequence[Step], numbers: Iterable[int]) -> list[Row]:
    """Group these events into rows."""

    def call(number: int) -> int:
        return -steps[number].call_number or number

    return [tuple(row) for _, row in groupby(numbers, call)]


def step_of(steps: Sequence[Step], row: Row) -> Step:
    """Return the row as one step: the call, with what it did to a container, or else the last value that it saw. If
    other threads' events come between its events, or it never returns, the operation says where it stops or goes on.

    >>> event = Step("a", "p.py", 1, "q.get()", "lock", "", call="get q", call_number=1)
    >>> get = [event, *(attrs.evolve(event, operation=done) for done in ("wait", "woken", "popleft"))]
    >>> run = [*get, attrs.evolve(event, operation="end", call="", call_number=0)]
    >>> [step_of(run, row).operation for row in ((0, 1, 2, 3), (0, 1), (2, 3), (2,))]
    ['get q', 'get q: wait', 'get q: woken', 'get q: woken']
    >>> step_of(get[:2], (0, 1)).operation
    'get q: wait'
    """
    inside = [steps[number] for number in row]
    first, last = inside[0], inside[-1]
    if not first.call:
        return first
    shown = next((step for step in inside if step.after), None) or next((s for s in reversed(inside) if s.value), first)
    after = next((step for step in steps[row[-1] + 1 :] if step.thread == first.thread), None)
    goes_on = any(step.call_number == first.call_number for step in steps[: row[0]])
    returned = after is not None and after.call_number != first.call_number
    stops_at = last if not returned else first if goes_on else None
    return attrs.evolve(
        first,
        operation=first.call if stops_at is None else f"{first.call}: {stops_at.operation}",
        value=shown.value,
        after=shown.after,
        racing=any(step.racing for step in inside),
        locks=_changed_locks([pair for step in inside for pair in step.locks]),
    )


def _changed_locks(changes: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the last change of each lock, without locks that were taken and released."""
    names = [name for name, _ in changes]
    return tuple((name, state) for name, state in dict(changes).items() if names.count(name) == 1 or state != "free")
