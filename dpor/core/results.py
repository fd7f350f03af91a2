"""The result of a check, as values. The fields of `Report` and `Failure` are the names of the JSON report."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, NamedTuple

import attrs

from dpor.core.explanation import Explanation
from dpor.core.operations import Action
from dpor.core.outcome import Kind
from dpor.core.schedule import SavedSchedule
from dpor.core.steps import Step
from dpor.core.told import Outcome


class Verdict(StrEnum):
    """The conclusion of a check."""

    PASS = "pass"
    """Every interleaving class was covered and none failed."""
    FAIL = "fail"
    """A failure was found; it comes with its schedule."""
    INCONCLUSIVE = "inconclusive"
    """No failure was found, but not everything was covered: `Report.reasons` says why."""


NOT_FINISHED = "the search was not finished"
NOTHING_SHARED = "there was nothing to interleave: no two threads use anything in common that dpor sees"
"""The reason why a check of several threads that share nothing does not pass: the pass would rest on nothing."""
NOTHING_CHANGED = (
    "there was nothing to interleave: no two threads can tell in which order they use what they have in common"
)
ALL_DROPPED = "every execution was dropped by dpor.assume"
ONE_THREAD = "there was nothing to interleave: only one thread did anything"


@attrs.frozen(kw_only=True)
class Failure:
    """A finding as it is reported: what went wrong, and a short schedule that shows it.

    kind, message, thread, file, line, needs_timeout, details, other   as in `dpor.core.outcome.Finding`
    schedule    the choices that lead to it: for each event, the thread's number (and a data choice's value shifted)
    first_schedule  the choices under which it was found, before they were minimised
    threads     the names of the threads, by number
    trace       the run under that schedule, one step for each event
    explanation what ordered the events of that run, and which orders the failure needs; None if this was not computed
    output      what the program printed in that run
    switches    the number of context switches in the schedule
    execution   the number of the execution that showed it first, from 1
    occurrences how many executions showed it (1 unless the search went on after failures)
    saved       what `dpor.replay` takes, and `saved.save(path)` writes; not part of the JSON report
    """

    kind: Kind
    message: str
    thread: str
    file: str | None = None
    line: int | None = None
    schedule: tuple[Action, ...] = attrs.field(default=(), repr=False)
    first_schedule: tuple[Action, ...] = attrs.field(default=(), repr=False)
    threads: tuple[str, ...] = attrs.field(default=(), repr=False)
    trace: tuple[Step, ...] = attrs.field(default=(), repr=False)
    explanation: Explanation | None = attrs.field(default=None, repr=False)
    output: str = ""
    needs_timeout: bool = False
    details: tuple[str, ...] = attrs.field(default=(), repr=False)
    other: str | None = None
    switches: int = 0
    execution: int = 0
    occurrences: int = 1
    saved: SavedSchedule | None = attrs.field(default=None, repr=False, eq=False)


class Estimate(NamedTuple):
    """How many executions a search will have in all: `low` to `high`, most likely `likely`."""

    low: float
    likely: float
    high: float

    @property
    def is_vague(self) -> bool:
        """True if schedules that are drawn differ so much that little is known: a few make up most of the sum."""
        return self.high > 2.5 * self.likely


@attrs.frozen
class Branching:
    """Accesses that many of the alternatives of a search are about: one of them, as an example.

    share                  which part of the alternatives, from 0 to 1
    operation, file, line  what was done to what, and where; "" and None where that is not known
    source                 the text of that line
    """

    share: float
    operation: str
    file: str | None
    line: int | None
    source: str


@attrs.frozen
class Part:
    """What a search with a bound on preemptions has explored that did not end.

    preemptions   the bound
    share         of those trace classes that need so many preemptions (if the next smaller bound is covered; else of
                  those that need at most so many), how many it has explored: an estimate, from 0 to 1
    """

    preemptions: int
    share: float


@attrs.frozen(kw_only=True)
class Report:
    """What a check found, and how much it covered.

    preemptions the bound, or None
    order       what was explored first (`--order`), if that was not what differs last; else None
    seed        of random strategies and orders: the same seed gives the same runs; None for the others
    exhaustive  True if every interleaving class was covered
    reasons     why it is not exhaustive; empty if it is
    executions  the number of complete runs
    executions_besides  how many runs there were, besides: before the search began again (see `restarts`) or was left
                to another one, and drawn at random for the estimate. They are a part of `max_executions`. (Repetitions
                are counted nowhere: of the first execution at the end, of the way when a search is resumed, of failures
                to explain them)
    estimate    how many executions a search that was not finished would have had in all; None if that is not known
    covered_preemptions  all outcomes and failures of schedules with at most so many preemptions have been seen; None if
                that is not known, or if the search was exhaustive
    partly_covered  what a search with the next bound has explored that did not end; None likewise
    branching   the accesses that branch most, if the search was not finished and found nothing: at most three
    next_step   after --max-seconds has ended a search without a finding: the command to try next; else ""
    checkpoint  the file from which `dpor resume` goes on; None if there is none
    blocked     runs that were dropped because they would have repeated what had been seen (0 for `optimal`)
    events      operations performed for the first time
    replayed    operations repeated to get back to a branching point
    choices     states where a second thread was tried
    states      states stored; None for searches that store none
    matched     how often a stored state was met again; None likewise
    unstored      why states could not be stored, and so cannot be matched later, with how often
    terminates  for stateful searches: True if every schedule comes to an end; None if this is not known
    cycle       if not: the steps of one round of a cycle that can go on for ever
    outcomes    distinct results of complete runs
    dropped     how many executions were dropped by `dpor.assume`
    outcome_list  with `outcomes`: each outcome, with a schedule that gives it; else empty
    outcome_digests   a digest of each, the same in every process and for every strategy, with the outcome in words
    visible     True if there was an operation other than starts, ends and joins of threads; else threads shared nothing
    threads     True if there were several threads (for a target in Python)
    deadlocks   distinct deadlocked terminal states
    restarts    why the search began again, each time; the counts are those of the last search
    """

    schema: ClassVar[int] = 1

    target: str
    strategy: str
    preemptions: int | None = None
    order: str | None = None
    seed: int | None = None
    verdict: Verdict
    exhaustive: bool
    reasons: tuple[str, ...] = ()
    executions: int = 0
    executions_besides: int = 0
    estimate: Estimate | None = None
    covered_preemptions: int | None = None
    partly_covered: Part | None = None
    branching: tuple[Branching, ...] = ()
    next_step: str = ""
    checkpoint: str | None = None
    blocked: int = 0
    events: int = 0
    replayed: int = 0
    choices: int = 0
    states: int | None = None
    matched: int | None = None
    unstored: Mapping[str, int] = attrs.field(factory=dict)
    terminates: bool | None = None
    cycle: tuple[Step, ...] = attrs.field(default=(), repr=False)
    outcomes: int = 0
    dropped: int = 0
    outcome_list: tuple[Outcome, ...] = attrs.field(default=(), repr=False)
    outcome_digests: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    visible: bool = False
    threads: bool = False
    deadlocks: int = 0
    seconds: float = 0.0
    peak_memory_bytes: int = 0
    findings: tuple[Failure, ...] = ()
    restarts: tuple[str, ...] = ()
    versions: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def nothing_to_interleave(self) -> str:
        """Why a pass in which nothing is `visible` rests on so little."""
        return NOTHING_CHANGED if self.threads else ONE_THREAD


def ended_by(report: Report, reason: str) -> Report:
    """What is known of a check that was ended from outside."""
    verdict = Verdict.FAIL if report.findings else Verdict.INCONCLUSIVE
    reasons = tuple(known for known in report.reasons if known != NOT_FINISHED)
    return attrs.evolve(report, verdict=verdict, exhaustive=False, reasons=(*reasons, reason))
