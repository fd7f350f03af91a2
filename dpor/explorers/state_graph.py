"""The graph of states that a stateful search makes: the states met, the events between them, one way to each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from dpor.operations import THREAD_MASK, UNKNOWN, Action, Operation, ThreadId
from dpor.system import StateKey, Trace

StateNumber: TypeAlias = int

NOWHERE: StateNumber = -1
"""The parent of the first state."""

Event: TypeAlias = tuple[ThreadId, Operation]

_STATES = 40
"""An edge is one integer: the number of its event, shifted by so many bits, and that of the state where it begins."""


class StateGraph:
    """The states met so far, by number in order of discovery, the events between them, and one way to each.

    enabled, planned, done   masks of threads, by state
    parents, actions, depths   the last event of the shortest way to the state that is known, and how long it is; what
             its events were in full is not kept, since the same object may have other names on another way
    """

    def __init__(self) -> None:
        self.numbers: dict[StateKey, StateNumber] = {}
        self.enabled: list[int] = []
        self.planned: list[int] = []
        self.done: list[int] = []
        self.parents: list[StateNumber] = []
        self.actions: list[Action] = []
        self.depths: list[int] = []
        self._incoming: list[list[int]] = []
        self._events: list[Event] = []
        self._numbers_of_events: dict[Event, int] = {}

    def __len__(self) -> int:
        return len(self.enabled)

    def add(self, enabled: int, parent: StateNumber, action: Action) -> StateNumber:
        number = len(self.enabled)
        self.enabled.append(enabled)
        self.planned.append(0)
        self.done.append(0)
        self.parents.append(parent)
        self.actions.append(action)
        self.depths.append(self.depths[parent] + 1 if parent >= 0 else 0)
        self._incoming.append([])
        return number

    def add_edge(self, source: StateNumber, action: Action, operation: Operation, target: StateNumber) -> None:
        """An event led from a state to another.

        The way to a state is always longer than that to its parent, since it was so when either last changed and ways
        only become shorter. So a shorter way never leads through the state itself.
        """
        depth = self.depths[source] + 1
        if depth < self.depths[target]:
            self.parents[target], self.actions[target], self.depths[target] = source, action, depth
        event = (action & THREAD_MASK, operation)
        number = self._numbers_of_events.get(event)
        if number is None:
            number = self._numbers_of_events[event] = len(self._events)
            self._events.append(event)
        self._incoming[target].append(number << _STATES | source)

    def incoming(self, state: StateNumber) -> Iterator[tuple[StateNumber, Event]]:
        """The states from which events lead here, and the events."""
        events, mask = self._events, (1 << _STATES) - 1
        return ((edge & mask, events[edge >> _STATES]) for edge in self._incoming[state])

    def successors(self, states: Iterable[StateNumber]) -> dict[StateNumber, list[StateNumber]]:
        """For each of these states, those of them to which an event leads from it."""
        out: dict[StateNumber, list[StateNumber]] = {state: [] for state in states}
        for target in out:
            for source, _ in self.incoming(target):
                if source in out:
                    out[source].append(target)
        return out

    def way_to(self, state: StateNumber, trace: Trace) -> None:
        """Make the trace the one that leads to the state."""
        trace.cut(0)
        while self.parents[state] >= 0:
            trace.actions.append(self.actions[state])
            state = self.parents[state]
        trace.actions.reverse()
        trace.threads.extend([action & THREAD_MASK for action in trace.actions])
        trace.operations.extend([UNKNOWN] * len(trace.actions))
        trace.befores.extend([None] * len(trace.actions))
