"""The tree of a stateless search: what has been tried, what is left to try, in whatever order it is taken up.

Each node is a point of some runs, with the step that leads to it and its *branches* in the order in which they were
planned. A branch that no run has taken yet is a *job* if its parent has been taken. Below a branch sleeps what sleeps
at its parent, and each earlier branch, *finished or not*, until something depends on it: what begins with the earlier
branch is explored there. So a search may take its jobs in any order, and still sees each trace class once.

Two things follow from that, which a depth-first search need not know:

- A sequence that is sent to a node goes on below the first branch that covers its beginning, even if that branch was
  taken long ago: what is asleep below a later branch is complete only together with what earlier ones send to it.
- A branch is *finished* if nothing is left below it and nothing can be sent to it any more. Only earlier branches send
  anything: those beside it and, if it was planned as a part of a longer sequence, those beside the nodes of that
  sequence. Where no plan led further (`Node.free`), a run covers all that begins there; nothing is sent below.

Finished branches are taken out of the tree, and sleep at their parents from then on.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpor.core.operations import Action, Operation, States

NO_SLEEP: dict[Action, Operation] = {}
"""The sleep set of a node at which nothing sleeps. Never changed."""


class Node:
    """A node of the tree. Those above the line are known when it is planned, the others once it has been taken.

    action, operation   the step that leads to it; the operation is the one that was performed, once that is known
    parent, depth       the node before it, and the number of events on the way to it
    branches            what has been taken or is planned from here and is not finished
    free                True if no plan leads further than here
    ---------
    taken      True if a run has gone this way
    before     the states of the operation's objects before it (see `Trace.befores`)
    enabled    the mask of the threads that can run here
    sleep      the actions not to be tried here, with the operation that each would perform: their subtrees are explored
               from here, or are covered by those of an earlier node [God96, sleep sets]
    branched   True if the node has been counted in `Stats.choices`
    waiting    while another process has what is below here: the sequences that came meanwhile; else None
    """

    __slots__ = (
        "action",
        "before",
        "branched",
        "branches",
        "depth",
        "enabled",
        "free",
        "operation",
        "parent",
        "sleep",
        "taken",
        "waiting",
    )

    def __init__(self, action: Action, operation: Operation, parent: Node | None) -> None:
        self.action = action
        self.operation = operation
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.branches: list[Node] = []
        self.free = True
        self.taken = False
        self.before: States | None = None
        self.enabled = 0
        self.sleep = NO_SLEEP
        self.branched = False
        self.waiting: list[list[tuple[Action, Operation]]] | None = None

    def way(self) -> Iterator[Node]:
        """Yield the node and those before it, up to the root, which has no step."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def earlier(self) -> dict[Action, Operation]:
        """Return the steps of the unfinished branches beside this one that come before it."""
        assert self.parent is not None
        steps = {}
        for branch in self.parent.branches:
            if branch is self:
                break
            steps[branch.action] = branch.operation
        return steps


def nodes_of(root: Node) -> Iterator[Node]:
    """Yield the node and all below it, each after its parent and after the earlier branches beside it."""
    left = [root]
    while left:
        node = left.pop()
        yield node
        left.extend(reversed(node.branches))


def unsettled_before(job: Node) -> Node | None:
    """Return the first job that is beside this one, comes before it, and of whose operation nobody knows yet which
    accesses it has there; None if there is none. Below a later branch sleeps what comes before it: with other accesses
    it would sleep too long."""
    assert job.parent is not None
    for branch in job.parent.branches:
        if branch is job:
            break
        if branch.operation.unsettled and not branch.taken:
            return branch
    return None


def first_left(node: Node, top: Node | None = None) -> Node | None:
    """Take out of the tree what is finished, given a node that has been taken and below which a run has just ended.
    Returns the job that comes first in the order of the tree, or another node if what is left above is not to be
    finished yet; None if nothing is left below `top` (None: in the whole tree)."""
    while True:
        while not node.branches:
            parent = node.parent
            if parent is None or node is top:
                return None
            branches = parent.branches
            if branches[0] is not node or not (parent.free or _gets_nothing(parent)):
                return node
            del branches[0]
            if branches:
                parent.sleep = {**parent.sleep, node.action: node.operation}
            node = parent
        node = node.branches[0]
        if not node.taken or node.waiting is not None:
            return node


def _gets_nothing(node: Node) -> bool:
    """True if no other branch can send a sequence to this node any more."""
    while not node.free:
        parent = node.parent
        assert parent is not None
        if parent.branches[0] is not node:
            return False
        node = parent
    return True
