"""DPOR with backtrack sets, sleep sets and a bound on preemptions [CMM13, bounded partial-order reduction]. It reaches
every outcome that some schedule within the bound has.

Here                      In the paper
reverse()                 Backtrack(S, i, u)
_earlier()                the conservative backtrack point: the start of the run of consecutive events before i
PreemptionPoint.cost()              Bv, as the difference that one event makes

A thread that is explored at a point may lead to less there than elsewhere: what comes after it may cost more than the
bound allows, where the same events in another order would not. Two things follow.

- Where it preempts a thread in the middle of a run of consecutive events, it is also explored before that run, where it
  preempts nobody. (Here this is done only if the bound has left out something below it, or it itself. Otherwise
  everything has been seen.)
- It is put to sleep only if the bound has left out nothing below it.

Once nothing is planned any more, a run goes on with the thread that ran last. If that takes very long, the run goes on
with another thread as far as the bound allows, and going on with the first one is planned.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from dpor.core.happens_before import HappensBefore
from dpor.core.operations import THREAD_MASK, Action, Location, Operation, ThreadId
from dpor.core.system import STOP, Ending, Pending, Run, System, Trace
from dpor.explorers import invariants
from dpor.explorers.preemptions import NOBODY, START, PreemptionPoint
from dpor.explorers.search import MOST_IN_A_ROW, Search, awake, threads_of
from dpor.explorers.walk import class_in

MOST_CLASSES = 200_000
"""They take some 12 MB."""


@attrs.define
class _Bounded:
    """The part of a node that only a search with a bound needs.

    point   the point of the trace, with the number of preemptions so far
    seen    actions that have been planned, explored or refused here
    below   True if the bound has left out something below the present action
    cut     True if the bound has left out something below this node
    asked   True if the races of the threads that are blocked here have been planned
    waits   actions of threads that could wait here for the present event, instead of coming after it unblocked, with
            their operations
    """

    point: PreemptionPoint
    seen: set[Action] = attrs.field(factory=set)
    below: bool = False
    cut: bool = False
    asked: bool = False
    waits: dict[Action, Operation] = attrs.field(factory=dict)


class BoundedClassic(Search):
    """A search with backtrack sets, to which conservative backtrack points are added, and with sleep sets from which an
    action stays out if the bound has left out something below it.

    classes   those of the runs so far (see `class_of`): some of them may have several; None: too many to be kept
    """

    def __init__(self, system: System, preemptions: int) -> None:
        super().__init__(system)
        self.classes: set[int] | None = set()
        self._most = preemptions
        self._bounded: list[_Bounded] = []  # one for each node
        self._blocked: Sequence[Pending] = ()
        self._left: Action = STOP  # the action that would have gone on, had another thread not been given a turn

    def check(self, start: int, run: Run) -> None:
        super().check(start, run)
        bounded = self._bounded
        if run.ending is Ending.STOPPED:  # the last was made for a node at which nothing was chosen
            bounded = bounded[:-1]
        invariants.check_lengths(len(self.trace), bounded=bounded)

    # ------------------------------------------------------------------ one run

    def _choose(self, enabled: int) -> Action:
        if self._job is None:
            trace, bounded, position = self.trace, self._bounded, len(self.trace)
            del bounded[position:]
            point = START
            if position:
                last = bounded[-1].point
                last.happened(trace.operations[-1])
                point = last.next(trace.actions[-1], enabled)
            bounded.append(_Bounded(point))
        else:
            del self._bounded[len(self.trace) + 1 :]
        self._left = STOP
        action = super()._choose(enabled)
        if self._left != STOP:
            self._bounded[-1].seen.add(self._left)
            self.plan(self.nodes[-2], self._left, self.trace.operations[-1])
        return action

    def _first_awake(self, enabled: int, sleep: dict[Action, Operation]) -> Action:
        point = self._bounded[-1].point
        if point.running == NOBODY:
            return self._first_awake_of(enabled, sleep)
        action = awake(point.running, sleep)
        others = enabled & ~(1 << point.running)
        if action == STOP:
            action = self._first_awake_of(others, sleep)
            if action != STOP and point.before == self._most:
                self.stats.left_out += 1
                self._bounded[-2].below = True
                return STOP
        elif point.before < self._most and self._is_long():
            # It may be waiting in a loop for one of the others. That it goes on is planned as well.
            other = self._first_awake_of(others, sleep)
            if other != STOP:
                self._left = action
                return other
        return action

    def _is_long(self) -> bool:
        """True if the thread that ran last has just performed another `MOST_IN_A_ROW` events in a row."""
        threads = self.trace.threads
        end = len(threads)
        return end % MOST_IN_A_ROW == 0 and threads[-MOST_IN_A_ROW:].count(threads[-1]) == MOST_IN_A_ROW

    # ------------------------------------------------------------------ between runs

    def _learn(self, start: int, run: Run) -> None:
        self._blocked = run.blocked
        super()._learn(start, run)
        if self.classes is not None and run.ending is Ending.COMPLETE:
            self.classes.add(class_in(self.trace, self.happens_before))
            if len(self.classes) > MOST_CLASSES:
                self.classes = None
        for position in range(start, len(self.trace)):
            if self.trace.befores[position] is not None:
                self._note_waits(position, self.trace.threads[position], self.trace.operations[position])
        for thread, operation, _ in run.blocked:
            self._note_waits(len(self.trace), thread, operation)

    def _note_waits(self, end: int, thread: ThreadId, operation: Operation) -> None:
        """Note where the thread of an operation on synchronisation objects, which is at `end`, could have waited.

        Before an event that the operation depends on, the thread may be blocked. Then a switch away from it costs
        nothing, whereas after that event it would be a preemption."""
        for position in self.happens_before.unordered(end, thread, operation):
            self._bounded[position].waits[self._first_of(thread, position)] = operation

    def _first_of(self, thread: ThreadId, position: int) -> Action:
        """Return the next action of the thread after this event; value 0 of it if it has none in the trace."""
        trace = self.trace
        for later in range(position + 1, len(trace)):
            if trace.threads[later] == thread:
                return trace.actions[later]
        return thread

    def reverse(self, first: int, end: int, action: Action, operation: Operation) -> None:
        self._want(first, self._first_of(action & THREAD_MASK, first), operation)

    def choose_again(self, position: int, action: Action, operation: Operation) -> None:
        self._want_action(position, action, operation)

    def _want(self, position: int, action: Action, operation: Operation) -> None:
        """Plan the action before this event. If it is asleep there (see `classic`) or its thread cannot run, plan all
        enabled threads."""
        node = self.nodes[position]
        enabled = node.enabled
        if enabled >> (action & THREAD_MASK) & 1 and action not in node.sleep:
            self._want_action(position, action, operation)
        else:
            for thread in threads_of(enabled):
                self._want_action(position, thread, operation)
            if not self._bounded[position].asked:
                self._bounded[position].asked = True
                self._ask_blocked(position)

    def _ask_blocked(self, position: int) -> None:
        """Plan the reversals of the races of the threads that are blocked before this event.

        The paper looks for races of every thread in every state. Without a bound it is enough to look for them when a
        thread goes on, because its races with the events in between lead there. With a bound, that way may be cut.
        """
        trace = self.trace
        pending = {thread: (operation, states) for thread, operation, states in self._blocked}
        states_here: dict[Location, object] = {}
        for operation, states in pending.values():
            states_here.update(zip((location for location, _ in operation.accesses), states, strict=True))
        for later in range(len(trace) - 1, position - 1, -1):
            operation, before = trace.operations[later], trace.befores[later]
            pending.pop(operation.starts, None)
            if before is not None:
                pending[trace.threads[later]] = operation, before
                states_here.update(zip((location for location, _ in operation.accesses), before, strict=True))
            else:
                pending.pop(trace.threads[later], None)
        past = Trace()
        past.actions, past.threads = trace.actions[:position], trace.threads[:position]
        past.operations, past.befores = trace.operations[:position], trace.befores[:position]
        happens_before = HappensBefore(past)
        happens_before.extend()
        enabled = self.nodes[position].enabled
        for thread, (operation, _) in pending.items():
            if not enabled >> thread & 1:
                states = tuple([states_here[location] for location, _ in operation.accesses])
                for first, there in happens_before.races_of(thread, operation, states):
                    self._want(first, thread, there)

    def _want_action(self, position: int, action: Action, operation: Operation) -> None:
        node, bounded = self.nodes[position], self._bounded[position]
        if action == self.trace.actions[position] or action in bounded.seen or action in node.sleep:
            return
        bounded.seen.add(action)
        point = self._point(position)
        if point.before + point.cost(action) <= self._most:
            self.plan(node, action, operation)
        else:
            self.stats.left_out += 1
            bounded.cut = True
            self._earlier(position, action, operation)

    def _point(self, position: int) -> PreemptionPoint:
        """Return the point before this event of the trace."""
        point = self._bounded[position].point
        point.happened(self.trace.operations[position])
        return point

    def _earlier(self, position: int, action: Action, operation: Operation) -> None:
        """Plan an action, of which the bound has left out something, also before the run of consecutive events that it
        preempts here: there it may cost less."""
        if self._point(position).cost(action):
            threads = self.trace.threads
            start = position - 1
            while start and threads[start - 1] == threads[start]:
                start -= 1
            self._want(start, action, operation)

    def _go_back(self) -> bool:
        nodes = self.nodes
        while len(nodes) > 1:
            node, branch = nodes[-2:]
            position = node.depth
            bounded = self._bounded[position]
            action, operation = branch.action, branch.operation
            bounded.seen.add(action)
            if bounded.below:
                bounded.below, bounded.cut = False, True
                self._earlier(position, action, operation)
                for waiting, there in bounded.waits.items():
                    self._want(position, waiting, there)
            else:
                node.sleep = {**node.sleep, action: operation}
            bounded.waits.clear()
            node.branches = [other for other in node.branches[1:] if other.action not in node.sleep]
            if node.branches:
                self.go_to(node.branches[0])
                return True
            nodes.pop()
            if bounded.cut and position:
                self._bounded[position - 1].below = True
        return False
