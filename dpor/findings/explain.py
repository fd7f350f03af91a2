"""Turns a finding and its schedule into what is reported: minimised, with its race marked and its steps described."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import attrs

from dpor.core.errors import InternalError, NotDeterministic
from dpor.core.operations import Action, Location
from dpor.core.outcome import Finding
from dpor.core.results import Failure
from dpor.core.schedule import follow
from dpor.core.steps import Explained, Step
from dpor.core.system import Asking, Run, System, Trace
from dpor.findings.minimise import Minimised, minimise, switches
from dpor.findings.racing import RacingPair, orders_of


class ExplainingSystem(System, Protocol):
    """A system that can describe a run."""

    def describe(self, trace: Trace) -> Explained:
        """Repeat the events of the trace and describe them."""
        ...


class Checkable(ExplainingSystem, Protocol):
    """A system with everything that a check needs."""

    def aloud(self) -> AbstractContextManager[None]:
        """Context in which the program's output is not suppressed."""
        ...

    def sources(self) -> Mapping[str, str]:
        """Return the files that determine its behaviour, with their SHA-256."""
        ...

    def imported(self) -> Mapping[str, str]:
        """Return the files of the modules that it has imported, by name, without the standard library's."""
        ...

    def versions(self) -> Mapping[str, str]: ...

    def see_every_access(self, on: bool) -> None:
        """From now on, runs have an event for every access; or else (a search begins) only for those whose order can
        matter."""
        ...

    def is_memory(self, location: Location) -> bool:
        """True for a location of data, False for one of a lock or the like."""
        ...

    def outcome_text(self, outcome: Any) -> str:
        """Describe an outcome of its runs in words."""
        ...

    def labels(self) -> Mapping[str, str]:
        """Return the labels that some of its runs must come to, each with its place."""
        ...

    def returned(self, outcome: Any) -> Hashable:
        """Return what distinguishes an outcome of its runs from others in which nothing failed."""
        ...

    def number_by(self, ask: Asking) -> None:
        """Let another process give the numbers of locations and threads."""
        ...

    def agree(self, locations: Sequence[str], facts: Any) -> None:
        """Take over the names of locations, by number, and the facts of another process, to which this one has given
        all numbers."""
        ...

    def states_are_common(self) -> bool:
        """True if the keys of states mean the same in all processes that run the program."""
        ...

    def locations(self) -> list[str] | None:
        """Return the names of all locations, by number, so that another process numbers them equally; None if one
        cannot be told."""
        ...

    def accesses(self) -> Any:
        """Return what the present search has shown of its accesses (as JSON); None if each is an event."""
        ...

    def recall_accesses(self, shown: Any) -> None:
        """Take note of what another part of the search has shown. Raises `AssumptionBroken` if that contradicts what
        is known."""
        ...

    def facts(self) -> Any:
        """Return what the search has learnt about the program (as JSON), so that a replay relies on the same facts."""
        ...


def unexplained(finding: Finding, schedule: Sequence[Action]) -> Failure:
    """Return the finding as a failure, as it was seen, without explanation."""
    return Failure(
        kind=finding.kind,
        message=finding.message,
        thread=finding.thread,
        file=finding.file,
        line=finding.line,
        needs_timeout=finding.needs_timeout,
        details=finding.details,
        other=finding.other,
        schedule=tuple(schedule),
        first_schedule=tuple(schedule),
    )


def undescribed(finding: Finding, schedule: Sequence[Action]) -> Failure:
    """Like `unexplained`, for a failure that there was no time to explain."""
    why = "The run could not be described in time; dpor explain describes it."
    return unexplained(attrs.evolve(finding, details=(*finding.details, why)), schedule)


@attrs.frozen
class FailureWithRun:
    """A failure, and the run that shows it."""

    failure: Failure
    trace: Trace
    run: Run
    finding: Finding


def explain(
    system: ExplainingSystem, finding: Finding, schedule: Sequence[Action], enough: Callable[[], bool] = lambda: False
) -> FailureWithRun:
    """Minimise the finding's schedule, until `enough()`; describe its run. Return the failure without what other orders
    show.

    Raises what `System.run` raises.
    """
    if finding.is_cycle:  # its schedule leads to the cycle, which is the finding
        small = Minimised(tuple(schedule), switches(schedule), least=False, first=tuple(schedule))
    else:
        small = minimise(system, schedule, finding, enough=enough)
    trace = Trace()
    run = system.run(trace, follow(small.schedule))
    found = matching(run.findings, finding)
    if found is None:
        raise NotDeterministic(f"a schedule that failed did not fail when it was repeated ({finding.message})")
    return with_run(system, trace, run, found, small)


def matching(findings: Iterable[Finding], finding: Finding) -> Finding | None:
    """Return the one among these that is the same failure, or None. For a cycle it is enough that its schedule was
    followed."""
    if finding.is_cycle:
        return finding
    return next((found for found in findings if found.group == finding.group), None)


def with_run(system: ExplainingSystem, trace: Trace, run: Run, found: Finding, small: Minimised) -> FailureWithRun:
    """Describe this run, and return it with the failure."""
    explained = system.describe(trace)
    if len(explained.steps) != len(trace):
        raise InternalError(f"{len(trace)} events were described as {len(explained.steps)} steps")
    detailed = matching(explained.findings, found) or found
    names = {thread: step.thread for thread, step in zip(trace.threads, explained.steps, strict=True)}
    failure = attrs.evolve(
        unexplained(detailed, small.schedule),
        threads=tuple(names.get(thread, "") for thread in range(max(names, default=-1) + 1)),
        trace=explained.steps,
        output=explained.output,
        switches=small.switches,
        first_schedule=small.first,
    )
    return FailureWithRun(failure, trace, run, found)


def with_orders(
    system: ExplainingSystem, explained: FailureWithRun, enough: Callable[[], bool] = lambda: False
) -> Failure:
    """Return the failure with the race to look at marked, and with what its orders show. Other orders are tried until
    `enough()`.

    The system may learn new facts meanwhile, so what was recorded before need not be repeatable afterwards.
    """
    pair, explanation = orders_of(system, explained.trace, explained.run, explained.finding, enough)
    return attrs.evolve(explained.failure, trace=tuple(_marked(explained.failure.trace, pair)), explanation=explanation)


def _marked(steps: Sequence[Step], pair: RacingPair | None) -> list[Step]:
    return [attrs.evolve(step, racing=pair is not None and number in pair) for number, step in enumerate(steps)]
