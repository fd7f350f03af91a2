"""The base of the stateless searches: one trace that is cut and repeated, and a tree of what is to be tried.

A search takes a job from the tree (`dpor.explorers.tree`): it repeats the way there, follows what is planned below, and
runs to the end. Then it looks for races in what is new, and lets the algorithm put their reversals into the tree as
branches of earlier nodes. Algorithms differ in `reverse` alone. (A wakeup tree is planned as a whole, a plain backtrack
set as branches without more below.)

Beyond the planned part a run goes on with the thread that ran last, unless that is asleep: the runtime then needs no
switch, and the trace is easier to read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import attrs

from dpor.core.dependence import dependent
from dpor.core.happens_before import HappensBefore
from dpor.core.operations import THREAD_MASK, UNKNOWN, VALUE_SHIFT, Action, Operation, ThreadId
from dpor.core.options import Order
from dpor.core.system import STOP, Ending, Run, System, Trace
from dpor.explorers import invariants
from dpor.explorers.jobs import JOBS
from dpor.explorers.tree import Node, first_left
from dpor.explorers.wakeup_tree import append

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


def take_your_time() -> None:
    """Do nothing: the pace of a search that may take as long as it needs (see `Explorer.pace`)."""


PATIENCE = 500
"""After this many events of one thread in a row, another thread gets a turn."""


class StatelessSearch:
    """The base of the searches that store no states and end: each run repeats what the trace holds, then goes on."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.trace = Trace()
        self.stats = Stats()
        self.pace = take_your_time
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

    @abstractmethod
    def _choose(self, enabled: int) -> Action:
        """See `dpor.core.system.Chooser`."""

    @abstractmethod
    def _learn(self, start: int, run: Run) -> None:
        """Plan what the events from `start` on show to be worth trying."""

    @abstractmethod
    def _go_back(self) -> bool:
        """Let the trace be the beginning of the next run. Returns False if nothing is left to try."""


class Search(StatelessSearch):
    """A stateless search with sleep sets. Invariant between runs: there is one node for each event of the trace, the
    point before it, and one for the end.

    order, seed   which job is next: see `dpor.explorers.jobs`
    """

    def __init__(self, system: System, order: Order = Order.DEPTH, seed: int = 0) -> None:
        super().__init__(system)
        root = Node(STOP, UNKNOWN, None)
        root.taken = True
        self.nodes: list[Node] = [root]
        self.jobs = JOBS[order](seed)
        self.happens_before = HappensBefore(self.trace)
        self._job: Node | None = None  # what has been taken from the jobs, until the run gets there
        self._choices: list[int] = []  # the events of the trace that are data choices

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

    # ------------------------------------------------------------------ one run

    def _choose(self, enabled: int) -> Action:
        nodes = self.nodes
        node, branch = nodes[-1], self._job
        if branch is not None:
            self._job = None
        else:
            node.enabled = enabled
            if len(nodes) > 1:
                parent = nodes[-2]
                sleep = parent.sleep
                if parent.branches[0] is not node:
                    sleep = {**sleep, **node.earlier()}
                if sleep:
                    node.sleep = self._still_asleep(sleep)
            if node.branches:
                branch, *others = node.branches
                for other in others:
                    self.jobs.add(other)
            else:
                action = self._first_awake(enabled, node.sleep)
                if action == STOP:
                    return STOP
                branch = Node(action, UNKNOWN, node)
                node.branches.append(branch)
        branch.taken = True
        nodes.append(branch)
        return branch.action

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
        nodes, operations, befores = self.nodes, trace.operations, trace.befores
        for position, races in enumerate(happens_before.extend(), start):
            if races:
                self.pace()
            node = nodes[position + 1]
            node.operation, node.before = operations[position], befores[position]
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
        job = self.jobs.next(first_left(self.nodes[-1]))
        if job is None:
            return False
        self.go_to(job)
        return True

    def go_to(self, job: Node) -> None:
        """Let the trace be the way to this job, so that the next run begins with it."""
        nodes, trace = self.nodes, self.trace
        assert job.parent is not None
        way = []
        for node in job.parent.way():
            if node.depth < len(nodes) and nodes[node.depth] is node:
                break
            way.append(node)
        position = node.depth
        self.happens_before.cut(position)
        trace.cut(position)
        del nodes[position + 1 :]
        while self._choices and self._choices[-1] >= position:
            self._choices.pop()
        for node in reversed(way):
            nodes.append(node)
            trace.add(node.action, node.operation, node.before)
        if way:
            self.happens_before.extend()
            self._choices.extend(p for p in range(position, len(trace)) if trace.operations[p].alternatives > 1)
        self._job = job

    def plan(self, node: Node, action: Action, operation: Operation) -> None:
        """Add a branch to a node of the present way, unless it is asleep there."""
        if action not in node.sleep:
            self.planned(node, append(node, [(action, operation)]))

    def planned(self, node: Node, branch: Node) -> None:
        """Take note that a branch has been planned for a race at this node."""
        if not node.branched:
            node.branched = True
            self.stats.choices += 1
        if branch.parent is not None and branch.parent.taken:
            self.jobs.add(branch)


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
