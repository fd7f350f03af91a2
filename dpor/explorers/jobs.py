"""Orders in which a stateless search takes up the jobs of its tree (`dpor.explorers.tree`). The counts of a search that
is finished do not depend on it; what it costs, and what is found first, do.

`depth` needs no more memory than one way through the tree. The others keep all jobs that are known.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random
from typing import Final, Protocol

from dpor.core.options import Order
from dpor.explorers.preemptions import preemptions
from dpor.explorers.tree import Node


class Jobs(Protocol):
    """The jobs of a search."""

    def add(self, job: Node) -> None:
        """Take note of a job. It may be taken without being asked for, by a run that comes past it."""

    def next(self, first: Node | None) -> Node | None:
        """Return the job to be taken next; None if there is none. `first`: see `dpor.explorers.tree.first_left`."""
        ...


class DepthFirst:
    """The first in the order of the tree. Whatever was taken before is then finished."""

    def __init__(self, seed: int) -> None:
        pass

    def add(self, job: Node) -> None:
        """Do nothing: the tree has the job."""

    def next(self, first: Node | None) -> Node | None:
        return first


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

    def next(self, first: Node | None) -> Node | None:
        while self._jobs:
            job = heapq.heappop(self._jobs)[-1]
            if not job.taken:
                return job
        return None


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

    def next(self, first: Node | None) -> Node | None:
        jobs = self._jobs
        while jobs:
            number = int(self._random.random() * len(jobs))
            jobs[number], jobs[-1] = jobs[-1], jobs[number]
            job = jobs.pop()
            if not job.taken:
                return job
        return None


class FewestPreemptions(_InOrder):
    """Takes the job with the fewest preemptions on its way, ties by depth, then at random."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = Random(seed)

    def key(self, job: Node) -> tuple[float, ...]:
        return preemptions(job), job.depth, self._random.random()


JOBS: Final[dict[Order, Callable[[int], Jobs]]] = {
    Order.DEPTH: DepthFirst,
    Order.RANDOM: AtRandom,
    Order.PREEMPTIONS: FewestPreemptions,
}
"""The orders, each made from a seed."""
