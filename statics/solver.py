"""Solves inclusion constraints: sets of abstract objects flow along edges until nothing changes; differences are
propagated.

Sets are bit masks over the numbers of objects. What depends on a set is a watcher, called with each object once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TypeAlias

from dpor.statics.objects import AbstractObject

Node: TypeAlias = int
Watcher: TypeAlias = Callable[[int], None]


class Solver:
    """Constraints and their solution. Nodes have any hashable value as name."""

    def __init__(self) -> None:
        self.objects: list[AbstractObject] = []
        self._numbers: dict[AbstractObject, int] = {}
        self._nodes: dict[Hashable, Node] = {}
        self.sets: list[int] = []
        self.given: list[int] = []
        """By set, the objects that do not come along edges."""
        self._new: list[int] = []
        self._edges: list[set[Node]] = []
        self._watchers: list[list[Watcher]] = []
        self._todo: list[Node] = []
        self.steps = 0
        """How often a set was propagated along an edge, or a watcher called."""
        self.given_up = ""
        """Why a result would be of no use; "" if it would be."""
        self.anything = 0
        self.subsumed = 0
        """Objects that need not be added to a set with the object of the mask `anything`, which stands for them."""

    def number(self, thing: AbstractObject) -> int:
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
        """Add these objects to the node's set."""
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
        """Make the target's set include that of the source."""
        if source != target and target not in self._edges[source]:
            self._edges[source].add(target)
            self._flow(target, self.sets[source])

    def flows(self) -> Iterator[tuple[Node, Node]]:
        """Yield all edges: source, target."""
        return ((source, target) for source, targets in enumerate(self._edges) for target in targets)

    def watch(self, node: Node, watcher: Watcher) -> None:
        """Call the watcher with each object of the node, now or later."""
        self._watchers[node].append(watcher)
        for number in members(self.sets[node] & ~self._new[node]):
            watcher(number)

    def solve(self, steps: int) -> bool:
        """Propagate until nothing changes; False if the analysis gave up, or needs more than `steps` steps in total."""
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
    """Yield the numbers of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
