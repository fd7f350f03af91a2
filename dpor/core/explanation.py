"""Why a run fails, as values: what ordered its events, and which orders the failure needs. `dpor.findings.explain`
computes them, and the reports print them.

Events are given as indices into `Failure.trace`.
"""

from __future__ import annotations

from typing import NamedTuple

import attrs


class Edge(NamedTuple):
    """The first event happens before the second, of another thread, with no event between them that orders them."""

    earlier: int
    later: int


class EventOrder(NamedTuple):
    """In the failing run, the first event came before the second, which is of another thread and depends on it.

    later    None: the second operation never ran, because its thread stayed blocked before it
    thread   the number of the later event's thread
    """

    earlier: int
    later: int | None
    thread: int


@attrs.frozen
class Reordering:
    """A race of the failing run, and whether the run still fails if only this order is reversed (as far as possible).

    fails   True if the same failure occurs then; None if no run with that order came to an end
    """

    order: EventOrder
    fails: bool | None


@attrs.frozen
class Explanation:
    """
    edges         what ordered the events of different threads, without what follows from the rest
    reorderings   the races of the run that were tried in the other order, latest first
    untried       how many more races it has, for which the budget was not enough
    whenever      the fewest orders (three at most) such that every schedule tried fails in which all of them hold.
                  Empty: none are known
    held          in how many of the schedules tried all of them hold
    schedules     schedules tried besides the failing one, those of the reorderings included
    failing       how many of these failed in the same way: as many as `held` if nothing else leads to the failure
    """

    edges: tuple[Edge, ...] = ()
    reorderings: tuple[Reordering, ...] = ()
    untried: int = 0
    whenever: tuple[EventOrder, ...] = ()
    held: int = 0
    schedules: int = 0
    failing: int = 0

    @property
    def avoided_by(self) -> tuple[EventOrder, ...]:
        """Orders such that the failure disappears if only one of them is reversed."""
        return tuple(tried.order for tried in self.reorderings if tried.fails is False)
