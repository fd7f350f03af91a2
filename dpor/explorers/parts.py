"""One search by several processes: one has the tree and gives away parts of it, others search these.

A *part* is a node with all below it, and what is needed to search there: its way, and the earlier branches beside each
node of that, which sleep below later ones. The worker inserts reversals that belong to its part, and keeps those that
*leave* it, which belong to nodes of the way. When it is given back, the tree takes what is left of it, then what
came for it in the meantime (`Node.waiting`), then what leaves it. So it does not matter who searches what, or in which
order it is given back: see `dpor.explorers.tree`. If a part is not given back, the tree has it as it was.

Parts never overlap. Those nearest to the start, which are the largest, are given away first, unless the order of the
search is another one, or the tree has become too large: then those that come first in it are, to be finished.
"""

from __future__ import annotations

import heapq
from functools import partial
from random import Random
from typing import Any, Final

from dpor.core.options import Order
from dpor.core.system import Run, StateKey, System
from dpor.explorers import invariants, saved_tree
from dpor.explorers.jobs import KNOWN_JOBS, is_too_large
from dpor.explorers.optimal import Optimal
from dpor.explorers.preemptions import preemptions
from dpor.explorers.search import Search, Stats
from dpor.explorers.tree import Node, first_left, nodes_of
from dpor.explorers.wakeup_tree import Sequence, insert, insert_below, is_weak_initial

LARGE: Final = 400
"""Nodes of a part from which on it is divided: a worker gets all of them, and gives them back."""
LOOK_EVERY: Final = 100
"""How many parts are given away between two looks at the size of the tree."""


class SearchOfPart(Optimal):
    """A search of one part.

    part   its node
    """

    def __init__(self, system: System, order: Order, seed: int, content: Any) -> None:
        super().__init__(system, order, seed)
        nodes = saved_tree.nodes_from_json(content, saved_tree.operations_of(content))
        self._new_jobs = partial(KNOWN_JOBS[Order(content.get("order", order))], seed)
        self.part = nodes[content["part"]]
        self._operations = saved_tree.Operations()
        self._leaving: dict[tuple[int, tuple[tuple[int, int], ...]], None] = {}
        self.go_on_at(nodes[0], self.part)

    def send(self, node: Node, present: Node, sequence: Sequence) -> None:
        if node.depth >= self.part.depth:
            super().send(node, present, sequence)
            return
        known = [*node.sleep.items(), *((branch.action, branch.operation) for branch in node.branches[:-1])]
        if not any(is_weak_initial(action, operation, sequence) for action, operation in known):
            number_of = self._operations.number_of
            steps = tuple([(action, number_of(operation)) for action, operation in sequence])
            self._leaving[node.depth, steps] = None

    def check(self, start: int, run: Run) -> None:
        Search.check(self, start, run)
        invariants.check_not_blocked(run)
        invariants.check_wakeup_trees(self.nodes[self.part.depth :])

    def _go_back(self) -> bool:
        if len(self.nodes) > self.part.depth:
            first_left(self.nodes[-1], self.part)
        self._next = self.jobs.next(None, self.stats.events)
        return self._next is not None

    def rest(self) -> dict[str, Any]:
        """Return, as JSON, what is left of the part and what leaves it."""
        content = saved_tree.to_json(self.nodes[0], self.part, self._operations)
        return {**content, "leaving": [[depth, sequence] for depth, sequence in self._leaving]}


