"""Sets of abstract objects that flow along edges, until nothing changes: inclusion constraints, differences propagated.

Sets are bit masks over the numbers of objects. What depends on a set is a watcher: it is told each object once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TypeAlias

from dpor.statics.objects import Object

Node: TypeAlias = int
Watcher: TypeAlias = Callable[[int], None]


class Solver:
    """Nodes are named by any hashable value."""

    def __init__(self) -> None:
        self.objects: list[Object] = []
        self._numbers: dict[Object, int] = {}
        self._nodes: dict[Hashable, Node] = {}
        self.sets: list[int] = []
        self.given: list[int] = []
        """Of each set, what does not come along edges."""
        self._new: list[int] = []
        self._edges: list[set[Node]] = []
        self._watchers: list[list[Watcher]] = []
        self._todo: list[Node] = []
        self.steps = 0
        """How often a set has been told along an edge, or a watcher an object."""
        self.given_up = ""
        """Why nothing would be known if it went on; "" if something would."""
        self.anything = 0
        self.subsumed = 0
        """Objects that need not be added where the object of the mask `anything` is: it stands for them."""

    def number(self, thing: Object) -> int:
        """The number of the object."""
        number = self._numbers.get(thing)
        if number is None:
            number = self._numbers[thing] = len(self.objects)
            self.objects.append(thing)
        return number

    def node(self, name: Hashable) -> Node:
        """The node of that name."""
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = len(self.sets)
            self.sets.append(0)
            self.given.append(0)
            self._new.append(0)
            self._edges.append(set())
            self._watchers.append([])
        return node

    def find(self, name: Hashable) -> int:
        """The set of the node of that name; empty if there is none."""
        node = self._nodes.get(name)
        return 0 if node is None else self.sets[node]

    def add(self, node: Node, mask: int) -> None:
        """The node's set has these objects."""
        self.given[node] |= mask
        self._flow(node, mask)

    def _flow(self, node: Node, mask: int) -> None:
        fresh = mask & ~self.sets[node]
        if self.sets[node] & self.anything:
            fresh &= ~self.subsumed
        if fresh:
            self.sets[node] |= fresh
            if not self._new[node]:
                self._todo.append(node)
            self._new[node] |= fresh

    def edge(self, source: Node, target: Node) -> None:
        """All that the source has, the target has."""
        if source != target and target not in self._edges[source]:
            self._edges[source].add(target)
            self._flow(target, self.sets[source])

    def flows(self) -> Iterator[tuple[Node, Node]]:
        """All edges: source, target."""
        return ((source, target) for source, targets in enumerate(self._edges) for target in targets)

    def watch(self, node: Node, watcher: Watcher) -> None:
        """Tell the watcher each object of the node, now or later."""
        self._watchers[node].append(watcher)
        for number in members(self.sets[node] & ~self._new[node]):
            watcher(number)

    def solve(self, steps: int) -> bool:
        """Until nothing changes; False if that would be of no use, or take more steps than these, counted from the
        beginning."""
        while self._todo:
            if self.given_up or self.steps > steps:
                return False
            node = self._todo.pop()
            fresh, self._new[node] = self._new[node], 0
            self.steps += len(self._edges[node]) + len(self._watchers[node]) * fresh.bit_count()
            for target in self._edges[node]:
                self._flow(target, fresh)
            for watcher in tuple(self._watchers[node]):
                for number in members(fresh):
                    watcher(number)
        return True


def members(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
