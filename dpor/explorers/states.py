"""The base of the stateful searches: the graph of states, and runs that end where they meet a known state.

A state is reached by repeating a schedule from the start, so the planned threads can be run in any order. Each state
has two sets of threads: `planned`, to be run from it, and `done`. A search decides in `first` what is planned for a new
state, learns from `edge` and `ended`, and adds threads by `plan`, also to states left long ago. States nearest to the
start are taken up first, since every event of the way there must be repeated. But where a run meets a known state, and
something is left to do there or near below, it goes on to that: then nothing is repeated at all.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from dpor.core.errors import NotDeterministic
from dpor.core.operations import THREAD_MASK, UNKNOWN, VALUE_SHIFT, Action, Operation
from dpor.core.outcome import Finding, digest
from dpor.core.system import STOP, Ending, KnowsStates, Run, StatefulSystem, StateKey, Store, Trace
from dpor.explorers import invariants
from dpor.explorers.cycles import breaking
from dpor.explorers.rounds import Round, find_rounds
from dpor.explorers.search import Stats, take_your_time
from dpor.explorers.state_graph import FIRST, NOWHERE, StateGraph, StateNumber

FEW_UNSTORED = 16
"""After this many events without a stored state, the search looks for a cycle on which none is stored."""

MOST_LOOKED_AT = 256
"""How many states below a known one a run looks at for something left to do."""
MOST_DEEPER = 256
"""How many events further from the start than the nearest state with something left to do such a state may lie, so that
endless programs do not lead the search astray. (Also, a run may be as long as twice the shortest way to where it is,
and this many events more.)"""


class Region(Protocol):
    """What a search that is a part of another one is to search: see `dpor.explorers.shared_graph`."""

    def share_of(self, state: StateNumber, key: StateKey | None, trace: Trace, threads: int) -> int:
        """Return which of these threads the search is to run at a new state, to which this trace has led; others will
        run the rest of them."""
        ...

    def edge(
        self, source: StateNumber, action: Action, operation: Operation, target: StateNumber, has_changed: bool
    ) -> None:
        """Take note of an event. `has_changed`: see `StatefulSearch.add_edge`."""
        ...


class StatefulSearch:
    """A stateful search. Each run goes from a state at which something is left to do to the next known state, or to the
    end.

    store       which states are stored, and so can be met again
    terminates  True if the program comes to an end under every schedule; None if that is not known (yet)
    cycle       if it does not: a schedule that leads to a cycle, and the one that goes round it once
    scope       if it is a part of another search: what it is to search; else None
    from_other_processes   operations that others have performed: their canonical ones, and whether they change data
    unstored_elsewhere   why they could not store states, and how often
    """

    def __init__(self, system: StatefulSystem, store: Store = Store.EVENTS) -> None:
        self.system = system
        if isinstance(system, KnowsStates):
            system.will_store_states()
        self.store = store
        self.trace = Trace()
        self.stats = Stats()
        self.pace = take_your_time
        self.graph = StateGraph()
        self.terminates: bool | None = None
        self.cycle: tuple[tuple[Action, ...], tuple[Action, ...]] | None = None
        self.scope: Region | None = None
        self.from_other_processes: dict[Operation, tuple[Operation, bool]] = {}
        self.unstored_elsewhere: Counter[str] = Counter()
        self._end_keys: dict[Hashable, StateKey] = {}
        self._at: StateNumber = NOWHERE
        self._resumed = False
        self._is_way_known = False  # are all operations known on the way to the state where the search went on?
        self._met: StateNumber = NOWHERE  # the known state that the run has come to
        self._ahead: list[Action] = []  # actions from there to a state with something left, last one first
        self._went_on = 0  # after how many events it met that state
        self._passed = 0  # events of the run that led from known states to known ones
        self._on_way = True  # has the run come by the way that the graph knows?
        # A heap, by depth, in which a state may be several times; those with nothing left are passed over. (Searches of
        # small programs take 5 % longer with a sorted set from which these are taken out.)
        self._open: list[tuple[int, StateNumber]] = []
        self._values: dict[StateNumber, list[Action]] = {}  # data choices still to be taken
        self._barren: set[StateNumber] = set()  # states below which nothing is left to do
        self._is_stored = bytearray()
        self._unstored = 0  # events since the last state that was stored
        self._passing: tuple[StateKey | None, StateNumber] = None, NOWHERE  # one of the states since
        self._is_checked = invariants.are_wanted()
        self._goes_on: bool | None = None  # is something left to do? None: not known yet
        self._checked = 0  # how many states have been checked

    # ------------------------------------------------------------------ what a search decides

    @abstractmethod
    def first(self, enabled: int) -> int:
        """Return the mask of the threads to be planned at the present state, which is new: at least one."""

    def added(self, state: StateNumber) -> None:
        """Called when the present state is a new one, with this number."""

    def edge(self, source: StateNumber, operation: Operation, target: StateNumber) -> None:
        """Called when an event has led from one state to another, and is in the graph."""

    def ended(self, state: StateNumber, run: Run) -> None:
        """Called when a run that was not cut has ended in this state, if the state is new."""

    def between(self) -> None:
        """Called when a run is over, and before a run goes on from a known state that it has met."""

    def known_of(self, state: StateNumber) -> Any:
        """Return what another process has to know of a state that this search has found: what `added` has noted."""

    def hear(self, state: StateNumber, known: Any) -> None:
        """Take note of what another process has told of a state; None if nothing is known yet."""

    def returned(self, state: StateNumber) -> None:
        """Called in a part of another search when a run has come to a state at which something is left to do."""

    def complete(self) -> bool:
        """Called when nothing planned is left: check that every cycle has a state at which all enabled threads are
        planned [God96, section 5: the ignoring problem].

        Returns True if that is so. Otherwise plans all enabled threads at one state of each cycle that has none.
        """
        graph = self.graph
        partly = [state for state in graph.above_cycles() if graph.planned[state] != graph.enabled[state]]
        complete = True
        for state in breaking(graph.successors(partly), self.pace):
            self.plan(state, graph.enabled[state])
            complete = False
        return complete

    def check(self) -> None:
        """Check the invariants that hold between runs. Raises `InternalError` if one does not."""
        invariants.check_trace(self.trace)
        invariants.check_graph(self.graph, range(self._checked, len(self.graph)))
        self._checked = len(self.graph)

    def check_finished(self) -> None:
        """Check the invariants of the finished graph. Raises `InternalError` if one does not hold."""
        invariants.check_graph(self.graph, range(len(self.graph)))
        invariants.check_finished(self.graph)

    # ------------------------------------------------------------------ searching

    def explore(self) -> Iterator[Run]:
        """Explore the system: yield run after run. The trace of each is in `self.trace` until the next is asked for."""
        stats, trace = self.stats, self.trace
        if self.scope is not None and not self._go_back():
            return
        while True:
            self._goes_on = None
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
            if self.is_finished():
                if self.scope is None:
                    if self._is_checked:
                        self.check_finished()
                    yield from self._rounds()
                return

    def is_finished(self) -> bool:
        """True if everything has been covered by the runs so far. (Which cycles there are may show only afterwards.)"""
        if self._goes_on is None:
            self._goes_on = self._go_back()
            while not self._goes_on and self.scope is None and not self.complete():
                self._goes_on = self._go_back()
        return not self._goes_on

    def _rounds(self) -> Iterator[Run]:
        """Find the endless cycles, and for each livelock yield a run that goes round it once."""
        rounds = find_rounds(self.graph, self.changes_data, self.pace)
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
            livelock = self.system.livelock(found.moving)
            findings.extend(() if livelock is None else (livelock,))
            return STOP

        run = self.system.run(self.trace, choose)
        ending = Ending.DROPPED if run.ending is Ending.STOPPED and not findings else run.ending
        return Run(ending, run.blocked, findings=findings, incomplete=run.incomplete, silent=run.silent)

    def canonical(self, operation: Operation) -> Operation:
        """See `dpor.core.system.StatefulSystem.canonical`."""
        theirs = self.from_other_processes.get(operation)
        return self.system.canonical(operation) if theirs is None else theirs[0]

    def changes_data(self, operation: Operation) -> bool:
        """See `dpor.core.system.StatefulSystem.changes_data`."""
        theirs = self.from_other_processes.get(operation)
        return self.system.changes_data(operation) if theirs is None else theirs[1]

    def unstored(self) -> Mapping[str, int]:
        """See `dpor.core.system.StatefulSystem.unstored`."""
        return self.unstored_elsewhere + Counter(self.system.unstored())

    def plan(self, state: StateNumber, threads: int) -> None:
        """Plan the threads of this mask at the state, too."""
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

    # ------------------------------------------------------------------ searching together

    def take_open(self) -> Iterator[StateNumber]:
        """Yield each state at which something is left to do; they are not searched from then on."""
        while (state := self._shallowest()) is not None:
            heapq.heappop(self._open)
            yield state

    def open_up(self, states: Iterable[StateNumber]) -> None:
        """Search those of these states again at which something is left to do."""
        self._barren.clear()
        for state in states:
            if self._is_left(state):
                self._open_up(state)

    @property
    def at(self) -> StateNumber:
        """The state to which the run has come last."""
        return self._at

    def values_left(self, state: StateNumber) -> list[Action]:
        """Return the data choices that are left at a state."""
        return self._values.get(state, [])

    def leave_values(self, state: StateNumber, values: list[Action]) -> None:
        """Set the data choices that are left at a state."""
        if values:
            self._values[state] = values
        else:
            self._values.pop(state, None)

    def add_state(
        self, source: StateNumber, action: Action, operation: Operation, enabled: int, known: Any
    ) -> StateNumber:
        """Add a state that another process has found. `known`: see `hear`."""
        self._is_stored.append(True)
        number = self.graph.add(enabled, source, action, operation, False)
        self.hear(number, known)
        return number

    def add_known(self, key: StateKey | None) -> StateNumber:
        """Add a state that another process has found, and at which nothing is to be done."""
        number = self.add_state(NOWHERE, 0, UNKNOWN, 0, None)
        if key is not None:
            self.graph.numbers[key] = number
        return number

    # ------------------------------------------------------------------ one run

    def _choose(self, enabled: int) -> Action:
        """The chooser of each run: let it go on, or end it where it meets a known state with nothing left to do."""
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
        """Let the run go on from the known state that it has met to one where something is left to do. Returns False if
        none is near."""
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
        """Called when events have been repeated. Returns True if the run has come to the same state as before. A state
        at which there turned out to be a choice is stored now.

        After `_go_on` the run may have come to another state, and then it ends. A state names some objects, such as
        locks that a thread waits for until a deadline, by the events before they were made, and these differ along ways
        that have met. The state that was meant is then reached by its own way, later.

        Raises `NotDeterministic` if the run was repeated from the start and has come to another state.
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
        """True if the run has performed, since the start or since the known state from which it went on, the same
        events that led here before. (Some operations name objects by the way on which they were made. These differ,
        although the states may be the same.)"""
        if self.system.remembers_way():
            return False
        state, first, trace = (FIRST, 0, self.trace) if self._on_way else (self._met, self._went_on, self.trace)
        for thread, operation in zip(trace.threads[first:], trace.operations[first:], strict=True):
            state = self.graph.led_to(state, thread, operation)
            if state == NOWHERE:
                return False
        return state == self._at

    def _merge(self, state: StateNumber, known: StateNumber) -> None:
        """Called when a state that was not stored turns out to be a known one: the events that led to it lead to the
        known one from now on."""
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
        """Called when an event has happened, and when the first run begins. Returns True if the present state is
        new."""
        graph = self.graph
        self._unstored += 1
        if self.store is Store.EVENTS:
            to_store = to_look = True  # the state can be looked up before it is known what is planned
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
        if self.scope is not None:
            threads = self.scope.share_of(number, key, self.trace, threads)
            if not threads:
                self._take_edge(number)
                self._met = number
                return False
        graph.planned[number] = threads
        if threads & (threads - 1):
            self.stats.choices += 1
            self._open_up(number)
        self._take_edge(number)
        self._at = number
        return True

    def _put(self, key: StateKey | None, number: StateNumber) -> None:
        """Store the state, to be met again if it has a key."""
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
        has_changed = self.system.has_changed_silently()
        if self.scope is not None:
            self.scope.edge(source, action, operation, target, has_changed)
        self.add_edge(source, action, operation, target, has_changed, self._on_way)

    def add_edge(
        self,
        source: StateNumber,
        action: Action,
        operation: Operation,
        target: StateNumber,
        has_changed: bool,
        on_way: bool = False,
    ) -> None:
        """Add an event to the graph. `has_changed`: see `StatefulSystem.has_changed_silently`; `on_way`:
        `StateGraph.add`."""
        self.graph.add_edge(source, action, operation, target, on_way)
        if has_changed:
            self.graph.changing.add((source, action))
        self.edge(source, operation, target)

    def _take(self, state: StateNumber) -> Action:
        if self.scope is not None:
            self.returned(state)
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
        """Add the last state of a run to the graph. (A chooser is never asked at such a state.)"""
        if run.ending is Ending.CUT or (self._resumed and run.ending is Ending.ENDED):
            return
        if self._resumed:
            raise self._differs()
        key = self._end_key((run.outcome, run.deadlock))
        number = self.graph.numbers.get(key) if self.store is not Store.NOTHING else None
        if number is None:
            number = self._add(0)
            if self.store is not Store.NOTHING:
                self._put(key, number)
            self.ended(number, run)
        else:
            self.stats.matched += 1
        self._take_edge(number)

    def _end_key(self, result: Hashable) -> StateKey:
        key = self._end_keys.get(result)
        if key is None:
            key = self._end_keys[result] = "end", digest(result)
        return key

    def _go_back(self) -> bool:
        """Let the next run go to the shallowest state with something left to do. Returns False if there is none."""
        state = self._shallowest()
        if state is None:
            return False
        self._is_way_known = self.graph.way_to(state, self.trace)
        self._at, self._resumed, self._on_way, self._passed = state, True, True, 0
        self._ahead.clear()
        return True

    def _shallowest(self) -> StateNumber | None:
        """Return the state nearest to the start at which something is left to do; None if there is none."""
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
    """Return the mask of one of these threads: of the one that moved last if it is among them, else of the lowest."""
    last = 1 << trace.threads[-1] if trace.threads else 0
    return last if last & threads else threads & -threads
