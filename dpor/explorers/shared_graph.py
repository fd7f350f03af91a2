"""One search that stores states, by several processes: one has the graph and gives away parts, others search these.

A *part* is some states at which something is left to do, and the *block* in which they lie. A state's block is its
event count per thread, on the way there, divided by the *grain*. Who has a part searches on from these states as one
process would, until a run comes to a state that was known when the part was given away. Of states in other blocks it
tries only what its runs come through. So parts of different blocks have few states in common, though the same states
are met along many ways. (What they have in common is searched twice, and counted once.)

When a part is given back, its states and events go into the graph, and the search takes note of them as if it had met
them itself. What is planned follows from the graph. So it does not matter for what is covered who has searched what,
how much of it, or whether what a part has planned was right.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections import ChainMap, Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from dpor.core.operations import THREAD_MASK, UNKNOWN, VALUE_SHIFT, Action, Operation, OperationTable, ThreadId
from dpor.core.system import Ending, Run, StateKey, Trace
from dpor.explorers import invariants
from dpor.explorers.search import Stats
from dpor.explorers.state_graph import NOWHERE, StateNumber
from dpor.explorers.states import StatefulSearch, last_or_lowest

Block: TypeAlias = frozenset[tuple[ThreadId, int]]

GRAIN: Final = 16
"""So many events of each thread lie in one block, at first."""
FEW_BLOCKS, MANY_BLOCKS = 4, 64
ENOUGH: Final = 200
"""If something is left to do at more than this many states, but in fewer blocks than that, the grain becomes finer; if
in more, coarser."""
MOST_AROUND: Final = 3_000
"""How many other states go with them, so that a run that meets one of these can go on to one of the part."""
MOST_STATES: Final = 1_000
"""How many states a part has at the beginning."""
COUNTED: Final = ("executions", "choices", "states", "matched")
"""The counts that follow from the graph."""


def block_of(threads: Sequence[ThreadId], grain: int) -> Block:
    """Return the block of the state to which events of these threads lead.

    >>> sorted(block_of([0, 1, 1, 1, 2, 2], 2))
    [(1, 1), (2, 1)]
    """
    return frozenset([(thread, count // grain) for thread, count in Counter(threads).items() if count >= grain])


@attrs.frozen
class State:
    """A state as processes tell each other.

    planned, done   the masks of the threads to be run from there, and of those that have been run
    values          the data choices that are left
    known           see `StatefulSearch.known_of`, in a part that is given back
    """

    key: StateKey | None
    enabled: int
    planned: int
    done: int
    values: list[Action]
    known: Any = None


@attrs.frozen
class Part:
    """A part that is given away.

    states   where something is left to do: each with its index in `known`
    known    the states on the ways there, and some others from which one leads there: the key, the index of the one
             before it (-1 if that is not among them), the action that leads there from that, the depth
    edges    the events between these: the index of the state where it begins, the action, that of the one where it ends
    block    in which the part lies, and the `grain`
    keys     how many keys were known by then
    """

    states: list[tuple[int, State]]
    known: list[tuple[StateKey | None, int, Action, int]]
    edges: list[tuple[int, Action, int]]
    block: Block
    grain: int
    keys: int


@attrs.frozen
class Rest:
    """A part that is given back.

    given        its states at the beginning, and what has been done there
    others       all states that have been met and were not in `Part.known`, by numbers beyond the indices there
    edges        the events: the index or number of the state where it begins, the action, the operation, those of the
                 state where it ends, whether data have changed silently
    operations   for each operation: its canonical one, and whether it changes data
    cut          the executions that were cut: the index or number of the last state, and the action after it
    unstored     why states could not be stored, and how often
    """

    given: list[State]
    others: dict[int, State]
    edges: list[tuple[int, Action, Operation, int, bool]]
    operations: dict[Operation, tuple[Operation, bool]]
    stats: Stats
    cut: list[tuple[int, Action]]
    unstored: Counter[str]


# ---------------------------------------------------------------------- messages


def pickled(content: Part | Rest) -> bytes:
    """Serialise the content. Raises `pickle.PicklingError`, `TypeError` or `AttributeError` if some of it cannot
    be."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = ChainMap({Operation: _described}, copyreg.dispatch_table)  # type: ignore[arg-type]
    pickler.dump(content)
    return file.getvalue()


