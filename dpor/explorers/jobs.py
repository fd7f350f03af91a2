"""Orders in which a stateless search takes up the jobs of its tree (`dpor.explorers.tree`). The counts of a search that
is finished do not depend on it; what it costs, and what is found first, do.

`depth` needs no more memory than one way through the tree. The others know many jobs at once, and what has been
explored leaves the tree only once all before it is finished. So when the tree has become too large, they too take what
comes first in it, until it is small again (`Limited`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random
from typing import Final, Protocol

from dpor.core.options import Order
from dpor.explorers.preemptions import preemptions
from dpor.explorers.tree import Node, first_left, nodes_of

MOST_NODES: Final = 300_000
"""Nodes from which on a tree is too large: some 100 MB. ..."""
SMALL: Final = 0.5
"""... It is small again when it has this share of them."""
LOOK_AFTER: Final = 0.25
"""How many events a search performs between two looks at the size, as a share of the most nodes: each has a node."""


def is_too_large(root: Node, was_too_large: bool) -> bool:
    """True if a tree has so many nodes that what comes first in it should be finished."""
    return sum(1 for _ in nodes_of(root)) > MOST_NODES * (SMALL if was_too_large else 1)


class Jobs(Protocol):
    """The jobs of a search."""

    def add(self, job: Node) -> None:
        """Take note of a job. It may be taken without being asked for, by a run that comes past it."""

    def next(self, first: Node | None, events: int) -> Node | None:
        """Return the job to be taken next; None if there is none.

        first    see `dpor.explorers.tree.first_left`
        events   how many the search has performed, those that it has repeated left out
        """
        ...


class KnownJobs(Jobs, Protocol):
    """Jobs of which each that is left is known here."""

    def forget_taken(self) -> None:
        """Forget the jobs that have been taken without being asked for."""


class DepthFirst:
    """The first in the order of the tree. Whatever was taken before is then finished."""

    def __init__(self, seed: int) -> None:
        pass

    def add(self, job: Node) -> None:
        """Do nothing: the tree has the job."""

    def next(self, first: Node | None, events: int) -> Node | None:
        return first


class Limited:
    """Takes jobs in another order as long as the tree is not too large."""

    def __init__(self, jobs: KnownJobs) -> None:
        self._jobs = jobs
        self._is_too_large = False
        self._next_look = 0

    def add(self, job: Node) -> None:
        self._jobs.add(job)

    def next(self, first: Node | None, events: int) -> Node | None:
        if first is None:
            return None
        if events >= self._next_look or self._is_too_large:
            root = [*first.way()][-1]
            if events >= self._next_look:
                self._look(root)
                self._next_look = events + int(MOST_NODES * LOOK_AFTER)
            if self._is_too_large:
                return first_left(root)
        return self._jobs.next(first, events)

    def _look(self, root: Node) -> None:
        self._is_too_large = is_too_large(root, self._is_too_large)
        self._jobs.forget_taken()


class _InOrder:
    """Takes the job with the lowest key, ties by age."""

    def __init__(self) -> None:
        self._jobs: list[tuple[tuple[float, ...], int, Node]] = []  # a heap; jobs taken since are passed over
        self._added = 0

    def key(self, job: Node) -> tuple[float, ...]:
        raise NotImplementedError

    def add(self, job: Node) -> None:
        self._added += 1
        heapq.heappush(self._jobs, (self.key(job), self._added, job))

    def next(self, first: Node | None, events: int) -> Node | None:
        while self._jobs:
            job = heapq.heappop(self._jobs)[-1]
            if not job.taken:
                return job
        return None

    def forget_taken(self) -> None:
        self._jobs = [entry for entry in self._jobs if not entry[-1].taken]
        heapq.heapify(self._jobs)


class DeepestFirst(_InOrder):
    """As `DepthFirst`, for a tree in which what was taken before may not be finished yet: others may send to it."""

    def key(self, job: Node) -> tuple[float, ...]:
        return (-job.depth,)


class AtRandom:
    """Each with the same probability. (`Random.random` is the only method that gives the same numbers everywhere.)"""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._jobs: list[Node] = []

    def add(self, job: Node) -> None:
        self._jobs.append(job)

    def next(self, first: Node | None, events: int) -> Node | None:
        jobs = self._jobs
        while jobs:
            number = int(self._random.random() * len(jobs))
            jobs[number], jobs[-1] = jobs[-1], jobs[number]
            job = jobs.pop()
            if not job.taken:
                return job
        return None

    def forget_taken(self) -> None:
        self._jobs = [job for job in self._jobs if not job.taken]


class FewestPreemptions(_InOrder):
    """Takes the job with the fewest preemptions on its way, ties by depth, then at random."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = Random(seed)

    def key(self, job: Node) -> tuple[float, ...]:
        return preemptions(job), job.depth, self._random.random()


KNOWN_JOBS: Final[dict[Order, Callable[[int], KnownJobs]]] = {
    Order.DEPTH: lambda seed: DeepestFirst(),
    Order.RANDOM: AtRandom,
    Order.PREEMPTIONS: FewestPreemptions,
}
"""The orders in a part of a tree, each made from a seed. (What is before the part may not be finished.)"""
JOBS: Final[dict[Order, Callable[[int], Jobs]]] = {
    Order.DEPTH: DepthFirst,
    Order.RANDOM: lambda seed: Limited(AtRandom(seed)),
    Order.PREEMPTIONS: lambda seed: Limited(FewestPreemptions(seed)),
}
"""Those in a whole tree."""
