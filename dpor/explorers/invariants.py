"""Invariants of searches. They are checked after each run if the environment asks for it (`DPOR_CHECK=1`, as in tests).

Each function checks one thing that a docstring promises. If it does not hold, the function raises `InternalError` with
one line that says where. A search decides when it is made whether it checks them, so they cost nothing otherwise.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from itertools import chain, zip_longest

from dpor.core.clocks import Clock
from dpor.core.errors import InternalError
from dpor.core.happens_before import HappensBefore
from dpor.core.operations import THREAD_MASK, WRITE, Action, Location, Mode, ThreadId
from dpor.core.system import Ending, Run, Trace
from dpor.explorers import wakeup_tree
from dpor.explorers.state_graph import FIRST, NOWHERE, StateGraph, StateNumber
from dpor.explorers.tree import Node, nodes_of
from dpor.explorers.wakeup_tree import is_weak_initial

VARIABLE = "DPOR_CHECK"


def are_wanted() -> bool:
    """True if the environment asks for the checks."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def check_lengths(length: int, **lists: Sized) -> None:
    """Check that each of the lists has `length` elements: one for each event, node or state. Raises `InternalError` if
    not."""
    for name, elements in lists.items():
        if len(elements) != length:
            raise InternalError(f"{name}: {len(elements)} elements where there should be {length}")


# ---------------------------------------------------------------------- runs


def check_trace(trace: Trace) -> None:
    """Check that the lists of the trace are parallel and that each action is one of the event's thread. Raises
    `InternalError` if not."""
    check_lengths(len(trace), actions=trace.actions, operations=trace.operations, befores=trace.befores)
    if trace.data is not None:
        check_lengths(len(trace), observed=trace.data.observed, written=trace.data.written)
    for position, (action, thread) in enumerate(zip(trace.actions, trace.threads, strict=True)):
        if action & THREAD_MASK != thread:
            raise InternalError(f"event {position}: action {action} is not one of thread {thread}")


def check_not_repeated(trace: Trace, explored: set[tuple[Action, ...]]) -> None:
    """Check that no schedule is explored twice. `explored`: the schedules so far, to which this one is added. Raises
    `InternalError` if not."""
    actions = tuple(trace.actions)
    if actions in explored:
        raise InternalError(f"a run of {len(actions)} events was explored for the second time")
    explored.add(actions)


def check_not_blocked(run: Run) -> None:
    """Check that the run was not given up because every enabled thread was asleep. Raises `InternalError` if not."""
    if run.ending is Ending.STOPPED:
        raise InternalError("an optimal search began a run in vain")


# ---------------------------------------------------------------------- clocks


def check_clocks(happens_before: HappensBefore, start: int) -> None:
    """Check the clocks of the events from `start` on: each counts its own event, and includes the clocks of the last
    event of its thread, of the event that started this thread, and of the earlier events with which it conflicts.
    Raises `InternalError` if not."""
    trace, clocks, indices = happens_before.trace, happens_before.clocks, happens_before.indices
    check_lengths(len(trace), clocks=clocks, indices=indices)
    performed: Counter[ThreadId] = Counter()
    for position, predecessors in enumerate(_predecessors(trace, start)):
        thread, clock = trace.threads[position], clocks[position]
        performed[thread] += 1
        if position >= start and not performed[thread] == indices[position] == clock[thread]:
            raise InternalError(
                f"event {position}: its clock does not count it as event {performed[thread]} of its thread"
            )
        for predecessor in predecessors:
            if not _includes(clock, clocks[predecessor]):
                raise InternalError(f"event {position}: its clock does not include that of event {predecessor}")


def _includes(clock: Clock, other: Clock) -> bool:
    return all(known >= index for known, index in zip_longest(clock, other, fillvalue=0))


