"""Summaries: what may still happen below a state, and which of it could come before an event that leads there.

An *item* (thread, operation, guards, reads, after) stands for "below this state the thread may come to this operation".
The *guards* are the operations that can block which the thread has to perform on the way there, as far as every known
way has them. A summary is a set of items, an integer with a bit for each, so that to unite, to compare and to test for
conflicts are single operations on integers.

An item is *stuck* behind an event of a thread p if, without p, it cannot be reached from the state before: one of its
guards (or the operation itself) is disabled there, and whatever could enable that is stuck, too, or p's own. Say p
holds a lock: what others do only after they have taken that lock is stuck. Say somebody joins p: what he does then is
stuck. So locks, conditions, semaphores, starts and joins keep things apart without a rule for each. (Of the stuck
items that came to happen, one would be the first; what enabled its guard happened before, and was stuck itself.)

An item is *after* a thread if on the way to it an event of that thread happens before it: one with which it conflicts
itself, or one that writes what its thread then *reads*. Nothing that the thread did before that could come after the
item, since what leads to the item, and needs no such event, is the way of another item. So a reader who has seen that
something is ready is not compared with what the writer did to make it so. (Let a way w from a state have no event of
thread p, and end with one that conflicts with p's next. It can be taken after p's next as well, as far as nothing in it
conflicts with that; and for the end of w there is an item that is after no thread but those in w.)

[YCGK08] calls the summary of a state the visible operations below it; all but thread and operation is an addition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from dpor.core.dependence import dependent
from dpor.core.operations import READ, Location, Operation, ThreadId

Summary: TypeAlias = int
"""A set of items, by bits."""

SyncNumber: TypeAlias = int
"""The number of a combination of states of synchronisation objects."""


class Item(NamedTuple):
    """`after`: a mask of threads; `is_exact`: are the modes of the operation those that it will have?"""

    thread: ThreadId
    operation: Operation
    is_exact: bool = True
    guards: frozenset[Operation] = frozenset()
    reads: frozenset[Location] = frozenset()
    after: int = 0

    def says_more_than(self, other: Item) -> bool:
        """Or as much, of the same operation: is it compared with all with which the other is?"""
        return self.guards <= other.guards and self.reads <= other.reads and not self.after & ~other.after


class _Guard:
    """An operation that can block: the items behind it (itself included), and those that could enable it."""

    __slots__ = ("behind", "locations", "operation", "touched_by")

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.locations = frozenset(location for location, _ in operation.accesses)
        self.behind: Summary = 0
        self.touched_by: Summary = 0


class KnownEvent:
    """An event, with the answers found so far about items relative to it.

    known       items that were compared with it
    conflicts   those of them that conflict with it
    changing    those that change when propagated back over this event; `changed`: the new items, as far as asked for
    """

    __slots__ = ("changed", "changing", "conflicts", "known", "operation", "thread")

    def __init__(self, thread: ThreadId, operation: Operation) -> None:
        self.thread = thread
        self.operation = operation
        self.known: Summary = 0
        self.conflicts: Summary = 0
        self.changing: Summary = 0
        self.changed: dict[int, Summary] = {}


class Items:
    """Numbers the items of one search, and answers questions about sets of them."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._numbers: dict[Item, int] = {}
        self._stronger: list[Summary] = []  # by item: those that say no less
        self._exceeded: Summary = 0  # those that some other item says no less than
        self._alike: dict[tuple[ThreadId, Operation, bool], list[int]] = {}
        self._of_thread: dict[ThreadId, Summary] = {}
        self._writers: dict[Location, int] = {}  # masks of threads
        self._guards: dict[Operation, _Guard] = {}
        self._events: dict[tuple[ThreadId, Operation], KnownEvent] = {}
        self._sync_numbers: dict[tuple[tuple[Location, Any], ...], SyncNumber] = {}
        self._sync: list[dict[Location, Any]] = []
        self._disabled: dict[tuple[SyncNumber, Operation], bool] = {}
        self._stuck: dict[tuple[SyncNumber, Summary], Summary] = {}

    # ------------------------------------------------------------------ items

    def pending(self, thread: ThreadId, operation: Operation, is_exact: bool) -> Summary:
        """The summary of a thread that is about to perform this operation."""
        return 1 << self._number(Item(thread, operation, is_exact))

    def threads_of(self, summary: Summary) -> int:
        """The mask of the threads that have an item in it."""
        return sum(1 << thread for thread, items in self._of_thread.items() if items & summary)

    def _number(self, item: Item) -> int:
        number = self._numbers.get(item)
        if number is not None:
            return number
        thread, operation = item.thread, item.operation
        number = self._numbers[item] = len(self._items)
        bit = 1 << number
        self._items.append(item)
        self._of_thread[thread] = self._of_thread.get(thread, 0) | bit
        for location, mode in operation.accesses:
            if mode is not READ:
                self._writers[location] = self._writers.get(location, 0) | 1 << thread
        stronger = bit
        alike = self._alike.setdefault((thread, operation, item.is_exact), [])
        for other in alike:
            if self._items[other].says_more_than(item):
                stronger |= 1 << other
                self._exceeded |= bit
            elif item.says_more_than(self._items[other]):
                self._stronger[other] |= bit
                self._exceeded |= 1 << other
        alike.append(number)
        self._stronger.append(stronger)
        own = item.guards | {operation} if _can_block(operation) else item.guards
        for guard in own:
            if guard not in self._guards:
                self._add_guard(guard)
            self._guards[guard].behind |= bit
        for known in self._guards.values():
            if _changes(operation, known.locations):
                known.touched_by |= bit
        return number

    def _add_guard(self, operation: Operation) -> None:
        guard = self._guards[operation] = _Guard(operation)
        for number, item in enumerate(self._items[:-1]):
            if _changes(item.operation, guard.locations):
                guard.touched_by |= 1 << number

    # ------------------------------------------------------------------ carrying back over an event

    def united(self, summary: Summary, more: Summary) -> Summary:
        """Both, without new items that say less than one that is there."""
        new = more & ~summary
        left = new & self._exceeded
        every = summary | new
        both = every ^ left
        while left:
            bit = left & -left
            left ^= bit
            if self._stronger[bit.bit_length() - 1] & every == bit:
                both |= bit
        return both

    def event(self, thread: ThreadId, operation: Operation) -> KnownEvent:
        """The event of a thread that does this."""
        key = thread, operation
        return self._events.get(key) or self._events.setdefault(key, KnownEvent(thread, operation))

    def carried(self, event: KnownEvent, summary: Summary) -> Summary:
        """What the summary of the state after an event says about the state before."""
        self._learn(event, summary)
        changing = summary & event.changing
        carried = summary ^ changing
        while changing:
            bit = changing & -changing
            changing ^= bit
            carried |= self._changed(event, bit.bit_length() - 1)
        return carried

    def _learn(self, event: KnownEvent, summary: Summary) -> None:
        """About the items of a summary that the event has not met yet."""
        left = summary & ~event.known
        event.known |= left
        while left:
            bit = left & -left
            left ^= bit
            self._tell(event, bit.bit_length() - 1)

    def _tell(self, event: KnownEvent, number: int) -> None:
        thread, operation, item = event.thread, event.operation, self._items[number]
        if (
            thread != item.thread != operation.starts
            and not item.after >> thread & 1
            and dependent(operation, item.operation)
        ):
            event.conflicts |= 1 << number
        if before(event, item, self._writers) != item:
            event.changing |= 1 << number

    def _changed(self, event: KnownEvent, number: int) -> Summary:
        changed = event.changed.get(number)
        if changed is None:
            changed = event.changed[number] = 1 << self._number(before(event, self._items[number], self._writers))
        return changed

    # ------------------------------------------------------------------ what could come before an event

    def rivals(self, event: KnownEvent, below: Summary, sync: SyncNumber) -> Summary:
        """The items of the state after an event that conflict with it and could come before it.

        `sync`: the states of the synchronisation objects before the event.
        """
        self._learn(event, below)
        hits = below & event.conflicts
        return hits & ~self._stuck_behind(event, below, sync) if hits else 0

    def sync_number(self, states: Mapping[Location, Any]) -> SyncNumber:
        key = tuple(states.items())
        number = self._sync_numbers.get(key)
        if number is None:
            number = self._sync_numbers[key] = len(self._sync)
            self._sync.append(dict(states))
        return number

    def _stuck_behind(self, event: KnownEvent, below: Summary, sync: SyncNumber) -> Summary:
        own = self._of_thread.get(event.thread, 0) | self._of_thread.get(event.operation.starts, 0)
        key = sync, below & ~own
        stuck = self._stuck.get(key)
        if stuck is None:
            stuck = self._stuck[key] = self._find_stuck(below & ~own, sync)
        return stuck

    def _find_stuck(self, others: Summary, sync: SyncNumber) -> Summary:
        """The greatest set of items behind a disabled guard that only stuck items, or the thread's own, could open."""
        closed = [guard for guard in self._guards.values() if guard.behind & others and self._is_disabled(guard, sync)]
        while True:
            stuck = 0
            for guard in closed:
                stuck |= guard.behind
            still = [guard for guard in closed if not guard.touched_by & others & ~stuck]
            if len(still) == len(closed):
                return stuck & others
            closed = still

    def _is_disabled(self, guard: _Guard, sync: SyncNumber) -> bool:
        key = sync, guard.operation
        disabled = self._disabled.get(key)
        if disabled is None:
            disabled = self._disabled[key] = self._ask(guard.operation, self._sync[sync])
        return disabled

    def _ask(self, operation: Operation, states: Mapping[Location, Any]) -> bool:
        try:
            own = tuple([states[location] for location, _ in operation.accesses])
        except KeyError:  # an object that does not exist here
            return False
        return not operation.enabled(own)


def before(event: KnownEvent, item: Item, writers: Mapping[Location, int]) -> Item:
    """What an item becomes when it is carried back over the event. `writers`: masks of the threads that may be met
    writing a location, as far as is known; of reads of all others it is of no use to know."""
    thread, operation = event.thread, event.operation
    if operation.starts == item.thread:
        item = item._replace(thread=thread, after=item.after & ~(1 << thread))
    if item.thread == thread:
        guards = item.guards | {operation} if _can_block(operation) else item.guards
        own = 1 << thread
        reads = [location for location, mode in operation.accesses if mode is READ and writers.get(location, 0) & ~own]
        return item._replace(guards=guards, reads=item.reads.union(reads))
    if _changes(operation, item.reads) or (item.is_exact and dependent(operation, item.operation)):
        return item._replace(after=item.after | 1 << thread)
    return item


def _can_block(operation: Operation) -> bool:
    return operation.rule is not None and operation.rule.blocking


def _changes(operation: Operation, locations: frozenset[Location]) -> bool:
    return bool(locations) and any(mode is not READ and location in locations for location, mode in operation.accesses)
