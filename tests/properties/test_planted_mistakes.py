"""Mistakes planted in the searches, in what they know of dependence and in what a state is: each is caught, and the
table says by which judges. (What a judge misses is not tested: it may learn.)"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import pytest

import dpor.explorers.search
import dpor.explorers.wakeup_tree
from dpor.core.errors import DporError
from dpor.core.operations import READ, THREAD_MASK, UPDATE, WRITE, OperationTable
from dpor.core.system import Run
from dpor.explorers import Classic, Dpor, Full, Optimal, Source, summaries
from dpor.explorers.search import threads_of
from dpor.explorers.summaries import Item, Items, KnownEvent
from dpor.model import AbstractSystem
from dpor.model.system import Outcome
from dpor.testing import ALL, Spec, TooLarge, disagreement, explore, random_program, swap_and_replay
from dpor.testing.judging import MakeExplorer
from tests.litmus.test_oracle_counts import PROGRAMS

PATCH = pytest.MonkeyPatch
EXAMPLES = 400
SOUND_EXAMPLES = 50
SMALL = [program for program in PROGRAMS if program["counts"]["states"] <= 400]


# ---------------------------------------------------------------------- mistakes in dependence


def wrote_is_read(patch: PATCH) -> None:
    """A read and a write of one location are called independent."""

    def dependent(a: Any, b: Any) -> bool:
        return any(x == y and m is n is WRITE for x, m in a.accesses for y, n in b.accesses)

    patch.setattr(dpor.explorers.search, "dependent", dependent)
    patch.setattr(dpor.explorers.wakeup_tree, "dependent", dependent)


def all_dependent(patch: PATCH) -> None:
    """Every two operations are called dependent."""
    patch.setattr(dpor.explorers.search, "dependent", lambda a, b: True)
    patch.setattr(dpor.explorers.wakeup_tree, "dependent", lambda a, b: True)


def writes_commute(patch: PATCH) -> None:
    """The system itself says that two writes of a variable commute."""
    intern = OperationTable.intern

    def planted(self: OperationTable, kind: str, accesses: Any, *rest: Any, **named: Any) -> Any:
        if kind == "write":
            accesses = tuple((location, UPDATE) for location, _ in accesses)
        return intern(self, kind, accesses, *rest, **named)

    patch.setattr(OperationTable, "intern", planted)


def unlock_reads(patch: PATCH) -> None:
    """The system itself says that to release a lock only reads it."""
    intern = OperationTable.intern

    def planted(self: OperationTable, kind: str, accesses: Any, *rest: Any, **named: Any) -> Any:
        if kind == "unlock":
            accesses = tuple((location, READ) for location, _ in accesses)
        return intern(self, kind, accesses, *rest, **named)

    patch.setattr(OperationTable, "intern", planted)
    patch.setattr("dpor.core.operations.Operation.outcome", lambda self, modes: self)


# ---------------------------------------------------------------------- mistakes in sleep sets, races, wakeup trees


class NeverWoken(Source):
    """A sleeping thread is woken only by its own events."""

    def _still_asleep(self, sleep: Any) -> Any:
        thread = self.trace.threads[-1]
        return {action: operation for action, operation in sleep.items() if action & THREAD_MASK != thread}


class NeverAsleep(Source):
    """Sleep sets do not outlive one event."""

    def _still_asleep(self, sleep: Any) -> Any:
        return {}


class RaceOfReadsSkipped(Source):
    """A read is not put before a write."""

    def reverse(self, first: int, end: int, action: int, operation: Any) -> None:
        if operation.kind != "read":
            super().reverse(first, end, action, operation)


class LockRacesSkipped(Classic):
    """Threads that wait for a lock when a run ends have no races."""

    def _learn(self, start: int, run: Run) -> None:
        super()._learn(start, Run(run.ending))


class TooManyPoints(Optimal):
    """All threads are planned where one would do."""

    def reverse(self, first: int, end: int, action: int, operation: Any) -> None:
        node = self.nodes[first]
        planned = {branch.action for branch in node.branches}
        for thread in threads_of(node.enabled):
            if thread not in planned and thread not in node.sleep:
                self.plan(node, thread, operation)


def trees_cover_all(patch: PATCH) -> None:
    """A branch that begins with a weak initial is taken to cover the sequence."""
    patch.setattr(dpor.explorers.wakeup_tree, "insert_below", lambda node, sequence: None)


class ValuesForgotten(Optimal):
    """Only the first value of a data choice is taken."""

    def choose_again(self, position: int, action: int, operation: Any) -> None:
        if operation.alternatives == 1:
            super().choose_again(position, action, operation)


# ---------------------------------------------------------------------- mistakes in summaries, cycles, start and join


class NotPropagated(Dpor):
    """A summary that grows tells only those that lead to it now."""

    def between(self) -> None:
        for state in reversed(self._grown):
            for source, number in self.graph.leading_to(state):
                event, below = self._event(number), self._summaries[state]
                self._compare(source, event, below)
                self._summaries[source] |= self._items.carried(event, below)
        self._grown.clear()


class CyclesIgnored(Dpor):
    """No proviso: what is ignored on a cycle stays ignored."""

    def complete(self) -> bool:
        return True


def started_threads_forgotten(patch: PATCH) -> None:
    """What a thread does is forgotten where it is started."""
    changed = Items._changed

    def planted(self: Items, event: KnownEvent, number: int) -> int:
        return 0 if event.operation.starts == self._items[number].thread else changed(self, event, number)

    patch.setattr(Items, "_changed", planted)


def after_what_came_before(patch: PATCH) -> None:
    """What comes after a thread's event on some way is taken to come after it on all."""
    before = summaries.before

    def planted(event: KnownEvent, item: Item, writers: Any) -> Item:
        item = before(event, item, writers)
        return item if item.thread == event.thread else item._replace(after=item.after | 1 << event.thread)

    patch.setattr(summaries, "before", planted)


