"""Wakeup trees [ADJS14, section 6]: ordered trees of the sequences of events that are to be explored from a node.

Here                  In the paper
Branch                a node of wut(E), with the step that leads to it
is_weak_initial(...)  p ∈ WI[E](w)
insert(plan, w)       insert[E](w, wut(E))

A sequence is a list of (action, operation), each operation with the modes that it has when the sequence is run.
"""

from __future__ import annotations

from typing import TypeAlias

from dpor.core.dependence import dependent
from dpor.core.operations import THREAD_MASK, Action, Operation

Sequence: TypeAlias = list[tuple[Action, Operation]]


class Branch:
    """A node of a wakeup tree: one step, and the branches that may follow it. After a leaf the search chooses
    freely."""

    __slots__ = ("action", "children", "operation")

    def __init__(self, action: Action, operation: Operation) -> None:
        self.action = action
        self.operation = operation
        self.children: list[Branch] = []


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


def insert(plan: list[Branch], sequence: Sequence) -> bool:
    """Make sure that the plan covers the sequence. Returns True if something had to be added."""
    while True:
        for branch in plan:
            if is_weak_initial(branch.action, branch.operation, sequence):
                break
        else:
            _append(plan, sequence)
            return True
        if not branch.children:
            return False  # a leaf covers all that begins as it does
        sequence = _without_first(branch.action, sequence)
        if not sequence:
            return False
        plan = branch.children


def _without_first(action: Action, sequence: Sequence) -> Sequence:
    for i, (other, _) in enumerate(sequence):
        if other == action:
            return sequence[:i] + sequence[i + 1 :]
    return sequence


def _append(plan: list[Branch], sequence: Sequence) -> None:
    for action, operation in sequence:
        branch = Branch(action, operation)
        plan.append(branch)
        plan = branch.children
