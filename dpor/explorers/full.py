"""Explicit-state search without reduction: it visits every reachable state once and tries every event of each. It is
the judge of the other searches that store states."""

from __future__ import annotations

from dpor.explorers.states import StatefulSearch


class Full(StatefulSearch):
    """Depth-first search over all states."""

    def first(self, enabled: int) -> int:
        return enabled