def _predecessors(trace: Trace, start: int) -> Iterator[list[int]]:
    """Yield for each event the events that happen before it with nothing in between; an empty list for events before
    `start`."""
    last: dict[ThreadId, int] = {}  # by thread: its latest event, or the one that started it
    accesses: dict[Location, list[tuple[int, Mode]]] = defaultdict(list)
    for position, (thread, operation) in enumerate(zip(trace.threads, trace.operations, strict=True)):
        found = []
        if position >= start:
            found = list(last.values()) if operation.barrier else [last[thread]] if thread in last else []
            for location, mode in operation.accesses:
                found.extend(_conflicting(mode, accesses[location]))
        yield found
        last[thread] = position
        if operation.starts >= 0:
            last[operation.starts] = position
        for location, mode in operation.accesses:
            accesses[location].append((position, mode))


def _conflicting(mode: Mode, accesses: list[tuple[int, Mode]]) -> Iterator[int]:
    """Yield the positions of the accesses that conflict with one of this mode, the latest first, back to the latest
    write: that comes after all earlier ones."""
    for position, other in reversed(accesses):
        if other is not mode or mode is WRITE:
            yield position
        if other is WRITE:
            return


# ---------------------------------------------------------------------- nodes


def check_nodes(trace: Trace, nodes: Sequence[Node]) -> None:
    """Check that there is one node for each event and one for the end, each a branch of the one before it; that the
    actions which are branches of a node or asleep there could run there, and that none is both, unless its operation
    has turned out to be another than the one planned. Raises `InternalError` if not."""
    check_lengths(len(trace) + 1, nodes=nodes)
    for position, (node, present, action) in enumerate(zip(nodes, nodes[1:], trace.actions, strict=False)):
        where = f"event {position}"
        if present not in node.branches or not present.taken or present.action != action:
            raise InternalError(f"{where}: action {action}, which was run, is no branch that has been taken")
        branches = [branch.action for branch in node.branches]
        _check_enabled(f"{where}: what was run", node.enabled, [action])
        _check_enabled(f"{where}: what is planned", node.enabled, branches)
        if node.sleep:
            _check_enabled(f"{where}: what is asleep", node.enabled, node.sleep)
            for other in branches:
                if other in node.sleep and not node.sleep[other].unsettled:
                    how = "was run although it was" if other == action else "is planned and"
                    raise InternalError(f"{where}: action {other} {how} asleep")
        _check_different(where, node)


def _check_enabled(what: str, enabled: int, actions: Iterable[Action]) -> None:
    for action in actions:
        if not enabled >> (action & THREAD_MASK) & 1:
            raise InternalError(f"{what}, action {action}, could not run there")


def _check_different(where: str, node: Node) -> None:
    if len({branch.action for branch in node.branches}) < len(node.branches):
        raise InternalError(f"{where}: two branches begin with the same action")
    for branch in node.branches:
        if not branch.taken:
            _check_different(where, branch)


def check_wakeup_trees(nodes: Sequence[Node]) -> None:
    """Check that no branch of the tree covers a planned sequence that is in a later branch beside it [ADJS14, section
    6], unless its operation has turned out to be another than the one planned. Raises `InternalError` if not."""
    for position, node in enumerate(nodes):
        if len(node.branches) > 1:
            _check_disjoint(f"event {position}", node.branches)


def _check_disjoint(where: str, branches: list[Node]) -> None:
    for number, branch in enumerate(branches):
        if branch.taken:
            continue
        for sequence in _sequences(branch):
            for earlier in branches[:number]:
                if earlier.taken and earlier.operation.unsettled:
                    continue
                if is_weak_initial(earlier.action, earlier.operation, sequence):
                    raise InternalError(
                        f"{where}: what begins with action {branch.action} is covered by action {earlier.action}"
                    )
        _check_disjoint(where, branch.branches)


def _sequences(branch: Node) -> Iterator[wakeup_tree.Sequence]:
    """Yield the sequences from the branch to each leaf below it."""
    step = (branch.action, branch.operation)
    if not branch.branches:
        yield [step]
    for child in branch.branches:
        for sequence in _sequences(child):
            yield [step, *sequence]


# ---------------------------------------------------------------------- parts


