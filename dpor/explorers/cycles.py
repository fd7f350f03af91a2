"""Cycles of a graph: nodes that break all of them, and the components that have any. Pure functions."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TypeAlias

Node: TypeAlias = int
Successors: TypeAlias = Mapping[Node, Iterable[Node]]
"""Has a key for each node, those without successors too."""


def breaking(successors: Successors) -> Iterator[Node]:
    """Nodes such that every cycle goes through one of them; none if there is no cycle. (Few, not fewest.)

    Nodes from which no cycle can be reached are taken away until none is left (Kahn's algorithm, from the end), then
    one on a cycle, and so on.

    >>> list(breaking({0: [1], 1: [2], 2: [1, 3], 3: []}))
    [1]
    """
    predecessors: dict[Node, list[Node]] = {node: [] for node in successors}
    left: dict[Node, int] = {}  # of each node: how many of its successors may be on a cycle
    for node, targets in successors.items():
        count = 0
        for target in targets:
            predecessors[target].append(node)
            count += 1
        left[node] = count
    ends = [node for node, count in left.items() if count == 0]
    while True:
        while ends:
            node = ends.pop()
            del left[node]
            for source in predecessors[node]:
                if source in left:
                    left[source] -= 1
                    if left[source] == 0:
                        ends.append(source)
        if not left:
            return
        node = _on_a_cycle(successors, left)
        yield node
        left[node] = 0
        ends.append(node)


def _on_a_cycle(successors: Successors, left: Container[Node]) -> Node:
    """The first node met twice by going on and on among those left, each of which has a successor there."""
    node = next(node for node in successors if node in left)
    seen = set()
    while node not in seen:
        seen.add(node)
        node = next(target for target in successors[node] if target in left)
    return node


def cyclic_components(successors: Successors) -> list[list[Node]]:
    """The strongly connected components that have a cycle, those first that others lead to. [Tarjan 1972]

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
        path = [(root, iter(successors[root]))]
        index[root] = lowest[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in index:
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
