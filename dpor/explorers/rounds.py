"""The cycles of a finished graph of states. They show whether the program can go on for ever, and in a livelock.

A *livelock* is a set of states that cannot be left and in which nothing changes: each thread that is enabled in one of
them moves in one of them, and none of their events changes data. So it is a component of the graph that no event leads
out of. A search may have left out events, but at one state of each cycle it has all of them, so a thread that could
move is seen to move.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from dpor.core.operations import VALUE_SHIFT, Action, Operation
from dpor.explorers.cycles import cyclic_components
from dpor.explorers.search import take_your_time
from dpor.explorers.state_graph import Event, StateGraph, StateNumber


class Round(NamedTuple):
    """A cycle of the graph.

    state     the state where it begins
    actions   the actions that lead once round it
    moving    the mask of the threads that move in its component
    livelock  True if its component is a livelock
    """

    state: StateNumber
    actions: tuple[Action, ...]
    moving: int
    livelock: bool


def find_rounds(
    graph: StateGraph, changes_data: Callable[[Operation], bool], pace: Callable[[], None] = take_your_time
) -> list[Round]:
    """Return one cycle for each component of the graph that has any, livelocks first.

    changes_data   returns True for operations that write data of the program
    pace           see `dpor.explorers.strategy.Explorer`
    """
    rounds = []
    for component in cyclic_components(graph.successors(graph.above_cycles()), pace):
        pace()
        inside = set(component)
        events = [
            (source, *event) for state in component for source, event in graph.incoming(state) if source in inside
        ]
        moving = enabled = 0
        for _, thread, _ in events:
            moving |= 1 << thread
        for state in component:
            enabled |= graph.enabled[state]
        livelock = (
            all(target in inside for state in component for target in graph.targets(state))
            and not enabled & ~moving
            and not any(
                changes_data(operation) or (source, thread | operation.value << VALUE_SHIFT) in graph.changing
                for source, thread, operation in events
            )
        )
        start = min(component, key=lambda state: graph.depths[state])
        rounds.append(Round(start, _shortest_round(graph, start, inside), moving, livelock))
    return sorted(rounds, key=lambda found: not found.livelock)


def _shortest_round(graph: StateGraph, start: StateNumber, inside: set[StateNumber]) -> tuple[Action, ...]:
    """Return the actions of a shortest cycle through the state. It is searched for backwards, breadth first."""
    onward: dict[StateNumber, tuple[StateNumber, Event]] = {}
    waiting = deque([start])
    while waiting:
        target = waiting.popleft()
        for source, event in graph.incoming(target):
            if source in inside and source not in onward:
                onward[source] = target, event
                if source == start:
                    return _actions(onward, start)
                waiting.append(source)
    raise AssertionError(f"state {start} is on no cycle")


def _actions(onward: dict[StateNumber, tuple[StateNumber, Event]], start: StateNumber) -> tuple[Action, ...]:
    actions: list[Action] = []
    state = start
    while True:
        state, (thread, operation) = onward[state]
        actions.append(thread | operation.value << VALUE_SHIFT)
        if state == start:
            return tuple(actions)
