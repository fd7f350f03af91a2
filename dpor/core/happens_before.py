"""The happens-before relation of the present trace, kept up to date event by event, and the races in it.

`HappensBefore` holds a vector clock for each event. It is extended when a run has grown the trace and cut when the
explorer goes back; a cut undoes exactly what was added, so repeated prefixes cost nothing.

A *race* (e, e') is a pair of dependent events of different threads with nothing in between that orders them, where e'
could have run instead of e, after the events that do not happen after e [ADJS14, section 3: e ≾ e'].

What can run earlier must be enabled there. An acquisition does not race with the release that it waited for, but with
the acquisition before that release: so from an operation that can block, the search for its partner goes back over the
history of its objects until a point is found at which it was enabled. The states recorded with the events (see
`Trace.befores`) decide that exactly, for locks, semaphores, conditions, joins and waits for a value alike.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from dpor.core.clocks import Clock, includes, join
from dpor.core.operations import READ, UPDATE, WRITE, Accesses, Location, Mode, Operation, States, ThreadId
from dpor.core.system import Trace


class Race(NamedTuple):
    """A race: `operation` could run before event number `first`. It is the later operation as it would be there."""

    first: int
    operation: Operation


_Accesses: TypeAlias = tuple[int, dict[ThreadId, int], dict[ThreadId, int]]
"""The latest accesses of a location: the last write (-1: none), and by thread the reads and the updates since. A plain
tuple: one is made for each access."""

_NONE: dict[ThreadId, int] = {}
_UNTOUCHED: _Accesses = (-1, _NONE, _NONE)
_NO_RACES: list[Race] = []


class HappensBefore:
    """Clocks of the events of a trace.

    clocks     the clock of each event, which includes the event: event j is i or happens before it if and only if
               `clocks[i][threads[j]] >= indices[j]`
    indices    the position of each event within its thread, from 1
    clocks_only   set it if no races are needed and the trace has no states
    Invariant: all lists are as long as the part of the trace that has been processed (`len(self)`).
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.clocks: list[Clock] = []
        self.indices: list[int] = []
        self._latest: list[Clock] = []  # by thread: the clock of its latest event, or of the event that started it
        self.clocks_only = False
        self._accesses: dict[Location, _Accesses] = {}
        self._history: dict[Location, list[int]] = {}  # events with recorded states, by location
        self._undo: list[tuple[int, Location, _Accesses]] = []
        self._pasts: list[Clock] = []  # of each event: the clock of its thread before it

    def __len__(self) -> int:
        return len(self.clocks)

    # ------------------------------------------------------------------ growing and cutting

    def extend(self) -> list[list[Race]]:
        """Process the new events of the trace. Returns, for each, its races with earlier events (do not change
        them)."""
        trace, latest = self.trace, self._latest
        clocks, indices, pasts = self.clocks, self.indices, self._pasts
        threads, operations, befores = trace.threads, trace.operations, trace.befores
        found = []
        for position in range(len(clocks), len(threads)):
            thread, operation, before = threads[position], operations[position], befores[position]
            past = self.clock_of(thread)
            clock = past.copy()
            index = clock[thread] + 1
            races = _NO_RACES
            if operation.barrier:  # where nothing else could move: explorers look at what else could have timed out
                for other in latest:
                    join(clock, other)
            else:
                partners = self._partners(thread, operation, clock)
                if partners:
                    races = self._races_with(partners, thread, operation, before, clock)
            found.append(races)
            clock[thread] = index
            self._record(position, thread, operation, before is not None)
            clocks.append(clock)
            indices.append(index)
            pasts.append(past)
            latest[thread] = clock
            if operation.starts >= 0:
                self.clock_of(operation.starts)
                latest[operation.starts] = clock
        return found

    def cut(self, length: int) -> None:
        """Forget the events from `length` on. Call this before the trace itself is cut."""
        undo, table = self._undo, self._accesses
        while undo and undo[-1][0] >= length:
            _, location, accesses = undo.pop()
            table[location] = accesses
        threads, operations, befores = self.trace.threads, self.trace.operations, self.trace.befores
        latest, pasts = self._latest, self._pasts
        for position in range(len(self.clocks) - 1, length - 1, -1):
            latest[threads[position]] = pasts[position]
            operation = operations[position]
            if operation.starts >= 0:
                latest[operation.starts] = []
            if befores[position] is not None:
                for location, _ in operation.accesses:
                    self._history[location].pop()
        del self.clocks[length:], self.indices[length:], pasts[length:]

    def _races_with(
        self, partners: list[int], thread: ThreadId, operation: Operation, before: States | None, clock: Clock
    ) -> list[Race]:
        """Return the races of the event. The clocks of its partners are joined into `clock`."""
        clocks = self.clocks
        if operation.rule is not None and not self.clocks_only:
            assert before is not None
            races = self.races_of(thread, operation, before)
            for partner in partners:
                join(clock, clocks[partner])
            return races
        if len(partners) == 1:
            join(clock, clocks[partners[0]])
            return [Race(partners[0], operation)]
        # Latest first: a partner that happens before a later one does not race.
        races = []
        threads, indices = self.trace.threads, self.indices
        partners.sort(reverse=True)
        for partner in partners:
            if clock[threads[partner]] < indices[partner]:
                races.append(Race(partner, operation))
                join(clock, clocks[partner])
        return races

    def clock_of(self, thread: ThreadId) -> Clock:
        """Return the clock of what happened before the thread's next event. Do not change it."""
        latest = self._latest
        while len(latest) <= thread:
            latest.append([])
        clock = latest[thread]
        if len(clock) < len(latest):
            clock.extend([0] * (len(latest) - len(clock)))
        return clock

    def _partners(self, thread: ThreadId, operation: Operation, clock: Clock) -> list[int]:
        """Return the latest events of other threads that the event depends on and that are not in the clock."""
        found: list[int] = []
        threads, indices = self.trace.threads, self.indices
        for location, mode in operation.accesses:
            accesses = self._accesses.get(location)
            if accesses is None:
                continue
            write, reads, updates = accesses
            if write >= 0 and clock[threads[write]] < indices[write]:
                found.append(write)
            if mode is not READ and reads:
                found.extend(p for other, p in reads.items() if other != thread and clock[other] < indices[p])
            if mode is not UPDATE and updates:
                found.extend(p for other, p in updates.items() if other != thread and clock[other] < indices[p])
        return list(set(found)) if len(operation.accesses) > 1 and len(found) > 1 else found

    def _record(self, position: int, thread: ThreadId, operation: Operation, with_states: bool) -> None:
        table, undo = self._accesses, self._undo
        for location, mode in operation.accesses:
            old = table.get(location, _UNTOUCHED)
            undo.append((position, location, old))
            if mode is WRITE:
                table[location] = (position, _NONE, _NONE)
            elif mode is READ:
                table[location] = (old[0], {**old[1], thread: position}, old[2])
            else:
                table[location] = (old[0], old[1], {**old[2], thread: position})
            if with_states:
                history = self._history.get(location)
                if history is None:
                    history = self._history[location] = []
                history.append(position)

    # ------------------------------------------------------------------ questions

    def before(self, earlier: int, later: int) -> bool:
        """True if the first event happens before the second, or is the same."""
        return self._in(self.clocks[later], earlier)

    def not_after(self, event: int, end: int) -> list[int]:
        """Return the events between `event` and `end` that do not happen after `event` [ADJS14: notdep(e, E)]."""
        thread, index = self.trace.threads[event], self.indices[event]
        # `includes`, written out: asked of every event for every race.
        return [
            position
            for position, clock in enumerate(self.clocks[event + 1 : end], event + 1)
            if thread >= len(clock) or clock[thread] < index
        ]

    def races_of(self, thread: ThreadId, operation: Operation, states: States) -> list[Race]:
        """Return the races of an operation with a rule that comes after all events so far. `states`: of its objects
        now.

        Used for an event that is about to be processed, and for the pending operation of a thread that stays blocked.
        """
        clock = self.clock_of(thread).copy()
        if len(operation.accesses) == 1:
            return self._races_at(operation, states[0], clock)
        walks = [self._backwards(location, mode, clock) for location, mode in operation.accesses]
        races: list[Race] = []
        for partner in heapq.merge(*walks, reverse=True):
            if self._in(clock, partner):  # ordered by a race found after this one was looked up, or its own
                continue
            there = self._states_without(partner, operation, states)
            if operation.enabled(there):
                races.append(Race(partner, operation.in_states(there)))
                join(clock, self.clocks[partner])
        return races

    def unordered(self, end: int, thread: ThreadId, operation: Operation) -> list[int]:
        """Return the events before `end` that conflict with an operation on synchronisation objects which the thread
        performs there (or is about to), and that do not happen before it because of what the thread did earlier."""
        clock: Clock = []
        for last in range(end - 1, -1, -1):
            if self.trace.threads[last] == thread or self.trace.operations[last].starts == thread:
                clock = self.clocks[last]
                break
        return [p for location, mode in operation.accesses for p in self._backwards(location, mode, clock) if p < end]

    def _races_at(self, operation: Operation, now: object, clock: Clock) -> list[Race]:
        """Return the races of an operation on one object, as nearly all are. Having nothing to merge, this takes a
        third of the time."""
        ((location, mode),) = operation.accesses
        operations, clocks = self.trace.operations, self.clocks
        threads, indices = self.trace.threads, self.indices
        races = _NO_RACES
        for event in reversed(self._history.get(location, ())):
            accesses = operations[event].accesses
            other = accesses[0][1] if len(accesses) == 1 else _mode_at(location, accesses)
            if clock[threads[event]] >= indices[event]:
                if other is WRITE:
                    break
            elif other is not mode or mode is WRITE:
                there = (self._state_without(event, location, now),)
                if operation.enabled(there):
                    races = [*races, Race(event, operation.in_states(there))]
                    join(clock, clocks[event])
        return races

    def _in(self, clock: Clock, event: int) -> bool:
        return includes(clock, self.trace.threads[event], self.indices[event])

    def _backwards(self, location: Location, mode: Mode, clock: Clock) -> Iterator[int]:
        """Yield the events, latest first, whose access of the location conflicts with the mode and that are not in the
        clock (which grows while this is iterated). Ends at a write in the clock: what came before it is there too."""
        operations = self.trace.operations
        for event in reversed(self._history.get(location, ())):
            other = _mode_at(location, operations[event].accesses)
            if self._in(clock, event):
                if other is WRITE:
                    return
            elif other is not mode or mode is WRITE:
                yield event

    def _states_without(self, event: int, operation: Operation, now: States) -> States:
        """Return the states of the operation's objects after all events but `event` and those that happen after it."""
        return tuple(
            self._state_without(event, location, state)
            for (location, _), state in zip(operation.accesses, now, strict=True)
        )

    def _state_without(self, event: int, location: Location, now: object) -> object:
        """Return the state of one object at that point. What comes after the first event that is left out, and is not
        left out itself, commutes with it, and is applied again."""
        history = self._history.get(location, ())
        first, kept = None, 0
        if history and history[-1] == event:
            first = event
        else:
            thread, index, clocks = self.trace.threads[event], self.indices[event], self.clocks
            for position in reversed(history):
                if position < event:
                    break
                if position == event or includes(clocks[position], thread, index):
                    first = position
                else:
                    kept += 1
        if first is None:
            return now
        state = self._state_before(first, location)
        if not kept:
            return state
        return self._with_others(first, event, location, state)

    def _state_before(self, event: int, location: Location) -> object:
        before = self.trace.befores[event]
        assert before is not None
        return before[_place(location, self.trace.operations[event].accesses)]

    def _with_others(self, first: int, event: int, location: Location, state: object) -> object:
        """Return the state after those events from `first` on that `event` does not happen before."""
        thread, index, clocks = self.trace.threads[event], self.indices[event], self.clocks
        for position in self._history[location]:
            if position > first and not includes(clocks[position], thread, index):
                operation, before = self.trace.operations[position], self.trace.befores[position]
                assert before is not None
                place = _place(location, operation.accesses)
                if operation.rule is None:  # a plain access, whose state counts writes, unless it has none
                    if state is not None:
                        state += operation.accesses[place][1] is not READ  # type: ignore[operator]
                else:
                    applied = operation.applied((*before[:place], state, *before[place + 1 :]))
                    assert applied is not None
                    state = applied.states[place]
        return state


def _place(location: Location, accesses: Accesses) -> int:
    place = 0
    while accesses[place][0] != location:
        place += 1
    return place


def _mode_at(location: Location, accesses: Accesses) -> Mode:
    return next(mode for touched, mode in accesses if touched == location)
