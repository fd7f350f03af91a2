"""`original`, without the choices that a static analysis of field accesses rules out. [PL, Fig. 6]

Here                        In the paper
system.ruled_out(thread)    "globally relevant" is false: the field is immutable, or no other thread may make a
                            conflicting access to it after the point where it is
first()                     the scheduling choice of Fig. 2, under that condition

An analysis of Python may be wrong (a field is written under a computed name, a method is replaced while the program
runs). So what it says is taken as a guess and compared with what was seen: where a thread was run alone because no
other one would make a conflicting access later, none may make one anywhere below that state in the finished graph. One
that does contradicts the facts relied on. They are then withdrawn, and the search starts again without them.

This check is enough. Suppose that from a state s of the graph, where thread p with its operation a was run alone, other
threads could come to an operation b that conflicts with a, by a shortest sequence w of operations before which none
conflicts with a. Then w can be carried out after a as well; and wherever on the way another thread was run alone in its
turn, w can be carried out after that too, or it contains that operation, which can come first, or it conflicts with it,
and then the shorter part of w up to there is a counterexample in its place. No cycle is left on which w could be put
off for ever (`StatefulSearch.complete`). So below s the same thread comes to b. Then b is an event there, or else it is
what the thread waits with at a state: a may have made it wait for ever.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from dpor.core.dependence import dependent
from dpor.core.operations import Operation, ThreadId
from dpor.core.system import OracleSystem, Pending, Run, Store, SyncChoices
from dpor.explorers.original import Original
from dpor.explorers.state_graph import Event, StateNumber


class Reliance(NamedTuple):
    """A record that a thread was run alone with this operation, because of these facts about the other live threads.

    live   the mask of the threads that were live
    """

    thread: ThreadId
    operation: Operation
    facts: frozenset[str]
    live: int


class Sa(Original):
    """As `Original`, but where that has a choice this runs only the running thread if the facts say that the choice
    does not matter."""

    system: OracleSystem

    def __init__(
        self, system: OracleSystem, store: Store = Store.EVENTS, sync_choices: SyncChoices = SyncChoices.ALL
    ) -> None:
        super().__init__(system, store, sync_choices)
        self._reliance: Reliance | None = None
        self._relied: dict[StateNumber, Reliance] = {}
        self._waiting: dict[StateNumber, tuple[Event, ...]] = {}  # the threads that wait there, with what

    def first(self, enabled: int) -> int:
        self._reliance = None
        planned = super().first(enabled)
        threads = self.trace.threads
        if not planned & (planned - 1) or not threads or not enabled >> threads[-1] & 1:
            return planned
        thread = threads[-1]
        facts = self.system.ruled_out(thread)
        if not facts:
            return planned
        pending = {p.thread: p.operation for p in self.system.pending()}
        live = sum(1 << t for t in pending)
        self._reliance = Reliance(thread, self.system.canonical(pending[thread]), frozenset(facts), live)
        return 1 << thread

    def added(self, state: StateNumber) -> None:
        if self._reliance is not None:
            self._relied[state] = self._reliance
        self._add_waiting(state, self.system.pending())

    def ended(self, state: StateNumber, run: Run) -> None:
        self._add_waiting(state, run.blocked)

    def _add_waiting(self, state: StateNumber, pending: Sequence[Pending]) -> None:
        enabled = self.graph.enabled[state]
        if len(pending) > enabled.bit_count():
            canonical = self.system.canonical
            waiting = [(p.thread, canonical(p.operation)) for p in pending if not enabled >> p.thread & 1]
            self._waiting[state] = tuple(waiting)

    def known_of(self, state: StateNumber) -> Any:
        return self._relied.get(state), self._waiting.get(state)

    def hear(self, state: StateNumber, known: Any) -> None:
        reliance, waiting = known or (None, None)
        if reliance is not None:
            self._relied[state] = reliance
        if waiting is not None:
            self._waiting[state] = waiting

    def complete(self) -> bool:
        if not super().complete():
            return False
        contradicted = self._contradicted()
        if contradicted:
            self.system.withdraw_facts(contradicted)
        return True

    def _contradicted(self) -> set[str]:
        """Return the facts that were relied on at a state below which they turned out to be wrong."""
        numbers: dict[Reliance, int] = {}
        for reliance in self._relied.values():
            numbers.setdefault(reliance, len(numbers))
        if not numbers:
            return set()
        events = _Contradicting(list(numbers), self._all_events(), self.canonical)
        below = [0] * len(self.graph)
        for state, waiting in self._waiting.items():
            for event in waiting:
                below[state] |= events.of(event)
        todo = dict.fromkeys(range(len(below)))
        while todo:  # a reliance that is contradicted below a state is so below the states above it
            state, _ = todo.popitem()
            for source, event in self.graph.incoming(state):
                mask = below[state] | events.of(event)
                if mask & ~below[source]:
                    below[source] |= mask
                    todo[source] = None
        wrong = (r.facts for state, r in self._relied.items() if below[state] >> numbers[r] & 1)
        return {fact for facts in wrong for fact in facts}

    def _all_events(self) -> Iterable[Event]:
        return (event for state in range(len(self.graph)) for _, event in self.graph.incoming(state))


class _Contradicting:
    """Finds which reliances an event contradicts, as a mask of their numbers."""

    def __init__(
        self, reliances: list[Reliance], events: Iterable[Event], canonical: Callable[[Operation], Operation]
    ) -> None:
        self._canonical = canonical
        self._parents = {operation.starts: thread for thread, operation in set(events) if operation.starts >= 0}
        self._masks: dict[Event, int] = {}
        self._by_location: dict[int, list[tuple[int, Reliance]]] = defaultdict(list)
        for number, reliance in enumerate(reliances):
            for location, _ in reliance.operation.accesses:
                self._by_location[location].append((number, reliance))

    def of(self, event: Event) -> int:
        mask = self._masks.get(event)
        if mask is None:
            mask = self._masks[event] = self._of(*event)
        return mask

    def _of(self, thread: ThreadId, operation: Operation) -> int:
        mask = 0
        operation = self._canonical(operation)
        for location, _ in operation.accesses:
            for number, reliance in self._by_location.get(location, ()):
                if dependent(reliance.operation, operation) and self._is_other(thread, reliance):
                    mask |= 1 << number
        return mask

    def _is_other(self, thread: ThreadId, reliance: Reliance) -> bool:
        """True if the thread is not the one that was run alone, nor one that this starts later: what such threads do
        comes after its operation."""
        while not reliance.live >> thread & 1 and thread in self._parents:
            thread = self._parents[thread]
        return thread != reliance.thread
