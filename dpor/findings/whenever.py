"""Which orders of events a failure needs: learnt from schedules that fail and schedules that do not.

The failing run has pairs of dependent events of different threads. Other schedules are run, and in each it is seen
which of these orders hold there too. A *condition* is a set of orders, such that every schedule fails in which all of
them hold. The smallest one that agrees with all schedules tried is the answer; then schedules are made to refute it
(its orders kept, all else at random; or one of them turned round), and it is learnt anew, until the budget is spent.

Only an aid to reading: it says what was tried, and no verdict depends on it. Data choices stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple, TypeAlias

import attrs

from dpor.core.dependence import dependent
from dpor.core.errors import AssumptionBroken, UserError
from dpor.core.explanation import Order
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
"""How likely the thread that ran last goes on, in the random schedules, in turn: what fails wherever threads often take
turns may pass when each runs as long as it can."""
LIVES = frozenset({"start", "end", "join"})

Like: TypeAlias = tuple[ThreadId, str, tuple[Location, ...]]
"""Events that look the same: thread, kind, what is accessed."""
Key: TypeAlias = tuple[ThreadId, str, tuple[Location, ...], int]
"""An event, as far as it can be found again in other runs: its position among those that look the same, from 0."""


class EventId(NamedTuple):
    """An event: its thread, and its position within its thread, from 1."""

    thread: ThreadId
    position: int


@attrs.define
class Schedules:
    """Runs of other schedules than the failing one, each held against the orders of that.

    holds     for each order, the mask of the runs in which it holds
    turned    the orders of which some run had both events the other way round, and those before which a thread waits:
              of the others, one event may come only where the run fails, which would say nothing
    fails     the mask of the runs that show the finding
    count     of the runs
    """

    system: System
    trace: Trace
    run: Run
    finding: Finding
    enough: Callable[[], bool] = lambda: False
    budget: int = BUDGET
    orders: list[Order] = attrs.field(factory=list)
    holds: dict[Order, int] = attrs.field(factory=dict)
    turned: set[Order] = attrs.field(factory=set)
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
        self.turned = {order for order in self.orders if order.later is None}

    def _orders(self) -> list[Order]:
        """The pairs that depend on each other, the clearest first, then those nearest to the end."""
        trace, found = self.trace, []
        for thread, operation, _ in self.run.blocked:
            for earlier in range(len(trace) - 1, -1, -1):
                if trace.threads[earlier] != thread and dependent(trace.operations[earlier], operation):
                    found.append(Order(earlier, None, thread))
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
                        found.append(Order(earlier, later, thread))
        return sorted(found[:MOST_ORDERS], key=self._obscurity)

    def _obscurity(self, order: Order) -> int:
        """Of orders that always come together, a reader is best told those of data, then those in which locks are taken
        rather than given back."""
        trace = self.trace
        events = [order.earlier] if order.later is None else [order.earlier, order.later]
        return sum(
            (trace.operations[at].rule is not None) + 2 * (trace.operations[at].kind == "unlock") for at in events
        )

    def attempt(self, choose: Chooser) -> bool | None:
        """Run one. Does it show the finding? None: it could not be followed to an end."""
        trace = Trace()
        try:
            run = self.system.run(trace, choose)
        except UserError:
            self.budget -= COST_OF_RUN
            return None
        except AssumptionBroken:  # from here on events are not what they were
            self.budget = -1
            return None
        self.budget -= len(trace) + COST_OF_RUN
        failed = any(found.group == self.finding.group for found in run.findings)
        if not failed and run.ending not in (Ending.COMPLETE, Ending.SPINNING):
            return None
        self._take(trace, failed)
        return failed

    def guide(self, actions: Sequence[Action]) -> bool | None:
        """As `attempt`, along these actions as far as they can be kept to."""
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
                self.turned.add(order)

    def condition(self) -> tuple[Order, ...]:
        """The fewest orders that hold together in no run but those that fail; () if there are none. Where some hold in
        all that fail, too, these; where some were seen turned, those first of all."""
        necessary = [order for order in self.orders if self.fails & ~self.holds[order] == 0]
        for orders in (necessary, self.orders):
            found = self._fewest([order for order in orders if order in self.turned])
            if found:
                return found
        return self._fewest(necessary) or self._fewest(self.orders)

    def _fewest(self, orders: Sequence[Order]) -> tuple[Order, ...]:
        passing = ((1 << self.count) - 1) & ~self.fails
        by_mask: dict[int, Order] = {}  # of orders that always come together, the first
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

    def all_hold(self, orders: Sequence[Order]) -> int:
        """The mask of the runs in which all of these hold."""
        mask = (1 << self.count) - 1
        for order in orders:
            mask &= self.holds[order]
        return mask

    def place_of(self, order: Order) -> tuple[EventId, EventId]:
        first = self._index(order.earlier)
        if order.later is not None:
            return first, self._index(order.later)
        return first, EventId(order.thread, sum(thread == order.thread for thread in self.trace.threads) + 1)

    def _index(self, event: int) -> EventId:
        thread = self.trace.threads[event]
        return EventId(thread, sum(other == thread for other in self.trace.threads[: event + 1]))


def learn(schedules: Schedules) -> tuple[Order, ...]:
    """Try schedules at random and against what is believed so far. Returns the condition that none of them refutes."""
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
                turned = random.choice(believed)
                kept = [(b, a) if (a, b) == turned else (a, b) for a, b in believed]
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
    """A chooser that holds back a thread before the second event of an order until the first has come, if it can."""
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
    """The key of each event, and how many there were of each kind of event."""
    seen: dict[Like, int] = {}
    keys: list[Key] = []
    for thread, operation in zip(trace.threads, trace.operations, strict=True):
        like = (thread, operation.kind, _locations(operation.accesses))
        number = seen[like] = seen.get(like, 0) + 1
        keys.append((*like, number - 1))
    return keys, seen


def _locations(accesses: Sequence[Access]) -> tuple[Location, ...]:
    return tuple(location for location, _ in accesses)  # modes depend on outcomes
