"""Which orders of events a failure needs: learnt from schedules that fail and schedules that do not.

The failing run has pairs of dependent events of different threads. Other schedules are run, and for each it is noted
which of these orders hold there too. A *condition* is a set of orders such that every schedule fails in which all of
them hold. The answer is the smallest condition that agrees with all schedules tried; then schedules are made that could
refute it (its orders kept, all else at random; or one of them reversed), and it is learnt again, until the budget is
spent.

This only helps the reader: reports say what was tried, and no verdict depends on it. Data choices are not varied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple, TypeAlias

import attrs

from dpor.core.dependence import dependent
from dpor.core.errors import AssumptionBroken, UserError
from dpor.core.explanation import EventOrder
from dpor.core.operations import Access, Action, Location, ThreadId
from dpor.core.outcome import Finding
from dpor.core.schedule import prefer
from dpor.core.system import STOP, Chooser, Ending, Run, System, Trace
from dpor.findings.minimise import COST_OF_RUN, values_of

BUDGET = 20_000
"""Events to spend."""
SAMPLES = 48
"""Schedules to try besides the reversed races."""
MOST_ORDERS = 300
"""Pairs of events to look at: those nearest to the end of the run."""
MOST_CONJUNCTS = 3
STAY = (1.0, 0.6, 0.9, 0.98)
"""The probabilities, used in turn, that the thread that ran last goes on in a random schedule: what always fails if
threads alternate often may pass if each runs as long as it can."""
LIVES = frozenset({"start", "end", "join"})

Like: TypeAlias = tuple[ThreadId, str, tuple[Location, ...]]
"""What events have in common that look alike: thread, kind, first location."""
Key: TypeAlias = tuple[ThreadId, str, tuple[Location, ...], int]
"""An event as it is recognised in other runs: with its position among those that look alike, from 0."""


class EventId(NamedTuple):
    """An event: its thread, and its position within its thread, from 1."""

    thread: ThreadId
    position: int


@attrs.define
class Schedules:
    """Runs of other schedules than the failing one, each compared with the orders of that run.

    holds     for each order, the mask of the runs in which it holds
    seen_reversed    the orders that were reversed in some run, and those before which a thread waits. In any other
              order, perhaps one event only occurs when the run fails, and then the order would say nothing
    fails     the mask of the runs that show the finding
    count     the number of runs
    """

    system: System
    trace: Trace
    run: Run
    finding: Finding
    enough: Callable[[], bool] = lambda: False
    budget: int = BUDGET
    orders: list[EventOrder] = attrs.field(factory=list)
    holds: dict[EventOrder, int] = attrs.field(factory=dict)
    seen_reversed: set[EventOrder] = attrs.field(factory=set)
    fails: int = 0
    count: int = 0
    _keys: list[Key] = attrs.field(factory=list)
    _waiting: dict[ThreadId, Key] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._keys, seen = _keys_of(self.trace)
        for thread, operation, _ in self.run.blocked:
            like = (thread, operation.kind, _locations(operation.accesses))
            self._waiting[thread] = (*like, seen.get(like, 0))
        self.orders = self._orders()
        self.holds = dict.fromkeys(self.orders, 0)
        self.seen_reversed = {order for order in self.orders if order.later is None}

    def _orders(self) -> list[EventOrder]:
        """Return the pairs of dependent events, the clearest first, then those nearest to the end."""
        trace, found = self.trace, []
        for thread, operation, _ in self.run.blocked:
            for earlier in range(len(trace) - 1, -1, -1):
                if trace.threads[earlier] != thread and dependent(trace.operations[earlier], operation):
                    found.append(EventOrder(earlier, None, thread))
        for later in range(len(trace) - 1, -1, -1):
            thread, operation = trace.threads[later], trace.operations[later]
            if len(found) >= MOST_ORDERS:
                break
            if operation.kind not in LIVES:
                for earlier in range(later - 1, -1, -1):
                    other = trace.operations[earlier]
                    if (
                        trace.threads[earlier] != thread
                        and other.kind not in LIVES
                        and not (operation.barrier or other.barrier)
                        and dependent(other, operation)
                    ):
                        found.append(EventOrder(earlier, later, thread))
        return sorted(found[:MOST_ORDERS], key=self._obscurity)

    def _obscurity(self, order: EventOrder) -> int:
        """The key by which orders are sorted that always hold together: a reader understands those of data best, then
        those in which locks are taken rather than released."""
        trace = self.trace
        events = [order.earlier] if order.later is None else [order.earlier, order.later]
        return sum(
            (trace.operations[at].rule is not None) + 2 * (trace.operations[at].kind == "unlock") for at in events
        )

    def attempt(self, choose: Chooser) -> bool | None:
        """Carry out a run. Return True if it shows the finding, None if it could not be followed to an end."""
        trace = Trace()
        try:
            run = self.system.run(trace, choose)
        except UserError:
            self.budget -= COST_OF_RUN
            return None
        except AssumptionBroken:  # from here on the events are different
            self.budget = -1
            return None
        self.budget -= len(trace) + COST_OF_RUN
        failed = any(found.group == self.finding.group for found in run.findings)
        if not failed and run.ending not in (Ending.COMPLETE, Ending.SPINNING):
            return None
        self._take(trace, failed)
        return failed

    def guide(self, actions: Sequence[Action]) -> bool | None:
        """Like `attempt`, following these actions where possible."""
        return self.attempt(prefer(actions))

    def is_over(self) -> bool:
        return self.budget < 0 or self.enough()

    def _take(self, trace: Trace, failed: bool) -> None:
        bit = 1 << self.count
        self.count += 1
        self.fails |= bit * failed
        at = {key: position for position, key in enumerate(_keys_of(trace)[0])}
        for order in self.orders:
            first = at.get(self._keys[order.earlier])
            second = at.get(self._waiting[order.thread] if order.later is None else self._keys[order.later])
            if first is not None and (second is None or first < second):
                self.holds[order] |= bit
            elif first is not None:
                self.seen_reversed.add(order)

    def condition(self) -> tuple[EventOrder, ...]:
        """Return the fewest orders that hold together only in runs that fail; () if there are none. Orders that hold in
        all failing runs are preferred, and among those the ones that were seen reversed."""
        necessary = [order for order in self.orders if self.fails & ~self.holds[order] == 0]
        for orders in (necessary, self.orders):
            found = self._fewest([order for order in orders if order in self.seen_reversed])
            if found:
                return found
        return self._fewest(necessary) or self._fewest(self.orders)

    def _fewest(self, orders: Sequence[EventOrder]) -> tuple[EventOrder, ...]:
        passing = ((1 << self.count) - 1) & ~self.fails
        by_mask: dict[int, EventOrder] = {}  # the first of orders that always hold together
        for order in orders:
            if passing & ~self.holds[order]:
                by_mask.setdefault(self.holds[order] & passing, order)
        for size in range(1, MOST_CONJUNCTS + 1):
            for masks in combinations(by_mask, size):
                left = passing
                for mask in masks:
                    left &= mask
                if not left:
                    return tuple(sorted((by_mask[mask] for mask in masks), key=lambda order: order.earlier))
        return ()

    def all_hold(self, orders: Sequence[EventOrder]) -> int:
        """Return the mask of the runs in which all of these hold."""
        mask = (1 << self.count) - 1
        for order in orders:
            mask &= self.holds[order]
        return mask

    def place_of(self, order: EventOrder) -> tuple[EventId, EventId]:
        first = self._index(order.earlier)
        if order.later is not None:
            return first, self._index(order.later)
        return first, EventId(order.thread, sum(thread == order.thread for thread in self.trace.threads) + 1)

    def _index(self, event: int) -> EventId:
        thread = self.trace.threads[event]
        return EventId(thread, sum(other == thread for other in self.trace.threads[: event + 1]))


def learn_condition(schedules: Schedules) -> tuple[EventOrder, ...]:
    """Try random schedules, and schedules that could refute the current condition. Return the condition that none
    refutes."""
    random = Random(0)
    values = values_of(schedules.trace.actions)
    longest = 4 * len(schedules.trace) + 100
    for number in range(SAMPLES):
        if schedules.is_over():
            break
        believed = [schedules.place_of(order) for order in schedules.condition()]
        kept: list[tuple[EventId, EventId]] = []
        if believed and number % 3:
            kept = believed
            if number % 3 == 2:
                reversed_order = random.choice(believed)
                kept = [(b, a) if (a, b) == reversed_order else (a, b) for a, b in believed]
        stay = STAY[number // 3 % len(STAY)]
        schedules.attempt(_at_random(random, stay, kept, values, longest))
    return schedules.condition()


def _at_random(
    random: Random,
    stay: float,
    orders: Sequence[tuple[EventId, EventId]],
    values: dict[tuple[ThreadId, int], Action],
    longest: int,
) -> Chooser:
    """Return a chooser that holds back the second event of each order until the first has come, if it can."""
    done: dict[ThreadId, int] = {}
    last = 0
    left = longest

    def choose(enabled: int) -> Action:
        nonlocal last, left
        left -= 1
        if left < 0:
            return STOP
        allowed = enabled
        for first, second in orders:
            if done.get(second.thread, 0) == second.position - 1 and done.get(first.thread, 0) < first.position:
                allowed &= ~(1 << second.thread)
        allowed = allowed or enabled
        if not (allowed >> last & 1 and random.random() < stay):
            last = random.choice([thread for thread in range(allowed.bit_length()) if allowed >> thread & 1])
        done[last] = index = done.get(last, 0) + 1
        return values.get((last, index), last)

    return choose


def _keys_of(trace: Trace) -> tuple[list[Key], dict[Like, int]]:
    """Return the key of each event, and how many events look alike of each sort."""
    seen: dict[Like, int] = {}
    keys: list[Key] = []
    for thread, operation in zip(trace.threads, trace.operations, strict=True):
        like = (thread, operation.kind, _locations(operation.accesses))
        number = seen[like] = seen.get(like, 0) + 1
        keys.append((*like, number - 1))
    return keys, seen


def _locations(accesses: Sequence[Access]) -> tuple[Location, ...]:
    """Return the first location. The modes, and further locations, depend on what the operation finds."""
    return tuple(location for location, _ in accesses[:1])
