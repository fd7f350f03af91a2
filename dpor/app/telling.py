"""The outcomes of a check, each with a schedule of the fewest switches and the run under it, described."""

from __future__ import annotations

from typing import Final

import attrs

from dpor.app.budgets import OUTCOMES_SECONDS
from dpor.app.course import Course
from dpor.app.found import outcome_in_words
from dpor.core.errors import GivenUp, UserError
from dpor.core.outcome import digest
from dpor.core.schedule import follow
from dpor.core.system import Run, Trace
from dpor.core.told import Outcome, result_of
from dpor.findings.explain import Checkable
from dpor.findings.fewest import Fewest, fewest
from dpor.findings.minimise import switches

MOST_DESCRIBED: Final = 100
"""Outcomes whose runs are described."""


def tell_outcomes(course: Course) -> None:
    """Put the outcomes that the present search has seen into its results, fewest switches first.

    Raises `AssumptionBroken` if a run for this shows a fact that the search has not met.
    """
    phases, results, system = course.phases, course.results, course.system
    phases.forgive()
    phases.allow(OUTCOMES_SECONDS)

    def result(run: Run) -> str | None:
        found = result_of(run, system.returned)
        return None if found is None else digest(found)

    ways = {known: witness.schedule for known, witness in results.witnesses.items()}
    try:
        endless = {known for known, way in ways.items() if result(system.run(Trace(), follow(way))) is None}
        small = fewest(
            system, {known: way for known, way in ways.items() if known not in endless}, result, phases.is_over
        )
    except UserError as error:
        results.reasons[f"{type(error).__name__}: {error}"] = None
        small = {}
    told = []
    for known, way in ways.items():
        chosen = small.get(known) or Fewest(way, switches(way), least=False)
        run = system.run(Trace(), follow(chosen.schedule))
        failures = results.witnesses[known].failures
        told.append(
            Outcome(
                text="; ".join(map(str, failures)) or outcome_in_words(system, run),
                failures=failures,
                result=None if failures else result_of(run, system.returned),
                **attrs.asdict(chosen),
            )
        )
    told.sort(key=lambda outcome: (bool(outcome.failures), outcome.switches, len(outcome.schedule), outcome.text))
    for number, outcome in enumerate(told[:MOST_DESCRIBED]):
        if phases.is_over():
            break
        told[number] = _described(system, outcome)
    results.told = tuple(told)


def _described(system: Checkable, outcome: Outcome) -> Outcome:
    """Return the outcome with the steps of its run, unless that takes too long."""
    trace = Trace()
    system.run(trace, follow(outcome.schedule))
    try:
        steps = system.describe(trace).steps
    except GivenUp:
        return outcome
    names = {thread: step.thread for thread, step in zip(trace.threads, steps, strict=False)}
    threads = tuple(names.get(thread, "") for thread in range(max(names, default=-1) + 1))
    return attrs.evolve(outcome, threads=threads, trace=steps)
