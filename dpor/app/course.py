"""The course of a check: what is known of it now, whichever of its searches it is in.

`checking` leads the check from search to search, `searching` carries one out, `remainder` keeps what is left of it, and
`explaining` explains what it has found. They all read and extend this.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import attrs

from dpor.app.checkpoint import Checkpoint, damaged
from dpor.app.found import Results, Seen, by_group, learnt, outcome_in_words
from dpor.app.mapping import is_to_be_mapped
from dpor.app.phases import Phases
from dpor.app.saving import saved_schedule
from dpor.app.stages import Stage, stages
from dpor.app.strategies import is_resumable
from dpor.app.targets import Target, beat_of
from dpor.core.options import Options
from dpor.core.results import Estimate, Failure, Part
from dpor.core.system import Ending, Run, Trace
from dpor.explorers import STATEFUL, Stats
from dpor.findings.explain import Checkable, unexplained
from dpor.report.progress import Monitor, Progress


class Course:
    """The course of one check.

    mapped      True if the runs are to be kept for a map (`dpor.app.mapping`)
    resumed     what an earlier check has kept, until this one goes on with it
    stages      its searches, and `stage`, the present one
    opened      the target, opened for the present stage; None: it has not been
    results     what the present search has shown; `last`, its last run
    besides     executions besides those of the present search: before it, and for an estimate
    restarts    why searches began again
    found       findings of searches before the present one, by their groups
    doubts      reasons not to trust a later stage alone
    estimate    of how many executions there are; None: not estimated
    samples     for each time that schedules were drawn for it, what they have told
    covered     all outcomes of schedules with at most so many preemptions have been seen; None: not even without any
    classes     the classes of the search that has shown this
    partly      what has been explored of the next bound; None: not known
    """

    def __init__(
        self, target: Target, options: Options, monitor: Monitor, mapped: bool, resumed: Checkpoint | None
    ) -> None:
        self.target = target
        self.options = options
        self.monitor = monitor
        self.mapped = mapped
        self.resumed = resumed
        self.phases = Phases(options, monitor, beat_of(target))
        self.stages = stages(options)
        self.stage = self.stages[0]
        self.opened: Checkable | None = None
        self.results = Results()
        self.last: Run | None = None
        self.besides = 0
        self.restarts: list[str] = []
        self.found: dict[object, Seen] = {}
        self.doubts: dict[str, None] = {}
        self.estimate: Estimate | None = None
        self.samples: list[list[float]] = []
        self.covered: int | None = None
        self.classes: Set[int] = frozenset()
        self.partly: Part | None = None
        self._learnt: Any = None
        if resumed is not None:
            with damaged("the file"):
                self.stage = self.resumable[resumed.stage]
                self.phases.begun -= resumed.seconds
                self.besides = resumed.besides
                self.restarts = [*resumed.restarts]
                self.found = by_group(resumed.found)
                self.estimate = None if resumed.estimate is None else Estimate(*resumed.estimate)

    @property
    def system(self) -> Checkable:
        """The target, which has been opened."""
        assert self.opened is not None
        return self.opened

    @property
    def resumable(self) -> list[Stage]:
        """The stages of which a file can keep what is left."""
        return [stage for stage in self.stages if is_resumable(stage.options)]

    @property
    def most(self) -> int | None:
        """How many executions the present search may have: those besides are a part of the budget."""
        most = self.options.max_executions
        return None if most is None else most - self.besides

    def take(self, run: Run, trace: Trace) -> None:
        """Take note of what a run shows."""
        results = self.results
        if self.mapped and run.ending is Ending.COMPLETE and is_to_be_mapped(results.explored):
            results.explored.append((trace.copy(), outcome_in_words(self.system, run)))
        if results.take(run, trace, self.system, self.options):
            self.monitor.beat()

    def remember_found(self) -> None:
        """Remember the findings of a search that is left, or begins again."""
        self.found |= {group: seen for group, seen in self.results.seen.items() if group not in self.found}

    def keep_found(self) -> None:
        """Keep findings from before the search began again, if there was no time to find them once more."""
        results = self.results
        if not results.finished and (self.options.all or not results.seen):
            results.seen = {**self.found, **results.seen}

    def note_facts(self) -> None:
        """Take note of what is known of the program while something is learnt that depends on it."""
        self._learnt = learnt(self.opened)

    def has_new_facts(self) -> bool:
        """True if more is known of the program than when `note_facts` was called."""
        return bool(self._learnt != learnt(self.opened))

    def forget_covered(self) -> None:
        """Forget what has been covered."""
        self.covered, self.classes, self.partly = None, frozenset(), None

    def progress(self, stats: Stats) -> Progress:
        """Return how far the present search is, by its counts."""
        states = stats.states if self.stage.options.explorer in STATEFUL else None
        executions = stats.executions + self.besides
        return Progress(executions, self.phases.seconds, states, stats.executions, self.results.estimate)

    def with_rest(self, over: str, stats: Stats) -> str:
        """Return why the search was stopped, with the share that is left, if that is known."""
        left = self.progress(stats).left
        return f"{over}, {left}" if left else over

    def saved(self, failure: Failure) -> Failure:
        """Return the failure with a schedule that can be replayed."""
        if self.opened is None:
            return failure
        return attrs.evolve(failure, saved=saved_schedule(self.target, self.options, self.opened, failure))

    def as_seen(self, seen: Seen) -> Failure:
        """Return the failure of a group of findings that has not been explained (yet)."""
        return self.saved(seen.counted(unexplained(seen.finding, seen.schedule)))
