"""Demand-driven points-to: the set of a variable is found when first asked for, backwards along the flow [PL, section
5.5.3].

With contexts, only along paths on which every return goes to the call that was entered; a path that begins inside a
call may leave it to any caller. The context is lost in the heap. A question that takes too many steps gets the
exhaustive answer.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final, TypeAlias

from dpor.statics.call_graph import NATIVE, Site
from dpor.statics.constraints import PointsTo
from dpor.statics.solver import Node

Calls: TypeAlias = tuple[Site, ...]
"""The calls on the path, the innermost last."""
STEPS: Final = 5_000
DEPTH: Final = 8
"""How many calls are remembered; calls further out may be returned from to any caller."""


class Demand:
    """Answers questions about variables, and caches the answers."""

    def __init__(self, points_to: PointsTo, contexts: bool, steps: int = STEPS) -> None:
        self._points_to = points_to
        self._contexts = contexts
        self._steps = steps
        self._known: dict[Node, int] = {}
        self._sources: dict[Node, list[Node]] = defaultdict(list)
        for source, target in points_to.flows():
            self._sources[target].append(source)
        self._owner = points_to.owners()

    def ask(self, instance: int, variable: str) -> int:
        """The objects, as a mask, that the variable of the function instance may point to."""
        node = self._points_to.local(instance, variable)
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = self._follow(node)
        return known

    def _follow(self, node: Node) -> int:
        found = 0
        seen: set[tuple[Node, Calls]] = {(node, ())}
        todo = list(seen)
        while todo:
            if len(seen) > self._steps:
                return self._points_to.sets[node]
            at, calls = todo.pop()
            found |= self._points_to.given[at]
            for source in self._sources[at]:
                for way in self._ways(source, at, calls):
                    if way not in seen:
                        seen.add(way)
                        todo.append(way)
        return found

    def _ways(self, source: Node, at: Node, calls: Calls) -> list[tuple[Node, Calls]]:
        """The nodes before the flow from `source`, each with the calls on the path."""
        if not self._contexts:
            return [(source, ())]
        passed, returned = self._points_to.passed.get((source, at)), self._points_to.returned.get((source, at))
        if returned is not None:
            return [(source, (*calls, site)[-DEPTH:] if site[0] != NATIVE else ()) for site in returned]
        if passed is not None:
            if NATIVE in {site[0] for site in passed} or not calls:
                return [(source, ())]
            return [(source, calls[:-1])] if calls[-1] in passed else []
        same = self._owner.get(source) is not None and self._owner.get(source) == self._owner.get(at)
        return [(source, calls if same else ())]
