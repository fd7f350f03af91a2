"""Source-DPOR [ADJS14, Algorithm 1]: it visits every trace class once, but may start runs that it must drop.

Here                      In the paper
Search.explore()          Explore(E, Sleep), as a list of nodes instead of recursion
Node.branches, Node.sleep   backtrack(E), Sleep
happens_before.Race       e ≾ e'
is_weak_initial(...)      q ∈ I[E'](v), for a q that occurs in v
dependent(a, b)           not E ⊨ p ♢ q

Differences: races are looked for once, when a run has ended, not before every step. A sleeping initial of v covers v as
a planned one does. (A sleeping *weak* initial does not, unlike in Algorithm 2: what has to follow v is not kept here,
so r2 r3 w r1 would be lost in `w x` / `r x` / `r x` / `r x`.)
"""

from __future__ import annotations

from dpor.core.operations import Action, Operation
from dpor.explorers.search import Search
from dpor.explorers.wakeup_tree import Sequence, is_weak_initial


class Source(Search):
    """A search with source sets and sleep sets."""

    def reverse(self, first: int, end: int, action: Action, operation: Operation) -> None:
        node, present, trace = self.nodes[first], self.nodes[first + 1], self.trace
        sequence: Sequence = [
            (trace.actions[p], trace.operations[p]) for p in self.happens_before.not_after(first, end)
        ]
        sequence.append((action, operation))
        inside = {a for a, _ in sequence}
        known = [(branch.action, branch.operation) for branch in node.branches if branch is not present]
        for other, step in (*node.sleep.items(), *known):
            if other in inside and is_weak_initial(other, step, sequence):
                return
        self.plan(node, *sequence[0])
