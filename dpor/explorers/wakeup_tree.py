"""Wakeup trees [ADJS14, section 6]: ordered trees of the sequences of events that are to be explored from a node. Here
they are the parts of the tree that no run has taken yet.

Here                  In the paper
Node                  a node of wut(E), with the step that leads to it
is_weak_initial(...)  p ∈ WI[E](w)
insert(node, w)       insert[E](w, wut(E))

A sequence is a list of (action, operation), each operation with the modes that it has when the sequence is run.
Difference: a sequence also goes on below branches that have been taken (see `dpor.explorers.tree`).
"""

from __future__ import annotations

from typing import TypeAlias

from dpor.core.dependence import dependent
from dpor.core.operations import THREAD_MASK, Action, Operation
from dpor.explorers.tree import Node

Sequence: TypeAlias = list[tuple[Action, Operation]]


def is_weak_initial(action: Action, operation: Operation, sequence: Sequence) -> bool:
    """True if the step is a weak initial of the sequence. Either it is in the sequence and depends on nothing before it
    there, or it is not and is independent of the whole sequence."""
    thread = action & THREAD_MASK
    for other, step in sequence:
        if other & THREAD_MASK == thread:
            return other == action
        if dependent(operation, step):
            return False
    return True


def insert(node: Node, present: Node, sequence: Sequence) -> Node | None:
    """Make sure that the sequence is covered by what is planned at the node. Returns the branch that had to be added,
    wherever that is, or None.

    present   the branch of the run that shows the sequence. What begins as an earlier branch does is explored there.
    """
    is_later = False
    for branch in node.branches:
        if branch is present:
            is_later = True
        elif is_weak_initial(branch.action, branch.operation, sequence):
            return insert_below(branch, sequence) if is_later else None
    return append(node, sequence)


def insert_below(node: Node, sequence: Sequence) -> Node | None:
    """Make sure that the sequence, of which the node's step is a weak initial, is covered below the node. If another
    process has what is below a node, the sequence waits there."""
    while not node.free:
        if node.waiting is not None:
            node.waiting.append(sequence)
            return None
        sequence = _without_first(node.action, sequence)
        if not sequence:
            return None
        for branch in node.branches:
            if is_weak_initial(branch.action, branch.operation, sequence):
                node = branch
                break
        else:
            return append(node, sequence)
    return None


def _without_first(action: Action, sequence: Sequence) -> Sequence:
    for i, (other, _) in enumerate(sequence):
        if other == action:
            return sequence[:i] + sequence[i + 1 :]
    return sequence


def append(node: Node, sequence: Sequence) -> Node:
    """Plan the sequence as a new branch of the node, the last. Returns the branch."""
    added = len(node.branches)
    parent = node
    for action, operation in sequence:
        if parent is not node:
            parent.free = False
        branch = Node(action, operation, parent)
        parent.branches.append(branch)
        parent = branch
    return node.branches[added]
