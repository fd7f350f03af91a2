"""What the stateful searches share: the graph of states, and runs that end where a known state is met.

A state is reached by repeating a schedule from the start, so what is to be done where can be taken up in any order.
Each state has two sets of threads: `planned`, to be run from it, and `done`. A search decides in `first` what is
planned for a new state, learns from `edge` and `ended`, and adds by `plan`, also to states left long ago. What lies
nearest to the start is taken up first, since every event of the way there must be repeated. But where a run meets a
known state, and something is left there or near below, it goes on to that: there is nothing to repeat at all.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Iterator

from dpor.core.errors import NotDeterministic
from dpor.core.operations import THREAD_MASK, UNKNOWN, VALUE_SHIFT, Action, Operation
from dpor.core.outcome import Finding
from dpor.core.system import STOP, Ending, Run, StatefulSystem, StateKey, Store, Trace
from dpor.explorers import invariants
from dpor.explorers.cycles import breaking
from dpor.explorers.rounds import Round, find_rounds
from dpor.explorers.search import Stats
from dpor.explorers.state_graph import FIRST, NOWHERE, StateGraph, StateNumber

FEW_UNSTORED = 16
"""So many events without a stored state, and it is looked for cycles on which there is none."""

MOST_LOOKED_AT = 256
"""States below a known one at which a run looks for something left to do."""
MOST_DEEPER = 256
"""How much further from the start that may lie than what lies nearest to it, so that endless programs do not lead the
search astray. (And a run may be twice as long as the shortest way to where it is, and this.)"""


class StatefulSearch:
    """Run after run, each from a state at which something is left to do to the next known state, or the end.

    store      which states are stored, and so can be met again
    terminates   does the program come to an end under every schedule? None: not known (yet)
    cycle        if not: a schedule that leads to a cycle, and then the one that goes round it once
    """

    def __init__(self, system: StatefulSystem, store: Store = Store.EVENTS) -> None:
        self.system = system
        self.store = store
        self.trace = Trace()
        self.stats = Stats()
        self.graph = StateGraph()
        self.terminates: bool | None = None
        self.cycle: tuple[tuple[Action, ...], tuple[Action, ...]] | None = None
        self._at: StateNumber = NOWHERE
        self._resumed = False
        self._is_way_known = False  # the operations on the way to where the search resumed
        self._met: StateNumber = NOWHERE  # the known state that the run has come to
        self._ahead: list[Action] = []  # from there to a state where something is left, the last one first
        self._went_on = 0  # after how many events it met that state
        self._passed = 0  # events of the run that led from known states to known ones
        self._on_way = True  # has the run come by the way that the graph knows?
        self._open: list[tuple[int, StateNumber]] = []  # a heap, by depth; states with nothing left are passed over
        self._values: dict[StateNumber, list[Action]] = {}  # data choices still to be taken
        self._barren: set[StateNumber] = set()  # states below which nothing is left to do
        self._is_stored = bytearray()
        self._unstored = 0  # events since the last state that was stored
        self._passing: tuple[StateKey | None, StateNumber] = None, NOWHERE  # one of the states since
        self._is_checked = invariants.are_wanted()
        self._checked = 0  # so many states have been looked at

    # ------------------------------------------------------------------ what a search decides

    @abstractmethod
    def first(self, enabled: int) -> int:
        """The threads to be planned at a new state, at least one."""

    def added(self, state: StateNumber) -> None:
        """The present state is a new one, with this number."""

    def edge(self, source: StateNumber, operation: Operation, target: StateNumber) -> None:
        """An event led from a state to another; it is in the graph now."""

    def ended(self, state: StateNumber, run: Run) -> None:
        """A run that was not cut ended in this state, which is a new one if nothing was known of it."""

    def between(self) -> None:
        """A run is over."""

    def complete(self) -> bool:
        """Nothing planned is left. Is there no cycle without a state at which everything is planned? [God96, section 5:
        the ignoring problem] Else have one of its states so."""
        graph = self.graph
        partly = [state for state in graph.above_cycles() if graph.planned[state] != graph.enabled[state]]
        complete = True
        for state in breaking(graph.successors(partly)):
            self.plan(state, graph.enabled[state])
            complete = False
        return complete

    def check(self) -> None:
        """Do the invariants hold between runs?"""
        invariants.check_trace(self.trace)
        invariants.check_graph(self.graph, range(self._checked, len(self.graph)))
        self._checked = len(self.graph)

    def check_finished(self) -> None:
        """Do they hold of the finished graph?"""
        invariants.check_graph(self.graph, range(len(self.graph)))
        invariants.check_finished(self.graph)

    # ------------------------------------------------------------------ searching

    def explore(self) -> Iterator[Run]:
        """Run after run; the trace of each is in `self.trace` until the next is asked for."""
        stats, trace = self.stats, self.trace
        while True:
            start = len(trace)
            run = self.system.run(trace, self._choose)
            stats.replayed += start + self._passed
            stats.events += len(trace) - start - self._passed
            if run.ending is not Ending.STOPPED:
                stats.executions += 1
                self._take_end(run)
            self.between()
            if self._is_checked:
                self.check()
            yield run
            while not self._go_back():
                if self.complete():
                    if self._is_checked:
                        self.check_finished()
                    yield from self._rounds()
                    return

    def _rounds(self) -> Iterator[Run]:
        """The endless cycles: for each that changes nothing and cannot be left, a run that goes round once."""
        rounds = find_rounds(self.graph, self.system.changes_data)
        self.terminates = not rounds
        for found in rounds:
            self.graph.way_to(found.state, self.trace)
            if self.cycle is None:
                self.cycle = tuple(self.trace.actions), found.actions
            if found.livelock:
                yield self._go_round(found)

    def _go_round(self, found: Round) -> Run:
        left = list(found.actions)
        findings: list[Finding] = []

        def choose(enabled: int) -> Action:
            if left:
                return left.pop(0)
            findings.append(self.system.livelock(found.moving))
            return STOP

        run = self.system.run(self.trace, choose)
        return Run(run.ending, run.blocked, findings=findings, incomplete=run.incomplete)

    def progress(self) -> float:
        """Nobody knows how large a graph is before it is explored: the share of what is planned that is done."""
        graph = self.graph
        planned = sum(map(int.bit_count, graph.planned))
        return sum(map(int.bit_count, graph.done)) / planned if planned else 0.0

    def plan(self, state: StateNumber, threads: int) -> None:
        """Have these threads run from the state, too."""
        graph = self.graph
        planned = graph.planned[state]
        if threads & ~planned:
            if planned and not planned & (planned - 1):
                self.stats.choices += 1
            graph.planned[state] = planned | threads
            self._barren.clear()
            self._open_up(state)

    def _open_up(self, state: StateNumber) -> None:
        heapq.heappush(self._open, (self.graph.depths[state], state))

    def _choose(self, enabled: int) -> Action:
        if not self._ahead:
            if self._resumed:
                self._resumed = False
                if not self._check_return():
                    return STOP
            elif not self._arrive(enabled) and not self._go_on():
                return STOP
        if self._ahead:
            self._passed += 1
            return self._ahead.pop()
        return self._take(self._at)

    def _go_on(self) -> bool:
        """From the known state that the run has met: to where something is left to do, if that is near."""
        self.between()
        shallowest = self._shallowest()
        if shallowest is None:
            return False
        depths, length = self.graph.depths, len(self.trace)
        found = self.graph.nearest(self._met, self._is_left, MOST_LOOKED_AT, self._barren)
        if found is None or depths[found[0]] > depths[shallowest] + MOST_DEEPER:
            return False
        if length + len(found[1]) > 2 * depths[found[0]] + MOST_DEEPER:
            return False
        self._at, self._ahead = found
        self._resumed, self._went_on = bool(self._ahead), len(self.trace)
        self._is_way_known = self._on_way = False
        return True

    def _check_return(self) -> bool:
        """Events were repeated: has the run come where it did? A state at which there turned out to be a choice is
        stored now.

        After `_go_on` it may not have, and is ended: a state names some objects, such as locks that somebody waits for
        until a deadline, by the events before they were made, and these differ along ways that have met. The state is
        then reached by its own way, later.
        """
        self._unstored, self._passing = 0, (None, NOWHERE)
        if self.store is Store.NOTHING or (self._is_way_known and self._is_stored[self._at]):
            return True  # the system has compared all events with what they were
        if self._is_stored[self._at] and self._is_as_before():
            self._learn_way()
            return True
        key, numbers = self.system.state(), self.graph.numbers
        if key is None:
            return True
        if not self._is_stored[self._at]:
            if key in numbers:
                self._merge(self._at, numbers[key])
                return False
            self._put(key, self._at)
        elif numbers.get(key) != self._at:
            if not self._on_way:
                return False
            raise self._differs()
        self._learn_way()
        return True

    def _learn_way(self) -> None:
        if self._on_way:
            self.graph.learn_way(self._at, self.trace)

    def _is_as_before(self) -> bool:
        """Has the run, since the start or the known state from which it went on, done what led to here before? (Some
        operations name objects by the way on which they were made: these differ, although the states may be the same.)
        """
        if self.system.remembers_way():
            return False
        state, first, trace = (FIRST, 0, self.trace) if self._on_way else (self._met, self._went_on, self.trace)
        for thread, operation in zip(trace.threads[first:], trace.operations[first:], strict=True):
            state = self.graph.led_to(state, thread, operation)
            if state == NOWHERE:
                return False
        return state == self._at

    def _merge(self, state: StateNumber, known: StateNumber) -> None:
        """The state, which was not stored, is one that is: no event leads to it any more, but to the other."""
        graph = self.graph
        self.stats.matched += 1
        graph.planned[state] = graph.done[state]
        self._barren.clear()
        self._values.pop(state, None)
        for source, operation in graph.redirect(state, known):
            self.edge(source, operation, known)

    def _differs(self) -> NotDeterministic:
        return NotDeterministic(
            f"a repeated run of {len(self.trace)} events led to another state than before. Does the program depend"
            " on something that is not restored before each run (a cache, the outside world, the real clock)?"
        )

    def _arrive(self, enabled: int) -> bool:
        """An event has happened, or the first run begins. Is the state that it led to a new one?"""
        graph = self.graph
        self._unstored += 1
        if self.store is Store.EVENTS:
            to_store = to_look = True  # what is planned need not be known to look whether the state is
            threads = 0
        else:
            threads = self.first(enabled)
            to_store = self.store is Store.CHOICES and (bool(threads & (threads - 1)) or self._at == NOWHERE)
            to_look = to_store or (self.store is Store.CHOICES and self._unstored > FEW_UNSTORED)
        key = self.system.state() if to_look else None
        if key is not None and key == self._passing[0] and not self._is_stored[self._passing[1]]:
            self._put(key, self._passing[1])
        number = graph.numbers.get(key) if key is not None else None
        if number is not None:
            self.stats.matched += 1
            self._take_edge(number)
            self._met = number
            return False
        threads = threads or self.first(enabled)
        number = self._add(enabled)
        if to_store:
            self._put(key, number)
        elif self._unstored & (self._unstored - 1) == 0:  # at every power of two: [Brent 1980]
            self._passing = key, number
        self.added(number)
        graph.planned[number] = threads
        if threads & (threads - 1):
            self.stats.choices += 1
            self._open_up(number)
        self._take_edge(number)
        self._at = number
        return True

    def _put(self, key: StateKey | None, number: StateNumber) -> None:
        self.stats.states += 1
        self._unstored = 0
        self._passing = None, NOWHERE
        self._is_stored[number] = True
        if key is not None:
            self.graph.numbers[key] = number

    def _add(self, enabled: int) -> StateNumber:
        trace = self.trace
        self._is_stored.append(False)
        if not trace.actions:
            return self.graph.add(enabled, NOWHERE, 0, UNKNOWN, True)
        return self.graph.add(enabled, self._at, trace.actions[-1], trace.operations[-1], self._on_way)

    def _take_edge(self, target: StateNumber) -> None:
        source, trace = self._at, self.trace
        if source == NOWHERE:
            return
        action, operation = trace.actions[-1], trace.operations[-1]
        if operation.alternatives > 1 and operation.value == 0:
            thread = action & THREAD_MASK
            self._values[source] = [thread | value << VALUE_SHIFT for value in range(1, operation.alternatives)]
            self._open_up(source)
        self.graph.add_edge(source, action, operation, target, self._on_way)
        self.edge(source, operation, target)

    def _take(self, state: StateNumber) -> Action:
        values = self._values.get(state)
        if values:
            action = values.pop()
            if not values:
                del self._values[state]
            return action
        graph = self.graph
        bit = last_or_lowest(self.trace, graph.planned[state] & ~graph.done[state])
        graph.done[state] |= bit
        return bit.bit_length() - 1

    def _take_end(self, run: Run) -> None:
        """The last state of a complete run is a state, too. (It is never among those that a chooser is asked at.)"""
        if run.ending is Ending.CUT or (self._resumed and run.ending is Ending.ENDED):
            return
        if self._resumed:
            raise self._differs()
        key = (Ending.COMPLETE, run.outcome, run.deadlock)
        number = self.graph.numbers.get(key) if self.store is not Store.NOTHING else None
        if number is None:
            number = self._add(0)
            if self.store is not Store.NOTHING:
                self._put(key, number)
            self.ended(number, run)
        else:
            self.stats.matched += 1
        self._take_edge(number)

    def _go_back(self) -> bool:
        state = self._shallowest()
        if state is None:
            return False
        self._is_way_known = self.graph.way_to(state, self.trace)
        self._at, self._resumed, self._on_way, self._passed = state, True, True, 0
        self._ahead.clear()
        return True

    def _shallowest(self) -> StateNumber | None:
        """The state nearest to the start at which something is left to do."""
        while self._open:
            state = self._open[0][1]
            if self._is_left(state):
                return state
            heapq.heappop(self._open)
        return None

    def _is_left(self, state: StateNumber) -> bool:
        graph = self.graph
        return bool(graph.planned[state] & ~graph.done[state]) or state in self._values


def last_or_lowest(trace: Trace, threads: int) -> int:
    """The mask of one of these threads: of the one that moved last, if it is among them."""
    last = 1 << trace.threads[-1] if trace.threads else 0
    return last if last & threads else threads & -threads
