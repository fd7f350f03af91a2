"""The graph of states: what lies nearest below a state, and how to come there."""

from __future__ import annotations

from dpor.explorers.state_graph import NOWHERE, StateGraph
from dpor.operations import UNKNOWN


def a_graph() -> StateGraph:
    """0 -> 1 -> 2 -> 3 by thread 0, and by thread 1: 0 -> 4, 4 -> 2, 3 -> 1."""
    graph = StateGraph()
    for parent, action in ((NOWHERE, 0), (0, 0), (1, 0), (2, 0), (0, 1)):
        number = graph.add(0b11, parent, action, UNKNOWN, True)
        if parent != NOWHERE:
            graph.add_edge(parent, action, UNKNOWN, number, True)
    graph.add_edge(4, 1, UNKNOWN, 2, True)
    graph.add_edge(3, 1, UNKNOWN, 1, True)
    return graph


def test_the_nearest_state_below_is_found_with_the_way_there() -> None:
    graph = a_graph()
    assert graph.nearest(4, lambda state: state == 4, 10) == (4, [])
    assert graph.nearest(4, lambda state: state in (1, 3), 10) == (3, [0, 1])
    assert graph.nearest(4, lambda state: state == 1, 10) == (1, [1, 0, 1])
    assert graph.nearest(1, lambda state: state == 0, 10) is None
    assert graph.nearest(4, lambda state: state == 1, 2) is None
