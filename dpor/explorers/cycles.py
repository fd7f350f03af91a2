"""Pure functions on the cycles of a graph: which nodes break all of them, and which components have any."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TypeAlias

Node: TypeAlias = int
Successors: TypeAlias = Mapping[Node, Iterable[Node]]
"""The successors of each node. Nodes without successors are keys, too."""


def breaking(successors: Successors) -> Iterator[Node]:
    """Yield nodes such that every cycle goes through one of them. They are few, but not always as few as possible.

    Nodes from which no cycle can be reached are taken away until none is left (Kahn's algorithm, from the end). Then a
    node on a cycle is yielded and taken away, and so on.

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
    """Return a node on a cycle: the first that is met twice on a path among the nodes left, each of which has a
    successor among them."""
    node = next(node for node in successors if node in left)
    seen = set()
    while node not in seen:
        seen.add(node)
        node = next(target for target in successors[node] if target in left)
    return node


def cyclic_components(successors: Successors) -> list[list[Node]]:
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
