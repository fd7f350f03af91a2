"""How fast the stateful strategies are, on twins of programs that Java Pathfinder was measured on.

As a script: the name of a program, a strategy, and for how many CPU seconds to repeat.

A process of its own explores each program: a little, to load all that is needed, then to the end, once or more. The CPU
seconds *to a verdict* are those of the whole process until the first end, as Java Pathfinder's are.
"""

from __future__ import annotations

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
    """A program, and what Java Pathfinder 8 needed for the one in Java: choices, states met again, CPU seconds (some
    1.2 of start included)."""

    open: Callable[[], str | Callable[[], object]]
    choices: int
    matched: int
    seconds: float


def _monitors(name: str, *arguments: int) -> Callable[[], Callable[[], object]]:
    def opened() -> Callable[[], object]:
        from tests.programs import monitors

        return getattr(monitors, name)(*arguments)  # type: ignore[no-any-return]

    return opened


def _twins(name: str, *arguments: object) -> Callable[[], Callable[[], object]]:
    def opened() -> Callable[[], object]:
        from tests.programs import twins

        return getattr(twins, name)(*arguments)  # type: ignore[no-any-return]

    return opened


TWINS = {
    "running example": Twin(lambda: "running_example", 3_516, 4_756, 4.1),
    "chen & macdonald": Twin(lambda: "chen_macdonald", 217, 249, 1.5),
    "plus minus 5": Twin(lambda: "counter:rounds=5", 3_957, 4_942, 2.4),
    "bounded buffer, endless": Twin(lambda: "bounded_buffers", 6_657, 8_793, 3.3),
    "container transfer, endless": Twin(_monitors("container_transfer"), 42_607, 53_140, 6.9),
    "lock beside the object, endless": Twin(_monitors("lock_beside_object"), 193, 251, 1.4),
    "philosophers 3": Twin(_monitors("philosophers", 3), 2_017, 3_511, 2.3),
    "producers/consumers 2 + 2": Twin(_monitors("producers_consumers"), 153_082, 354_547, 19.1),
    "readers/writers 2 + 2": Twin(lambda: "readers_writers", 106_803, 263_078, 13.8),
    "readers 4": Twin(_twins("readers", 4), 5_966, 14_756, 3.2),
    "lastzero 3": Twin(_twins("lastzero", 3), 1_097, 2_150, 1.8),
    "indexer 2 x 4": Twin(_twins("indexer", 2), 421, 559, 1.4),
    "filesystem 3": Twin(_twins("filesystem", 3), 1_169, 2_415, 1.8),
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
    from dpor.memory import peak_memory, resident_memory

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
