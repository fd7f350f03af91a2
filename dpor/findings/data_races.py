"""A system whose runs also report their data races, as findings that are minimised, saved and replayed like all
others."""

from __future__ import annotations

from dpor.core.data_races import DataRace, data_races
from dpor.core.outcome import Finding, Kind
from dpor.core.schedule import relative
from dpor.core.steps import Step
from dpor.core.system import Chooser, Ending, Forwarding, Run, Trace
from dpor.findings.explain import Checkable


class RaceDetector(Forwarding):
    """Wraps a system; each of its runs also reports its data races. A run that was given up reports none, because an
    equivalent run has been, or will be, seen to its end."""

    def __init__(self, system: Checkable) -> None:
        super().__init__(system)
        self._system = system

    def run(self, trace: Trace, choose: Chooser) -> Run:
        """See `dpor.core.system.System.run`."""
        run = self._system.run(trace, choose)
        if run.ending is not Ending.STOPPED:
            races = data_races(trace, self._system.is_memory)
            if races:
                steps = self._system.describe(trace).steps
                found = {finding.group: finding for finding in (_finding(race, steps) for race in reversed(races))}
                run.findings = [*run.findings, *reversed(found.values())]
        return run


def _finding(race: DataRace, steps: tuple[Step, ...]) -> Finding:
    """Make the finding. It is the same whichever thread came first: a write is named before a read, else the order is
    by place."""
    first, second = sorted((steps[race.earlier], steps[race.later]), key=lambda s: (_reads(s), _place(s), s.thread))
    return Finding(
        Kind.RACE,
        f"{_in_words(first)} and {_in_words(second)}: nothing orders them",
        first.thread,
        first.file,
        first.line,
        other=_place(second),
        events=race,
    )


def _reads(step: Step) -> bool:
    return step.operation.startswith("read")


def _place(step: Step) -> str:
    return step.source if step.file is None else f"{step.file}:{step.line}"


def _in_words(step: Step) -> str:
    place = step.source if step.file is None else f"{relative(step.file)}:{step.line}"
    return f"{step.operation} in {step.thread} ({place})"