def _described(operation: Operation) -> tuple[Any, ...]:
    return _interned, operation.described


def _interned(*described: Any) -> Operation:
    raise NotImplementedError  # a `_Reader` knows in which table


class _Reader(pickle.Unpickler):
    """Interns operations."""

    def __init__(self, content: bytes, table: OperationTable) -> None:
        super().__init__(io.BytesIO(content))
        self._table = table

    def find_class(self, module: str, name: str, /) -> Any:
        return self._table.intern if name == _interned.__name__ else super().find_class(module, name)


# ---------------------------------------------------------------------- who has a part


class SearchOfStates:
    """The search of one part. Implements `dpor.explorers.states.Region`.

    known   the keys that are known elsewhere, in the order in which they became known there
    """

    def __init__(self, search: StatefulSearch, content: bytes, known: Mapping[StateKey, int]) -> None:
        part: Part = pickle.loads(content)
        self._search, self._part, self._known = search, part, known
        self._edges: list[tuple[StateNumber, Action, Operation, StateNumber, bool]] = []
        self._left: dict[StateNumber, int] = {}
        self._cut: list[tuple[StateNumber, Action]] = []
        self._unstored = Counter(search.system.unstored())
        search.scope = self
        graph = search.graph
        for key, _, _, _ in part.known:
            search.add_known(key)
        for source, action, target in part.edges:
            graph.add_edge(source, action, UNKNOWN, target, False)
        for state, (_, parent, action, depth) in enumerate(
            part.known
        ):  # the ways that are known, though not the shortest
            graph.parents[state], graph.actions[state], graph.depths[state] = parent, action, depth
        for state, theirs in part.states:
            graph.enabled[state], graph.planned[state], graph.done[state] = theirs.enabled, theirs.planned, theirs.done
            search.leave_values(state, theirs.values)
        self._given = [state for state, _ in part.states]
        search.open_up(self._given)
        self._first_own = len(graph)

    @property
    def stats(self) -> Stats:
        return self._search.stats

    @property
    def trace(self) -> Trace:
        return self._search.trace

    def explore(self) -> Iterator[Run]:
        """Explore the part: yield run after run."""
        for run in self._search.explore():
            if run.ending is Ending.CUT:
                self._cut.append((self._search.at, self.trace.actions[-1]))
            yield run

    def settle(self) -> None:
        """Do nothing: each run has been learned from before it is yielded."""

    def take_back(self) -> Run | None:
        """Return None: there is no run from which not all has been learned."""
        return None

    def share_of(self, state: StateNumber, key: StateKey | None, trace: Trace, threads: int) -> int:
        """See `dpor.explorers.states.Region`; so for the next method."""
        part = self._part
        if key is not None and self._known.get(key, part.keys) < part.keys:
            return 0
        if block_of(trace.threads, part.grain) == part.block:
            return threads
        self._left[state] = threads
        return last_or_lowest(trace, threads)

    def edge(
        self, source: StateNumber, action: Action, operation: Operation, target: StateNumber, has_changed: bool
    ) -> None:
        self._edges.append((source, action, operation, target, has_changed))

    def rest(self) -> bytes:
        """Return what has been found, as bytes."""
        search = self._search
        keys = {number: key for key, number in search.graph.numbers.items()}
        operations = {operation for _, _, operation, _, _ in self._edges}
        return pickled(
            Rest(
                given=[self._state(state, keys.get(state)) for state in self._given],
                others={
                    state: self._state(state, keys.get(state)) for state in range(self._first_own, len(search.graph))
                },
                edges=self._edges,
                operations={each: (search.canonical(each), search.changes_data(each)) for each in operations},
                stats=search.stats,
                cut=self._cut,
                unstored=Counter(search.system.unstored()) - self._unstored,
            )
        )

    def _state(self, state: StateNumber, key: StateKey | None) -> State:
        search, graph = self._search, self._search.graph
        known = search.known_of(state) if state >= self._first_own else None
        planned = graph.planned[state] | self._left.get(state, 0)
        return State(key, graph.enabled[state], planned, graph.done[state], search.values_left(state), known=known)


