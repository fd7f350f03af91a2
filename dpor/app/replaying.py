"""Repeats a saved schedule. `replay` is the public function."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Collection, Iterable

import attrs

from dpor.app.budgets import MOST_RESTARTS, ORDERING_SECONDS, STANDSTILL, passed
from dpor.app.targets import Target, beat_of, is_python, open_target
from dpor.core.errors import AssumptionBroken, InternalError, NotDeterministic, UserError
from dpor.core.options import Options
from dpor.core.outcome import Finding
from dpor.core.pulse import beating
from dpor.core.results import Failure
from dpor.core.schedule import OF_PYTEST, SavedSchedule, follow
from dpor.core.system import Ending, Run, Trace
from dpor.findings.explain import Checkable, matching, with_orders, with_run
from dpor.findings.minimise import Minimised, switches


def replay(schedule: str | os.PathLike[str] | SavedSchedule, target: Target | None = None) -> Failure:
    """Run a saved schedule once more. Returns the failure that it shows.

    `target` is needed if the schedule's own target is a callable that has no name in a file.

    Raises `BadSchedule` if the file is not a schedule or the source has changed, `NotDeterministic` if the program did
    something else this time.
    """
    saved = schedule if isinstance(schedule, SavedSchedule) else SavedSchedule.load(schedule)
    return Replay(saved, target).run()


class Replay:
    """Repeats one saved schedule."""

    def __init__(self, saved: SavedSchedule, target: Target | None = None) -> None:
        self.saved = saved
        if target is None and saved.target.startswith(OF_PYTEST):
            node = saved.target.removeprefix(OF_PYTEST)
            raise UserError(
                f"the schedule is that of a test: run pytest {shlex.quote(node)} --dpor-replay with the file"
            )
        self.target = saved.target if target is None else target
        try:
            self.options = Options(name=saved.name, **saved.settings)
        except TypeError as error:
            raise UserError(f"the schedule was saved with settings that this dpor does not know: {error}") from error

    def run(self, debug: Callable[[Callable[[], Run], Collection[str]], Run] | None = None) -> Failure:
        """Return the failure that the schedule shows. Raises `BadSchedule`, `NotDeterministic`.

        `debug` is called with a function that carries out the run, and the program's files.
        """
        saved = self.saved
        saved.check_sources()
        if is_python(self.target):
            saved.check_python()
        system = open_target(self.target, self.options, saved.facts)
        trace = Trace()
        if debug is not None:
            with system.aloud():
                run = debug(lambda: self._follow(system, trace), system.sources())
            return self._shown(system, trace, run)
        beat = beat_of(self.target)
        run = self._follow(system, trace)
        with beating(lambda frame: beat(frame, STANDSTILL)):
            return self._shown(system, trace, run)

    def _shown(self, system: Checkable, trace: Trace, run: Run) -> Failure:
        saved = self.saved
        if len(trace) < len(saved.schedule):
            raise NotDeterministic(
                f"the schedule has {len(saved.schedule)} events, but the program ended after {len(trace)}:"
                f" {_text(run.findings)}"
            )
        found = matching(run.findings, saved.finding)
        if found is None:
            goes_on = f" ({len(trace)} events; the program goes on)" if run.ending is Ending.STOPPED else ""
            raise NotDeterministic(
                f"the schedule was followed to its end{goes_on}, and this time {_text(run.findings)}; it was saved for"
                f" {_first_line(saved.finding)}"
            )
        small = Minimised(saved.schedule, switches(saved.schedule), least=False, first=saved.first_schedule)
        explained = with_run(system, trace, run, found, small)
        return attrs.evolve(with_orders(system, explained, passed(time.monotonic() + ORDERING_SECONDS)), saved=saved)

    def _follow(self, system: Checkable, trace: Trace) -> Run:
        """Run the schedule, and again after each fact about the program that a run shows for the first time."""
        for _ in range(MOST_RESTARTS):
            try:
                return system.run(trace, follow(self.saved.schedule))
            except AssumptionBroken:
                trace.cut(0)
        raise InternalError(f"the replay began again {MOST_RESTARTS} times")


def _text(findings: Iterable[Finding]) -> str:
    return "; ".join(map(_first_line, findings)) or "nothing failed"


def _first_line(finding: Finding) -> str:
    return finding.message.split("\n", 1)[0]
