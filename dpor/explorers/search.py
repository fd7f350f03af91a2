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
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

import attrs

from dpor.core.dependence import common_location, dependent
from dpor.core.errors import NotDeterministic, OutOfTime
from dpor.core.happens_before import HappensBefore
from dpor.core.operations import THREAD_MASK, UNKNOWN, VALUE_SHIFT, Action, Location, Operation, ThreadId
from dpor.core.options import Order
from dpor.core.schedule import follow
from dpor.core.system import STOP, Ending, Run, System, Trace
from dpor.explorers import invariants
from dpor.explorers.jobs import JOBS, Jobs
from dpor.explorers.saved_tree import Outline
from dpor.explorers.tree import Node, first_left, nodes_of, unsettled_before
from dpor.explorers.wakeup_tree import append

NEXT_VALUE = 1 << VALUE_SHIFT


@attrs.define
class Stats:
    """Exact counts of a search, the same on every machine.

    executions   complete runs
    blocked      runs given up because every enabled thread was asleep
    events       events performed for the first time
    replayed     events repeated to get back to a node
    silent       accesses that were no events, repeated ones too (searches without states)
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
    silent: int = 0
    choices: int = 0
    states: int = 0
    matched: int = 0
    left_out: int = 0
    classes: int = 0


def take_your_time() -> None:
    """Do nothing: the pace of a search that may take as long as it needs (see `Explorer.pace`)."""


MOST_IN_A_ROW = 500
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
        self._ended: tuple[int, Run] | None = None  # the run from which not all has been learned yet, and its start
        self._is_half_learned = False
        self._goes_on: bool | None = None  # is something left to try? None: not known yet

    def explore(self) -> Iterator[Run]:
        """Explore the system: yield run after run. The trace of each is in `self.trace` until the next is asked for."""
        if not self._begin():
            return
        while True:
            self._goes_on = None
            self._set_out()
            start = len(self.trace)
            run = self.system.run(self.trace, self._choose)
            self._count(start, run, 1)
            self._ended = start, run
            yield run
            if self.is_finished():
                return

    def is_finished(self) -> bool:
        """True if everything has been covered by the runs so far. Raises `OutOfTime` as `settle` does."""
        self.settle()
        if self._goes_on is None:
            self._goes_on = self._go_back()
        return not self._goes_on

    def _count(self, start: int, run: Run, times: int) -> None:
        stats = self.stats
        stats.replayed += start * times
        stats.events += (len(self.trace) - start) * times
        stats.silent += len(run.silent) * times
        if run.ending is Ending.STOPPED:
            stats.blocked += times
        else:
            stats.executions += times

    def settle(self) -> None:
        """Plan what the last run shows to be worth trying, if that has not been done yet. Raises `OutOfTime` if there
        is no time for that, or was none before: the run has to be repeated then."""
        if self._ended is not None:
            if self._is_half_learned:
                raise OutOfTime
            start, run = self._ended
            self._is_half_learned = True
            self._learn(start, run)
            self._is_half_learned = False
            if self._is_checked:
                self.check(start, run)
            self._ended = None

    def check(self, start: int, run: Run) -> None:
        """Check the invariants after everything has been learned from a run whose events are new from `start` on.
        Raises `InternalError` if one does not hold."""
        invariants.check_trace(self.trace)
        invariants.check_not_repeated(self.trace, self._explored)

    def _begin(self) -> bool:
        """Find the beginning of the first run. Returns False if nothing is left to try."""
        return True

    def _set_out(self) -> None:
        """Called before a run: let the trace be its beginning, if that has not been done yet."""

    @abstractmethod
    def _choose(self, enabled: int) -> Action:
        """See `dpor.core.system.Chooser`."""

    @abstractmethod
    def _learn(self, start: int, run: Run) -> None:
        """Plan what the events from `start` on show to be worth trying."""

    @abstractmethod
    def _go_back(self) -> bool:
        """Find the beginning of the next run. Returns False if nothing is left to try."""


class Search(StatelessSearch):
    """A stateless search with sleep sets. Invariant between runs: there is one node for each event of the trace, the
    point before it, and one for the end.

    order, seed   which job is next: see `dpor.explorers.jobs`
    sleeps_on     True if something may still be asleep where the plan of a run ends
    """

    sleeps_on: ClassVar = True

    def __init__(self, system: System, order: Order = Order.DEPTH, seed: int = 0) -> None:
        super().__init__(system)
        root = Node(STOP, UNKNOWN, None)
        root.taken = True
        self.nodes: list[Node] = [root]
        self._new_jobs: Callable[[], Jobs] = partial(JOBS[order], seed)
        self.jobs = self._new_jobs()
        self.happens_before = HappensBefore(self.trace)
        self._taken: Node | None = root  # the job with which the last run began, until all has been learned from that
        self._job: Node | None = None  # the same, until the run gets there
        self._next: Node | None = None  # the job with which the next run begins, once it has been found
        self._is_resumed = False
        self._choices: list[int] = []  # the events of the trace that are data choices
        self._reversed: dict[tuple[Operation, Operation], int] = {}

    @property
    def branching(self) -> Counter[Location]:
        """How many branches have been planned because of accesses to each location, by this search itself."""
        counts: Counter[Location] = Counter()
        for (first, later), number in self._reversed.items():
            location = common_location(first, later)
            if location is not None:
                counts[location] += number
        return counts

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

    # ------------------------------------------------------------------ cut and resumed

    def resume(self, root: Node, stats: Stats) -> None:
        """Go on with the tree of another search, which has these counts. Call it before `explore`."""
        self.stats = stats
        if not stats.executions + stats.blocked:
            return  # nothing has been tried yet
        self.go_on_at(root, root)

    def go_on_at(self, root: Node, top: Node) -> None:
        """Go on with what is left of a tree below one node."""
        self.nodes, self._is_resumed, self._taken, self.jobs = [root], True, None, self._new_jobs()
        self._next = self._goes_on = None
        for node in nodes_of(top):
            if not node.taken and node.parent is not None and node.parent.taken:
                self.jobs.add(node)

    @property
    def unlearned(self) -> Run | None:
        """The last run, if not all has been learned from it."""
        return None if self._ended is None else self._ended[1]

    def take_back(self) -> Run | None:
        """Put the job that was taken last back into the tree, unless all has been learned from its run: the tree and
        the counts are then those of before. Returns the run, if that has come to an end. Ends the search."""
        run = None
        if self._ended is not None:
            start, run = self._ended
            self._count(start, run, -1)
        if self._taken is not None:
            for node in self.nodes[self._taken.depth :]:
                node.taken = node.parent is None
                if node.free:  # no plan led further
                    node.branches.clear()
                    break
        return run

    # ------------------------------------------------------------------ one run

    def _begin(self) -> bool:
        return not self._is_resumed or not self.is_finished()

    def _set_out(self) -> None:
        if self._next is not None:
            self.go_to(self._next)
            self._next = None

    def settle(self) -> None:
        super().settle()
        self._taken = None

    def _choose(self, enabled: int) -> Action:
        nodes = self.nodes
        node, branch = nodes[-1], self._job
        if branch is not None:
            self._job = None
        else:
            node.enabled = enabled
            parent = node.parent
            if parent is not None and (node.branches or self.sleeps_on):
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
                if (
                    len(threads) < MOST_IN_A_ROW
                    or threads[-MOST_IN_A_ROW] != last
                    or threads[-MOST_IN_A_ROW:].count(last) < MOST_IN_A_ROW
                ):
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
        special = []
        for position, races in enumerate(happens_before.extend(), start):
            node = nodes[position + 1]
            node.operation = performed = operations[position]
            node.before = befores[position]
            if performed.barrier or performed.alternatives > 1:
                special.append(position)
            if races:
                self.pace()
                for first, operation in races:
                    self.reverse(first, position, trace.actions[position], operation)
        # Races of blocked threads count in dropped runs, too: if all else is asleep, no run from here on shows them.
        end = len(trace)
        for thread, operation, states in run.blocked:
            for first, there in happens_before.races_of(thread, operation, states):
                self.reverse(first, end, thread, there)
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
        job = self.jobs.next(first_left(self.nodes[-1]), self.stats.events)
        if job is not None and (earlier := unsettled_before(job)) is not None:
            self.jobs.add(job)
            job = earlier
        self._next = job
        return job is not None

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
        if any(isinstance(node.operation, Outline) for node in way):
            self._recall(job.parent)
        for node in reversed(way):
            nodes.append(node)
            trace.add(node.action, node.operation, node.before)
        if way:
            self.happens_before.extend()
            self._choices.extend(p for p in range(position, len(trace)) if trace.operations[p].alternatives > 1)
        self._job = self._taken = job

    def _recall(self, last: Node) -> None:
        """Perform the way to a node once more, since only outlines of its operations are known."""
        way = [*last.way()][-2::-1]
        trace = Trace()
        run = self.system.run(trace, follow([node.action for node in way]))
        self.stats.replayed += len(trace)
        if run.ending is Ending.ENDED:
            raise OutOfTime
        for position, node in enumerate(way):
            known = node.operation
            if isinstance(known, Outline):
                if position >= len(trace) or not known.is_of(trace.operations[position]):
                    what = f"event {position} of the saved search is different now"
                    raise NotDeterministic(f"{what}: the program has changed or is not deterministic")
                node.operation, node.before = trace.operations[position], trace.befores[position]

    def plan(self, node: Node, action: Action, operation: Operation) -> None:
        """Add a branch to a node of the present way, unless it is asleep there."""
        if action not in node.sleep:
            self.planned(node, append(node, [(action, operation)]), operation)

    def planned(self, node: Node, branch: Node, later: Operation) -> None:
        """Take note that a branch has been planned for a race of the event at this node with a later operation."""
        race = self.nodes[node.depth + 1].operation, later
        self._reversed[race] = self._reversed.get(race, 0) + 1
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
