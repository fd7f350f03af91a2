"""What holds in every search, checked after each run where the environment asks for it (`DPOR_CHECK=1`, as in tests).

Each function checks one thing that a docstring promises, and raises `InternalError` with one line that says where it
does not hold. A search decides when it is made whether it asks them, so they cost nothing where nobody wants them.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from itertools import zip_longest
from typing import Protocol

from dpor.core.clocks import Clock
from dpor.core.errors import InternalError
from dpor.core.happens_before import HappensBefore
from dpor.core.operations import THREAD_MASK, WRITE, Action, Location, Mode, Operation, ThreadId
from dpor.core.system import Ending, Run, Trace
from dpor.explorers import wakeup_tree
from dpor.explorers.state_graph import FIRST, NOWHERE, StateGraph, StateNumber
from dpor.explorers.wakeup_tree import Branch, is_weak_initial

VARIABLE = "DPOR_CHECK"


class PlannedNode(Protocol):
    """What is looked at of a node of `dpor.explorers.search`."""

    enabled: int
    sleep: dict[Action, Operation]
    plan: list[Branch]


def are_wanted() -> bool:
    """Does the environment ask for the checks?"""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def check_lengths(length: int, **lists: Sized) -> None:
    """The lists have so many elements: one for each event, node or state."""
    for name, elements in lists.items():
        if len(elements) != length:
            raise InternalError(f"{name}: {len(elements)} elements where there should be {length}")


# ---------------------------------------------------------------------- runs


def check_trace(trace: Trace) -> None:
    """Its lists are parallel, and each action is one of the event's thread."""
    check_lengths(len(trace), actions=trace.actions, operations=trace.operations, befores=trace.befores)
    for position, (action, thread) in enumerate(zip(trace.actions, trace.threads, strict=True)):
        if action & THREAD_MASK != thread:
            raise InternalError(f"event {position}: action {action} is not one of thread {thread}")


def check_not_repeated(trace: Trace, explored: set[tuple[Action, ...]]) -> None:
    """No schedule is explored twice. `explored`: those so far; this one is added."""
    actions = tuple(trace.actions)
    if actions in explored:
        raise InternalError(f"a run of {len(actions)} events was explored for the second time")
    explored.add(actions)


def check_not_blocked(run: Run) -> None:
    """No run had to be given up because all that could move was asleep."""
    if run.ending is Ending.STOPPED:
        raise InternalError("an optimal search began a run in vain")


# ---------------------------------------------------------------------- clocks


def check_clocks(happens_before: HappensBefore, start: int) -> None:
    """From the event `start` on, each clock counts its event, and includes the clocks of what came before it: of the
    last event of its thread, of the event that started this, and of those with which the event conflicts."""
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
    """For each event, those that happen before it with nothing in between; none of events before `start`."""
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
    """The accesses that conflict with one of this mode. What came before a write is included in that."""
    for position, other in reversed(accesses):
        if other is not mode or mode is WRITE:
            yield position
        if other is WRITE:
            return


# ---------------------------------------------------------------------- nodes


def check_nodes(trace: Trace, nodes: Sequence[PlannedNode]) -> None:
    """There is one for each event; what is planned and what sleeps there could run there, and is not the same."""
    check_lengths(len(trace), nodes=nodes)
    for position, (node, action) in enumerate(zip(nodes, trace.actions, strict=True)):
        where = f"event {position}"
        _check_enabled(f"{where}: what was run", node.enabled, [action])
        if action in node.sleep:
            raise InternalError(f"{where}: action {action} was run although it was asleep")
        if node.sleep:
            _check_enabled(f"{where}: what is asleep", node.enabled, node.sleep)
        if node.plan:
            planned = [branch.action for branch in node.plan]
            _check_enabled(f"{where}: what is planned", node.enabled, planned)
            for other in planned:
                if other in node.sleep:
                    raise InternalError(f"{where}: action {other} is planned and asleep")
            if action in planned:
                raise InternalError(f"{where}: action {action} is planned again")
            _check_different(where, node.plan)


def _check_enabled(what: str, enabled: int, actions: Iterable[Action]) -> None:
    for action in actions:
        if not enabled >> (action & THREAD_MASK) & 1:
            raise InternalError(f"{what}, action {action}, could not run there")


def _check_different(where: str, plan: list[Branch]) -> None:
    if len({branch.action for branch in plan}) < len(plan):
        raise InternalError(f"{where}: two branches of a plan begin with the same action")
    for branch in plan:
        _check_different(where, branch.children)


def check_wakeup_trees(nodes: Sequence[PlannedNode]) -> None:
    """No branch covers a sequence that lies in a later one beside it [ADJS14, section 6]."""
    for position, node in enumerate(nodes):
        if node.plan:
            _check_disjoint(f"event {position}", node.plan)


def _check_disjoint(where: str, plan: list[Branch]) -> None:
    for number, branch in enumerate(plan):
        for sequence in _sequences(branch):
            for earlier in plan[:number]:
                if is_weak_initial(earlier.action, earlier.operation, sequence):
                    raise InternalError(
                        f"{where}: what begins with action {branch.action} is covered by action {earlier.action}"
                    )
        _check_disjoint(where, branch.children)


def _sequences(branch: Branch) -> Iterator[wakeup_tree.Sequence]:
    """The ways through the tree that begins with the branch."""
    step = (branch.action, branch.operation)
    if not branch.children:
        yield [step]
    for child in branch.children:
        for sequence in _sequences(child):
            yield [step, *sequence]


# ---------------------------------------------------------------------- graphs of states


def check_graph(graph: StateGraph, states: Iterable[StateNumber]) -> None:
    """At these states: what is done was planned, what is planned could run, and ways become longer."""
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
    """All that was planned is done; the events are known where they begin and where they end."""
    for state in range(len(graph)):
        if graph.planned[state] != graph.done[state]:
            raise InternalError(f"state {state}: a thread that is planned there was never run")
    begun = Counter((state, target) for state in range(len(graph)) for target in graph.targets(state))
    ended = Counter((source, state) for state in range(len(graph)) for source, _ in graph.incoming(state))
    for source, target in (begun - ended) + (ended - begun):
        raise InternalError(f"an event from state {source} to state {target} is known at one of them only")


# ---------------------------------------------------------------------- summaries


def check_summaries(graph: StateGraph, summaries: Sequence[int], offered: Sequence[int], spread: Sequence[int]) -> None:
    """What was offered includes what was taken, and all of that was carried back over the events that lead there."""
    check_lengths(len(graph), summaries=summaries, offered=offered, spread=spread)
    for state, (summary, more, carried) in enumerate(zip(summaries, offered, spread, strict=True)):
        if summary & ~more:
            raise InternalError(f"state {state}: its summary has items that it was not offered")
        if summary != carried and graph.leading_to(state):
            raise InternalError(f"state {state}: its summary has grown and was not carried back")


def check_persistent(graph: StateGraph, rivals: Callable[[StateNumber, int, StateNumber], int]) -> None:
    """What is planned at each state is a persistent set, unless nothing leads to the state any more. `rivals`: of a
    state, the number of an event from it and the state that it leads to, the mask of the threads with something that
    could come before the event."""
    for state in range(len(graph)):
        for source, number in graph.leading_to(state):
            planned = graph.planned[source]
            if source != FIRST and not graph.leading_to(source):
                continue
            if planned != graph.enabled[source] and rivals(source, number, state) & ~planned:
                raise InternalError(f"state {source}: what could come before the event to state {state} is not planned")
