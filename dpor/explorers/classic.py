"""DPOR with backtrack sets and sleep sets [FG05, Fig. 3 and section 5].

Here                      In the paper
Search.explore()          Explore(S, C), as a list of nodes instead of recursion
Node.branches             backtrack(pre(S, i)), what is not finished of it
_candidates()             the set E of line 7: threads that lead to the later operation
reverse()                 lines 5 to 9

Differences: races are looked for once, when a run has ended. A candidate that is asleep at the node does not count:
runs that begin with it are not explored again from there, so adding it would add nothing, and a class would be lost. If
no candidate is awake, all enabled threads are added. And the partner of an operation that can block is the latest event
before which it was enabled, where the paper takes the latest that "may be co-enabled".
"""

from __future__ import annotations

from dpor.core.operations import THREAD_MASK, Action, Operation, ThreadId
from dpor.explorers.search import Search, threads_of


class Classic(Search):
    """A search with backtrack sets, which are persistent sets found on the way, and sleep sets."""

    def reverse(self, first: int, end: int, action: Action, operation: Operation) -> None:
        node = self.nodes[first]
        planned = {branch.action for branch in node.branches if not branch.taken}
        candidates = [c for c in self._candidates(first, end, action) if c not in node.sleep]
        if planned.intersection(candidates):
            return
        if candidates:
            self.plan(node, candidates[0], operation)
            return
        present = self.trace.actions[first]
        for thread in threads_of(node.enabled):
            if thread != present and thread not in planned and thread not in node.sleep:
                self.plan(node, thread, operation)

    def _candidates(self, first: int, end: int, action: Action) -> list[Action]:
        """Return the enabled actions at the node that lead to the later operation: one of its own thread, which comes
        first, or the next one of another thread that has an event after the node which happens before the operation."""
        trace = self.trace
        thread = action & THREAD_MASK
        found: dict[int, Action] = {}
        for position in self._leading(first, end, thread):
            found.setdefault(trace.threads[position], trace.actions[position])
        found.setdefault(thread, action)
        found.pop(trace.threads[first], None)
        enabled = self.nodes[first].enabled
        return sorted((a for t, a in found.items() if enabled >> t & 1), key=lambda a: a & THREAD_MASK != thread)

    def _leading(self, first: int, end: int, thread: ThreadId) -> list[int]:
        """Return the events after `first` that happen before the thread's operation at `end` by way of an earlier event
        of the thread, or of its start."""
        trace, happens_before = self.trace, self.happens_before
        for last in range(end - 1, first, -1):
            if trace.threads[last] == thread or trace.operations[last].starts == thread:
                return [p for p in range(first + 1, last + 1) if happens_before.before(p, last)]
        return []

    def choose_again(self, position: int, action: Action, operation: Operation) -> None:
        node = self.nodes[position]
        if action not in node.sleep and all(branch.action != action for branch in node.branches):
            self.plan(node, action, operation)