class SharedTree:
    """A tree of which parts are given away.

    stats   the counts of the search; those of a part have to be added when it is given back
    few     if there are no more parts than so many, what is left of one is divided
    order, seed   which part is next: see `dpor.explorers.jobs`
    """

    keys: tuple[StateKey, ...] = ()
    """Keys that all workers need; a stateless search has none."""

    def __init__(self, root: Node, stats: Stats, few: int, order: Order = Order.DEPTH, seed: int = 0) -> None:
        self.root = root
        self._stats = stats
        self._few = few
        self._parts: set[Node] = set()
        self._next: list[
            tuple[float, int, int, Node]
        ] = []  # a heap: those that nobody has, and some that have been given away or divided since
        self._order, self._random = order, Random(seed)
        self._added = 0
        self._given: dict[int, Node] = {}
        self._number = 0
        self._is_too_large = False
        self._is_checked = invariants.are_wanted()
        first_left(root)
        self._divide(root)

    def give(self) -> tuple[int, dict[str, Any]] | None:
        """Give a part away. Returns a number for it and its content; None if there is none now."""
        part = self._first() if self._is_too_large else self._best()
        if part is None:
            return None
        self._number += 1
        self._given[self._number] = part
        content = saved_tree.to_json(self.root, part)
        if self._is_too_large:
            content["order"] = Order.DEPTH
        part.waiting = []
        return self._number, content

    def take(self, number: int, content: Any) -> None:
        """Take back a part, with what is left of it (`SearchOfPart.rest`)."""
        part = self._given.pop(number)
        self._parts.remove(part)
        operations = saved_tree.operations_of(content)
        left = saved_tree.nodes_from_json(content, operations)[content["part"]]
        part.operation, part.taken, part.free, part.branched = left.operation, left.taken, left.free, left.branched
        part.enabled, part.sleep, part.branches = left.enabled, left.sleep, left.branches
        for branch in part.branches:
            branch.parent = part
        waiting, part.waiting = part.waiting, None
        for sequence in waiting or ():
            insert_below(part, sequence)
        way = [*part.way()][::-1]
        for depth, steps in content["leaving"]:
            self._send(way[depth], way[depth + 1], [(action, operations[number]) for action, number in steps])
        first_left(self.root)
        if not self._number % LOOK_EVERY:
            self._look()
        if len(self._parts) - len(self._given) > self._few:
            self._add_all(part)
        else:
            self._divide(part)
        if self._is_checked:
            invariants.check_given_back(part)
            invariants.check_parts(self.root, self._parts, self._given.values())

    def settle(self) -> None:
        """Let the tree be complete though parts are given away: as if they had not been, with what waits for them."""
        for part in self._given.values():
            waiting, part.waiting = part.waiting, None
            for sequence in waiting or ():
                insert_below(part, sequence)
            part.waiting = waiting

    def end(self) -> None:
        """Nothing that has been given away will be given back."""
        self.settle()
        for part in self._given.values():
            part.waiting = None
        self._given.clear()

    def _send(self, node: Node, present: Node, sequence: Sequence) -> None:
        if any(is_weak_initial(action, operation, sequence) for action, operation in node.sleep.items()):
            return
        branch = insert(node, present, sequence)
        if branch is None:
            return
        if not node.branched:
            node.branched = True
            self._stats.choices += 1
        if not any(node in self._parts for node in branch.way()):
            self._add(branch)

    def _best(self) -> Node | None:
        while self._next:
            part = heapq.heappop(self._next)[-1]
            if self._is_free(part):
                return part
        return None

    def _first(self) -> Node | None:
        """Return the part that nobody has and that comes first in the order of the tree."""
        left = [self.root]
        while left:
            node = left.pop()
            if node not in self._parts:
                left.extend(reversed(node.branches))
            elif self._is_free(node):
                return node
        return None

    def _is_free(self, part: Node) -> bool:
        return part in self._parts and part.waiting is None

    def _look(self) -> None:
        """See whether the tree is too large."""
        self._is_too_large = is_too_large(self.root, self._is_too_large)
        self._next = [entry for entry in self._next if self._is_free(entry[-1])]
        heapq.heapify(self._next)

    def _divide(self, part: Node) -> None:
        """Make parts of the first branches below a node."""
        while part.taken and len(part.branches) == 1:
            part = part.branches[0]
        for branch in part.branches if part.taken else [part]:
            self._add_all(branch)

    def _add_all(self, node: Node) -> None:
        """Make parts of a node with all below it: one, or several that are not large."""
        sizes, jobs = _counted(node)
        left = [node]
        while left:
            part = left.pop()
            if jobs[part] and (sizes[part] <= LARGE or not part.taken):
                self._add(part)
            elif jobs[part]:
                left.extend(reversed(part.branches))

    def _add(self, part: Node) -> None:
        self._parts.add(part)
        self._added += 1
        heapq.heappush(self._next, (self._rank(part), part.depth, self._added, part))

    def _rank(self, part: Node) -> float:
        match self._order:
            case Order.PREEMPTIONS:
                return preemptions(part)
            case Order.RANDOM:
                return self._random.random()
        return 0


def _counted(top: Node) -> tuple[dict[Node, int], dict[Node, int]]:
    """Return for a node and all below it how many nodes there are from each on, and how many jobs or plans."""
    nodes = [*nodes_of(top)]
    sizes, jobs = dict.fromkeys(nodes, 1), {node: int(not node.taken) for node in nodes}
    for node in reversed(nodes):
        if node is not top:
            assert node.parent is not None
            sizes[node.parent] += sizes[node]
            jobs[node.parent] += jobs[node]
    return sizes, jobs
