"""DPOR with backtrack sets and sleep sets, with a bound on preemptions: every outcome that some schedule within the
bound has is reached [CMM13, bounded partial-order reduction].

Here                      In the paper
reverse()                 Backtrack(S, i, u)
_earlier()                the conservative backtrack point: the start of the run of consecutive events before i
Point.cost()              Bv, as the difference that one event makes

A thread that is explored at a point may lead to less there than elsewhere: what comes after it may cost more than the
bound allows, where the same events in another order would not. Two things follow.

- Where it preempts a thread in the middle of a run of consecutive events, it is also explored before that run, where it
  preempts none. Here only if the bound left something out below it (or it itself): else all was seen.
- It is put to sleep only if the bound left nothing out below it.

Beyond what is planned a run goes on with the thread that ran last; if that takes very long, it goes on with another as
far as the bound allows, and the longer run is planned.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from dpor.core.happens_before import HappensBefore
from dpor.core.operations import THREAD_MASK, Action, Location, Operation, ThreadId
from dpor.core.system import STOP, Ending, Pending, Run, System, Trace
from dpor.explorers import invariants
from dpor.explorers.preemptions import NOBODY, START, Point
from dpor.explorers.search import PATIENCE, Search, awake, threads_of
from dpor.explorers.wakeup_tree import Branch


@attrs.define
class _Bounded:
    """What a node has besides.

    seen    actions that were planned, explored or refused here
    below   the bound left something out below the present action;  cut   ... below this node
    asked   the threads that are blocked here have been asked for their races
    waits   threads that would wait here for the present event, instead of coming after it unblocked
    """

    point: Point
    seen: set[Action] = attrs.field(factory=set)
    below: bool = False
    cut: bool = False
    asked: bool = False
    waits: dict[Action, Operation] = attrs.field(factory=dict)


class BoundedClassic(Search):
    """Backtrack sets, conservative ones too, and careful sleep sets."""

    def __init__(self, system: System, preemptions: int) -> None:
        super().__init__(system)
        self._most = preemptions
        self._bounded: list[_Bounded] = []  # one for each node
        self._blocked: Sequence[Pending] = ()
        self._left: Action = STOP  # what would have gone on, where another was chosen for want of patience

    def check(self, start: int, run: Run) -> None:
        super().check(start, run)
        bounded = self._bounded
        if run.ending is Ending.STOPPED:  # the last was made for a node at which nothing was chosen
            bounded = bounded[:-1]
        invariants.check_lengths(len(self.trace), bounded=bounded)

    # ------------------------------------------------------------------ one run

    def _choose(self, enabled: int) -> Action:
        if self._resumed is None:
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
            self.plan(self.nodes[-1], Branch(self._left, self.trace.operations[-1]))
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
        """Has the thread that ran last run for very long? Asked anew after as many events again."""
        threads = self.trace.threads
        end = len(threads)
        return end % PATIENCE == 0 and threads[-PATIENCE:].count(threads[-1]) == PATIENCE

    # ------------------------------------------------------------------ between runs

    def _learn(self, start: int, run: Run) -> None:
        self._blocked = run.blocked
        super()._learn(start, run)
        for position in range(start, len(self.trace)):
            if self.trace.befores[position] is not None:
                self._note_waits(position, self.trace.threads[position], self.trace.operations[position])
        for thread, operation, _ in run.blocked:
            self._note_waits(len(self.trace), thread, operation)

    def _note_waits(self, end: int, thread: ThreadId, operation: Operation) -> None:
        """An operation on synchronisation objects stands at `end`. Before an event that it depends on, it may be
        blocked; then to switch away from its thread is free, where after that event it would be a preemption."""
        for position in self.happens_before.unordered(end, thread, operation):
            self._bounded[position].waits[self._first_of(thread, position)] = operation

    def _first_of(self, thread: ThreadId, position: int) -> Action:
        """The thread's next action, seen from this event."""
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
        """Plan the action before this event; where its thread is asleep (see `classic`) or cannot run, all that can."""
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
        """Plan what the races of the threads ask for that are blocked before this event. (In the paper those of every
        thread are looked for in every state. Without a bound it is enough to look when they go on: by way of races with
        what comes in between. With one, that way may be cut.)"""
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
            self.plan(node, Branch(action, operation))
        else:
            self.stats.left_out += 1
            bounded.cut = True
            self._earlier(position, action, operation)

    def _point(self, position: int) -> Point:
        """Before this event of the trace."""
        point = self._bounded[position].point
        point.happened(self.trace.operations[position])
        return point

    def _earlier(self, position: int, action: Action, operation: Operation) -> None:
        """Of an action that preempts, and of which not all is explored: it may be cheaper before the run of events that
        it preempts."""
        if self._point(position).cost(action):
            threads = self.trace.threads
            start = position - 1
            while start and threads[start - 1] == threads[start]:
                start -= 1
            self._want(start, action, operation)

    def _go_back(self) -> bool:
        nodes, trace = self.nodes, self.trace
        while nodes:
            node = nodes.pop()
            position = len(nodes)
            bounded = self._bounded[position]
            action, operation = trace.actions[position], trace.operations[position]
            bounded.seen.add(action)
            if bounded.below:
                bounded.below, bounded.cut = False, True
                self._earlier(position, action, operation)
                nodes.append(node)
                for waiting, there in bounded.waits.items():
                    self._want(position, waiting, there)
                nodes.pop()
            else:
                node.sleep = {**node.sleep, action: operation}
            bounded.waits.clear()
            node.plan = [branch for branch in node.plan if branch.action not in node.sleep]
            if node.plan:
                self._resume(node, position)
                return True
            if bounded.cut and position:
                self._bounded[position - 1].below = True
        return False
