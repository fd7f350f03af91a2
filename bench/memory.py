"""Peak memory after few executions and after many. As a script: executions, then the name of a program.

Each number is taken in a process of its own, because a peak never falls.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from bench.measure import open_program
from dpor.core.errors import AssumptionBroken
from dpor.explorers import STRATEGIES

HERE = Path(__file__).parent


def peak(program: str, executions: int) -> int:
    """Bytes, of a process that explores so many executions of the program."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.memory", program, str(executions)],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def explore(program: str, executions: int) -> int:
    """Explore here, from the beginning again when all is covered; returns the peak in bytes."""
    system = open_program(program)
    done = 0
    while done < executions:
        outcomes: set[object] = set()
        try:
            for run in STRATEGIES["optimal"](system).explore():
                outcomes.add(run.outcome)
                done += 1
                if done >= executions:
                    break
        except AssumptionBroken:
            pass
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes if sys.platform == "darwin" else kilobytes * 1024


if __name__ == "__main__":
    print(explore(sys.argv[1], int(sys.argv[2])))
