"""Checks a program: runs a search within its budgets, explains the failures, makes the report.

`check` is the public function; the command line uses `Session`, which keeps what is known when a check ends in an error
or by Ctrl-C. Printing (`dpor.report`) and parsing arguments (`dpor.cli.main`) are done elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import attrs

from dpor.app import advice
from dpor.app.branching import branching_most
from dpor.app.budgets import (
    ESTIMATING_SECONDS,
    EXPLAINING_SECONDS,
    MINIMISING_SECONDS,
    MOST_RESTARTS,
    ORDERING_SECONDS,
    STANDSTILL,
    passed,
)
from dpor.app.checkpoint import Checkpoint, Keeper, damaged, options_to_json
from dpor.app.crew import GivenBack
from dpor.app.found import Repeatable, Results, Seen, by_group, learnt, outcome_in_words
from dpor.app.mapping import is_to_be_mapped, map_of
from dpor.app.option_docs import takes_options
from dpor.app.saving import saved_schedule
from dpor.app.sharing import Sharing, is_worth_it, prepared
from dpor.app.stages import DEPTH_FIRST, Stage, is_for_states, is_next_bound, stages, work
from dpor.app.strategies import explorer_of, is_estimable, is_resumable, not_kept, shortfall
from dpor.app.targets import Target, beat_of, is_python, open_target, shareable, target_name
from dpor.core.errors import (
    AssumptionBroken,
    BadCheckpoint,
    GivenUp,
    InternalError,
    NotDeterministic,
    OutOfTime,
    Unfinished,
    UserError,
)
from dpor.core.memory import peak_memory, resident_memory
from dpor.core.operations import Action
from dpor.core.options import Options, Order, changed
from dpor.core.plural import plural
from dpor.core.pulse import beating
from dpor.core.results import NOT_FINISHED, NOTHING_SHARED, ONE_THREAD, Branching, Estimate, Failure, Report, Verdict
from dpor.core.schedule import SavedSchedule, hash_seed, prefer, read_sources
from dpor.core.system import Ending, Run, StatefulSystem, Trace
from dpor.core.version import VERSION
from dpor.explorers import SAMPLERS, STATEFUL, Explorer, Stats, saved_tree
from dpor.explorers.estimate import FEWEST_WALKS, estimate, walks
from dpor.explorers.search import Search
from dpor.explorers.states import StatefulSearch
from dpor.findings.explain import Checkable, explain, undescribed, unexplained, with_orders
from dpor.report.class_map import ClassMap
from dpor.report.progress import Monitor, Progress

PROGRESS_EVERY = 0.1
ESTIMATE_AFTER = 200
"""Executions after which the size of a search may be estimated: more than an estimate takes. ..."""
ESTIMATE_EVENTS, ESTIMATE_SECONDS = DEPTH_FIRST, 2.0
"""... It is estimated after so many events, or so many seconds: before, it may as well end soon."""
FAILED_AT_RANDOM = "stopped at a failure of a schedule drawn at random, to estimate how large the search is"


@takes_options(Options)
def check(target: Target, options: Options | None = None, **changes: Any) -> Report:
    """Explore every interleaving of the target, a callable without arguments that starts threads, and return a report.

    The options are given as an `Options`, as keyword arguments, or both (the keywords win).

    Raises `UserError` (`BadTarget`, ...) if the target or an option is wrong. What the program does wrong is in
    `Report.findings`, never an exception.
    """
    return Session(target, changed(options or Options(), changes, "dpor.check")).run()


class Session:
    """One check. If `run` raises, `report` still tells what is known.

    suspects  schedules that may fail, tried before the search; each is followed as far as the program can
    mapped    True if `class_map` will be called
    keeper    keeps what is left of a search that is cut; None: nothing does
    resumed   what an earlier check has kept: this one goes on with it
    over_at   the time, by `time.monotonic`, when the present phase must end
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
    ) -> None:
        self.target = target = shareable(target, options)
        self.mapped = mapped
        self.options = options
        self.monitor = monitor or Monitor()
        self.suspects = suspects
        self._system: Checkable | None = None
        self._stages = stages(options)
        self._stage = self._stages[0]
        self._results = Results()
        self._restarts: list[str] = []
        self._found: dict[object, Seen] = {}
        self._doubts: dict[str, None] = {}  # reasons not to trust a later stage alone
        self._is_alone = not options.is_shared
        self.keeper = keeper
        if keeper is None and options.checkpoint:
            self.keeper = Keeper(Path(options.checkpoint), periodic=True)
        self._resumed = resumed
        now = self._begun = time.monotonic()
        self._beat_of_run = beat_of(target)
        self._patience: int | None = None
        seconds = options.max_seconds
        self._deadline = self.over_at = now + seconds if seconds is not None else float("inf")
        self._stops = 0
        self._size: Estimate | None = None
        self._last: Run | None = None  # the run that was taken last
        self._covered: int | None = None  # all outcomes of schedules with at most so many preemptions have been seen
        self._aside: Checkpoint | None = None  # what is left of the last stage that a file can keep
        self._learnt: Any = None  # what was known of the program when these two were set
        self._branching: tuple[Branching, ...] = ()
        self._besides = 0  # executions before the search began again, and for the estimate
        if resumed is not None:
            with damaged("the file"):
                self._stage = self._lasting[resumed.stage]
                self._begun -= resumed.seconds
                self._besides = resumed.besides
                self._restarts = [*resumed.restarts]
                self._found = by_group(resumed.found)
                self._size = None if resumed.estimate is None else Estimate(*resumed.estimate)

    def run(self) -> Report:
        """Search, then explain the failures."""
        explorers = [explorer_of(stage.options) for stage in self._stages]
        begun = self._stages.index(self._stage)
        with self._beating(), prepared(self.options) as self._server:
            for number in range(begun, len(self._stages)):
                stage = self._stages[number]
                if number > begun and not self._is_of_use(stage):
                    continue
                self._stage = self._stages[number] = stage.to_the_end() if self._results.finished else stage
                report = self._run(explorers[number])
                if not self._results.left:
                    break
                self._besides += self._results.counts.executions
                self._remember_found()
        return report

    def _is_of_use(self, stage: Stage) -> bool:
        """True if a later stage may cover what the last one has not."""
        if stage.needs_states:
            return isinstance(self._system, StatefulSystem)
        worth = stage.bound is None or is_next_bound(stage, self._results.counts, self._covered)
        return worth and not self._results.finished

    @property
    def _lasting(self) -> list[Stage]:
        """The stages that a file can keep."""
        return [stage for stage in self._stages if is_resumable(stage.options)]

    @contextmanager
    def _beating(self) -> Iterator[None]:
        try:
            with beating(self._beat):
                yield
        finally:
            self.monitor.rest()

    def _beat(self, frame: FrameType | None) -> None:
        self.monitor.beat()
        self._beat_of_run(frame, 0 if self._is_over() else self._patience)

    def _pace(self) -> None:
        if self._is_over():
            raise OutOfTime

    @property
    def _most(self) -> int | None:
        """How many executions the search may have: those besides are a part of the budget."""
        most = self.options.max_executions
        return None if most is None else most - self._besides

    @property
    def _spent(self) -> str:
        return f"--max-executions {self.options.max_executions} reached"

    @property
    def _over(self) -> str:
        return f"--max-seconds {self.options.max_seconds:g} reached"

    def _is_over(self) -> bool:
        """True if the time for the present phase is over, by the clock or by Ctrl-C."""
        return self.monitor.stops > self._stops or time.monotonic() >= self.over_at

    def _run(self, explorer: Callable[[Checkable], Explorer]) -> Report:
        try:
            known = self._system.facts() if self._system is not None else None
            if self._resumed is not None and self._resumed.facts is not None:
                known = {**self._resumed.facts, "locations": self._resumed.locations}
            self._system = system = open_target(self.target, self._stage.options, known)
        except Unfinished as error:
            over = INTERRUPTED if self.monitor.stops else self._over
            return self.report(str(error), *([over] if self._is_over() else []))
        while len(self._restarts) < MOST_RESTARTS:
            search = explorer(system)
            search.pace = self._pace
            self._results = results = self._begin(search)
            self.over_at, self._patience = self._deadline, None
            try:
                system.see_every_access(True)
                if self.options.all or not self._fails_as_before(system, results):
                    system.see_every_access(self.options.every_access)
                    if self._resumed is not None and self._resumed.accesses is not None:
                        with damaged("the file"):
                            system.recall_accesses(self._resumed.accesses)
                    self._search(system, search, results)
                if results.left:
                    if self.keeper is not None and isinstance(search, Search):
                        self._put_aside(search, results)
                    self._see_what_branches(system, search, results)
                    return self.report()
                if self.keeper is not None:
                    self._put_away(self.keeper, search, results)
                self._see_what_branches(system, search, results)
                self._keep_found(results)
                if isinstance(search, StatefulSearch):
                    results.note_states(system, search)
                system.see_every_access(True)
                self._explain(system, results)
                self._order(system, results)
            except AssumptionBroken as fact:
                self._resumed = None
                self._besides += results.counts.executions + fact.runs
                self._restarts.append(fact.reason)
                self._size = None
                if self._learnt != learnt(system):
                    self._covered = self._aside = None  # what was run had too few events
                self._remember_found()
            else:
                return self.report()
        raise InternalError(f"the search began again {MOST_RESTARTS} times, last because {self._restarts[-1]}")

    @property
    def news(self) -> object:
        """Changes when `report` has something new: at most once a second unless there is a new finding."""
        return len(self._results.seen), len(self._results.failures), int(time.monotonic())

    def report(self, *reasons: str) -> Report:
        """Return a report of what is known now. `reasons`: further reasons why it is not exhaustive."""
        results, options = self._results, self._stage.options
        counts = results.counts
        why = list(
            dict.fromkeys([*shortfall(options, counts), *results.incomplete, *results.reasons, *self._doubts, *reasons])
        )
        if not results.finished and not why:
            why = [NOT_FINISHED]
        if not why and not results.visible and not results.seen and is_python(self.target):
            if results.threads and not results.shares:
                why = [NOTHING_SHARED]
            elif not results.threads and options.expect_threads:
                why = [ONE_THREAD]
        exhaustive = not why
        if results.seen:
            verdict = Verdict.FAIL
        else:
            verdict = Verdict.PASS if exhaustive else Verdict.INCONCLUSIVE
        seconds = time.monotonic() - self._begun
        next_step = ""
        kept = self.keeper is not None and self.keeper.written and not results.finished
        checkpoint = str(self.keeper.path) if self.keeper is not None and kept else None
        if results.cut and verdict is Verdict.INCONCLUSIVE and isinstance(self.target, str):
            done = counts.executions
            next_step = advice.next_step(self.target, self.options, done, seconds, results.estimate, checkpoint)
        order = self.options.order.value if self.options.order is not Order.DEPTH else None
        findings = results.failures + [
            self._as_seen(seen) for seen in list(results.seen.values())[len(results.failures) :]
        ]
        return Report(
            target=target_name(self.target, options),
            strategy=options.explorer,
            preemptions=options.preemptions,
            order=order,
            seed=options.seed if order is not None or options.explorer in SAMPLERS else None,
            verdict=verdict,
            exhaustive=exhaustive,
            reasons=tuple(why),
            executions_besides=self._besides,
            branching=self._branching if verdict is Verdict.INCONCLUSIVE and not results.finished else (),
            covered_preemptions=None if exhaustive else self._covered,
            estimate=results.estimate if not results.finished else None,
            next_step=next_step,
            checkpoint=checkpoint,
            seconds=round(seconds, 6),
            peak_memory_bytes=peak_memory(),
            findings=tuple(findings),
            restarts=tuple(self._restarts),
            **results.told(options.explorer in STATEFUL),
            versions={
                "dpor": VERSION,
                "python": sys.version.split()[0],
                **(self._system.versions() if self._system else {}),
            },
        )

    # ------------------------------------------------------------------ the search

    def _begin(self, search: Explorer) -> Results:
        """Return the results of a search that is about to begin, or to go on."""
        if self._resumed is None:
            return Results()
        assert isinstance(search, Search)
        with damaged("the file"):
            results = Results.from_json(self._resumed.results)
            search.resume(saved_tree.from_json(self._resumed.tree), results.counts)
        results.estimate = self._size
        return results

    def _fails_as_before(self, system: Checkable, results: Results) -> bool:
        """Try the suspects, until one fails."""
        for number, schedule in enumerate(self.suspects, 1):
            trace = Trace()
            with suppress(UserError):  # the search will raise it again
                run = system.run(trace, prefer(schedule))
                if run.findings:
                    results.counts.executions = number
                    self._take(run, trace, results)
                    results.reasons["stopped at a failure of an earlier check, which is still there"] = None
                    return True
        self._besides += len(self.suspects)
        return False

    def _remember_found(self) -> None:
        """Remember the findings of a search that is left, or begins again."""
        self._found |= {group: seen for group, seen in self._results.seen.items() if group not in self._found}

    def _keep_found(self, results: Results) -> None:
        """Keep findings from before the search started again, if there was no time to find them once more."""
        if not results.finished and (self.options.all or not results.seen):
            results.seen = {**self._found, **results.seen}

    def _search(self, system: Checkable, explorer: Explorer, results: Results) -> None:
        monitor = self.monitor
        try:
            stopped = self._stopped(system, explorer, results)
            if stopped is None:
                stopped = self._not_repeated(system, results)
                results.resumable = stopped is not None
            if stopped is None:
                results.finished = True
                tells = isinstance(system, StatefulSystem) and not results.seen
                results.left = tells and is_for_states(self._stages, self._stage, results.incomplete)
                if self._stage.bound is not None:
                    self._covered_within(self._stage.bound, results)
            else:
                results.reasons[stopped] = None
        except KeyboardInterrupt:
            if not monitor.interruptible:
                raise
            results.reasons[INTERRUPTED] = None
        except OutOfTime:
            results.cut, results.resumable = not monitor.stops, True
            results.reasons[INTERRUPTED if monitor.stops else self._with_rest(self._over, results.counts)] = None
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
                if isinstance(error, NotDeterministic) and self._stage.needs_states and not self._stage.is_last:
                    # What differs may be unknown to searches without states, and these may find a failure all the same.
                    self._doubts[why] = None
                    results.left = True
            else:
                raise
        finally:
            monitor.done()

    def _covered_within(self, bound: int, results: Results) -> None:
        """Take note that a search with a bound on preemptions has been finished."""
        if not results.incomplete:
            self._covered, self._learnt = bound, learnt(self._system)
        if not self._stage.is_last:  # unless nothing was left out, others go on
            results.left = bool(results.counts.left_out or results.incomplete)
            results.finished = not results.left

    def _stopped(self, system: Checkable, explorer: Explorer, results: Results) -> str | None:
        """Search. Return why it was stopped, or None if it was finished."""
        resumed, self._resumed = self._resumed, None
        if resumed is not None and resumed.results["first"] is not None:
            with damaged("the file"):
                results.first = Repeatable.again(system, *resumed.results["first"])
        options, monitor, stats, deadline = self.options, self.monitor, explorer.stats, self.over_at
        most = self._most
        most_states = options.max_states or sys.maxsize
        tick = min(self._begun + PROGRESS_EVERY, deadline)
        estimated, since = most is None and is_estimable(self._stage.options), 0
        results.counts = stats
        if most is not None and stats.executions >= most and not (stats.executions and explorer.is_finished()):
            results.resumable = stats.executions > 0
            before = f", all before the search began again ({plural(len(self._restarts), 'time')})"
            return self._spent if results.resumable or not self._restarts else self._spent + before
        for run in explorer.explore():
            self._take(run, explorer.trace, results)
            self._last = run
            if monitor.stops:
                results.resumable = True
                return INTERRUPTED
            if run.findings and not options.all:
                return f"stopped at the first failure, execution {stats.executions:,}"
            if stats.states > most_states:
                return f"--max-states {most_states} reached"
            if most is not None and stats.executions >= most and not explorer.is_finished():
                results.resumable = True
                return self._spent
            if estimated and stats.executions >= ESTIMATE_AFTER and self._is_worth_an_estimate(stats):
                estimated = False
                if self._estimate(system, results):
                    return FAILED_AT_RANDOM
            shares = not self._is_alone and self._stage.is_last and run.ending is not Ending.ENDED
            if shares and isinstance(explorer, Search | StatefulSearch) and is_worth_it(stats, since):
                if estimated and self._estimate(system, results):
                    return FAILED_AT_RANDOM
                try:
                    stopped = self._shared(system, explorer, results)
                    if stopped is not None or isinstance(explorer, Search):
                        return stopped
                except GivenBack as given:
                    monitor.say(f"{given.reason}: one process goes on alone")
                    self._is_alone = True
                    if isinstance(explorer, Search):
                        explorer.go_on_at(explorer.nodes[0], explorer.nodes[0])
                    if most is not None and stats.executions >= most and not explorer.is_finished():
                        results.resumable = True
                        return self._spent
                since = work(stats)
            now = time.monotonic()
            if self._stage.is_over(stats) or (run.ending is Ending.CUT and not self._stage.may_cut):
                results.left = True
                return NOT_FINISHED
            if now >= tick:
                tick = min(now + PROGRESS_EVERY, deadline)
                monitor.progress(self._progress(stats, now))
                over = self._over if now >= deadline else None
                if options.max_memory is not None and resident_memory() > options.max_memory * 1e6:
                    over = over or f"--max-memory {options.max_memory:g} reached"
                if over is not None:
                    self.over_at = now + ESTIMATING_SECONDS
                    enough = stats.executions >= FEWEST_WALKS and not results.seen
                    with suppress(AssumptionBroken, UserError):
                        if estimated and enough and self._estimate(system, results):
                            return FAILED_AT_RANDOM
                    results.cut, results.resumable = over == self._over, True
                    return self._with_rest(over, stats)
                if self.keeper is not None and self.keeper.is_due(now) and isinstance(explorer, Search):
                    explorer.settle()
                    self._write(self.keeper, explorer, results)
        return None

    def _shared(self, system: Checkable, search: Search | StatefulSearch, results: Results) -> str | None:
        """Let several processes search. Returns why they were stopped, or None if they have finished."""
        assert isinstance(self.target, str)
        options, monitor, stats = self._stage.options, self.monitor, search.stats
        if isinstance(search, Search):
            search.settle()
        results.counts = stats
        with Sharing(self.target, options, system, search, self._most, results, monitor.say, self._server) as sharing:
            while sharing.go_on():
                if results.seen and not options.all:
                    return f"stopped at the first failure, execution {next(iter(results.seen.values())).execution:,}"
                if options.max_states is not None and stats.states > options.max_states:
                    return f"--max-states {options.max_states} reached"
                now = time.monotonic()
                monitor.progress(self._progress(stats, now))
                over = INTERRUPTED if monitor.stops else self._over if now >= self._deadline else None
                if options.max_memory is not None and resident_memory() > options.max_memory * 1e6:
                    over = over or f"--max-memory {options.max_memory:g} reached"
                if over is not None:
                    sharing.stop()
                    results.cut, results.resumable = over == self._over, True
                    return over if monitor.stops else self._with_rest(over, stats)
                if self.keeper is not None and self.keeper.is_due(now) and isinstance(search, Search):
                    sharing.settle()
                    self._write(self.keeper, search, results)
        return None

    # ------------------------------------------------------------------ what is left

    def _put_away(self, keeper: Keeper, search: Explorer, results: Results) -> None:
        """Keep what is left of a search that has ended, if it can go on; else forget what was kept."""
        if not results.resumable:
            if results.finished or results.seen:
                keeper.forget()
            return
        if not isinstance(search, Search) or not is_resumable(self._stage.options):
            if self._aside is not None:
                aside = self._aside
                runs = self._besides + results.counts.executions - aside.results["counts"]["executions"]
                found = [seen.to_json() for seen in self._found.values()]
                later = {"besides": runs, "restarts": self._restarts, "found": found}
                seconds = time.monotonic() - self._begun
                self._keep(keeper, results, lambda: attrs.evolve(aside, seconds=seconds, **later))
            elif self._stage.options.explorer not in SAMPLERS:
                results.reasons[not_kept(self._stage.options)] = None
            return
        results.counts = attrs.evolve(results.counts)
        with suppress(OutOfTime):
            if search.unlearned is self._last and self._last is not None and self._last.ending is not Ending.ENDED:
                search.settle()
        again = search.take_back()
        self._write(keeper, search, results, again if again is self._last else None)

    def _write(self, keeper: Keeper, search: Search, results: Results, again: Run | None = None) -> None:
        """Write a checkpoint. `again`: a run that is part of the results and will be repeated."""
        self._keep(keeper, results, lambda: self._checkpoint(search, results, again))

    def _put_aside(self, search: Search, results: Results) -> None:
        """Keep what is left of a stage that is followed by one of which no file keeps anything."""
        following = self._stages[self._stages.index(self._stage) + 1]
        if is_resumable(self._stage.options) and not is_resumable(following.options):
            with suppress(OutOfTime, BadCheckpoint):
                search.settle()
                last = len(self._lasting) - 1  # which goes on to the end
                self._aside = attrs.evolve(self._checkpoint(search, results, None), stage=last)
                self._learnt = learnt(self._system)

    def _keep(self, keeper: Keeper, results: Results, made: Callable[[], Checkpoint]) -> None:
        try:
            keeper.keep(made)
        except BadCheckpoint as error:
            self.keeper = None
            results.incomplete[str(error)] = None

    def _checkpoint(self, search: Search, results: Results, again: Run | None) -> Checkpoint:
        system = self._system
        assert system is not None
        locations = system.locations()
        if locations is None:
            raise BadCheckpoint("what is left is not kept: what threads share has a key that no file can name")
        return Checkpoint(
            target=target_name(self.target, attrs.evolve(self.options, name=None)),
            options=options_to_json(self.options),
            stage=self._lasting.index(self._stage),
            hash_seed=hash_seed(),
            sources=read_sources(system.sources()),
            facts=system.facts(),
            locations=locations,
            accesses=system.accesses(),
            seconds=time.monotonic() - self._begun,
            besides=self._besides,
            restarts=self._restarts,
            estimate=None if self._size is None else [*self._size],
            found=[seen.to_json() for seen in self._found.values()],
            results=attrs.evolve(results, branching=results.branching + search.branching).to_json(search.stats, again),
            tree=saved_tree.to_json(search.nodes[0]),
        )

    def _is_worth_an_estimate(self, stats: Stats) -> bool:
        return work(stats) >= ESTIMATE_EVENTS or time.monotonic() >= self._begun + ESTIMATE_SECONDS

    def _estimate(self, system: Checkable, results: Results) -> bool:
        """Estimate the size of the search, unless that has been done. Returns True if the search is over, because one
        of the schedules that are drawn fails."""
        if self._size is not None:
            results.estimate = self._size
            return False
        samples = []
        with suppress(OutOfTime):
            for run, trace, sample in walks(system, self.options.seed, self._pace):
                self._besides += 1
                if run.findings:
                    self._take(run, trace, results)
                    if not self.options.all:
                        return True
                if sample is not None:
                    samples.append(sample)
                self._pace()
        results.estimate = self._size = estimate(samples)
        return False

    def _see_what_branches(self, system: Checkable, search: Explorer, results: Results) -> None:
        """Find what branches most, unless the search is finished or has found something. This takes a run."""
        spent = self._most is not None and results.counts.executions >= self._most
        if isinstance(search, Search) and not (results.finished or results.seen or spent):
            self.over_at, self._stops = time.monotonic() + ESTIMATING_SECONDS, self.monitor.stops
            with suppress(AssumptionBroken, UserError, GivenUp):
                counts = results.branching + search.branching
                if named := branching_most(system, counts, search.trace):
                    self._branching, self._besides = named, self._besides + 1

    def _with_rest(self, over: str, stats: Stats) -> str:
        """Return why the search was stopped, with the share that is left, if that is known."""
        left = self._progress(stats, time.monotonic()).left
        return f"{over}, {left}" if left else over

    def _progress(self, stats: Stats, now: float) -> Progress:
        """Return how far the search is."""
        states = stats.states if self._stage.options.explorer in STATEFUL else None
        executions = stats.executions + self._besides
        return Progress(executions, now - self._begun, states, stats.executions, self._results.estimate)

    def _not_repeated(self, system: Checkable, results: Results) -> str | None:
        """Repeat the first execution; return why that could not be done, or None. What runs leave behind (a file, a
        cache) may have an effect only after the events that a search repeats, where the search cannot notice that the
        program has changed."""
        if results.first is None or results.seen or results.reasons or results.incomplete:
            return None
        if results.first.repeat(system) is not Ending.ENDED:
            return None
        return INTERRUPTED if self.monitor.stops else self._over

    def _take(self, run: Run, trace: Trace, results: Results) -> None:
        if self.mapped and run.ending is Ending.COMPLETE and is_to_be_mapped(results.explored):
            results.explored.append((trace.copy(), self._in_words(run)))
        if results.take(run, trace, self._in_words, self.options.all):
            self.monitor.beat()

    def class_map(self) -> ClassMap:
        """Return what the search explored. Repeats the runs, as far as time allows."""
        assert self._system is not None
        self.over_at = time.monotonic() + EXPLAINING_SECONDS
        self._system.see_every_access(self.options.every_access)
        with self._beating():
            return map_of(self._system, self._results.explored, self._results.counts.executions, self._is_over)

    def _in_words(self, run: Run) -> str:
        assert self._system is not None
        return outcome_in_words(self._system, run)

    # ------------------------------------------------------------------ what was found

    def _explain(self, system: Checkable, results: Results) -> None:
        self._stops, self._patience = self.monitor.stops, STANDSTILL
        for seen in results.seen.values():
            now = time.monotonic()
            self.over_at = now + EXPLAINING_SECONDS
            explained = None
            try:
                explained = explain(system, seen.finding, seen.schedule, passed(now + MINIMISING_SECONDS))
                failure = explained.failure
            except KeyboardInterrupt:
                if not self.monitor.interruptible:
                    raise
                failure = undescribed(seen.finding, seen.schedule)
            except UserError as error:
                failure = unexplained(seen.finding, seen.schedule)
                results.reasons[f"{type(error).__name__}: {error}"] = None
            except Exception:
                if not self._is_over():
                    raise
                failure = undescribed(seen.finding, seen.schedule)
            failure = seen.counted(failure)
            results.failures.append(attrs.evolve(failure, saved=self._saved(system, failure)))
            results.explained.append(explained)

    def _order(self, system: Checkable, results: Results) -> None:
        """Try other orders of each failure. Done last, because that may show facts that the search has not met."""
        for number, explained in enumerate(results.explained):
            if explained is not None:
                self.over_at = time.monotonic() + ORDERING_SECONDS
                known = results.failures[number]
                try:
                    ordered = with_orders(system, attrs.evolve(explained, failure=known), self._is_over)
                except KeyboardInterrupt:
                    if not self.monitor.interruptible:
                        raise
                    return
                except Exception:
                    if not self._is_over():
                        raise
                    return
                results.failures[number] = attrs.evolve(ordered, saved=known.saved)

    def _as_seen(self, seen: Seen) -> Failure:
        failure = seen.counted(unexplained(seen.finding, seen.schedule))
        return failure if self._system is None else attrs.evolve(failure, saved=self._saved(self._system, failure))

    def _saved(self, system: Checkable, failure: Failure) -> SavedSchedule:
        return saved_schedule(self.target, self.options, system, failure)


INTERRUPTED = "interrupted"
