"""What one search of a check has found so far: as values, and as JSON for a checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import attrs

from dpor.core.errors import NotDeterministic
from dpor.core.operations import Action
from dpor.core.options import Options
from dpor.core.outcome import Finding, Kind, digest
from dpor.core.results import Estimate, Failure
from dpor.core.schedule import follow
from dpor.core.steps import Step
from dpor.core.system import STOP, Ending, IfEndless, Run, System, Trace
from dpor.core.told import Failed, Outcome, failures_of, result_of
from dpor.explorers import Stats
from dpor.explorers.states import StatefulSearch
from dpor.findings.explain import Checkable, FailureWithRun

LIVES = frozenset({"start", "end", "join"})
"""The kinds of operation that every program with threads has. If it has no others, its threads share nothing."""
MOST_TEXTS = 1000
LONGEST_TEXT = 200
"""Outcomes in words, for the report: how many, and how many characters each."""
SECOND_TIME = "the first execution, repeated after all others,"


@attrs.define
class Seen:
    """A group of equal findings: the first, its schedule, the number of its execution, and how often it was seen."""

    finding: Finding
    schedule: tuple[Action, ...]
    execution: int
    occurrences: int = 1

    def counted(self, failure: Failure) -> Failure:
        """Return the failure as that of this group."""
        return attrs.evolve(failure, execution=self.execution, occurrences=self.occurrences)

    def to_json(self) -> dict[str, Any]:
        finding = attrs.asdict(self.finding) | {"kind": self.finding.kind.value}
        return {**attrs.asdict(self), "finding": finding}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Seen:
        saved = dict(content["finding"])
        events = saved["events"]
        finding = Finding(
            **saved
            | {
                "kind": Kind(saved["kind"]),
                "details": tuple(saved["details"]),
                "events": None if events is None else tuple(events),
            }
        )
        return cls(finding, tuple(content["schedule"]), content["execution"], content["occurrences"])


@attrs.frozen
class Witness:
    """The schedule under which a result was seen first, and what failed in it."""

    schedule: tuple[Action, ...]
    failures: tuple[Failed, ...]

    def to_json(self) -> list[Any]:
        return [list(self.schedule), [[failed.kind, failed.message] for failed in self.failures]]

    @classmethod
    def from_json(cls, schedule: Iterable[Action], failures: Iterable[tuple[str, str]]) -> Witness:
        return cls(tuple(schedule), tuple(Failed(kind, message) for kind, message in failures))


def outcome_in_words(system: Checkable, run: Run) -> str:
    """Return the outcome of a run as a text for the report."""
    text = system.outcome_text(run.outcome)
    if run.deadlock is not None:
        text = f"deadlock: {run.findings[-1].message}; {text}".replace("\n", "; ")
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."


def learnt(system: Checkable | None) -> Any:
    """Return what a search has learnt about the program."""
    known = None if system is None else system.facts()
    return None if known is None else known["facts"]


def by_group(found: Iterable[Mapping[str, Any]]) -> dict[object, Seen]:
    """Return what is saved as JSON by the groups of the findings."""
    return {seen.finding.group: seen for seen in map(Seen.from_json, found)}


@attrs.frozen
class Repeatable:
    """A complete run, and its result: both must come again when it is repeated."""

    trace: Trace
    result: tuple[Hashable, Hashable]

    def repeat(self, system: System) -> Ending:
        """Repeat the run. Raises `NotDeterministic` if the program does something else now."""
        trace = self.trace.copy()
        run = system.run(trace, lambda enabled: STOP)
        if run.ending is Ending.STOPPED:
            raise NotDeterministic(f"{SECOND_TIME} does not end after its {len(trace)} events, as it did before")
        if run.ending is Ending.COMPLETE and (run.outcome, run.deadlock) != self.result:
            raise NotDeterministic(f"{SECOND_TIME} ends with another result, though each event was the same")
        return run.ending

    @classmethod
    def again(cls, system: System, schedule: Iterable[Action], result: str) -> Repeatable | None:
        """Run this schedule, whose result had this digest. Returns None if there was no time. Raises
        `NotDeterministic` if the program does something else now."""
        trace = Trace()
        run = system.run(trace, follow(tuple(schedule)))
        if run.ending is Ending.ENDED:
            return None
        if digest((run.outcome, run.deadlock)) != result:
            raise NotDeterministic("the first execution of the search that was cut ends with another result now")
        return cls(trace, (run.outcome, run.deadlock))


@attrs.define
class Results:
    """What one search has shown so far. Discarded when the search starts again.

    reasons      why the search was stopped
    incomplete   why its runs show less than everything
    results      the different results of complete runs, each an outcome and a deadlock
    witnesses    if outcomes are asked for: what runs have come to (`dpor.core.told.result_of`), by its digest
    digests      the digests of `results`, with the outcomes in words; `outcomes` and `deadlocks`: those of
                 the outcomes and of the deadlocks alone
    labels       what runs that were not dropped have come to (`dpor.reached`), and how many were `dropped`
    told         the outcomes, with schedules
    branching    for how many alternatives accesses to a location are the reason, by location
    cut          True if the search ended because its time was over, and `resumable` if it can be gone on with
    """

    counts: Stats = attrs.field(factory=Stats)
    reasons: dict[str, None] = attrs.field(factory=dict)
    incomplete: dict[str, None] = attrs.field(factory=dict)
    results: set[tuple[Hashable, Hashable]] = attrs.field(factory=set)
    witnesses: dict[str, Witness] = attrs.field(factory=dict)
    digests: dict[str, str] = attrs.field(factory=dict)
    outcomes: set[str] = attrs.field(factory=set)
    deadlocks: set[str] = attrs.field(factory=set)
    seen: dict[object, Seen] = attrs.field(factory=dict)
    failures: list[Failure] = attrs.field(factory=list)
    told: tuple[Outcome, ...] = ()
    labels: set[str] = attrs.field(factory=set)
    dropped: int = 0
    explained: list[FailureWithRun | None] = attrs.field(factory=list)
    finished: bool = False
    left: bool = False
    visible: bool = False
    threads: bool = False
    shares: bool = False
    unstored: Mapping[str, int] = attrs.field(factory=dict)
    terminates: bool | None = None
    cycle: tuple[Step, ...] = ()
    first: Repeatable | None = None
    explored: list[tuple[Trace, str]] = attrs.field(factory=list)
    estimate: Estimate | None = None
    branching: Counter[int] = attrs.field(factory=Counter)
    cut: bool = False
    resumable: bool = False

    def take(self, run: Run, trace: Trace, system: Checkable, options: Options) -> bool:
        """Take note of what a run of the system shows. Returns True if it has a new failure."""
        if not self.visible:
            kinds = {operation.kind for operation in trace.operations}
            self.visible = not kinds <= LIVES
            self.threads = self.threads or "start" in kinds
            self.shares = self.shares or run.shares
        if run.ending is Ending.COMPLETE:
            result = run.outcome, run.deadlock
            if result not in self.results:
                if self.first is None and not self.digests:
                    self.first = Repeatable(trace.copy(), result)
                self._take_result(run, system)
        self.dropped += run.ending is Ending.DROPPED
        if run.labels and (run.findings or run.ending in (Ending.COMPLETE, Ending.SPINNING)):
            self.labels |= run.labels
        if options.outcomes and (shown := result_of(run, system.returned)) is not None:
            known = digest(shown)
            if known not in self.witnesses:
                self.witnesses[known] = Witness(run.schedule(trace), failures_of(run))
        for reason in run.incomplete:  # how a run was ended by the clock says nothing of those that go on
            (self.reasons if run.ending is Ending.ENDED else self.incomplete)[reason] = None
        is_new = False
        for finding in run.findings if options.all else run.findings[:1]:
            seen = self.seen.get(finding.group)
            if seen is None:
                is_new = True
                self.seen[finding.group] = Seen(finding, run.schedule(trace), self.counts.executions)
            else:
                seen.occurrences += 1
        return is_new

    def add(self, other: Results) -> None:
        """Take over what another search has shown, which goes on where this one was. (Its first run does
        not count as ours.)"""
        before = self.counts.executions
        for field in attrs.fields(Stats):
            setattr(self.counts, field.name, getattr(self.counts, field.name) + getattr(other.counts, field.name))
        self.incomplete |= other.incomplete
        for known, text in other.digests.items():
            if known not in self.digests:
                self.digests[known] = text if len(self.digests) < MOST_TEXTS else ""
        self.labels |= other.labels
        self.dropped += other.dropped
        self.witnesses = {**other.witnesses, **self.witnesses}
        self.branching += other.branching
        self.outcomes |= other.outcomes
        self.deadlocks |= other.deadlocks
        for group, seen in other.seen.items():
            if group in self.seen:
                self.seen[group].occurrences += seen.occurrences
            else:
                self.seen[group] = attrs.evolve(seen, execution=before + seen.execution)
        self.visible, self.threads = self.visible or other.visible, self.threads or other.threads
        self.shares = self.shares or other.shares

    def for_report(self, stores_states: bool) -> dict[str, Any]:
        """Return what a report says of this, by the names of its fields."""
        counts = self.counts
        return {
            **{name: getattr(counts, name) for name in ("executions", "blocked", "events", "replayed", "choices")},
            "states": counts.states if stores_states else None,
            "matched": counts.matched if stores_states else None,
            "unstored": dict(self.unstored),
            "terminates": self.terminates,
            "cycle": self.cycle,
            "outcomes": len(self.outcomes),
            "dropped": self.dropped,
            "outcome_list": self.told,
            "outcome_digests": dict(sorted(self.digests.items())),
            "visible": self.visible,
            "deadlocks": len(self.deadlocks),
        }

    def note_states(self, system: Checkable, search: StatefulSearch) -> None:
        """Note which states could not be stored, whether the program terminates, and if not, the steps of a cycle."""
        self.unstored, self.terminates = search.unstored(), search.terminates
        if search.terminates:
            for reason in [reason for reason in self.incomplete if isinstance(reason, IfEndless)]:
                del self.incomplete[reason]
        if search.cycle is not None:
            way, once_round = search.cycle
            trace = Trace()
            system.run(trace, follow((*way, *once_round)))
            self.cycle = system.describe(trace).steps[len(way) :]

    def _take_result(self, run: Run, system: Checkable) -> None:
        result = run.outcome, run.deadlock
        self.results.add(result)
        known = digest(result)
        if known not in self.digests:
            self.digests[known] = outcome_in_words(system, run) if len(self.digests) < MOST_TEXTS else ""
            self.outcomes.add(digest(run.outcome))
            if run.deadlock is not None:
                self.deadlocks.add(digest(run.deadlock))

    def to_json(self, counts: Stats, again: Run | None) -> dict[str, Any]:
        """Return what a search that goes on needs.

        counts   those of the search now
        again    a run counted here that the resumed search will repeat
        """
        first = self.first
        repeated: Counter[object] = Counter(finding.group for finding in (() if again is None else again.findings))
        return {
            "counts": attrs.asdict(counts),
            "incomplete": list(self.incomplete),
            "if_endless": [reason for reason in self.incomplete if isinstance(reason, IfEndless)],
            "labels": sorted(self.labels),
            "dropped": self.dropped - (again is not None and again.ending is Ending.DROPPED),
            "witnesses": {known: witness.to_json() for known, witness in self.witnesses.items()},
            "digests": self.digests,
            "outcomes": sorted(self.outcomes),
            "deadlocks": sorted(self.deadlocks),
            "seen": [
                attrs.evolve(seen, occurrences=times).to_json()
                for group, seen in self.seen.items()
                if (times := seen.occurrences - repeated[group]) > 0
            ],
            "visible": self.visible,
            "threads": self.threads,
            "shares": self.shares,
            "branching": [[location, number] for location, number in self.branching.items()],
            "first": None if first is None else [list(first.trace.actions), digest(first.result)],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Results:
        return cls(
            counts=Stats(**content["counts"]),
            incomplete={
                IfEndless(reason) if reason in content.get("if_endless", ()) else reason: None
                for reason in content["incomplete"]
            },
            labels=set(content.get("labels", ())),
            dropped=int(content.get("dropped", 0)),
            witnesses={known: Witness.from_json(*saved) for known, saved in content.get("witnesses", {}).items()},
            digests=dict(content["digests"]),
            outcomes=set(content["outcomes"]),
            deadlocks=set(content["deadlocks"]),
            seen=by_group(content["seen"]),
            visible=bool(content["visible"]),
            threads=bool(content["threads"]),
            shares=bool(content["shares"]),
            branching=Counter({int(location): int(number) for location, number in content.get("branching", ())}),
        )
