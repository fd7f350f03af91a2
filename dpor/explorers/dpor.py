"""DPOR with state matching, sound for every graph of states: backtrack sets from summaries [FG05, YCGK08].

Here                          In the papers
StateGraph.planned, done      backtrack(s), done(s) of [FG05], kept for each state instead of each stack frame
_summaries                    what [YCGK08] derives from its visible operation dependency graph
StatefulSearch.complete()     the proviso for cycles [God96, section 5]

Each event s -t:a-> s' is compared with the summary of s': what could come before it is planned at s, then the summary
of s grows by that of s'. When a summary grows, all events that lead to its state are compared again, whether or not
the state has been left, until nothing changes. Then planned(s) is a persistent set at every s. If a cycle is left on
which no state has all its threads planned, one gets them, and the search goes on. This keeps deadlocks, terminal
states and every thread's own states (so failed assertions), not all global states.

Differs: [YCGK08] compares with the summary that a state has when it is met, which on a graph with cycles, or while the
state's own subtree is being explored, is incomplete. Happens-before is replaced by what is stuck (`summaries`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from dpor.explorers.state_graph import Event, StateNumber
from dpor.explorers.states import StatefulSearch, last_or_lowest
from dpor.explorers.summaries import Items, KnownEvent, Summary, SyncNumber
from dpor.operations import Operation
from dpor.system import Pending, Run, StatefulSystem, Store


class Dpor(StatefulSearch):
    """Backtrack sets with state matching and summaries."""

    def __init__(self, system: StatefulSystem, store: Store = Store.EVENTS) -> None:
        super().__init__(system, store)
        self._items = Items()
        self._events: dict[Event, KnownEvent] = {}  # as those are named that last
        self._standing: dict[Event, Summary] = {}
        self._summaries: list[Summary] = []
        self._offered: list[Summary] = []  # those, and what was not taken into them as it says less
        self._sync: list[SyncNumber] = []
        self._grown: list[StateNumber] = []  # a heap, of negative numbers: what lies deep comes first
        self._is_grown: set[StateNumber] = set()

    def first(self, enabled: int) -> int:
        return last_or_lowest(self.trace, enabled)

    def added(self, state: StateNumber) -> None:
        system = self.system
        self._new(system.pending(), self._items.sync_number(system.sync_states()))

    def ended(self, state: StateNumber, run: Run) -> None:
        self._new(run.blocked, self._items.sync_number({}))

    def _new(self, pending: Iterable[Pending], sync: SyncNumber) -> None:
        summary, standing = 0, self._standing
        for thread, operation, _ in pending:
            event = thread, operation
            item = standing.get(event)
            if item is None:
                exact = operation.rule is None
                item = standing[event] = self._items.pending(thread, self.system.lasting(operation), exact)
            summary |= item
        self._summaries.append(summary)
        self._offered.append(summary)
        self._sync.append(sync)

    def edge(self, source: StateNumber, operation: Operation, target: StateNumber) -> None:
        if operation.barrier:  # it happens only where nothing else can move, so nothing could come before it
            self.plan(source, self.graph.enabled[source])
        self._grow(target)

    def between(self) -> None:
        """Propagate what has become known, what lies deep first."""
        while self._grown:
            state = -heapq.heappop(self._grown)
            self._is_grown.discard(state)
            for source, event in self.graph.incoming(state):
                known = self._events.get(event)
                if known is None:
                    thread, operation = event
                    known = self._events[event] = self._items.event(thread, self.system.lasting(operation))
                self._compare(source, known, self._summaries[state])

    def _grow(self, state: StateNumber) -> None:
        if state not in self._is_grown:
            self._is_grown.add(state)
            heapq.heappush(self._grown, -state)

    def _compare(self, source: StateNumber, event: KnownEvent, below: Summary) -> None:
        items, graph = self._items, self.graph
        carried = items.carried(event, below)
        planned, enabled = graph.planned[source], graph.enabled[source]
        if planned != enabled:
            rivals = items.rivals(event, below, self._sync[source])
            if rivals:
                threads = items.threads_of(rivals)
                self.plan(source, threads if not threads & ~enabled else enabled)
        new = carried & ~self._offered[source]
        if new:
            self._offered[source] |= new
            summary = self._summaries[source]
            united = items.united(summary, new)
            if united != summary:
                self._summaries[source] = united
                self._grow(source)
