"""How fast the stateful strategies are, on twins of programs that Java Pathfinder was measured on.

As a script: the name of a program, a strategy, and for how many CPU seconds to repeat.

A process of its own explores each program: a little, to load all that is needed, then to the end, once or more. The CPU
seconds *to a verdict* are those of the whole process until the first end, as Java Pathfinder's are.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import attrs

ROOT = Path(__file__).parent.parent


@attrs.frozen
class Twin:
    """target    a workload, or what a function of `tests/programs` makes: its module, its name, what it is given
    seconds   CPU of Java Pathfinder 8 for the one in Java, some 1.2 of start included
    """

    target: str | tuple[str, str, *tuple[int, ...]]
    seconds: float

    def open(self) -> str | Callable[[], object]:
        if isinstance(self.target, str):
            return self.target
        module, name, *given = self.target
        return getattr(importlib.import_module(f"tests.programs.{module}"), name)(*given)  # type: ignore[no-any-return]


TWINS = {
    "running example": Twin("running_example", 4.1),
    "chen & macdonald": Twin("chen_macdonald", 1.5),
    "plus minus 5": Twin("counter:rounds=5", 2.4),
    "bounded buffer, endless": Twin("bounded_buffers", 3.3),
    "container transfer, endless": Twin(("monitors", "container_transfer"), 6.9),
    "lock beside the object, endless": Twin(("monitors", "lock_beside_object"), 1.4),
    "philosophers 3": Twin(("monitors", "philosophers", 3), 2.3),
    "producers/consumers 2 + 2": Twin(("monitors", "producers_consumers"), 19.1),
    "readers/writers 2 + 2": Twin("readers_writers", 13.8),
    "readers 4": Twin(("twins", "readers", 4), 3.2),
    "lastzero 3": Twin(("twins", "lastzero", 3), 1.8),
    "indexer 2 x 4": Twin(("twins", "indexer", 2), 1.4),
    "filesystem 3": Twin(("twins", "filesystem", 3), 1.8),
}

FEW = 60
"""States, of a search that shows how large the process is without them."""
MANY = 2_000
"""States, from which on it is told how many bytes each takes."""


class Measured(TypedDict):
    """verdict, exhaustive, choices, states, matched   see `dpor.Report`
    verdict_seconds   CPU of the whole process, to the first verdict
    seconds           CPU of the fastest exploration
    bytes             by which the process grew for each stored state; None where there are too few
    """

    program: str
    strategy: str
    verdict: str
    exhaustive: bool
    choices: int
    states: int
    matched: int
    verdict_seconds: float
    seconds: float
    bytes: float | None


def measured(name: str, strategy: str, seconds: float) -> Measured:
    """The program in a process of its own. Raises `subprocess.CalledProcessError`."""
    command = [sys.executable, "-m", "bench.stateful", name, strategy, str(seconds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def measure(name: str, strategy: str, seconds: float) -> Measured:
    """Explore it here, to the end, at least once."""
    import dpor
    from dpor.core.memory import peak_memory, resident_memory

    target, times = TWINS[name].open(), list[float]()
    dpor.check(target, strategy=strategy, all=True, max_states=FEW)
    size, start = resident_memory(), time.process_time()
    report = dpor.check(target, strategy=strategy, all=True)
    verdict_seconds, grown = time.process_time(), peak_memory() - size
    times.append(verdict_seconds - start)
    while sum(times) < seconds:
        start = time.process_time()
        dpor.check(target, strategy=strategy, all=True)
        times.append(time.process_time() - start)
    states = report.states or 0
    return Measured(
        program=name,
        strategy=strategy,
        verdict=str(report.verdict),
        exhaustive=report.exhaustive,
        choices=report.choices,
        states=states,
        matched=report.matched or 0,
        verdict_seconds=verdict_seconds,
        seconds=min(times),
        bytes=grown / states if states >= MANY else None,
    )


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], float(sys.argv[3]))))
