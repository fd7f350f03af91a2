"""The graph of states that a stateful search makes: the states it has met, the events between them, and one way to
each.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from dpor.core.operations import THREAD_MASK, UNKNOWN, VALUE_SHIFT, Action, Operation, ThreadId
from dpor.core.system import StateKey, Trace

StateNumber: TypeAlias = int

FIRST: StateNumber = 0
NOWHERE: StateNumber = -1
"""The parent of the first state."""

Event: TypeAlias = tuple[ThreadId, Operation]

_STATES = 40
"""An edge is one integer. Its lower `_STATES` bits are the number of its event (incoming edges) or its action (outgoing
edges). Its upper bits say how far the target's number is from that of the state after the source. Most edges lead to
the next state, so these are small numbers."""

_NEVER = -1
"""In `StateGraph._seen`: the operation was not recorded on the way that is known."""


class StateGraph:
    """The states met so far, the events between them, and one way to each state. States have numbers, in the order in
    which they were found.

    numbers     the number of each stored state, by its key
    enabled     by state: the mask of the threads that are enabled there
    planned     by state: the mask of the threads to be run from there
    done        by state: the mask of the threads that have been run from there
    parents     by state: the state before it on the shortest way that is known
    actions     by state: the action that leads there from its parent
    operations  by state: the operation that leads there from its parent
    depths      by state: the number of events on that way
    events      by number: the events between states
    changing    the state where it begins and the action of each event after which data change by accesses that are none

    On another way the same object may have another name. So an operation is known only as long as the way to the state
    where it begins is the one on which it was performed. `_changed` counts for each state how often the way to it has
    changed. `_seen` has the count of the state's parent at the time when the operation was recorded on that way (else
    `_NEVER`).
    """

    def __init__(self) -> None:
        self.numbers: dict[StateKey, StateNumber] = {}
        self.enabled: list[int] = []
        self.planned: list[int] = []
        self.done: list[int] = []
        self.parents: list[StateNumber] = []
        self.actions: list[Action] = []
        self.operations: list[Operation] = []
        self.depths = array("q")
        self._changed = array("q")
        self._seen = array("q")
        self._incoming: list[_Edges] = []  # most states have one edge; a list for each would be a tenth of all memory
        self._outgoing: list[_Edges] = []
        self.events: list[Event] = []
        self.changing: set[tuple[StateNumber, Action]] = set()
        self._numbers_of_events: dict[Event, int] = {}

    def __len__(self) -> int:
        return len(self.enabled)

    def add(self, enabled: int, parent: StateNumber, action: Action, operation: Operation, on_way: bool) -> StateNumber:
        """Add a new state and return its number. It was reached from `parent` by `action`, which performed `operation`.

        `on_way`: True if the run came to the parent by the way that is known.
        """
        number = len(self.enabled)
        self.enabled.append(enabled)
        self.planned.append(0)
        self.done.append(0)
        self.parents.append(parent)
        self.actions.append(action)
        self.operations.append(operation)
        self.depths.append(self.depths[parent] + 1 if parent >= 0 else 0)
        self._changed.append(0)
        self._seen.append(self._changed[parent] if on_way else _NEVER)
        self._incoming.append(None)
        self._outgoing.append(None)
        return number

    def add_edge(
        self, source: StateNumber, action: Action, operation: Operation, target: StateNumber, on_way: bool
    ) -> None:
        """Add the event that led from one state to another. `on_way`: see `add`.

        The way to a state is always longer than that to its parent, since it was so when either last changed and ways
        only become shorter. So a shorter way never leads through the state itself.
        """
        depth = self.depths[source] + 1
        if depth < self.depths[target]:
            self.parents[target], self.actions[target], self.operations[target] = source, action, operation
            self.depths[target] = depth
            self._changed[target] += 1
            self._seen[target] = self._changed[source] if on_way else _NEVER
        event = (action & THREAD_MASK, operation)
        number = self._numbers_of_events.get(event)
        if number is None:
            number = self._numbers_of_events[event] = len(self.events)
            self.events.append(event)
        distance = (target - source - 1) << _STATES
        _append(self._incoming, target, distance | number)
        _append(self._outgoing, source, distance | action)

    def redirect(self, state: StateNumber, target: StateNumber) -> list[tuple[StateNumber, Operation]]:
        """Let all events that led to the state lead to the target. Returns the state where each begins, and its
        operation. (Known ways that lead through the state stay valid.)"""
        incoming = list(self.incoming(state))
        self._incoming[state] = None
        for source in {source for source, _ in incoming}:
            kept = [edge for edge in _edges(self._outgoing[source]) if source + 1 + (edge >> _STATES) != state]
            self._outgoing[source] = kept or None
        for source, (thread, operation) in incoming:
            self.add_edge(source, thread | operation.value << VALUE_SHIFT, operation, target, False)
        return [(source, operation) for source, (_, operation) in incoming]

    def incoming(self, state: StateNumber) -> Iterator[tuple[StateNumber, Event]]:
        """Yield the states from which events lead here, and these events."""
        events = self.events
        return ((source, events[number]) for source, number in self.leading_to(state))

    def leading_to(self, state: StateNumber) -> Sequence[tuple[StateNumber, int]]:
        """Return what `incoming` yields, with the numbers of the events in place of the events."""
        known, mask = self._incoming[state], (1 << _STATES) - 1
        if isinstance(known, int):
            return ((state - 1 - (known >> _STATES), known & mask),)
        return [(state - 1 - (edge >> _STATES), edge & mask) for edge in known or ()]

    def nearest(
        self, start: StateNumber, wanted: Callable[[StateNumber], bool], most: int, barren: set[StateNumber]
    ) -> tuple[StateNumber, list[Action]] | None:
        """Return the nearest state below `start`, or `start` itself, that is wanted, and the actions that lead there,
        the last one first; None if there is none among the `most` nearest states.

        wanted   returns True for states that are wanted
        barren   states below which no state is wanted; those that are found to be so are added
        """
        came: dict[StateNumber, tuple[StateNumber, Action]] = {start: (NOWHERE, 0)}
        waiting, mask = [] if start in barren else [start], (1 << _STATES) - 1
        for state in waiting:
            if wanted(state):
                return state, _way_back(came, state)
            if len(waiting) < most:
                for edge in _edges(self._outgoing[state]):
                    target = state + 1 + (edge >> _STATES)
                    if target not in came and target not in barren:
                        came[target] = state, edge & mask
                        waiting.append(target)
        if len(waiting) < most:
            barren.update(waiting)
        return None

    def led_to(self, state: StateNumber, thread: ThreadId, operation: Operation) -> StateNumber:
        """Return the state to which this event has led from `state`, or NOWHERE."""
        number = self._numbers_of_events.get((thread, operation), -1)
        action, mask = thread | operation.value << VALUE_SHIFT, (1 << _STATES) - 1
        for edge in _edges(self._outgoing[state]):
            if edge & mask == action:
                target = state + 1 + (edge >> _STATES)
                return target if edge - action + number in _edges(self._incoming[target]) else NOWHERE
        return NOWHERE

    def target_of(self, state: StateNumber, action: Action) -> StateNumber | None:
        """Return the state to which this action has led from `state`; None if it has not been tried."""
        mask = (1 << _STATES) - 1
        for edge in _edges(self._outgoing[state]):
            if edge & mask == action:
                return state + 1 + (edge >> _STATES)
        return None

    def above_cycles(self) -> list[StateNumber]:
        """Return the states from which a cycle can be reached: those that are left when states from which no event
        leads to a state that is left are taken away again and again."""
        left = array("q", [len(_edges(edges)) for edges in self._outgoing])
        ends = [state for state, count in enumerate(left) if not count]
        while ends:
            for source, _ in self.leading_to(ends.pop()):
                left[source] -= 1
                if not left[source]:
                    ends.append(source)
        return [state for state, count in enumerate(left) if count]

    def targets(self, state: StateNumber) -> Iterator[StateNumber]:
        """Yield the states to which events lead from this one."""
        return (state + 1 + (edge >> _STATES) for edge in _edges(self._outgoing[state]))

    def successors(self, states: Iterable[StateNumber]) -> dict[StateNumber, list[StateNumber]]:
        """Return for each of these states those among them to which an event leads from it."""
        out: dict[StateNumber, list[StateNumber]] = {state: [] for state in states}
        for target in out:
            for source, _ in self.incoming(target):
                if source in out:
                    out[source].append(target)
        return out

    def actions_to(self, state: StateNumber) -> list[Action]:
        """Return the actions that lead to the state."""
        return [self.actions[at] for at in self._way(state)]

    def way_to(self, state: StateNumber, trace: Trace) -> bool:
        """Make `trace` the one that leads to the state. Returns True if all its operations are known; those that are
        not are `UNKNOWN`."""
        trace.cut(0)
        way = self._way(state)
        known = True
        for at in way:
            known = known and self._seen[at] == self._changed[self.parents[at]]
            trace.actions.append(self.actions[at])
            trace.operations.append(self.operations[at] if known else UNKNOWN)
        trace.threads.extend([action & THREAD_MASK for action in trace.actions])
        trace.befores.extend([None] * len(way))
        return known

    def learn_way(self, state: StateNumber, trace: Trace) -> None:
        """Record the operations of `trace`, which leads to the state by the way that is known. Where they were not
        known, those of events further on were recorded on another way."""
        for at, operation in zip(self._way(state), trace.operations, strict=False):
            count = self._changed[self.parents[at]]
            self._changed[at] += self._seen[at] != count
            self.operations[at] = operation
            self._seen[at] = count

    def _way(self, state: StateNumber) -> list[StateNumber]:
        """Return the states on the way, without the first."""
        way = []
        while self.parents[state] >= 0:
            way.append(state)
            state = self.parents[state]
        way.reverse()
        return way


_Edges: TypeAlias = "int | list[int] | None"


def _append(table: list[_Edges], state: StateNumber, edge: int) -> None:
    known = table[state]
    if known is None:
        table[state] = edge
    elif isinstance(known, int):
        table[state] = [known, edge]
    else:
        known.append(edge)


def _edges(known: _Edges) -> Sequence[int]:
    return () if known is None else (known,) if isinstance(known, int) else known


def _way_back(came: dict[StateNumber, tuple[StateNumber, Action]], state: StateNumber) -> list[Action]:
    actions: list[Action] = []
    while True:
        state, action = came[state]
        if state == NOWHERE:
            return actions
        actions.append(action)
