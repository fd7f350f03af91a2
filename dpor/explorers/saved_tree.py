"""The tree of a search as JSON, without its finished parts, and back.

    operations  [kind, [[location, mode], ...], value, alternatives, barrier, unsettled]: what is planned, asleep or has
                been performed, each with the modes that it has where it stands
    nodes       the nodes, each after its parent and after the earlier branches beside it, the root first:
                [parent, action, operation] if no run has gone that way, otherwise
                [parent, action, operation, enabled, free, branched, [[action, operation], ...]], with what is asleep
                there last (see `dpor.explorers.tree.Node`)

Parents and operations are indices in these lists, and locations are numbers: who reads them must number the same
locations equally (`OperationTable.reserve`).

An operation that is read back is an `Outline`. That is enough of all that a run has not performed. What a way consists
of has to be performed once more before races can be looked for (`dpor.explorers.search.Search.go_to`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from dpor.core.operations import Accesses, Mode, Operation, OperationTable
from dpor.core.system import STOP
from dpor.explorers.tree import NO_SLEEP, Node, nodes_of


class Outline(Operation):
    """An operation without its rule: all that decides on what it depends."""

    __slots__ = ()

    def __init__(
        self, kind: str, accesses: Accesses, value: int, alternatives: int, barrier: bool, unsettled: bool
    ) -> None:
        table: OperationTable = None  # type: ignore[assignment]
        super().__init__(table, kind, accesses, None, -1, value, alternatives, barrier, -1)
        self.unsettled = unsettled

    def is_of(self, operation: Operation) -> bool:
        """True if the operation could be the one that was outlined."""
        return _described(self)[:-1] == _described(operation)[:-1]


_Described: TypeAlias = tuple[str, Accesses, int, int, bool, bool]


def _described(operation: Operation) -> _Described:
    kind, accesses, _, _, value, alternatives, barrier, _ = operation.described
    return kind, accesses, value, alternatives, barrier, operation.unsettled


def nodes_for(part: Node) -> Iterator[Node]:
    """Yield the nodes that are needed to search what is below one node: its way, with the earlier branches beside each
    node of it, and all below."""
    for node in [*part.way()][::-1]:
        if node.parent is not None:
            yield from node.parent.branches[: node.parent.branches.index(node)]
        if node is not part:
            yield node
    yield from nodes_of(part)


class Operations:
    """Numbers operations, and tells what they are as JSON."""

    def __init__(self) -> None:
        self._described: dict[_Described, int] = {}
        self._numbers: dict[tuple[Operation, bool], int] = {}

    def number_of(self, operation: Operation) -> int:
        known = operation, operation.unsettled  # it may become unsettled meanwhile
        number = self._numbers.get(known)
        if number is None:
            number = self._described.setdefault(_described(operation), len(self._described))
            self._numbers[known] = number
        return number

    def to_json(self) -> list[Any]:
        return [
            [kind, [[location, int(mode)] for location, mode in accesses], *rest]
            for kind, accesses, *rest in self._described
        ]


def operations_of(content: Any) -> list[Outline]:
    """Return the operations of a tree in JSON."""
    return [
        Outline(kind, tuple((int(location), Mode(mode)) for location, mode in accesses), value, many, *map(bool, rest))
        for kind, accesses, value, many, *rest in content["operations"]
    ]


def to_json(root: Node, part: Node | None = None, operations: Operations | None = None) -> dict[str, Any]:
    """Return the tree as values of JSON; if a part is given, what is needed to search that. The earlier branches beside
    its way are then written as if not yet explored."""
    operations = operations or Operations()
    way = set() if part is None else {*part.way()}
    indices: dict[Node, int] = {}
    nodes: list[list[Any]] = []
    for node in nodes_of(root) if part is None else nodes_for(part):
        indices[node] = len(nodes)
        parent = -1 if node.parent is None else indices[node.parent]
        saved: list[Any] = [parent, node.action, operations.number_of(node.operation)]
        if node.taken and (part is None or node.depth > part.depth or node in way):
            asleep = [[action, operations.number_of(operation)] for action, operation in node.sleep.items()]
            saved += [node.enabled, node.free, node.branched, asleep]
        nodes.append(saved)
    content: dict[str, Any] = {"operations": operations.to_json(), "nodes": nodes}
    if part is not None:
        content["part"] = indices[part]
    return content


def from_json(content: Any) -> Node:
    """Return the root of the tree. Raises `ValueError`, `TypeError` or `LookupError` if the content is no tree."""
    return nodes_from_json(content, operations_of(content))[0]


def nodes_from_json(content: Any, operations: Sequence[Operation]) -> list[Node]:
    """Return all nodes. Raises `ValueError`, `TypeError` or `LookupError` if the content is no tree."""
    nodes: list[Node] = []
    for number, (parent, action, operation, *rest) in enumerate(content["nodes"]):
        if type(action) is not int or not (-1 <= parent < number) or (parent == -1) != (number == 0):
            raise ValueError(f"node {number} is not in its place")
        node = Node(action, operations[operation], nodes[parent] if number else None)
        if number:
            nodes[parent].branches.append(node)
        if rest:
            enabled, free, branched, asleep = rest
            node.taken, node.enabled, node.free, node.branched = True, int(enabled), bool(free), bool(branched)
            node.sleep = {action: operations[slept] for action, slept in asleep} or NO_SLEEP
        nodes.append(node)
    for node in nodes:
        if not node.taken:
            node.free = not node.branches
            if any(branch.taken for branch in node.branches):
                raise ValueError("a node has been taken whose parent has not")
    if not nodes or nodes[0].action != STOP or not nodes[0].taken:
        raise ValueError("it has no root")
    return nodes
