"""Explores one program again and again, and times it. As a script: arguments to JSON lines (see `main`).

The script imports nothing of `bench`, and `dpor` from wherever `PYTHONPATH` says: so `compare` measures any commit.
Times are CPU times of exploring alone: the program is loaded, and what a search learns about it is known.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any, TypedDict

from dpor.app.targets import open_target
from dpor.core.errors import AssumptionBroken
from dpor.core.options import Options
from dpor.explorers import STRATEGIES

TARGETS = Path(__file__).parent / "targets"


class Measurement(TypedDict):
    """executions, events, replayed   of one exploration, runs that had to be dropped among the executions
    seconds   CPU, of the fastest of the explorations
    explorations   how many were timed
    """

    program: str
    strategy: str
    executions: int
    events: int
    replayed: int
    seconds: float
    explorations: int


def open_program(name: str) -> Any:
    """The system of a program that `programs.KNOWN` names."""
    if " " in name:
        return open_target(str(TARGETS / "abstract.json"), Options(name=name))
    return open_target(f"{TARGETS / 'threaded.py'}::{name}", Options())


def measure(name: str, strategy: str = "optimal", seconds: float = 1.0) -> Measurement:
    """Explore the program for so many CPU seconds, at least once."""
    system = open_program(name)
    explore(system, strategy, learn=True)
    times: list[float] = []
    while not times or sum(times) < seconds:
        gc.collect()
        start = time.process_time()
        stats = explore(system, strategy)
        times.append(time.process_time() - start)
    return Measurement(
        program=name,
        strategy=strategy,
        executions=stats.executions + stats.blocked,
        events=stats.events,
        replayed=stats.replayed,
        seconds=min(times),
        explorations=len(times),
    )


def explore(system: Any, strategy: str, *, learn: bool = False) -> Any:
    """Explore all. `learn`: stop after the first execution in which nothing new shows about the program."""
    while True:
        explorer = STRATEGIES[strategy](system)
        outcomes: set[object] = set()
        try:
            for run in explorer.explore():
                outcomes.add(run.outcome)
                if learn and explorer.stats.executions > 1:
                    break
            return explorer.stats
        except AssumptionBroken:
            pass


def main(strategy: str, seconds: str, *names: str) -> None:
    for name in names:
        print(json.dumps(measure(name, strategy, float(seconds))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
