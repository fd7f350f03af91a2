"""What dpor finds of a program, in the words of the judge, and what of the judge's outcomes is missing there."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from dpor.core.errors import AssumptionBroken
from dpor.core.outcome import Kind
from dpor.core.system import Ending, Run
from dpor.explorers import STRATEGIES
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.program.system import PythonSystem
from tests.judge.real_threads import Outcome, outcome


class Found(NamedTuple):
    """What a search found.

    finished    all interleavings are covered
    incomplete  why a pass would be inconclusive
    """

    outcomes: frozenset[Outcome]
    strategy: str
    executions: int
    finished: bool
    incomplete: frozenset[str]


def search(target: str, none: int, optimal: int, options: RuntimeOptions | None = None) -> Found:
    """All outcomes by `none`, if that many executions suffice, else by `optimal`; which must show them all, too: an
    access that nothing records may lie between others of which `none` tries all orders."""
    found = _explore(target, "none", none, options)
    if not optimal:
        return found
    reduced = _explore(target, "optimal", optimal, options)
    if not found.finished:
        return reduced
    assert reduced.incomplete or not found.outcomes - reduced.outcomes, found.outcomes - reduced.outcomes
    return found


def _explore(target: str, strategy: str, most: int, options: RuntimeOptions | None) -> Found:
    system = PythonSystem(target, options)
    while True:
        explorer = STRATEGIES[strategy](system)
        outcomes: set[Outcome] = set()
        incomplete: set[str] = set()
        finished = True
        try:
            for run in explorer.explore():
                incomplete.update(run.incomplete)
                if run.ending is Ending.COMPLETE:
                    outcomes.add(_outcome(run))
                if explorer.stats.executions > most:
                    finished = False
                    break
        except AssumptionBroken:
            continue
        return Found(frozenset(outcomes), strategy, explorer.stats.executions, finished, frozenset(incomplete))


def _outcome(run: Run) -> Outcome:
    failures = [f"{f.thread}: {f.message}" for f in run.findings if f.kind is not Kind.DEADLOCK]
    stuck = [thread for thread, *_ in run.deadlock[0]] if run.deadlock else []  # type: ignore[index]
    assert isinstance(run.outcome, tuple)
    return outcome(run.outcome[0], failures, stuck)


def missed(seen: set[Outcome], found: Found, file: Path) -> str:
    """A message if the judge saw what the search did not; "" if all is well."""
    rest = seen - found.outcomes
    if not rest:
        return ""
    lines = [f"{file.name}: {found.strategy} missed, in {found.executions} executions (but {list(found.incomplete)}):"]
    lines += [f"  {one}" for one in sorted(rest, key=repr)[:5]]
    lines += ["found, among others:", *[f"  {one}" for one in sorted(found.outcomes, key=repr)[:5]]]
    return "\n".join([*lines, file.read_text()])