# ---------------------------------------------------------------------- who has the graph


def _has(threads: int, action: Action) -> bool:
    return bool(threads >> (action & THREAD_MASK) & 1)


class SharedGraph:
    """A graph of which parts are given away.

    keys   those of its states, in the order in which they became known
    """

    def __init__(self, search: StatefulSearch) -> None:
        self._search = search
        self._graph = search.graph
        self._key_of = {number: key for key, number in search.graph.numbers.items()}
        self.keys: list[StateKey] = [*self._key_of.values()]
        self._table = OperationTable()
        self._grain = GRAIN
        self._ways: dict[StateNumber, list[ThreadId]] = {}  # of the states that nobody has
        self._blocks: dict[Block, dict[StateNumber, None]] = defaultdict(dict)  # these states, by block
        self._given: dict[int, tuple[Part, list[StateNumber], list[StateNumber]]] = {}
        self._cut: set[tuple[StateNumber, Action]] = set()
        self._number = 0
        self._is_checked = invariants.are_wanted()

    def give(self) -> tuple[int, bytes] | None:
        """Give a part away: of the blocks of which nobody has a part, the one nearest to the start. Returns a number
        for it and its content; None if there is none now."""
        self._sort()
        search, graph, depths = self._search, self._graph, self._graph.depths
        free = [block for block, states in self._blocks.items() if self._is_free(block, states)]
        if not free:
            return None
        block = min(free, key=lambda block: depths[next(iter(self._blocks[block]))])
        states = sorted(self._blocks[block], key=lambda state: (depths[state], state))[:MOST_STATES]
        for state in states:
            del self._ways[state], self._blocks[block][state]
        if not self._blocks[block]:
            del self._blocks[block]
        around = self._around(states)
        index_of = {state: index for index, state in enumerate(around)}
        part = Part(
            [
                (
                    index_of[state],
                    State(
                        self._key_of.get(state),
                        graph.enabled[state],
                        graph.planned[state],
                        graph.done[state],
                        search.values_left(state),
                    ),
                )
                for state in states
            ],
            [
                (
                    self._key_of.get(state),
                    index_of.get(graph.parents[state], NOWHERE),
                    graph.actions[state],
                    depths[state],
                )
                for state in around
            ],
            [
                (index_of[source], thread | operation.value << VALUE_SHIFT, index)
                for state, index in index_of.items()
                for source, (thread, operation) in graph.incoming(state)
                if source in index_of
            ],
            block,
            self._grain,
            len(self.keys),
        )
        self._number += 1
        self._given[self._number] = part, states, around
        if self._is_checked:
            invariants.check_owners(self._ways, [given for _, given, _ in self._given.values()])
        return self._number, pickled(part)

    def _around(self, states: list[StateNumber]) -> list[StateNumber]:
        """Return these states, those on the ways there, and some others from which events lead there: with what is
        before each of them first."""
        graph, waiting = self._graph, [*states]
        found = dict.fromkeys(states)
        for state in waiting:
            if len(found) >= MOST_AROUND:
                break
            for source, _ in graph.leading_to(state):
                if source not in found:
                    found[source] = None
                    waiting.append(source)
        on_ways: set[StateNumber] = set()
        for state in states:
            while state != NOWHERE and state not in on_ways:
                on_ways.add(state)
                state = graph.parents[state]
        found |= dict.fromkeys(on_ways)
        return sorted(found, key=lambda state: (graph.depths[state], state))

    def take(self, number: int, content: bytes) -> None:
        """Take back a part, with what has been found (`SearchOfStates.rest`)."""
        _, given, around = self._given.pop(number)
        rest: Rest = _Reader(content, self._table).load()
        search, graph, stats = self._search, self._graph, self._search.stats
        search.from_other_processes.update(rest.operations)
        search.unstored_elsewhere += rest.unstored
        for name in COUNTED:  # which are counted here; what the part has counted is added to them later
            setattr(stats, name, getattr(stats, name) - getattr(rest.stats, name))
        numbers = dict(enumerate(around))
        for state, theirs in zip(given, rest.given, strict=True):
            search.plan(state, theirs.planned)
            self._went_on(state, theirs)
        for source, action, operation, target, has_changed in rest.edges:
            search.pace()
            at = numbers[source]
            known = graph.target_of(at, action)
            if known is not None:  # another part has had the same event
                if target not in numbers:
                    numbers[target] = known
                    self._met_again(known, rest.others[target])
                continue
            if target not in numbers:
                numbers[target] = self._met(at, action, operation, rest.others[target])
            else:
                stats.matched += 1
            state = numbers[target]
            stats.executions += not graph.enabled[state]
            graph.done[at] |= 1 << (action & THREAD_MASK)
            search.add_edge(at, action, operation, state, has_changed)
        before = len(self._cut)
        self._cut.update((numbers[state], action) for state, action in rest.cut)
        stats.executions += len(self._cut) - before
        search.between()
        if self._is_checked:
            invariants.check_graph(graph, range(len(graph)))

    def settle(self) -> None:
        """Do nothing: what is given away is still planned in the graph."""

    def end(self) -> None:
        """Nothing that has been given away will be given back."""
        for states in (self._ways, *[states for _, states, _ in self._given.values()]):
            self._search.open_up(states)
        self._ways.clear()
        self._blocks.clear()
        self._given.clear()

    def _met(self, source: StateNumber, action: Action, operation: Operation, theirs: State) -> StateNumber:
        """Return the number of a state that a part has met."""
        search, graph, stats = self._search, self._graph, self._search.stats
        state = None if theirs.key is None else graph.numbers.get(theirs.key)
        if state is not None:
            stats.matched += 1
            self._met_again(state, theirs)
            return state
        state = search.add_state(source, action, operation, theirs.enabled, theirs.known)
        if theirs.key is not None:
            graph.numbers[theirs.key], self._key_of[state] = state, theirs.key
            self.keys.append(theirs.key)
        stats.states += 1
        stats.choices += bool(theirs.planned & (theirs.planned - 1))
        graph.planned[state] = theirs.planned
        self._went_on(state, theirs)
        return state

    def _met_again(self, state: StateNumber, theirs: State) -> None:
        """Take note of what a part has done at a state that others have met, too."""
        self._search.plan(state, theirs.done)
        self._went_on(state, theirs)

    def _went_on(self, state: StateNumber, theirs: State) -> None:
        """Take note of what has been done at a state."""
        search, done = self._search, self._graph.done
        new, known = theirs.done & ~done[state], search.values_left(state)
        done[state] |= theirs.done
        left = [value for value in known if value in theirs.values or not _has(theirs.done, value)]
        search.leave_values(state, left + [value for value in theirs.values if _has(new, value)])
        search.open_up([state])

    # ------------------------------------------------------------------ blocks

    def _sort(self) -> None:
        """Sort the states at which something is left to do into blocks."""
        away = {state for _, states, _ in self._given.values() for state in states}
        for state in self._search.take_open():
            if state not in self._ways and state not in away:
                way = self._ways[state] = [action & THREAD_MASK for action in self._graph.actions_to(state)]
                self._blocks[block_of(way, self._grain)][state] = None
        if len(self._blocks) > MANY_BLOCKS:
            self._regroup(self._grain * 2)
        elif len(self._blocks) < FEW_BLOCKS and len(self._ways) > ENOUGH and self._grain > 1:
            self._regroup(self._grain // 2)

    def _regroup(self, grain: int) -> None:
        self._grain = grain
        self._blocks.clear()
        for state, way in self._ways.items():
            self._blocks[block_of(way, grain)][state] = None

    def _is_free(self, block: Block, states: Iterable[StateNumber]) -> bool:
        """True if no part that is given away has states in common with this block."""
        return not any(
            block == part.block
            if part.grain == self._grain
            else any(block_of(self._ways[state], part.grain) == part.block for state in states)
            for part, _, _ in self._given.values()
        )