def after_one_is_after_all(patch: PATCH) -> None:
    """What comes after one thread is taken to come after all."""
    before = summaries.before
    patch.setattr(
        summaries, "before", lambda *arguments: (it := before(*arguments))._replace(after=-1 if it.after else 0)
    )


def pending_modes_are_certain(patch: PATCH) -> None:
    """What a thread waits before is taken to have the modes that it may have."""
    pending = Items.pending
    patch.setattr(Items, "pending", lambda self, thread, operation, is_exact: pending(self, thread, operation, True))


def locks_never_open(patch: PATCH) -> None:
    """What is behind a closed guard is taken to be stuck, whoever could open it."""

    def planted(self: Items, others: int, sync: int) -> int:
        stuck = 0
        for guard in self._guards.values():
            if guard.behind & others and self._is_disabled(guard, sync):
                stuck |= guard.behind
        return stuck & others

    patch.setattr(Items, "_find_stuck", planted)


class OneThreadLess(Full):
    """At states with three enabled threads, one is passed over."""

    def first(self, enabled: int) -> int:
        planned = super().first(enabled)
        return planned & (planned - 1) if planned.bit_count() == 3 else planned


# ---------------------------------------------------------------------- mistakes in what a state is


def state_without(change: Callable[[Outcome], Any]) -> Callable[[PATCH], None]:
    def plant(patch: PATCH) -> None:
        state = AbstractSystem.state
        patch.setattr(AbstractSystem, "state", lambda self: change(state(self)))  # type: ignore[arg-type]

    return plant


def waiters_sorted(state: Outcome) -> Any:
    return state._replace(memory=tuple(tuple(sorted(v)) if _is_queue(v) else v for v in state.memory))


def _is_queue(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) > 1 and all(isinstance(part, int) for part in value)


def nobody_owns(state: Outcome) -> Any:
    return state._replace(memory=tuple(isinstance(v, tuple) and len(v) > 0 and v[0] is not None for v in state.memory))


# ---------------------------------------------------------------------- the table


class Plant(NamedTuple):
    """`caught_by`: judges that must notice. `words`: of the programs, where the mistake shows on few others."""

    title: str
    make: MakeExplorer
    caught_by: str
    plant: Callable[[PATCH], None] = lambda patch: None
    words: str = ""
    cyclic: bool = False


