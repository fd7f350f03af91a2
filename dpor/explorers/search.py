"""The base of the stateless searches: one trace that is cut and repeated, sleep sets, and a plan at each node.

A *node* is a point of the trace, before one event. Each has a *plan*: what is still to be tried there, as a list of
wakeup trees (a plain backtrack set is a list of trees without children). A search runs to the end, looks for races in
what is new, lets the algorithm put their reversals into the plans of earlier nodes, then goes back to the deepest node
that still has a plan. Algorithms differ in `reverse` alone.

Beyond the planned part a run goes on with the thread that ran last, unless that is asleep: the runtime then needs no
switch, and the trace is easier to read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator

import attrs

from dpor.core.dependence import dependent
from dpor.core.happens_before import HappensBefore
from dpor.core.operations import THREAD_MASK, VALUE_SHIFT, Action, Operation, ThreadId
from dpor.core.system import STOP, Ending, Run, System, Trace
from dpor.explorers import invariants
from dpor.explorers.wakeup_tree import Branch

NEXT_VALUE = 1 << VALUE_SHIFT


@attrs.define
class Stats:
    """Exact counts of a search, the same on every machine.

    executions   complete runs
    blocked      runs given up because every enabled thread was asleep
    events       events performed for the first time
    replayed     events repeated to get back to a node
    choices      nodes at which something besides the first choice was planned
    states       states stored (stateful searches)
    matched      how often a stored state was met again (stateful searches)
    left_out     alternatives that a bound on preemptions left out, each the beginning of at least one schedule
    classes      different trace classes seen (random searches)
    """

    executions: int = 0
    blocked: int = 0
    events: int = 0
    replayed: int = 0
    choices: int = 0
    states: int = 0
    matched: int = 0
    left_out: int = 0
    classes: int = 0


class Node:
    """A point of the trace.

    enabled   the mask of the threads that could run
    sleep     the actions not to be tried here, with the operation that each would perform: their subtrees were explored
              from here, or are covered by those of an earlier node [God96, sleep sets]
    plan      the branches still to be tried, in this order
    done      how many alternatives have been explored, without the present one
    branched  True if the node has been counted in `Stats.choices`
    """

    __slots__ = ("branched", "done", "enabled", "plan", "sleep")

    def __init__(self, enabled: int, sleep: dict[Action, Operation], plan: list[Branch]) -> None:
        self.enabled = enabled
        self.sleep = sleep
        self.plan = plan
        self.done = 0
        self.branched = False


PATIENCE = 500
"""After this many events of one thread in a row, another thread gets a turn."""

NO_SLEEP: dict[Action, Operation] = {}
"""The sleep set of the first node."""


class DepthFirst:
    """A depth-first search: each run repeats the last one up to the deepest point at which something is left to try."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.trace = Trace()
        self.stats = Stats()
        self._is_checked = invariants.are_wanted()
        self._explored: set[tuple[Action, ...]] = set()  # the runs so far, if that is checked

    def explore(self) -> Iterator[Run]:
        """Explore the system: yield run after run. The trace of each is in `self.trace` until the next is asked for."""
        stats, trace = self.stats, self.trace
        while True:
            start = len(trace)
            run = self.system.run(trace, self._choose)
            stats.replayed += start
            stats.events += len(trace) - start
            if run.ending is Ending.STOPPED:
                stats.blocked += 1
            else:
                stats.executions += 1
            yield run
            self._learn(start, run)
            if self._is_checked:
                self.check(start, run)
            if not self._go_back():
                return

    def check(self, start: int, run: Run) -> None:
        """Check the invariants after everything has been learned from a run whose events are new from `start` on.
        Raises `InternalError` if one does not hold."""
        invariants.check_trace(self.trace)
        invariants.check_not_repeated(self.trace, self._explored)

    def progress(self) -> float:
        """Return an estimate of the share that has been explored, in 0..1. It takes all known alternatives of a point
        to weigh the same."""
        done, weight = 0.0, 1.0
        for behind, left in self._alternatives():
            known = behind + 1 + left
            if known > 1:
                done += weight * behind / known
                weight /= known
        return done

    @abstractmethod
    def _choose(self, enabled: int) -> Action:
        """See `dpor.core.system.Chooser`."""

    @abstractmethod
    def _learn(self, start: int, run: Run) -> None:
        """Plan what the events from `start` on show to be worth trying."""

    @abstractmethod
    def _go_back(self) -> bool:
        """Cut the trace at the deepest point with something left to try. Returns False if there is none."""

    @abstractmethod
    def _alternatives(self) -> Iterable[tuple[int, int]]:
        """Yield for each event of the trace how many of its alternatives have been explored, and how many are left."""


