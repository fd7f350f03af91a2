"""All outcomes of a few lines of Python, checked as a program: what `scenario` returned, or what ended its threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

from dpor.core.errors import AssumptionBroken
from dpor.core.system import Ending
from dpor.explorers import STRATEGIES
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.program.system import PythonSystem

PREAMBLE = """
import threading

def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


class Outcomes(set[Any]):
    """The outcomes; `incomplete` has the reasons for which a pass would be inconclusive."""

    incomplete: set[str]
    executions: int


def outcomes(
    directory: Path,
    source: str,
    strategy: str = "optimal",
    instrument: tuple[str, ...] = (),
    most: int = 3000,
    facts: Iterable[str] = (),
) -> Outcomes:
    """What `scenario` of the source, after the preamble, can come to. `facts`: what is known from the start."""
    file = directory / "program.py"
    file.write_text(PREAMBLE + dedent(source))
    system = PythonSystem(f"{file}::scenario", RuntimeOptions(), instrument, {"facts": [*facts], "threads": []})
    while True:
        found = Outcomes()
        found.incomplete = set()
        found.executions = 0
        try:
            for run in STRATEGIES[strategy](system).explore():
                found.executions += 1
                assert found.executions < most, "too many executions"
                found.incomplete.update(run.incomplete)
                if run.ending is Ending.COMPLETE:
                    found.add(_told(run.outcome, run.deadlock))
        except AssumptionBroken:
            continue
        return found


def _told(outcome: Any, deadlock: Any) -> Any:
    returned, failures = outcome
    if deadlock:
        return "deadlock"
    return tuple(failures) or thawed(returned)


def thawed(value: Any) -> Any:
    """A frozen value as itself, with lists as tuples, so that it can be in a set."""
    kind, *rest = value
    if kind != "builtins":
        return rest[-1] if len(rest) == 1 else value
    return tuple(_parts(rest[-1]))


def _parts(parts: Any) -> Iterator[Any]:
    return (thawed(part) if isinstance(part[0], str) else tuple(map(thawed, part)) for part in parts)