def check_parts(root: Node, parts: Collection[Node], given: Collection[Node]) -> None:
    """Check that no part lies in another, that each job is in a part, and that sequences wait for exactly those parts
    that are given away. Raises `InternalError` if not."""
    for node in nodes_of(root):
        owners = [each for each in node.way() if each in parts]
        if len(owners) > 1:
            raise InternalError(f"the part at depth {owners[0].depth} lies in that at depth {owners[1].depth}")
        if not node.taken and not owners:
            raise InternalError(f"the job at depth {node.depth} is in no part")
        if (node.waiting is not None) != (node in given):
            raise InternalError(f"the node at depth {node.depth} is given away, or not, unlike what waits for it")


def check_given_back(part: Node) -> None:
    """Check the branches of each node of a part that has been given back, as `check_nodes` does along a way. Raises
    `InternalError` if not."""
    for node in nodes_of(part):
        if node.taken:
            where = f"a part, depth {node.depth}"
            _check_enabled(f"{where}: what is planned", node.enabled, [branch.action for branch in node.branches])
            _check_different(where, node)


def check_owners(free: Iterable[StateNumber], given: Iterable[Iterable[StateNumber]]) -> None:
    """Check that no state is in two parts, or in one and left to be given away. Raises `InternalError` if not."""
    for state, number in Counter(chain(free, *given)).items():
        if number > 1:
            raise InternalError(f"state {state} is in {number} parts")


# ---------------------------------------------------------------------- graphs of states


def check_graph(graph: StateGraph, states: Iterable[StateNumber]) -> None:
    """Check at these states that what is done was planned, that what is planned could run, and that the way to a state
    is longer than that to its parent. Raises `InternalError` if not."""
    check_lengths(
        len(graph),
        planned=graph.planned,
        done=graph.done,
        parents=graph.parents,
        actions=graph.actions,
        operations=graph.operations,
        depths=graph.depths,
    )
    for state in states:
        if graph.planned[state] & ~graph.enabled[state]:
            raise InternalError(f"state {state}: a thread is planned that cannot run there")
        if graph.done[state] & ~graph.planned[state]:
            raise InternalError(f"state {state}: a thread was run that was not planned")
        parent = graph.parents[state]
        if parent != NOWHERE and graph.depths[state] <= graph.depths[parent]:
            raise InternalError(f"state {state}: the way to it is no longer than that to state {parent} before it")


def check_finished(graph: StateGraph) -> None:
    """Check that everything that was planned has been done, and that each event is known both at the state where it
    begins and at the state where it ends. Raises `InternalError` if not."""
    for state in range(len(graph)):
        if graph.planned[state] != graph.done[state]:
            raise InternalError(f"state {state}: a thread that is planned there was never run")
    begun = Counter((state, target) for state in range(len(graph)) for target in graph.targets(state))
    ended = Counter((source, state) for state in range(len(graph)) for source, _ in graph.incoming(state))
    for source, target in (begun - ended) + (ended - begun):
        raise InternalError(f"an event from state {source} to state {target} is known at one of them only")


# ---------------------------------------------------------------------- summaries


def check_summaries(graph: StateGraph, summaries: Sequence[int], offered: Sequence[int], spread: Sequence[int]) -> None:
    """Check that each summary contains only items that were offered, and that all of it was carried back over the
    events that lead to its state. Raises `InternalError` if not."""
    check_lengths(len(graph), summaries=summaries, offered=offered, spread=spread)
    for state, (summary, more, carried) in enumerate(zip(summaries, offered, spread, strict=True)):
        if summary & ~more:
            raise InternalError(f"state {state}: its summary has items that it was not offered")
        if summary != carried and graph.leading_to(state):
            raise InternalError(f"state {state}: its summary has grown and was not carried back")


def check_persistent(graph: StateGraph, rivals: Callable[[StateNumber, int, StateNumber], int]) -> None:
    """Check that what is planned at each state is a persistent set, unless nothing leads to the state any more. Raises
    `InternalError` if not.

    `rivals` takes a state, the number of an event from it and the state to which that leads. It returns the mask of the
    threads with an item that could come before the event."""
    for state in range(len(graph)):
        for source, number in graph.leading_to(state):
            planned = graph.planned[source]
            if source != FIRST and not graph.leading_to(source):
                continue
            if planned != graph.enabled[source] and rivals(source, number, state) & ~planned:
                raise InternalError(f"state {source}: what could come before the event to state {state} is not planned")
