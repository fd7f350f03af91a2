"""DPOR with state matching. Its backtrack sets come from summaries, and it is sound for every graph of states [FG05,
YCGK08].

Here                          In the papers
StateGraph.planned, done      backtrack(s), done(s) of [FG05], kept for each state instead of each stack frame
_summaries                    what [YCGK08] derives from its visible operation dependency graph
StatefulSearch.complete()     the proviso for cycles [God96, section 5]

Each event s -t:a-> s' is compared with the summary of s': what could come before it is planned at s, then the summary
of s grows by that of s'. When a summary grows, all events that lead to its state are compared again, whether or not
the state has been left, until nothing changes. Then planned(s) is a persistent set at every s. If a cycle is left on
which no state has all its threads planned, one gets them, and the search goes on. This keeps deadlocks, terminal
states and every thread's own states (so failed assertions), not all global states.

Differences: [YCGK08] compares an event with the summary that a state has when it is met. That summary is incomplete on
a graph with cycles, and while the state's own subtree is being explored. What happens before what is not kept: items
that are stuck take its place (see `summaries`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from sortedcontainers import SortedSet

from dpor.core.operations import Operation
from dpor.core.system import Pending, Run, StatefulSystem, Store
from dpor.explorers import invariants
from dpor.explorers.state_graph import NOWHERE, Event, StateNumber
from dpor.explorers.states import StatefulSearch, last_or_lowest
from dpor.explorers.summaries import Items, KnownEvent, Summary, SyncNumber


class Dpor(StatefulSearch):
    """A stateful search with a backtrack set and a summary for each state."""

    def __init__(self, system: StatefulSystem, store: Store = Store.EVENTS) -> None:
        super().__init__(system, store)
        self._items = Items()
        self._known: list[KnownEvent] = []  # the events of the graph, by number, under canonical names
        self._standing: dict[Event, Summary] = {}
        self._summaries: list[Summary] = []
        self._offered: list[Summary] = []  # the summaries, and items that were left out of them because others say more
        self._spread: list[Summary] = []  # what of each was carried back, over as many incoming events:
        self._spread_over = array("q")
        self._sync: list[SyncNumber] = []
        self._pending: dict[StateNumber, Summary] = {}  # in a part of another search: what each state began with
        self._unseen: set[StateNumber] = set()  # of which nothing is known yet
        self._grown: SortedSet[StateNumber] = SortedSet()  # their summaries have grown; deep ones have large numbers

    def first(self, enabled: int) -> int:
        return last_or_lowest(self.trace, enabled)

    def added(self, state: StateNumber) -> None:
        system = self.system
        self._new(self._summary_of(system.pending()), self._items.sync_number(system.sync_states()))

    def ended(self, state: StateNumber, run: Run) -> None:
        self._new(self._summary_of(run.blocked), self._items.sync_number({}))

    def known_of(self, state: StateNumber) -> Any:
        return self._items.of(self._pending[state]), self._items.sync_states(self._sync[state])

    def hear(self, state: StateNumber, known: Any) -> None:
        items, states = ((), {}) if known is None else known
        self._new(self._items.summary(items), self._items.sync_number(states))
        if known is None:
            self._unseen.add(state)

    def returned(self, state: StateNumber) -> None:
        if state in self._unseen:
            self._unseen.remove(state)
            summary = self._summary_of(self.system.pending())
            self._summaries[state] |= summary
            self._offered[state] |= summary
            self._sync[state] = self._items.sync_number(self.system.sync_states())
            self._grown.add(state)

    def _summary_of(self, pending: Iterable[Pending]) -> Summary:
        summary, standing = 0, self._standing
        for thread, operation, _ in pending:
            event = thread, operation
            item = standing.get(event)
            if item is None:
                exact = operation.rule is None
                item = standing[event] = self._items.pending(thread, self.system.canonical(operation), exact)
            summary |= item
        return summary

    def _new(self, summary: Summary, sync: SyncNumber) -> None:
        if self.scope is not None:
            self._pending[len(self._summaries)] = summary
        self._summaries.append(summary)
        self._offered.append(summary)
        self._spread.append(0)
        self._spread_over.append(0)
        self._sync.append(sync)

    def edge(self, source: StateNumber, operation: Operation, target: StateNumber) -> None:
        if operation.barrier:  # it happens only where nothing else can move, so nothing could come before it
            self.plan(source, self.graph.enabled[source])
        self._grown.add(target)

    def between(self) -> None:
        """Propagate the summaries that have grown, those of deep states first. Nothing else is done as often, so this
        is one loop."""
        grown, known, items = self._grown, self._known, self._items
        summaries, offered, spread, spread_over = self._summaries, self._offered, self._spread, self._spread_over
        planned_at, enabled_at, leading_to = self.graph.planned, self.graph.enabled, self.graph.leading_to
        state = NOWHERE
        while state != NOWHERE or grown:
            if state == NOWHERE:
                state = grown.pop()
            self.pace()
            below, edges, leading = summaries[state], spread_over[state], leading_to(state)
            new = below & ~spread[state]
            spread[state], spread_over[state] = below, len(leading)
            state = NOWHERE
            for source, number in leading:
                if edges:
                    edges -= 1
                else:
                    new = below
                event = known[number] if number < len(known) else self._event(number)
                planned = planned_at[source]
                if planned != enabled_at[source]:
                    self._compare(source, event, below)
                carried = items.carried(event, new) & ~offered[source]
                if not carried:
                    continue
                summary = summaries[source]
                if planned & (planned - 1):
                    offered[source] |= carried
                    united = items.united(summary, carried)
                else:  # the next state above with several ways may weigh the items
                    united = offered[source] = summary | carried
                if united != summary:
                    summaries[source] = united
                    if state == NOWHERE and (not grown or source > grown[-1]):
                        state = source
                    else:
                        grown.add(source)

    def check_finished(self) -> None:
        super().check_finished()
        invariants.check_summaries(self.graph, self._summaries, self._offered, self._spread)
        invariants.check_persistent(self.graph, self._rivals)

    def _rivals(self, source: StateNumber, number: int, target: StateNumber) -> int:
        """Return the mask of the threads with an item that could come before this event."""
        items = self._items
        return items.threads_of(items.rivals(self._event(number), self._summaries[target], self._sync[source]))

    def _event(self, number: int) -> KnownEvent:
        known = self._known
        for thread, operation in self.graph.events[len(known) : number + 1]:
            known.append(self._items.event(thread, self.canonical(operation)))
        return known[number]

    def _compare(self, source: StateNumber, event: KnownEvent, below: Summary) -> None:
        """Plan the threads with an item that could come before an event; if one of them is blocked, all enabled
        threads."""
        items, enabled = self._items, self.graph.enabled[source]
        rivals = items.rivals(event, below, self._sync[source])
        if rivals:
            threads = items.threads_of(rivals)
            self.plan(source, threads if not threads & ~enabled else enabled)
