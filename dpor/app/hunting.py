"""A hunt beside the search: the default makes random runs (`dpor.explorers.hunt`) now and then, because a search that
goes through everything may come late to a failure.

The search begins. Once it is seen to have much left to do, the hunt has a first turn, which is short in time; after
that it has a share of the executions that are known to be needed, those that are left included. So a search that ends
soon is not kept from it, and one that does not has a hunt beside it for as long as it takes. The turns depend on counts
alone: the same runs are made on every machine, and before other processes help.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from dpor.app.course import Course
from dpor.app.stages import work
from dpor.core.errors import OutOfTime
from dpor.core.options import Options, Order
from dpor.core.system import Ending, Run
from dpor.explorers.hunt import Hunt
from dpor.explorers.reads_from import Placed
from dpor.explorers.search import Search
from dpor.explorers.tree import nodes_of

MUCH_LEFT: Final = 5
"""A search with so many jobs is not about to end."""
FIRST_RUNS, FIRST_WORK = 40, 6_000
"""How many runs the first turn has, and the `work` after which it has no more: some 0.2 seconds."""
SHARE: Final = 0.12
"""How many runs the hunt has for each execution that is known to be needed. (One takes longer, since it draws.)"""
OF_BUDGET: Final = 0.1
"""The share of `--max-executions` that may be the hunt's."""
LOOK_AGAIN: Final = 1.25
"""By which factor the executions grow from one look at the tree to the next."""


class Hunting:
    """The hunt of one check, whichever of its searches goes on. Each has a hunt of its own, since it may perform other
    operations than the one before."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._is_wanted = is_hunted(course.options)
        self._placed: Placed | None = None
        self._hunt: Hunt | None = None
        self._explored: Iterator[Run] = iter(())
        # A check that goes on from a file has had a first turn, and at most so many runs.
        self._runs = 0 if course.resumed is None else max(FIRST_RUNS, course.besides)
        self._work = 0
        self._next_look = 1

    def begin(self, search: Search) -> None:
        """Called before the first run of a search: the hunt will learn from that one."""
        self._hunt, self._placed, self._next_look = None, None, 1
        if self._is_wanted and self._course.stage.bound is None:
            self._placed = search.system = Placed(search.system)

    def has_failed(self, search: Search) -> bool:
        """Hunt, if it is time. Returns True if a run has failed."""
        if self._placed is None:
            return False
        if self._hunt is None:
            self._hunt = self._begun(search, self._placed)
            self._explored = self._hunt.explore()
        done = search.stats.executions
        if done < self._next_look:
            return False
        self._next_look = max(done + 1, int(done * LOOK_AGAIN))
        with suppress(OutOfTime):
            search.settle()
            left = jobs_left(search)
            while left >= MUCH_LEFT and self._is_due(done + left):
                if self._has_next_failed(self._hunt):
                    return True
        return False

    def _begun(self, search: Search, placed: Placed) -> Hunt:
        options = self._course.options
        search.system = self._course.system
        hunt = Hunt(search.system, options.seed + self._course.besides, options.depth)
        if len(placed.places) == len(search.trace):  # else it goes on from a file, with events of before
            hunt.learn(search.trace, placed.places)
        return hunt

    def _is_due(self, known: int) -> bool:
        """True if another run may be made, given the number of executions that are known to be needed."""
        budget, runs = self._course.options.max_executions, self._runs
        if not self._is_wanted or (budget is not None and runs >= OF_BUDGET * budget):
            return False
        return runs < SHARE * known or (runs < FIRST_RUNS and self._work < FIRST_WORK)

    def _has_next_failed(self, hunt: Hunt) -> bool:
        course, before = self._course, work(hunt.stats)
        run = next(self._explored)
        course.besides += 1
        self._runs += 1
        self._work += work(hunt.stats) - before
        self._is_wanted = run.ending is not Ending.CUT  # so long runs would keep the search waiting
        if run.findings:
            course.take(run, hunt.trace)
            return True
        course.phases.pace()
        return False


def is_hunted(options: Options) -> bool:
    """True if a check with these options hunts: if no search is asked for, and one failure is enough."""
    usual = options.preemptions is None and options.order is Order.DEPTH and not options.races
    return options.strategy is None and usual and not options.all


def jobs_left(search: Search) -> int:
    """Return how many jobs of the tree are known, given a search that has learned from its last run."""
    nodes = nodes_of(search.nodes[0])
    return sum(not node.taken and node.parent is not None and node.parent.taken for node in nodes)
