"""Optimal-DPOR [ADJS14, Algorithm 2]: exactly one execution for each trace class, none of them blocked.

Here                          In the paper
Search.explore()              Explore(E, Sleep, WuT), as a list of nodes instead of recursion
Node.sleep, Node.branches     sleep(E), wut(E)
HappensBefore.not_after()     notdep(e, E)
reverse()                     lines 6 to 10: v = notdep(e, E).e', unless sleep(E') ∩ WI[E'](v) ≠ ∅: insert

Differences: notdep is taken up to e' only, not up to the end of E, so a race is looked at once, when e' is new. An
operation whose outcome changes when it is reordered has the modes of its new outcome. Pending operations of blocked
threads take part in races [ADJS14, section 9 of the long form].

In the paper an operation is the same wherever it is planned. `d.setdefault(k, v)` reads or writes according to what
came before it, so where it is planned it may conflict with less than where it was seen, and an earlier branch may cover
the plan after all. To let that branch sleep on below the plan would lose classes: what is sent to the end of a plan is
not kept, because in the paper nothing sleeps there. So nothing does here either (`sleeps_on`). Then a class may be run
twice, but only where such an operation (`Operation.unsettled`) has turned out to be another.
"""

from __future__ import annotations

from dpor.core.operations import Action, Operation
from dpor.core.system import Run
from dpor.explorers import invariants
from dpor.explorers.search import Search
from dpor.explorers.tree import Node
from dpor.explorers.wakeup_tree import Sequence, insert, is_weak_initial


class Optimal(Search):
    """A search with wakeup trees and sleep sets."""

    sleeps_on = False

    def reverse(self, first: int, end: int, action: Action, operation: Operation) -> None:
        node, trace = self.nodes[first], self.trace
        actions, operations = trace.actions, trace.operations
        sequence = [(actions[p], operations[p]) for p in self.happens_before.not_after(first, end)]
        sequence.append((action, operation))
        self.send(node, self.nodes[first + 1], sequence)

    def send(self, node: Node, present: Node, sequence: Sequence) -> None:
        """Make sure that the sequence is covered at the node, of which `present` is the branch of the run."""
        for sleeping, slept in node.sleep.items():
            if is_weak_initial(sleeping, slept, sequence):
                return
        branch = insert(node, present, sequence)
        if branch is not None:
            self.planned(node, branch, sequence[-1][1])

    def check(self, start: int, run: Run) -> None:
        super().check(start, run)
        invariants.check_not_blocked(run)
        invariants.check_wakeup_trees(self.nodes)