class Search(DepthFirst):
    """A stateless search with sleep sets. Invariant between runs: there is one node for each event of the trace."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.nodes: list[Node] = []
        self.happens_before = HappensBefore(self.trace)
        self._resumed: Node | None = None  # the node to which the search went back, until it has chosen
        self._choices: list[int] = []  # the events of the trace that are data choices
        self._planned: list[Branch] = []  # the plan of the node to come

    @abstractmethod
    def reverse(self, first: int, end: int, action: Action, operation: Operation) -> None:
        """Plan that `action`, an event (or pending operation) at `end`, comes before the event `first`.

        `operation` is the operation that it would be there.
        """

    def choose_again(self, position: int, action: Action, operation: Operation) -> None:
        """Plan another alternative of the event at `position`: another value of a data choice, or another thread that
        times out."""
        self.reverse(position, len(self.trace), action, operation)

    def check(self, start: int, run: Run) -> None:
        super().check(start, run)
        invariants.check_clocks(self.happens_before, start)
        invariants.check_nodes(self.trace, self.nodes)

    def _alternatives(self) -> Iterable[tuple[int, int]]:
        return ((node.done, len(node.plan)) for node in self.nodes)

    # ------------------------------------------------------------------ one run

    def _choose(self, enabled: int) -> Action:
        nodes = self.nodes
        node = self._resumed
        if node is not None:
            self._resumed = None
        else:
            sleep = nodes[-1].sleep if nodes else NO_SLEEP
            if sleep:
                sleep = self._still_asleep(sleep)
            node = Node(enabled, sleep, self._planned)
        plan = node.plan
        while plan:
            branch = plan.pop(0)
            if branch.action not in node.sleep:
                nodes.append(node)
                self._planned = branch.children
                return branch.action
        action = self._first_awake(enabled, node.sleep)
        if action != STOP:
            nodes.append(node)
            self._planned = []
        return action

    def _still_asleep(self, sleep: dict[Action, Operation]) -> dict[Action, Operation]:
        last, thread = self.trace.operations[-1], self.trace.threads[-1]
        return {a: o for a, o in sleep.items() if a & THREAD_MASK != thread and not dependent(o, last)}

    def _first_awake(self, enabled: int, sleep: dict[Action, Operation]) -> Action:
        threads = self.trace.threads
        if threads and enabled >> threads[-1] & 1:
            last = threads[-1]
            action = awake(last, sleep) if sleep else last
            if action != STOP:
                if len(threads) < PATIENCE or threads[-PATIENCE] != last or threads[-PATIENCE:].count(last) < PATIENCE:
                    return action
                # It may be waiting in a loop for one of the others.
                others = self._first_awake_of(enabled & ~(1 << last), sleep)
                return action if others == STOP else others
        return self._first_awake_of(enabled, sleep)

    def _first_awake_of(self, enabled: int, sleep: dict[Action, Operation]) -> Action:
        if not sleep:
            return (enabled & -enabled).bit_length() - 1
        while enabled:
            lowest = enabled & -enabled
            action = awake(lowest.bit_length() - 1, sleep)
            if action != STOP:
                return action
            enabled ^= lowest
        return STOP

    # ------------------------------------------------------------------ between runs

    def _learn(self, start: int, run: Run) -> None:
        trace, happens_before = self.trace, self.happens_before
        for position, races in enumerate(happens_before.extend(), start):
            for first, operation in races:
                self.reverse(first, position, trace.actions[position], operation)
        # Races of blocked threads count in dropped runs, too: if all else is asleep, no run from here on shows them.
        end = len(trace)
        for thread, operation, states in run.blocked:
            for first, there in happens_before.races_of(thread, operation, states):
                self.reverse(first, end, thread, there)
        special = [p for p, o in enumerate(trace.operations[start:], start) if o.barrier or o.alternatives > 1]
        for position in special:
            if trace.operations[position].barrier:  # only other threads that could have timed out were possible
                for thread in threads_of(self.nodes[position].enabled & ~(1 << trace.threads[position])):
                    self.choose_again(position, thread, trace.operations[position])
        # The values of a data choice are like rivals for a lock that is never given back: at the end of every run, each
        # value not taken is pending and blocked.
        self._choices.extend(p for p in special if trace.operations[p].alternatives > 1)
        for position in self._choices:
            operation = trace.operations[position]
            for value in range(operation.alternatives):
                if value != operation.value:
                    action = trace.threads[position] | value << VALUE_SHIFT
                    self.choose_again(position, action, operation.with_value(value))

    def _go_back(self) -> bool:
        nodes, trace = self.nodes, self.trace
        while nodes:
            node = nodes.pop()
            position = len(nodes)
            if node.plan:
                node.sleep = {**node.sleep, trace.actions[position]: trace.operations[position]}
                node.plan = [branch for branch in node.plan if branch.action not in node.sleep]
                if node.plan:
                    self._resume(node, position)
                    return True
        return False

    def _resume(self, node: Node, position: int) -> None:
        """Cut the trace before this event, so that the next run goes on from there with the node's plan."""
        node.done += 1
        self._resumed = node
        self.happens_before.cut(position)
        self.trace.cut(position)
        while self._choices and self._choices[-1] >= position:
            self._choices.pop()

    def plan(self, node: Node, branch: Branch) -> None:
        """Add a branch to the plan of a node."""
        node.plan.append(branch)
        self.count_choice(node)

    def count_choice(self, node: Node) -> None:
        if not node.branched:
            node.branched = True
            self.stats.choices += 1


def awake(thread: Action, sleep: dict[Action, Operation]) -> Action:
    """Return the first action of the thread that is not asleep; STOP if there is none."""
    action = thread
    while (operation := sleep.get(action)) is not None:
        if operation.value + 1 >= operation.alternatives:
            return STOP
        action += NEXT_VALUE
    return action


def threads_of(mask: int) -> Iterator[ThreadId]:
    """Yield the threads in a mask, the lowest number first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
