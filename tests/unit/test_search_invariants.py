"""The invariants of searches: each, broken on purpose, is told in a line; where nobody asks, none is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from dpor.core.errors import InternalError
from dpor.core.options import Order
from dpor.core.system import STOP
from dpor.explorers import BoundedClassic, BoundedNone, Causal, Classic, Dpor, Full, NoReduction, Optimal, RandomWalk
from dpor.explorers import invariants as checks
from dpor.explorers.parts import SearchOfPart, SharedTree
from dpor.explorers.shared_graph import SearchOfStates, SharedGraph
from dpor.explorers.tree import Node
from dpor.model import AbstractSystem
from dpor.testing import Spec

THREE_WRITERS: Spec = {"vars": {"x": 0, "y": 0}, "threads": [["w x 1", "r y a"], ["w x 2", "w y 1"], ["r x a"]]}
LOCKED: Spec = {
    "vars": {"x": 0},
    "locks": ["m"],
    "threads": [["lock m", "w x 1", "unlock m"], ["lock m", "w x 2", "unlock m"]],
}


def after_runs(make: Callable[..., Any], spoil: Callable[[Any], None], *, method: str = "_learn", at: int = 1) -> Any:
    """A search that is spoiled when this method has been called so many times."""

    class Spoiled(make):  # type: ignore[misc]
        calls = 0

    def spoiled(self: Any, *arguments: Any) -> Any:
        result = getattr(super(Spoiled, self), method)(*arguments)
        self.calls += 1
        if self.calls == at:
            spoil(self)
        return result

    setattr(Spoiled, method, spoiled)
    return Spoiled


def told(search: Any) -> str:
    """What the search says of itself."""
    with pytest.raises(InternalError) as caught:
        for _ in search.explore():
            pass
    return str(caught.value)


# ---------------------------------------------------------------------- the stateless searches


def drop_state(search: Any) -> None:
    search.trace.befores.pop()


def swap_thread(search: Any) -> None:
    search.trace.actions[0] = 1 - search.trace.threads[0]


def drop_node(search: Any) -> None:
    search.nodes.pop()


def run_disabled(search: Any) -> None:
    search.nodes[0].enabled = 0


def sleep_disabled(search: Any) -> None:
    search.nodes[0].sleep = {7: search.trace.operations[0]}


def run_asleep(search: Any) -> None:
    search.nodes[0].sleep = {search.trace.actions[0]: search.trace.operations[0]}


def run_what_is_not_planned(search: Any) -> None:
    search.nodes[0].branches = []


def plan(search: Any, action: int, operation: Any = None) -> Node:
    """Plan one more branch of the first node."""
    first = search.nodes[0]
    first.branches.append(Node(action, operation or search.trace.operations[0], first))
    return first.branches[-1]


def plan_disabled(search: Any) -> None:
    plan(search, 7)


def plan_asleep(search: Any) -> None:
    other = 1 - search.trace.actions[0]
    plan(search, other)
    search.nodes[0].sleep = {other: search.trace.operations[0]}


def plan_again(search: Any) -> None:
    plan(search, search.trace.actions[0])


def plan_twice(search: Any) -> None:
    for _ in range(2):
        plan(search, 1 - search.trace.actions[0])


def plan_below_twice(search: Any) -> None:
    branch = plan(search, 1 - search.trace.actions[0])
    branch.branches = [Node(2, branch.operation, branch), Node(2, branch.operation, branch)]


def plan_covered(search: Any) -> None:
    """Two reads of different threads commute, so each covers what begins with the other."""
    read = next(o for o in search.trace.operations if o.kind == "read")
    first, second = [thread for thread in range(3) if thread != search.trace.actions[0]]
    present = search.nodes[0].branches[0]
    search.nodes[0].branches = [plan(search, first, read), plan(search, second, read), present]


def forget_the_event_itself(search: Any) -> None:
    search.happens_before.clocks[0][search.trace.threads[0]] = 0


def forget_predecessors(search: Any) -> None:
    """The last event knows nothing but itself."""
    happens_before, trace = search.happens_before, search.trace
    thread = trace.threads[-1]
    clock = [0] * len(happens_before.clocks[-1])
    clock[thread] = happens_before.indices[-1]
    happens_before.clocks[-1] = clock


def drop_clock(search: Any) -> None:
    search.happens_before.clocks.pop()


def drop_bounded(search: Any) -> None:
    search._bounded.pop()


def drop_point(search: Any) -> None:
    search._points.pop()


def drop_todo(search: Any) -> None:
    search._todo.pop()


def forget_what_ran(search: Any) -> None:
    """What the last node has run is to be run there once more."""
    search._todo[-1].append(search.trace.actions[-1])


class GivesUp(Optimal):
    """A run is given up in the middle, as if all were asleep."""

    def _choose(self, enabled: int) -> int:
        return STOP if len(self.trace) == 2 else super()._choose(enabled)


class Planted(NamedTuple):
    """`words`: in what is told."""

    title: str
    make: Callable[..., Any]
    spoil: Callable[[Any], None]
    words: str


STATELESS = [
    Planted("lists of the trace", Optimal, drop_state, "befores: "),
    Planted("action of another thread", Optimal, swap_thread, "event 0: action 1 is not one of thread 0"),
    Planted("no node for an event", Classic, drop_node, "nodes: "),
    Planted("disabled thread run", Classic, run_disabled, "event 0: what was run, action 0, could not run there"),
    Planted("disabled thread asleep", Classic, sleep_disabled, "event 0: what is asleep, action 7, could not run"),
    Planted("asleep and run", Classic, run_asleep, "event 0: action 0 was run although it was asleep"),
    Planted("disabled thread planned", Classic, plan_disabled, "event 0: what is planned, action 7, could not run"),
    Planted("asleep and planned", Classic, plan_asleep, "event 0: action 1 is planned and asleep"),
    Planted("run and not planned", Classic, run_what_is_not_planned, "event 0: action 0, which was run, is no branch"),
    Planted("planned again", Classic, plan_again, "event 0: two branches begin with the same action"),
    Planted("planned twice", Classic, plan_twice, "event 0: two branches begin with the same action"),
    Planted("planned twice in a tree", Optimal, plan_below_twice, "event 0: two branches begin with the same action"),
    Planted("covered branch", Optimal, plan_covered, "event 0: what begins with action 2 is covered by action 1"),
    Planted("event not in its clock", Optimal, forget_the_event_itself, "event 0: its clock does not count it"),
    Planted("predecessors not in the clock", Optimal, forget_predecessors, "its clock does not include that of event"),
    Planted("no clock for an event", Optimal, drop_clock, "clocks: "),
]


@pytest.mark.parametrize("planted", STATELESS, ids=lambda planted: planted.title)
def test_a_broken_invariant_is_told(planted: Planted) -> None:
    search = after_runs(planted.make, planted.spoil)(AbstractSystem(THREE_WRITERS))
    assert planted.words in told(search)


@pytest.mark.parametrize(
    ("make", "spoil", "words"), [(BoundedClassic, drop_bounded, "bounded: "), (BoundedNone, drop_point, "points: ")]
)
def test_so_is_one_of_a_search_with_a_bound(make: Any, spoil: Any, words: str) -> None:
    assert words in told(after_runs(make, spoil)(AbstractSystem(THREE_WRITERS), 2))


def test_a_schedule_explored_twice_is_told() -> None:
    assert "todo: " in told(after_runs(NoReduction, drop_todo)(AbstractSystem(THREE_WRITERS)))
    search = after_runs(NoReduction, forget_what_ran)(AbstractSystem(THREE_WRITERS))
    assert told(search) == "a run of 5 events was explored for the second time"


def forget_class(search: Any) -> None:
    """It is forgotten with which pasts the run has ended."""
    search._classes.clear()


def forget_data(search: Any) -> None:
    """The trace does not tell what its last event has seen."""
    search.trace.data.observed.pop()


def forget_left(search: Any) -> None:
    """It is forgotten what is left to try at the present cut."""
    search._left.pop()


READERS = {"vars": {"x": 0}, "threads": [["w x 1"], ["r x a"]]}


@pytest.mark.parametrize(
    ("spoil", "at", "words"),
    [(forget_class, 1, "classes: 0 "), (forget_data, 1, "observed: "), (forget_left, 2, "left: ")],
)
def test_a_broken_invariant_of_a_causal_search_is_told(spoil: Any, at: int, words: str) -> None:
    search = after_runs(Causal, spoil, at=at)(AbstractSystem(READERS), True)
    assert words in told(search)


def test_an_optimal_search_that_gives_up_a_run_is_told() -> None:
    assert told(GivesUp(AbstractSystem(THREE_WRITERS))) == "an optimal search began a run in vain"


def test_random_walks_keep_their_trace() -> None:
    search = after_runs(RandomWalk, drop_state, method="_run")(AbstractSystem(THREE_WRITERS), 0)
    assert "befores: " in told(search)


# ---------------------------------------------------------------------- the stateful searches


def plan_more_than_enabled(search: Any) -> None:
    search.graph.planned[0] = -1


def do_what_is_not_planned(search: Any) -> None:
    search.graph.done[0] = 1 << 7


def shorten_a_way(search: Any) -> None:
    search.graph.depths[1] = 0


def drop_depth(search: Any) -> None:
    search.graph.depths.pop()


STATEFUL = [
    Planted("planned and not enabled", Full, plan_more_than_enabled, "state 0: a thread is planned that cannot run"),
    Planted("done and not planned", Full, do_what_is_not_planned, "state 0: a thread was run that was not planned"),
    Planted("way no longer", Full, shorten_a_way, "state 1: the way to it is no longer than that to state 0 before it"),
    Planted("no depth of a state", Full, drop_depth, "depths: "),
]


@pytest.mark.parametrize("planted", STATEFUL, ids=lambda planted: planted.title)
def test_a_graph_that_is_wrong_is_told(planted: Planted) -> None:
    search = after_runs(planted.make, planted.spoil, method="between")(AbstractSystem(THREE_WRITERS))
    assert planted.words in told(search)


def leave_out(search: Any) -> None:
    state = max(range(len(search.graph)), key=lambda state: search.graph.done[state].bit_count())
    search.graph.done[state] &= search.graph.done[state] - 1


def lose_an_event(search: Any) -> None:
    search.graph._incoming[1] = None


def take_what_was_not_offered(search: Any) -> None:
    search._offered[1] = 0


def not_carried_back(search: Any) -> None:
    search._spread[1] = 0


def rivals_not_planned(search: Any) -> None:
    """One thread less everywhere, as if it had never been asked for."""
    graph = search.graph
    for state in range(len(graph)):
        if graph.planned[state].bit_count() > 1 and graph.planned[state] == graph.enabled[state]:
            graph.planned[state] &= graph.planned[state] - 1
            graph.done[state] = graph.planned[state]


FINISHED = [
    Planted("planned and never run", Full, leave_out, "a thread that is planned there was never run"),
    Planted("event known at one end", Full, lose_an_event, "an event from state 0 to state 1 is known at one of them"),
    Planted("item never offered", Dpor, take_what_was_not_offered, "state 1: its summary has items that it was not"),
    Planted("summary not carried back", Dpor, not_carried_back, "state 1: its summary has grown and was not carried"),
    Planted("no persistent set", Dpor, rivals_not_planned, "what could come before the event to state"),
]


@pytest.mark.parametrize("planted", FINISHED, ids=lambda planted: planted.title)
def test_a_finished_graph_that_is_wrong_is_told(planted: Planted) -> None:
    search = after_runs(planted.make, planted.spoil, method="complete")(AbstractSystem(THREE_WRITERS))
    assert planted.words in told(search)


# ---------------------------------------------------------------------- parts


def shared_tree(workers: int = 1) -> tuple[SharedTree, list[tuple[int, Any]]]:
    """A tree after one run, and parts that have been given away."""
    search = Optimal(AbstractSystem(THREE_WRITERS))
    next(iter(search.explore()))
    search.settle()
    tree = SharedTree(search.nodes[0], search.stats, few=10)
    parts = [part for _ in range(workers) if (part := tree.give()) is not None]
    assert len(parts) == workers
    return tree, parts


def rest_of(content: Any) -> Any:
    worker = SearchOfPart(AbstractSystem(THREE_WRITERS), Order.DEPTH, 0, content)
    next(iter(worker.explore()))
    worker.settle()
    return worker.rest()


def give_a_part_within_a_part(tree: Any) -> None:
    tree._parts.add(next(iter(tree._given.values())).parent)


def lose_a_part(tree: Any) -> None:
    tree._parts.remove(next(iter(tree._given.values())))


def wait_for_nothing(tree: Any) -> None:
    next(iter(tree._given.values())).waiting = None


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (give_a_part_within_a_part, " lies in that at depth "),
        (lose_a_part, " is in no part"),
        (wait_for_nothing, " is given away, or not, unlike what waits for it"),
    ],
)
def test_parts_that_overlap_or_leave_something_out_are_told(spoil: Callable[[Any], None], words: str) -> None:
    tree, [(number, content), _] = shared_tree(2)
    rest = rest_of(content)
    given, tree._given = tree._given, {each: part for each, part in tree._given.items() if each != number}
    spoil(tree)
    tree._given = given
    with pytest.raises(InternalError, match=words):
        tree.take(number, rest)


def test_a_part_that_is_given_back_with_a_branch_that_cannot_run_is_told() -> None:
    tree, [(number, content)] = shared_tree()
    rest = rest_of(content)
    taken = next(node for node in rest["nodes"][rest["part"] :] if len(node) > 3 and node[3])
    taken[3] = 0
    with pytest.raises(InternalError, match="could not run there"):
        tree.take(number, rest)


def shared_graph(kind: type[SharedGraph] = SharedGraph) -> Any:
    search = Full(AbstractSystem(THREE_WRITERS))
    next(iter(search.explore()))
    return kind(search)


class GivesTwice(SharedGraph):
    """It does not look who has a state, or a block."""

    def _sort(self) -> None:
        given, self._given = self._given, {}
        super()._sort()
        self._given = given

    def _is_free(self, block: object, states: object) -> bool:
        return True


def test_a_state_that_two_have_is_told() -> None:
    graph = shared_graph(GivesTwice)
    assert graph.give() is not None
    [(_, states, _)] = graph._given.values()
    graph._search.open_up(states)
    with pytest.raises(InternalError, match=r"state . is in 2 parts"):
        graph.give()


def test_a_graph_that_is_wrong_after_a_part_came_back_is_told() -> None:
    graph = shared_graph()
    part = graph.give()
    assert part is not None
    worker = SearchOfStates(Full(AbstractSystem(THREE_WRITERS)), part[1], {})
    next(iter(worker.explore()))
    rest = worker.rest()
    graph._graph.done[0] = 1 << 7
    with pytest.raises(InternalError, match="state 0: a thread was run that was not planned"):
        graph.take(part[0], rest)


# ---------------------------------------------------------------------- whether they are looked at


@pytest.mark.parametrize(("value", "wanted"), [("1", True), ("0", False), ("", False)])
def test_the_environment_says_whether_they_are_wanted(
    value: str, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(checks.VARIABLE, value)
    assert checks.are_wanted() == wanted


def test_tests_want_them() -> None:
    assert checks.are_wanted()


@pytest.mark.parametrize("make", [NoReduction, Classic, Optimal, Full, Dpor])
def test_where_nobody_asks_none_is_looked_at(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(checks.VARIABLE)
    for name in vars(checks):
        if name.startswith("check_"):
            monkeypatch.setattr(checks, name, lambda *given: pytest.fail("it was looked at"))
    assert sum(1 for _ in make(AbstractSystem(LOCKED)).explore()) > 1
