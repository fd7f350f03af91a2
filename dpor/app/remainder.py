"""What is left of a search that is cut: kept in a checkpoint, if there is a file for it and it can hold that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import attrs

from dpor.app.checkpoint import Checkpoint, Keeper, options_to_json
from dpor.app.course import Course
from dpor.app.strategies import is_resumable, not_kept
from dpor.app.targets import target_name
from dpor.core.errors import BadCheckpoint, OutOfTime
from dpor.core.schedule import hash_seed, read_sources
from dpor.core.system import Ending, Run
from dpor.explorers import SAMPLERS, Explorer, saved_tree
from dpor.explorers.search import Search


class Remainder:
    """Keeps what is left of the searches of a check. `keeper` writes the file; None: nothing is kept."""

    def __init__(self, course: Course, keeper: Keeper | None) -> None:
        self._course = course
        self._keeper = keeper
        self._aside: Checkpoint | None = None

    @property
    def file(self) -> str | None:
        """The file of what is left; None: nothing is kept."""
        keeper = self._keeper
        return str(keeper.path) if keeper is not None and keeper.written and not self._course.results.finished else None

    def put_away(self, search: Explorer) -> None:
        """Keep what is left of a search that has ended, if it can go on; else forget what was kept."""
        course, keeper, results = self._course, self._keeper, self._course.results
        if keeper is None:
            return
        if not results.resumable:
            if results.finished or results.seen:
                keeper.forget()
            return
        if not isinstance(search, Search) or not is_resumable(course.stage.options):
            if self._aside is not None:
                self._keep(self._renewed(self._aside))
            elif course.stage.options.explorer not in SAMPLERS:
                results.reasons[not_kept(course.stage.options)] = None
            return
        results.counts = attrs.evolve(results.counts)
        with suppress(OutOfTime):
            last = course.last
            if search.unlearned is last and last is not None and last.ending is not Ending.ENDED:
                search.settle()
        again = search.take_back()
        self.write(search, again if again is course.last else None)

    def put_aside(self, search: Explorer) -> None:
        """Remember what is left of a stage that is followed by one of which no file keeps anything."""
        course = self._course
        if self._keeper is None or not isinstance(search, Search):
            return
        following = course.stages[course.stages.index(course.stage) + 1]
        if is_resumable(course.stage.options) and not is_resumable(following.options):
            with suppress(OutOfTime, BadCheckpoint):
                search.settle()
                last = len(course.resumable) - 1  # which goes on to the end
                self._aside = attrs.evolve(self._checkpoint(search, None), stage=last)
                course.note_facts()

    def forget_aside(self) -> None:
        """Forget what was remembered of an earlier stage: its runs had too few events."""
        self._aside = None

    def is_due(self, now: float) -> bool:
        """True if it is time to write a checkpoint while the search goes on."""
        return self._keeper is not None and self._keeper.is_due(now)

    def write(self, search: Search, again: Run | None = None) -> None:
        """Write a checkpoint. `again`: a run that is part of the results and will be repeated."""
        self._keep(lambda: self._checkpoint(search, again))

    def _keep(self, made: Callable[[], Checkpoint]) -> None:
        assert self._keeper is not None
        try:
            self._keeper.keep(made)
        except BadCheckpoint as error:
            self._keeper = None
            self._course.results.incomplete[str(error)] = None

    def _renewed(self, aside: Checkpoint) -> Callable[[], Checkpoint]:
        """Return a function that makes a checkpoint of what is left of an earlier stage, with what is known now."""
        course = self._course
        runs = course.besides + course.results.counts.executions - aside.results["counts"]["executions"]
        found = [seen.to_json() for seen in course.found.values()]
        seconds = course.phases.seconds
        return lambda: attrs.evolve(aside, seconds=seconds, besides=runs, restarts=course.restarts, found=found)

    def _checkpoint(self, search: Search, again: Run | None) -> Checkpoint:
        course, system, results = self._course, self._course.system, self._course.results
        locations = system.locations()
        if locations is None:
            raise BadCheckpoint("what is left is not kept: what threads share has a key that no file can name")
        return Checkpoint(
            target=target_name(course.target, attrs.evolve(course.options, name=None)),
            options=options_to_json(course.options),
            stage=course.resumable.index(course.stage),
            hash_seed=hash_seed(),
            sources=read_sources(system.sources()),
            facts=system.facts(),
            locations=locations,
            accesses=system.accesses(),
            seconds=course.phases.seconds,
            besides=course.besides,
            restarts=course.restarts,
            estimate=None if course.estimate is None else [*course.estimate],
            found=[seen.to_json() for seen in course.found.values()],
            results=attrs.evolve(results, branching=results.branching + search.branching).to_json(search.stats, again),
            tree=saved_tree.to_json(search.nodes[0]),
        )
