"""Checks a program: leads the check from search to search, explains the failures, makes the report.

`check` is the public function; the command line uses `Session`, which keeps what is known when a check ends in an error
or by Ctrl-C. One search is carried out by `dpor.app.searching`. Printing (`dpor.report`) and parsing arguments
(`dpor.cli.main`) are done elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

from dpor.app import advice
from dpor.app.budgets import EXPLAINING_SECONDS, MOST_RESTARTS
from dpor.app.checkpoint import Checkpoint, Keeper, damaged
from dpor.app.course import Course
from dpor.app.explaining import explain_failures
from dpor.app.found import Results
from dpor.app.mapping import map_of
from dpor.app.option_docs import takes_options
from dpor.app.remainder import Remainder
from dpor.app.searching import Searching
from dpor.app.sharing import prepared
from dpor.app.stages import Stage, is_next_bound
from dpor.app.strategies import explorer_of, needs_every_access, shortfall
from dpor.app.targets import Target, is_python, open_target, shareable, target_name
from dpor.app.telling import tell_outcomes
from dpor.core.errors import AssumptionBroken, InternalError, Unfinished
from dpor.core.memory import peak_memory
from dpor.core.operations import Action
from dpor.core.options import Options, Order, with_changes
from dpor.core.results import ALL_DROPPED, NOT_FINISHED, NOTHING_SHARED, ONE_THREAD, Branching, Report, Verdict
from dpor.core.schedule import relative
from dpor.core.system import StatefulSystem
from dpor.core.version import VERSION
from dpor.explorers import SAMPLERS, STATEFUL, Explorer, saved_tree
from dpor.explorers.search import Search
from dpor.explorers.states import StatefulSearch
from dpor.findings.explain import Checkable
from dpor.report.class_map import ClassMap
from dpor.report.progress import Monitor


@takes_options(Options)
def check(target: Target, options: Options | None = None, **changes: Any) -> Report:
    """Explore every interleaving of the target, a callable without arguments that starts threads, and return a report.

    The options are given as an `Options`, as keyword arguments, or both (the keywords win).

    Raises `UserError` (`BadTarget`, ...) if the target or an option is wrong. What the program does wrong is in
    `Report.findings`, never an exception.
    """
    return Session(target, with_changes(options or Options(), changes, "dpor.check")).run()


class Session:
    """One check. If `run` raises, `report` still tells what is known.

    suspects  schedules that may fail, tried before the search; each is followed as far as the program can
    mapped    True if `class_map` will be called
    keeper    keeps what is left of a search that is cut; None: nothing does
    resumed   what an earlier check has kept: this one goes on with it
    opened    the target, opened for these options already; None: this check opens it
    explains  False if failures are reported as they were seen
    """

    def __init__(
        self,
        target: Target,
        options: Options,
        monitor: Monitor | None = None,
        suspects: Sequence[Sequence[Action]] = (),
        mapped: bool = False,
        keeper: Keeper | None = None,
        resumed: Checkpoint | None = None,
        opened: Checkable | None = None,
        explains: bool = True,
    ) -> None:
        if options.outcomes:
            options = attrs.evolve(options, all=True)
        self._explains = explains
        if keeper is None and options.checkpoint:
            keeper = Keeper(Path(options.checkpoint), periodic=True)
        self._course = Course(shareable(target, options), options, monitor or Monitor(), mapped, resumed)
        self._remainder = Remainder(self._course, keeper)
        self._searching = Searching(self._course, self._remainder)
        self._suspects = suspects
        self._given = opened
        self._branching: tuple[Branching, ...] = ()

    @property
    def over_at(self) -> float:
        """The time, by `time.monotonic`, when the present phase must end."""
        return self._course.phases.over_at

    def run(self) -> Report:
        """Search, then explain the failures."""
        course = self._course
        stages = course.stages
        explorers = [explorer_of(stage.options) for stage in stages]
        begun = stages.index(course.stage)
        with course.phases.beating(), prepared(course.options) as self._searching.server:
            for number in range(begun, len(stages)):
                stage = stages[number]
                if number > begun and not self._is_of_use(stage):
                    continue
                course.stage = stages[number] = stage.to_the_end() if course.results.finished else stage
                report = self._run(explorers[number])
                if not course.results.left:
                    break
                course.besides += course.results.counts.executions
                course.remember_found()
        return report

    def _is_of_use(self, stage: Stage) -> bool:
        """True if a later stage may cover what the last one has not."""
        course = self._course
        if stage.needs_states:
            return isinstance(course.opened, StatefulSystem)
        worth = stage.bound is None or is_next_bound(stage.bound, course.covered)
        return worth and not course.results.finished

    def _run(self, explorer: Callable[[Checkable], Explorer]) -> Report:
        """Carry out the present stage, again for each assumption that a run breaks."""
        course = self._course
        try:
            course.opened = self._opened()
        except Unfinished as error:
            phases = course.phases
            return self.report(str(error), *([phases.why_over] if phases.is_over() else []))
        while len(course.restarts) < MOST_RESTARTS:
            search = explorer(course.system)
            search.pace = course.phases.pace
            course.results = self._begin(search)
            course.phases.begin_search()
            try:
                return self._searched(course.system, search)
            except AssumptionBroken as fact:
                self._note_broken(fact)
        raise InternalError(f"the search began again {MOST_RESTARTS} times, last because {course.restarts[-1]}")

    def _opened(self) -> Checkable:
        """Open the target for the present stage, with the facts that are known."""
        course = self._course
        if self._given is not None and course.opened is None:
            return self._given
        known = course.opened.facts() if course.opened is not None else None
        if course.resumed is not None and course.resumed.facts is not None:
            known = {**course.resumed.facts, "locations": course.resumed.locations}
        return open_target(course.target, course.stage.options, known)

    def _begin(self, search: Explorer) -> Results:
        """Return the results of a search that is about to begin, or to go on."""
        course = self._course
        if course.resumed is None:
            return Results()
        assert isinstance(search, Search)
        with damaged("the file"):
            results = Results.from_json(course.resumed.results)
            search.resume(saved_tree.from_json(course.resumed.tree), results.counts)
        results.estimate = course.estimate
        return results

    def _searched(self, system: Checkable, search: Explorer) -> Report:
        """Search once; unless another stage follows, explain what was found. Raises `AssumptionBroken`."""
        course, results = self._course, self._course.results
        system.see_every_access(True)
        if course.options.all or not self._searching.fails_as_before(self._suspects):
            system.see_every_access(needs_every_access(course.stage.options))
            if course.resumed is not None and course.resumed.accesses is not None:
                with damaged("the file"):
                    system.recall_accesses(course.resumed.accesses)
            self._searching.search(search)
            self._searching.note_share(search)
        if results.left:
            self._remainder.put_aside(search)
        else:
            self._remainder.put_away(search)
        self._branching = self._searching.what_branches(search) or self._branching
        if not results.left:
            course.keep_found()
            if isinstance(search, StatefulSearch):
                results.note_states(system, search)
            system.see_every_access(True)
            if course.options.outcomes:
                tell_outcomes(course)
            if self._explains:
                explain_failures(course)
        return self.report()

    def _note_broken(self, fact: AssumptionBroken) -> None:
        """Take note that the search begins again."""
        course = self._course
        course.resumed = None
        course.besides += course.results.counts.executions + fact.runs
        course.restarts.append(fact.reason)
        course.estimate, course.samples = None, []
        if course.has_new_facts():  # what was run had too few events
            course.forget_covered()
            self._remainder.forget_aside()
        course.remember_found()

    @property
    def news(self) -> object:
        """Changes when `report` has something new: at most once a second unless there is a new finding."""
        results = self._course.results
        return len(results.seen), len(results.failures), int(self._course.phases.now)

    def report(self, *reasons: str) -> Report:
        """Return a report of what is known now. `reasons`: further reasons why it is not exhaustive."""
        course, results, options = self._course, self._course.results, self._course.stage.options
        why = self._why_not_exhaustive(reasons)
        exhaustive = not why
        if results.seen:
            verdict = Verdict.FAIL
        else:
            verdict = Verdict.PASS if exhaustive else Verdict.INCONCLUSIVE
        seconds = course.phases.seconds
        checkpoint, next_step = self._remainder.file, ""
        if results.cut and verdict is Verdict.INCONCLUSIVE and isinstance(course.target, str):
            done = results.counts.executions
            next_step = advice.next_step(course.target, course.options, done, seconds, results.estimate, checkpoint)
        order = course.options.order.value if course.options.order is not Order.DEPTH else None
        unexplained = list(results.seen.values())[len(results.failures) :]
        return Report(
            target=target_name(course.target, options),
            strategy=options.explorer,
            preemptions=options.preemptions,
            order=order,
            seed=options.seed if order is not None or options.explorer in SAMPLERS else None,
            verdict=verdict,
            exhaustive=exhaustive,
            reasons=tuple(why),
            executions_besides=course.besides,
            branching=self._branching if verdict is Verdict.INCONCLUSIVE and not results.finished else (),
            covered_preemptions=None if exhaustive else course.covered,
            partly_covered=None if exhaustive else course.partly,
            estimate=results.estimate if not results.finished else None,
            next_step=next_step,
            checkpoint=checkpoint,
            seconds=round(seconds, 6),
            peak_memory_bytes=peak_memory(),
            findings=(*results.failures, *map(course.as_seen, unexplained)),
            restarts=tuple(course.restarts),
            **results.for_report(options.explorer in STATEFUL),
            threads=results.threads or not is_python(course.target),
            versions={
                "dpor": VERSION,
                "python": sys.version.split()[0],
                **(course.opened.versions() if course.opened else {}),
            },
        )

    def _why_not_exhaustive(self, further: Sequence[str]) -> list[str]:
        course, results, options = self._course, self._course.results, self._course.stage.options
        lacks = shortfall(options, results.counts)
        why = list(dict.fromkeys([*lacks, *results.incomplete, *results.reasons, *course.doubts, *further]))
        if not results.finished and not why:
            why = [NOT_FINISHED]
        if results.dropped and not results.digests and not results.seen:
            why.append(ALL_DROPPED)
        if results.finished and course.opened is not None:
            missed = [each for each in course.opened.labels().items() if each[0] not in results.labels]
            why += [f"never reached: {label} ({relative(place)})" for label, place in missed]
        if not why and not results.visible and not results.seen and is_python(course.target):
            if results.threads and not results.shares:
                why = [NOTHING_SHARED]
            elif not results.threads and options.expect_threads:
                why = [ONE_THREAD]
        return why

    def class_map(self) -> ClassMap:
        """Return what the search explored. Repeats the runs, as far as time allows."""
        course, results = self._course, self._course.results
        course.phases.allow(EXPLAINING_SECONDS)
        course.system.see_every_access(needs_every_access(course.stage.options))
        with course.phases.beating():
            return map_of(course.system, results.explored, results.counts.executions, course.phases.is_over)
