"""Explicit-state search without reduction: every reachable state once, every event of each. The second judge."""

from __future__ import annotations

from dpor.explorers.states import StatefulSearch


class Full(StatefulSearch):
    """Depth-first search over all states."""

    def first(self, enabled: int) -> int:
        return enabled
