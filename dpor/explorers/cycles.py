"""Pure functions on the cycles of a graph: which nodes break all of them, and which components have any."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TypeAlias

from dpor.explorers.search import take_your_time

Node: TypeAlias = int
Successors: TypeAlias = Mapping[Node, Sequence[Node]]
"""The successors of each node. Nodes without successors are keys, too."""


def breaking(successors: Successors, pace: Callable[[], None] = take_your_time) -> Iterator[Node]:
    """Yield nodes such that every cycle goes through one of them. They are few, but not always as few as possible.

    Nodes from which no cycle can be reached are taken away until none is left (Kahn's algorithm, from the end). Then a
    node on a cycle is yielded and taken away, and so on. It is the first that is met twice on a path among the nodes
    left, each of which has a successor among them; the path before it is that of the next one, too.

    pace   see `dpor.explorers.strategy.Explorer`

    >>> list(breaking({0: [1], 1: [2], 2: [1, 3], 3: []}))
    [1]
    """
    predecessors: dict[Node, list[Node]] = {node: [] for node in successors}
    left: dict[Node, int] = {}  # of each node: how many of its successors may be on a cycle
    for node, targets in successors.items():
        for target in targets:
            predecessors[target].append(node)
        left[node] = len(targets)
    ends = [node for node, count in left.items() if count == 0]
    starts = iter(successors)
    path: list[Node] = []
    on_path: set[Node] = set()
    first = dict.fromkeys(successors, 0)  # of each node: the first of its successors that may be left
    while True:
        while ends:
            pace()
            node = ends.pop()
            del left[node]
            for source in predecessors[node]:
                if source in left:
                    left[source] -= 1
                    if left[source] == 0:
                        ends.append(source)
        if not left:
            return
        while path and path[-1] not in left:
            on_path.remove(path.pop())
        node = _next(path[-1], successors, first, left) if path else next(node for node in starts if node in left)
        while node not in on_path:
            pace()
            path.append(node)
            on_path.add(node)
            node = _next(node, successors, first, left)
        yield node
        while path[-1] != node:
            on_path.remove(path.pop())
        left[node] = 0
        ends.append(node)


def _next(node: Node, successors: Successors, first: dict[Node, int], left: Container[Node]) -> Node:
    """Return the first successor of the node among those left."""
    targets, number = successors[node], first[node]
    while targets[number] not in left:
        number += 1
    first[node] = number
    return targets[number]


def cyclic_components(successors: Successors, pace: Callable[[], None] = take_your_time) -> list[list[Node]]:
    """Return the strongly connected components that have a cycle. A component comes before those that lead to it.
    [Tarjan 1972]

    >>> cyclic_components({0: [1, 0], 1: [2], 2: [1, 3], 3: []})
    [[1, 2], [0]]
    """
    index: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    found: list[list[Node]] = []
    for root in successors:
        if root in index:
            continue
        pace()
        path = [(root, iter(successors[root]))]
        index[root] = lowest[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in index:
                    pace()
                    index[target] = lowest[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    path.append((target, iter(successors[target])))
                    break
                if target in on_stack:
                    lowest[node] = min(lowest[node], index[target])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] == index[node]:
                    component = _popped(stack, node)
                    on_stack.difference_update(component)
                    if len(component) > 1 or node in successors[node]:
                        found.append(sorted(component))
    return found


def _popped(stack: list[Node], last: Node) -> list[Node]:
    popped = [stack.pop()]
    while popped[-1] != last:
        popped.append(stack.pop())
    return popped
