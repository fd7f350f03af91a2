"""The graph of states: what lies nearest below a state, and how to come there."""

from __future__ import annotations

from dpor.core.operations import UNKNOWN, OperationTable
from dpor.core.system import Trace
from dpor.explorers.state_graph import NOWHERE, StateGraph


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
    assert graph.nearest(4, lambda state: state == 4, 10, set()) == (4, [])
    assert graph.nearest(4, lambda state: state in (1, 3), 10, set()) == (3, [0, 1])
    assert graph.nearest(4, lambda state: state == 1, 10, set()) == (1, [1, 0, 1])
    assert graph.nearest(1, lambda state: state == 0, 10, set()) is None
    assert graph.nearest(4, lambda state: state == 1, 2, set()) is None


def test_what_lies_below_states_without_a_wanted_one_is_searched_once() -> None:
    graph, barren, asked = a_graph(), set[int](), list[int]()

    def wanted(state: int) -> bool:
        asked.append(state)
        return state in (0, 4)

    assert graph.nearest(2, wanted, 2, barren) is None
    assert not barren  # it was not seen what lies below the last
    assert graph.nearest(1, wanted, 10, barren) is None
    assert barren == {1, 2, 3}
    asked.clear()
    assert graph.nearest(2, wanted, 10, barren) is None
    assert graph.nearest(0, wanted, 10, barren) == (0, [])
    assert asked == [0]


def test_a_state_is_found_by_the_event_that_led_there() -> None:
    graph = a_graph()
    assert graph.led_to(4, 1, UNKNOWN) == 2
    assert graph.led_to(0, 1, UNKNOWN) == 4
    assert graph.led_to(4, 0, UNKNOWN) == NOWHERE


def test_states_above_cycles() -> None:
    graph = a_graph()
    assert graph.above_cycles() == [0, 1, 2, 3, 4]
    end = graph.add(0, 4, 2, UNKNOWN, True)
    graph.add_edge(4, 2, UNKNOWN, end, True)
    assert graph.above_cycles() == [0, 1, 2, 3, 4]
    assert sorted(graph.targets(4)) == [2, end]


def test_what_was_recorded_below_another_way_is_unknown_when_the_new_one_has_been_learnt() -> None:
    """0 -> 1 -> 2 -> 3 -> 4 by thread 0, and then 0 -> 2 by thread 1: later events may now name other objects."""
    table = OperationTable()
    other, *operations = (table.intern("write", ((place, 1),)) for place in range(5))
    graph, trace = StateGraph(), Trace()
    graph.add(0b11, NOWHERE, 0, UNKNOWN, True)
    for parent, operation in enumerate(operations):
        graph.add(0b11, parent, 0, operation, True)
        graph.add_edge(parent, 0, operation, parent + 1, True)
    assert graph.way_to(4, trace)
    graph.add_edge(0, 1, other, 2, True)
    assert not graph.way_to(3, trace)
    assert trace.operations == [other, UNKNOWN]
    trace.operations[1] = operations[2]
    graph.learn_way(3, trace)
    assert graph.way_to(3, trace)
    assert not graph.way_to(4, trace)
    assert trace.operations == [other, operations[2], UNKNOWN]
