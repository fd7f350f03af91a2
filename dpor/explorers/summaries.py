"""Summaries: they say what may still happen below a state, and which of that could come before an event that leads
there.

An *item* (thread, operation, guards, reads, after) stands for "below this state the thread may come to this operation".
The *guards* are operations that can block and that the thread has to perform on every known way there. A summary is a
set of items, represented as an integer with a bit for each item, so that union, comparison and the test for conflicts
are single operations on integers.

An item is *stuck* behind an event of a thread p if, without p, it cannot be reached from the state before: one of its
guards (or the operation itself) is disabled there, and everything that could enable it is stuck, too, or is an
operation of p. For example, if p holds a lock, what others do only after they have taken that lock is stuck. If another
thread joins p, what it does after the join is stuck. So locks, conditions, semaphores, starts and joins need no rule
each. (Suppose that stuck items happened without p, and take the first of them. Whatever enabled its guard happened
before it, and was stuck as well: a contradiction.)

An item is *after* a thread if on the way to it an event of that thread happens before it: an event with which the item
conflicts, or one that writes what the item's thread then *reads*. Nothing that the thread did before that event could
come after the item: if the item can be reached without such an event, that way has an item of its own. So a reader that
has seen that something is ready is not compared with what the writer did to make it ready. (Let a way w from a state
have no event of thread p, and end with an event that conflicts with p's next one. The way w can also be taken after p's
next event, as far as nothing in w conflicts with that. And for the end of w there is an item that is after no thread
but those in w.)

In [YCGK08] the summary of a state is the set of visible operations below it. Guards, reads and after are additions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from dpor.core.dependence import dependent
from dpor.core.operations import READ, Location, Operation, ThreadId

Summary: TypeAlias = int
"""A set of items: bit i is set if the item with number i is in it."""

SyncNumber: TypeAlias = int
"""The number of a combination of states of synchronisation objects."""


class Item(NamedTuple):
    """An item of a summary.

    is_exact  True if the modes of the operation are those that it will have when it is performed
    guards    the operations that can block and come before it on every known way
    reads     the locations that its thread reads on the way and that other threads may write
    after     the mask of the threads that it is after
    """

    thread: ThreadId
    operation: Operation
    is_exact: bool = True
    guards: frozenset[Operation] = frozenset()
    reads: frozenset[Location] = frozenset()
    after: int = 0

    def says_more_than(self, other: Item) -> bool:
        """True if this item, which has the same operation, is compared with every event with which the other is
        compared."""
        return self.guards <= other.guards and self.reads <= other.reads and not self.after & ~other.after


class _Guard:
    """An operation that can block.

    behind      the items that have it as a guard, and those of the operation itself
    touched_by  the items that could enable it
    """

    __slots__ = ("behind", "locations", "operation", "touched_by")

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.locations = frozenset(location for location, _ in operation.accesses)
        self.behind: Summary = 0
        self.touched_by: Summary = 0


class KnownEvent:
    """An event, with the answers found so far about items relative to it.

    known       the items that have been compared with it
    conflicts   those of them that conflict with it
    changing    those of them that change when they are carried back over it
    changed     by the number of such an item: the summary of the changed item, as far as it was asked for
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
        self._stronger: list[Summary] = []  # by item: the items that say at least as much
        self._exceeded: Summary = 0  # the items than which some other says at least as much
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
        """Return the summary of a thread that is about to perform this operation."""
        return 1 << self._number(Item(thread, operation, is_exact))

    def of(self, summary: Summary) -> list[Item]:
        """Return the items of a summary."""
        found = []
        while summary:
            bit = summary & -summary
            summary ^= bit
            found.append(self._items[bit.bit_length() - 1])
        return found

    def summary(self, items: Iterable[Item]) -> Summary:
        """Return the summary that has these items."""
        found = 0
        for item in items:
            found |= 1 << self._number(item)
        return found

    def threads_of(self, summary: Summary) -> int:
        """Return the mask of the threads that have an item in the summary."""
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
        """Return the union of two summaries, without those items of the second that say less than another."""
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
        """Return the event in which the thread performs the operation."""
        key = thread, operation
        return self._events.get(key) or self._events.setdefault(key, KnownEvent(thread, operation))

    def carried(self, event: KnownEvent, summary: Summary) -> Summary:
        """Return what the summary of the state after an event contributes to that of the state before."""
        self._learn(event, summary)
        changing = summary & event.changing
        carried = summary ^ changing
        while changing:
            bit = changing & -changing
            changing ^= bit
            carried |= self._changed(event, bit.bit_length() - 1)
        return carried

    def _learn(self, event: KnownEvent, summary: Summary) -> None:
        """Compare the event with those items of a summary that it has not been compared with yet."""
        left = summary & ~event.known
        event.known |= left
        while left:
            bit = left & -left
            left ^= bit
            self._compare(event, bit.bit_length() - 1)

    def _compare(self, event: KnownEvent, number: int) -> None:
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
        """Return the items of the state after an event that conflict with the event and could come before it.

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

    def sync_states(self, number: SyncNumber) -> dict[Location, Any]:
        return self._sync[number]

    def _stuck_behind(self, event: KnownEvent, below: Summary, sync: SyncNumber) -> Summary:
        own = self._of_thread.get(event.thread, 0) | self._of_thread.get(event.operation.starts, 0)
        key = sync, below & ~own
        stuck = self._stuck.get(key)
        if stuck is None:
            stuck = self._stuck[key] = self._find_stuck(below & ~own, sync)
        return stuck

    def _find_stuck(self, others: Summary, sync: SyncNumber) -> Summary:
        """Return the greatest set of items behind a disabled guard that only stuck items, or those of the event's
        thread, could enable."""
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
    """Return the item that results when an item is carried back over the event.

    `writers`: by location, the mask of the threads that may write it, as far as is known. Reads of other locations need
    not be kept.
    """
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
