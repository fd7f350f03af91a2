"""What one search of a check has found so far: as values, and as JSON for a checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import attrs

from dpor.core.errors import NotDeterministic
from dpor.core.operations import Action
from dpor.core.outcome import Finding, Kind, digest
from dpor.core.results import Estimate, Failure
from dpor.core.schedule import follow
from dpor.core.steps import Step
from dpor.core.system import STOP, Ending, Run, System, Trace
from dpor.explorers import Stats
from dpor.findings.explain import FailureWithRun

MOST_TEXTS = 1000
"""Outcomes in words, for the report."""
SECOND_TIME = "the first execution, repeated after all others,"


@attrs.define
class Seen:
    """A group of equal findings: the first, its schedule, the number of its execution, and how often it was seen."""

    finding: Finding
    schedule: tuple[Action, ...]
    execution: int
    occurrences: int = 1

    def to_json(self) -> dict[str, Any]:
        finding = attrs.asdict(self.finding) | {"kind": self.finding.kind.value}
        return {**attrs.asdict(self), "finding": finding}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Seen:
        told = dict(content["finding"])
        events = told["events"]
        finding = Finding(
            **told
            | {
                "kind": Kind(told["kind"]),
                "details": tuple(told["details"]),
                "events": None if events is None else tuple(events),
            }
        )
        return cls(finding, tuple(content["schedule"]), content["execution"], content["occurrences"])


def by_group(found: Iterable[Mapping[str, Any]]) -> dict[object, Seen]:
    """Return what is told as JSON by the groups of the findings."""
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
    digests      their digests, with the outcomes in words; and the digests of the outcomes and of the deadlocks alone
    cut          True if the search ended because its time was over, and `resumable` if it can be gone on with
    """

    counts: Stats = attrs.field(factory=Stats)
    reasons: dict[str, None] = attrs.field(factory=dict)
    incomplete: dict[str, None] = attrs.field(factory=dict)
    results: set[tuple[Hashable, Hashable]] = attrs.field(factory=set)
    digests: dict[str, str] = attrs.field(factory=dict)
    outcomes: set[str] = attrs.field(factory=set)
    deadlocks: set[str] = attrs.field(factory=set)
    seen: dict[object, Seen] = attrs.field(factory=dict)
    failures: list[Failure] = attrs.field(factory=list)
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
    cut: bool = False
    resumable: bool = False

    def take(self, run: Run, words: Any) -> None:
        """Take note of the result of a complete run. `words` makes a text of it."""
        result = run.outcome, run.deadlock
        self.results.add(result)
        known = digest(result)
        if known not in self.digests:
            self.digests[known] = words(run) if len(self.digests) < MOST_TEXTS else ""
            self.outcomes.add(digest(run.outcome))
            if run.deadlock is not None:
                self.deadlocks.add(digest(run.deadlock))

    def to_json(self, counts: Stats, again: Run | None) -> dict[str, Any]:
        """Return what a search that goes on needs.

        counts   those of the search now
        again    a run that has been counted here, and not there, since it will be repeated
        """
        first = self.first
        repeated: Counter[object] = Counter(finding.group for finding in (() if again is None else again.findings))
        return {
            "counts": attrs.asdict(counts),
            "incomplete": list(self.incomplete),
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
            "first": None if first is None else [list(first.trace.actions), digest(first.result)],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Results:
        return cls(
            counts=Stats(**content["counts"]),
            incomplete=dict.fromkeys(content["incomplete"]),
            digests=dict(content["digests"]),
            outcomes=set(content["outcomes"]),
            deadlocks=set(content["deadlocks"]),
            seen=by_group(content["seen"]),
            visible=bool(content["visible"]),
            threads=bool(content["threads"]),
            shares=bool(content["shares"]),
        )
