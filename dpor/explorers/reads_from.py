"""Reads-from pairs by place: which write a read has seen, told by where in the program the two stand [WSDMR24].

An *act* is what a thread does at a place: the kind of its operation, and where the thread is in the program
(`PlacedSystem`). What another thread does there, or the same one in another round of a loop, is the same act. An act
*sees* the one that was the last to write a location that it reads, or to give an object that it takes (a lock, say);
it sees None if there is none.

Here          In [WSDMR24]
Act           abstract event
Pair          abstract reads-from pair
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from dpor.core.operations import READ, THREAD_MASK, Action, Location, Operation, ThreadId
from dpor.core.system import STOP, Chooser, Forwarding, PlacedSystem, Run, System, Trace

Act: TypeAlias = tuple[str, Hashable]
"""The kind of an operation, and the place of its thread."""


class Pair(NamedTuple):
    """An act that is seen (None: nothing has been written), and one that sees it."""

    source: Act | None
    read: Act


class Placed(Forwarding):
    """A system that remembers where each event of its last run was performed, in `places`. If the system that it wraps
    knows no places, each thread is one."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self._run = system.run
        self.place: Callable[[ThreadId], Hashable] = (
            system.place if isinstance(system, PlacedSystem) else lambda thread: thread
        )
        self.places: list[Hashable] = []

    def run(self, trace: Trace, choose: Chooser) -> Run:
        """See `dpor.core.system.System.run`."""
        places, place = self.places, self.place
        del places[len(trace) :]

        def placed(enabled: int) -> Action:
            action = choose(enabled)
            if action != STOP:
                places.append(place(action & THREAD_MASK))
            return action

        return self._run(trace, placed)


class _Accessed:
    """What is known of a location.

    reads     the acts that see what is there, each with the mask of the threads that have performed it
    sources   the acts that they could see, likewise
    early     the acts that see what is there before their own thread has written or seen anything there
    bare      True if something is there before anything is written: not so if only a thread that has ended is joined
    """

    __slots__ = ("bare", "early", "reads", "sources")

    def __init__(self) -> None:
        self.reads: dict[Act, int] = {}
        self.sources: dict[Act, int] = {}
        self.early: dict[Act, None] = {}
        self.bare = False

    def add_read(self, act: Act, thread: ThreadId, is_early: bool, is_bare: bool) -> bool:
        """Take note of an act that sees what is there. Returns True if anything about it is new."""
        known = self.reads.get(act, 0)
        is_new = not known >> thread & 1 or (is_early and act not in self.early) or (is_bare and not self.bare)
        self.reads[act] = known | 1 << thread
        if is_early:
            self.early[act] = None
        self.bare = self.bare or is_bare
        return is_new

    def add_source(self, act: Act, thread: ThreadId) -> bool:
        """Take note of an act that others can see. Returns True if anything about it is new."""
        known = self.sources.get(act, 0)
        self.sources[act] = known | 1 << thread
        return not known >> thread & 1

    def pairs(self) -> Iterator[Pair]:
        """Yield what could be seen, where there is more than one thing."""
        for read, threads in self.reads.items():
            several = [source for source, others in self.sources.items() if (threads | others).bit_count() > 1]
            found = [Pair(source, read) for source in several]
            if self.bare and read in self.early:
                found.append(Pair(None, read))
            if len(found) > 1:
                yield from found


class ReadsFrom:
    """What runs have shown of who sees whom.

    seen        each pair that has been seen, with the number of runs that have shown it
    shown       those of the last run
    possible    each pair that may be seen instead of another: both acts access a location, and are of several threads
    locations   for each act that sees something, the locations of which it does
    """

    def __init__(self) -> None:
        self.seen: dict[Pair, int] = {}
        self.shown: dict[Pair, None] = {}
        self.possible: dict[Pair, None] = {}
        self.locations: dict[Act, dict[Location, None]] = {}
        self._accessed: dict[Location, _Accessed] = defaultdict(_Accessed)

    def learn(self, trace: Trace, places: Sequence[Hashable]) -> int:
        """Take note of a run, given the places of its events. Returns how many of its pairs are new."""
        last: dict[Location, Act] = {}
        met: set[tuple[ThreadId, Location]] = set()  # the thread has seen or written something there
        pairs = self.shown = {}
        grown: dict[Location, None] = {}
        for thread, operation, place in zip(trace.threads, trace.operations, places, strict=True):
            act = operation.kind, place
            for location in seen_by(operation):
                source = last.get(location)
                pairs[Pair(source, act)] = None
                self.locations.setdefault(act, {})[location] = None
                is_early, is_bare = (thread, location) not in met, source is None or operation.rule is None
                if self._accessed[location].add_read(act, thread, is_early, is_bare):
                    grown[location] = None
                if source is not None:
                    met.add((thread, location))
            for location in left_by(operation):
                last[location] = act
                met.add((thread, location))
                if self._accessed[location].add_source(act, thread):
                    grown[location] = None
        for location in grown:
            self.possible.update((pair, None) for pair in self._accessed[location].pairs())
        before = len(self.seen)
        for pair in pairs:
            self.seen[pair] = self.seen.get(pair, 0) + 1
        return len(self.seen) - before


def seen_by(operation: Operation) -> Iterator[Location]:
    """Yield the locations of which an operation sees what is there."""
    rule = operation.rule
    for number, (location, mode) in enumerate(operation.accesses):
        if mode is READ if rule is None else number in rule.takes:
            yield location


def left_by(operation: Operation) -> Iterator[Location]:
    """Yield the locations at which others see an operation."""
    rule = operation.rule
    for number, (location, mode) in enumerate(operation.accesses):
        if mode is not READ if rule is None else number in rule.gives:
            yield location
