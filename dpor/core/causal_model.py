"""The causal model of a program: what its threads do, as runs have shown it, and where they can be because of that.

What a thread does next depends on its *past* alone, that is on what it has observed: the data that it has read, the
results of its operations on locks and the like. So once a run has shown what a thread does after some past, no run is
needed to know what it would do after the same past among other events. A *cut* is a point of an interleaving: the past
of each thread, and what is in memory. From a cut the model tells who can move, what a thread would observe, and, if its
past after that is known, the next cut. Locks, conditions, semaphores and threads follow their rules, which are pure.

What a thread observes of data is the model's parameter: their value, or which event wrote them. An event is named by
the past of its thread after it.

Each past has a name of 128 random bits, and so has each combination of a location and what is there. The name of a cut
is the exclusive or of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from random import Random
from typing import Any, Final, TypeAlias

from dpor.core.errors import NotDeterministic
from dpor.core.operations import (
    READ,
    THREAD_MASK,
    UNKNOWN,
    VALUE_SHIFT,
    Action,
    Applied,
    Location,
    Operation,
    States,
    ThreadId,
)
from dpor.core.system import Run, Trace

Name: TypeAlias = int
"""A number of 128 random bits, or the exclusive or of some."""

_BITS: Final = 128


class Past:
    """What a thread has observed up to some point.

    name       its name
    last       the operation by which the thread came here, as it was performed; `written`: the data that it wrote
    started    the beginning of the thread that it started; None if it started none
    pending    the operation that the thread is about to perform; None if it has ended, or none is known
    sees_data  True if it depends on data what that does
    after      the pasts after it, by what the thread observes
    """

    __slots__ = ("after", "last", "name", "pending", "sees_data", "started", "written")

    def __init__(self, name: Name, last: Operation = UNKNOWN, written: States | None = None) -> None:
        self.name = name
        self.last = last
        self.written = written
        self.started: Past | None = None
        self.pending: Operation | None = None
        self.sees_data = False
        self.after: dict[Hashable, Past] = {}


class CausalModel:
    """What runs have shown of a program.

    initial     returns what is at a location before the first event
    by_value    True if threads observe the values of data; False if they observe which event wrote them
    beginnings  the threads that are there at the start
    """

    def __init__(self, initial: Callable[[Location], Any], by_value: bool) -> None:
        self.initial = initial
        self.by_value = by_value
        self.beginnings: dict[ThreadId, Past] = {}
        self._random = Random(0)
        self._names: dict[tuple[Location, Hashable], Name] = {}

    def new_name(self) -> Name:
        return self._random.getrandbits(_BITS)

    def name_of(self, location: Location, what: Hashable) -> Name:
        """Return the name of this being at the location."""
        name = self._names.get((location, what))
        if name is None:
            name = self._names[location, what] = self.new_name()
        return name

    def begin(self, threads: list[ThreadId]) -> None:
        """Learn which threads are there at the start."""
        self.beginnings = {thread: Past(self.new_name()) for thread in threads}

    def learn(self, trace: Trace, run: Run) -> Cut:
        """Learn from a run, whose trace has told its data, what its threads do. Returns the cut at its end.

        Raises `NotDeterministic` if a thread did something else than before after the same past.
        """
        if not self.beginnings:  # nothing could move
            self.begin([pending.thread for pending in run.blocked])
        cut = Cut(self)
        assert trace.data is not None
        for action, operation, observed, written in zip(
            trace.actions, trace.operations, trace.data.observed, trace.data.written, strict=True
        ):
            cut.follow(action, operation, observed, written)
        for pending in run.blocked:
            past = cut.pasts[pending.thread]
            if past.pending is None:
                past.pending = pending.operation
        return cut


class Cut:
    """A point of an interleaving; at first, the start.

    pasts           the past of each thread that has been started
    name_of_pasts   the name of all pasts together; `name`: of the cut
    """

    def __init__(self, model: CausalModel) -> None:
        self.pasts = model.beginnings.copy()
        self.name_of_pasts: Name = 0
        for past in self.pasts.values():
            self.name_of_pasts ^= past.name
        self._name_of_memory: Name = 0
        self._model = model
        self._states: dict[Location, Any] = {}  # data and the states of objects, where they may have changed
        self._writers: dict[Location, Past] = {}
        self._undo: list[Callable[[], None]] = []

    @property
    def name(self) -> Name:
        return self.name_of_pasts ^ self._name_of_memory

    def at(self, location: Location) -> Any:
        """Return what is at a location."""
        return self._states[location] if location in self._states else self._model.initial(location)

    def actions(self) -> list[Action]:
        """Return what can happen next."""
        actions = []
        for thread, past in self.pasts.items():
            operation = past.pending
            if operation is None or not operation.enabled(self._states_for(operation)):
                continue
            if operation.alternatives == 1:
                actions.append(thread)
            else:
                actions.extend(thread | value << VALUE_SHIFT for value in range(operation.alternatives))
        return actions

    def take(self, action: Action) -> bool:
        """Go on by an action that can happen. Returns False if it is not known what the thread does after it."""
        thread = action & THREAD_MASK
        past = self.pasts[thread]
        assert past.pending is not None
        states = self._states_for(past.pending)
        after = past.after.get(self._observation(past, action, states))
        if after is None:
            return False
        self._go(thread, after, states)
        return True

    def follow(self, action: Action, operation: Operation, observed: States | None, written: States | None) -> None:
        """Go on by an event of a run, and learn from it if it is new."""
        thread = action & THREAD_MASK
        past, states = self.pasts[thread], self._states_for(operation)
        if observed is not None and observed != states:
            raise NotDeterministic(f"thread {thread} saw {observed!r} where {states!r} should be{_WHY}")
        if not past.after:
            past.pending, past.sees_data = operation, observed is not None
        seen = self._observation(past, action, states)
        after = past.after.get(seen)
        if after is None:
            after = past.after[seen] = Past(self._model.new_name(), operation, written)
            if operation.starts >= 0:
                after.started = Past(self._model.new_name())
        elif after.last.in_states(states) is not operation or after.written != written:
            raise NotDeterministic(f"thread {thread} did {operation!r} where it had done {after.last!r}{_WHY}")
        self._go(thread, after, states)

    def back(self) -> None:
        """Go back to the cut before the last action."""
        self._undo.pop()()

    # ------------------------------------------------------------------ one event

    def _states_for(self, operation: Operation) -> States:
        """Return what is at the locations of an operation."""
        return tuple([self.at(location) for location, _ in operation.accesses])

    def _observation(self, past: Past, action: Action, states: States) -> Hashable:
        """Return what the thread observes in performing its pending operation."""
        operation = past.pending
        assert operation is not None
        if operation.alternatives > 1:
            return action >> VALUE_SHIFT
        if past.sees_data:
            if self._model.by_value:
                return states
            return tuple([self._writers.get(location) for location, _ in operation.accesses])
        if operation.rule is None:
            return None
        applied = operation.applied(states)
        assert applied is not None
        result: Hashable = applied.result
        return result

    def _go(self, thread: ThreadId, after: Past, states: States) -> None:
        pasts, operation = self.pasts, after.last
        before, names = pasts[thread], (self.name_of_pasts, self._name_of_memory)
        changed: list[tuple[dict[Location, Any], Location, Any]] = []
        started = operation.starts

        def undo() -> None:
            pasts[thread] = before
            self.name_of_pasts, self._name_of_memory = names
            for table, location, old in reversed(changed):
                if old is _ABSENT:
                    del table[location]
                else:
                    table[location] = old
            if after.started is not None:
                del pasts[started]

        self._undo.append(undo)
        pasts[thread] = after
        self.name_of_pasts ^= before.name ^ after.name
        if after.started is not None:
            pasts[started] = after.started
            self.name_of_pasts ^= after.started.name
        applied: Applied | None = None
        new = after.written
        if operation.rule is not None:
            applied = operation.applied(states)
            assert applied is not None
            operation, new = applied.operation, applied.states
        is_data = before.sees_data or after.written is not None
        if new is None:
            return
        for (location, mode), state in zip(operation.accesses, new, strict=True):
            if mode is READ:
                continue
            self._put(self._states, location, state, changed)
            if is_data and not self._model.by_value:
                self._put(self._writers, location, after, changed)

    def _put(
        self, table: dict[Location, Any], location: Location, new: Any, changed: list[tuple[Any, Location, Any]]
    ) -> None:
        old = table.get(location, _ABSENT)
        changed.append((table, location, old))
        table[location] = new
        name_of = self._model.name_of
        if old is not _ABSENT:
            self._name_of_memory ^= name_of(location, old)
        self._name_of_memory ^= name_of(location, new)


_ABSENT: Final = object()
_WHY: Final = ", after it had observed the same: the program depends on something that no event shows"
