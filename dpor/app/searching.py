"""One search of a check: it goes from run to run until it is finished, finds a failure, or a budget or Ctrl-C stops it.

On the way it shows its progress, estimates how many executions there will be, lets other processes help, and has what
is left written from time to time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

from dpor.app.branching import branching_most
from dpor.app.budgets import ESTIMATING_SECONDS
from dpor.app.checkpoint import damaged
from dpor.app.course import Course
from dpor.app.crew import GivenBack
from dpor.app.forking import ForkServer
from dpor.app.found import Repeatable
from dpor.app.hunting import Hunting
from dpor.app.phases import INTERRUPTED
from dpor.app.remainder import Remainder
from dpor.app.sharing import Sharing, is_worth_it
from dpor.app.stages import DEPTH_FIRST, is_for_states, work
from dpor.app.strategies import is_estimable
from dpor.core.errors import AssumptionBroken, GivenUp, NotDeterministic, OutOfTime, UserError
from dpor.core.memory import resident_memory
from dpor.core.operations import Action
from dpor.core.plural import plural
from dpor.core.results import NOT_FINISHED, Branching, Part
from dpor.core.schedule import prefer
from dpor.core.system import Ending, StatefulSystem, Trace
from dpor.explorers import Explorer, Stats
from dpor.explorers.bounded_classic import BoundedClassic
from dpor.explorers.estimate import FEWEST_WALKS, estimate, is_to_be_repeated, walks
from dpor.explorers.estimate_within import share_of, walks_within
from dpor.explorers.search import Search
from dpor.explorers.states import StatefulSearch

PROGRESS_EVERY = 0.1
ESTIMATE_AFTER = 200
"""Executions after which the size of a search may be estimated: more than an estimate takes. ..."""
ESTIMATE_EVENTS, ESTIMATE_SECONDS = DEPTH_FIRST, 2.0
"""... It is estimated after so many events, or so many seconds: before, it may as well end soon."""
FAILED_AT_RANDOM = "stopped at a failure of a schedule drawn at random, to estimate how large the search is"
FAILED_IN_HUNT = "stopped at a failure of a schedule drawn at random, in a hunt beside the search"


class Searching:
    """Carries out the searches of a check, one after another.

    server   makes the workers of this machine (`dpor.app.sharing.prepared`)
    """

    def __init__(self, course: Course, remainder: Remainder) -> None:
        self.server: ForkServer | None = None
        self._course = course
        self._phases = course.phases
        self._monitor = course.monitor
        self._remainder = remainder
        self._hunting = Hunting(course)
        self._is_alone = not course.options.is_shared

    def fails_as_before(self, suspects: Sequence[Sequence[Action]]) -> bool:
        """Try these schedules until one fails. Returns True if one does."""
        course, results = self._course, self._course.results
        for number, schedule in enumerate(suspects, 1):
            trace = Trace()
            with suppress(UserError):  # the search will raise it again
                run = course.system.run(trace, prefer(schedule))
                if run.findings:
                    results.counts.executions = number
                    course.take(run, trace)
                    results.reasons["stopped at a failure of an earlier check, which is still there"] = None
                    return True
        course.besides += len(suspects)
        return False

    def search(self, explorer: Explorer) -> None:
        """Search; whether that was finished, and if not, why, is in the results.

        Raises `AssumptionBroken` if it must begin again, and what is no fault of the program.
        """
        course, monitor, results, stage = self._course, self._monitor, self._course.results, self._course.stage
        try:
            stopped = self._stopped(explorer)
            if stopped is None:
                stopped = self._not_repeated()
                results.resumable = stopped is not None
            if stopped is None:
                results.finished = True
                tells = isinstance(course.system, StatefulSystem) and (course.options.outcomes or not results.seen)
                results.left = tells and is_for_states(course.stages, stage, results.incomplete)
                if stage.bound is not None:
                    self._covered_within(stage.bound)
                    if isinstance(explorer, BoundedClassic) and explorer.classes is not None:
                        course.classes = explorer.classes
            else:
                results.reasons[stopped] = None
        except KeyboardInterrupt:
            if not monitor.interruptible:
                raise
            results.reasons[INTERRUPTED] = None
        except OutOfTime:
            results.cut, results.resumable = not monitor.stops, True
            over = INTERRUPTED if monitor.stops else course.with_rest(self._phases.over, results.counts)
            results.reasons[over] = None
        except AssumptionBroken:
            raise
        except Exception as error:
            if monitor.stops:
                # It came in the middle of a run, whose result is void.
                results.resumable = True
                results.reasons[INTERRUPTED] = None
            elif isinstance(error, UserError):
                why = f"{type(error).__name__}: {error}"
                results.reasons[why] = None
                if isinstance(error, NotDeterministic) and stage.needs_states and not stage.is_last:
                    # What differs may be unknown to searches without states, and these may find a failure all the same.
                    course.doubts[why] = None
                    results.left = True
            else:
                raise
        finally:
            monitor.done()

    def what_branches(self, explorer: Explorer) -> tuple[Branching, ...] | None:
        """Return what branches most, unless the search is finished or has found something. This takes a run. None: not
        known."""
        course, results = self._course, self._course.results
        spent = course.most is not None and results.counts.executions >= course.most
        if isinstance(explorer, Search) and not (results.finished or results.seen or spent):
            self._phases.allow(ESTIMATING_SECONDS)
            self._phases.forgive()
            with suppress(AssumptionBroken, UserError, GivenUp):
                counts = results.branching + explorer.branching
                if named := branching_most(course.system, counts, explorer.trace):
                    course.besides += 1
                    return named
        return None

    # ------------------------------------------------------------------ from run to run

    def _stopped(self, explorer: Explorer) -> str | None:
        """Search. Return why it was stopped, or None if it was finished."""
        course, phases, monitor = self._course, self._phases, self._monitor
        options, results, stage, stats = course.options, course.results, course.stage, explorer.stats
        resumed, course.resumed = course.resumed, None
        if resumed is not None and resumed.results["first"] is not None:
            with damaged("the file"):
                results.first = Repeatable.again(course.system, *resumed.results["first"])
        deadline = phases.over_at
        most_states = options.max_states or sys.maxsize
        tick = min(phases.begun + PROGRESS_EVERY, deadline)
        to_estimate, since = course.most is None and is_estimable(stage.options), 0
        results.counts = stats
        if (spent := self._spent(explorer)) is not None:
            return spent
        if isinstance(explorer, Search):
            self._hunting.begin(explorer)
        for run in explorer.explore():
            course.take(run, explorer.trace)
            course.last = run
            if monitor.stops:
                results.resumable = True
                return INTERRUPTED
            if run.findings and not options.all:
                return f"stopped at the first failure, execution {stats.executions:,}"
            if stats.states > most_states:
                return f"--max-states {most_states} reached"
            if (spent := self._spent(explorer)) is not None:
                return spent
            if isinstance(explorer, Search) and self._hunting.has_failed(explorer):
                return FAILED_IN_HUNT
            if (spent := self._spent(explorer)) is not None:
                return spent
            if to_estimate and stats.executions >= ESTIMATE_AFTER and self._is_worth_an_estimate(stats):
                to_estimate = False
                if self._estimate():
                    return FAILED_AT_RANDOM
            if is_to_be_repeated(results.estimate, stats.executions, len(course.samples)):
                if self._estimate(again=True):
                    return FAILED_AT_RANDOM
            shares = not self._is_alone and stage.is_last and run.ending is not Ending.ENDED
            if shares and isinstance(explorer, Search | StatefulSearch) and is_worth_it(stats, since):
                if to_estimate and self._estimate():
                    return FAILED_AT_RANDOM
                try:
                    stopped = self._shared(explorer)
                    if stopped is not None or isinstance(explorer, Search):
                        return stopped
                except GivenBack as given:
                    monitor.say(f"{given.reason}: one process goes on alone")
                    self._is_alone = True
                    if isinstance(explorer, Search):
                        explorer.go_on_at(explorer.nodes[0], explorer.nodes[0])
                    if (spent := self._spent(explorer)) is not None:
                        return spent
                since = work(stats)
            now = phases.now
            if stage.is_over(stats) or (run.ending is Ending.CUT and not stage.may_cut):
                results.left = True
                return NOT_FINISHED
            if now >= tick:
                tick = min(now + PROGRESS_EVERY, deadline)
                monitor.progress(course.progress(stats))
                over = self._out_of_memory(phases.over if now >= deadline else None)
                if over is not None:
                    phases.allow(ESTIMATING_SECONDS)
                    enough = stats.executions >= FEWEST_WALKS and not results.seen
                    with suppress(AssumptionBroken, UserError):
                        if to_estimate and enough and self._estimate():
                            return FAILED_AT_RANDOM
                    results.cut, results.resumable = over == phases.over, True
                    return course.with_rest(over, stats)
                if self._remainder.is_due(now) and isinstance(explorer, Search):
                    explorer.settle()
                    self._remainder.write(explorer)
        return None

    def _shared(self, explorer: Search | StatefulSearch) -> str | None:
        """Let several processes search. Returns why they were stopped, or None if they have finished."""
        course, phases, monitor = self._course, self._phases, self._monitor
        options, results, stats = course.stage.options, course.results, explorer.stats
        assert isinstance(course.target, str)
        if isinstance(explorer, Search):
            explorer.settle()
        results.counts = stats
        with Sharing(
            course.target, options, course.system, explorer, course.most, results, monitor.say, self.server
        ) as sharing:
            while sharing.go_on():
                if results.seen and not options.all:
                    return f"stopped at the first failure, execution {next(iter(results.seen.values())).execution:,}"
                if options.max_states is not None and stats.states > options.max_states:
                    return f"--max-states {options.max_states} reached"
                now = phases.now
                monitor.progress(course.progress(stats))
                over = self._out_of_memory(phases.why_over if monitor.stops or now >= phases.deadline else None)
                if over is not None:
                    sharing.stop()
                    results.cut, results.resumable = over == phases.over, True
                    return over if monitor.stops else course.with_rest(over, stats)
                if self._remainder.is_due(now) and isinstance(explorer, Search):
                    sharing.settle()
                    self._remainder.write(explorer)
        return None

    def _spent(self, explorer: Explorer) -> str | None:
        """Return why the search ends if its budget of executions is spent; None if it is not, or the search has
        finished."""
        course, done = self._course, explorer.stats.executions
        if course.most is None or done < course.most or (done and explorer.is_finished()):
            return None
        course.results.resumable = done > 0
        why = f"--max-executions {course.options.max_executions} reached"
        if not done and course.restarts:
            why += f", all before the search began again ({plural(len(course.restarts), 'time')})"
        return why

    def _out_of_memory(self, over: str | None) -> str | None:
        """Return `over`, or if that is None and too much memory is used, that this is so."""
        most = self._course.options.max_memory
        if most is not None and resident_memory() > most * 1e6:
            return over or f"--max-memory {most:g} reached"
        return over

    def _covered_within(self, bound: int) -> None:
        """Take note that a search with a bound on preemptions has been finished."""
        course, results = self._course, self._course.results
        if not results.incomplete:
            course.covered, course.partly = bound, None
            course.note_facts()
        if not course.stage.is_last:  # unless nothing was left out, others go on
            results.left = bool(results.counts.left_out or results.incomplete)
            results.finished = not results.left

    def _not_repeated(self) -> str | None:
        """Repeat the first execution; return why that could not be done, or None. What runs leave behind (a file, a
        cache) may have an effect only after the events that a search repeats, where the search cannot notice that the
        program has changed."""
        results = self._course.results
        if results.first is None or results.seen or results.reasons or results.incomplete:
            return None
        if results.first.repeat(self._course.system) is not Ending.ENDED:
            return None
        return self._phases.why_over

    # ------------------------------------------------------------------ how large it is

    def note_share(self, explorer: Explorer) -> None:
        """If a search with a bound has not ended, estimate which share of its classes it has explored. If one of the
        schedules that are drawn for that fails, the check is over."""
        course, results, bound = self._course, self._course.results, self._course.stage.bound
        if not isinstance(explorer, BoundedClassic) or explorer.classes is None or bound is None:
            return
        if results.finished or course.covered == bound or results.seen or results.incomplete or course.most is not None:
            return
        explored, runs = len(explorer.classes - course.classes), results.counts.executions
        if not results.left:
            self._phases.allow(ESTIMATING_SECONDS)
            self._phases.forgive()
        course.note_facts()
        samples = []
        try:
            for run, trace, sample in walks_within(bound, course.system, course.classes, runs, self._phases.pace):
                course.besides += 1
                if run.findings:
                    course.take(run, trace)
                    if not course.options.all:
                        results.reasons = {FAILED_AT_RANDOM: None}
                        results.left = False
                        return
                if sample is not None:
                    samples.append(sample)
                self._phases.pace()
        except OutOfTime:
            pass
        except (AssumptionBroken, UserError):
            if results.left:
                raise
            if course.has_new_facts():
                course.forget_covered()
            return
        share = share_of(explored, samples)
        if share is not None:
            course.partly = Part(bound, share)

    def _is_worth_an_estimate(self, stats: Stats) -> bool:
        return work(stats) >= ESTIMATE_EVENTS or self._phases.seconds >= ESTIMATE_SECONDS

    def _estimate(self, again: bool = False) -> bool:
        """Estimate the size of the search, unless that has been done and is not wanted again. Returns True if the
        search is over, because one of the schedules that are drawn fails."""
        course, results = self._course, self._course.results
        if course.estimate is None or again:
            samples: list[float] = []
            seed = course.options.seed + len(course.samples)
            course.samples.append(samples)
            with suppress(OutOfTime):
                for run, trace, sample in walks(course.system, seed, self._phases.pace):
                    course.besides += 1
                    if run.findings:
                        course.take(run, trace)
                        if not course.options.all:
                            return True
                    if sample is not None:
                        samples.append(sample)
                    self._phases.pace()
            course.estimate = estimate([sample for drawn in course.samples for sample in drawn])
        results.estimate = course.estimate
        return False