PLANTS = [
    Plant("a read and a write called independent", Optimal, "outcomes classes counts", wrote_is_read),
    Plant("everything called dependent", Optimal, "once counts", all_dependent),
    Plant("writes said to commute", Optimal, "outcomes swap counts", writes_commute),
    Plant("a release said to read", Optimal, "outcomes swap", unlock_reads, "lock unlock try if r w"),
    Plant("sleep set never woken", NeverWoken, "outcomes classes counts"),
    Plant("sleep set forgotten", NeverAsleep, "once counts"),
    Plant("races of reads skipped", RaceOfReadsSkipped, "outcomes counts"),
    Plant("races of waiting threads skipped", LockRacesSkipped, "outcomes counts"),
    Plant("too many backtrack points", TooManyPoints, "counts"),
    Plant("wakeup trees cover too much", Optimal, "outcomes classes counts", trees_cover_all),
    Plant("values of a choice forgotten", ValuesForgotten, "outcomes classes", words="choose r w"),
    Plant("summaries not propagated", NotPropagated, "outcomes", words="r w rmw if assert"),
    Plant("cycles ignored", CyclesIgnored, "outcomes", cyclic=True),
    Plant("what started threads do forgotten", Dpor, "outcomes", started_threads_forgotten, "spawn join r w"),
    Plant("closed guards never open", Dpor, "outcomes", locks_never_open),
    Plant("ways that need no event forgotten", Dpor, "outcomes", after_what_came_before),
    Plant("after one thread, after all", Dpor, "outcomes", after_one_is_after_all, "r w if assert"),
    Plant("pending modes certain", Dpor, "outcomes", pending_modes_are_certain, "lock unlock try if r w"),
    Plant("a thread passed over", OneThreadLess, "outcomes counts"),
    Plant("state without registers", Full, "outcomes counts", state_without(lambda s: s._replace(registers=()))),
    Plant("state without places", Full, "outcomes counts", state_without(lambda s: s._replace(pcs=()))),
    Plant(
        "state without waiters' order", Full, "outcomes", state_without(waiters_sorted), "lock unlock wait notify r w"
    ),
    Plant("state without owners", Full, "outcomes", state_without(nobody_owns), "lock unlock try if r w"),
]


def programs(plant: Plant) -> Iterator[Spec]:
    words = plant.words.split() or ALL
    for seed in range(EXAMPLES if plant.caught_by else SOUND_EXAMPLES):
        yield random_program(Random(seed), words, interleavings=1_000, endless=plant.cyclic)


def told(plant: Plant, promise: str, words: str) -> bool:
    """Does `disagreement` come to tell of it, in one of these words?"""
    for program in programs(plant):
        try:
            wrong = disagreement(program, {"mine": plant.make}, {"mine": [promise]})
        except TooLarge:
            continue
        if any(word in wrong for word in words.split()):
            return True
    return False


def swapped(plant: Plant) -> bool:
    """Do independent neighbours, swapped, make a difference?"""
    return any(swap_and_replay(AbstractSystem(program), Random(0))[1] for program in programs(plant))


def miscounted(plant: Plant) -> bool:
    """Is a count other than the one that was worked out by listing everything?"""
    return any(counts(plant.make, program["spec"]) != exact(plant.make, program["counts"]) for program in SMALL)


def counts(make: MakeExplorer, spec: Spec) -> object:
    try:
        seen = explore(make, AbstractSystem(spec), runs=1_000)
    except DporError as error:
        return error
    return seen.states or (seen.executions, seen.blocked)


def exact(make: MakeExplorer, known: dict[str, int]) -> object:
    return known["states"] if isinstance(make, type) and issubclass(make, Full) else (known["maz"], 0)


JUDGES: dict[str, Callable[[Plant], bool]] = {
    "outcomes": lambda plant: told(plant, "", "outcomes deadlocks failures"),
    "classes": lambda plant: told(plant, "classes", "classes"),
    "once": lambda plant: told(plant, "once", "twice"),
    "swap": swapped,
    "counts": miscounted,
}


@pytest.fixture(autouse=True)
def _judges_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judges are to notice, not the search itself (tests/unit/test_search_invariants.py)."""
    monkeypatch.setenv("DPOR_CHECK", "0")


@pytest.mark.parametrize(
    ("plant", "judge"),
    [pytest.param(p, judge, id=f"{p.title}, {judge}") for p in PLANTS for judge in p.caught_by.split()],
)
def test_a_mistake_is_caught(plant: Plant, judge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant.plant(monkeypatch)
    assert JUDGES[judge](plant)


@pytest.mark.parametrize("make", [Optimal, Full, Dpor])
def test_without_a_mistake_nothing_is_caught(make: MakeExplorer) -> None:
    """(The tests of agreement say so of thousands of programs, for all promises.)"""
    sound = Plant("none", make, "")
    assert [name for name in ("outcomes", "once", "swap") if JUDGES[name](sound) and make is Optimal] == []
    assert make is Dpor or not miscounted(sound)
