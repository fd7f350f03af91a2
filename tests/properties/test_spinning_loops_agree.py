"""Generated Python programs with loops that wait by spinning: the searches that store no states see what those see that
list all interleavings, and all states."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from dpor.app.strategies import explorer_of
from dpor.core.options import Options
from dpor.python.program.system import PythonSystem
from dpor.testing import PROMISES, Observed, Reference, TooLarge, explore, wrong_with

EXAMPLES = int(os.environ.get("DPOR_SPINNING_EXAMPLES", "45"))
"""By hand: DPOR_SPINNING_EXAMPLES=2000."""

HEAD = """
import queue
import threading
import time


class Box:
    def __init__(self):
        self.a = self.b = 0

    def wait_for(self, n):
        while self.a < n:
            pass


def scenario():
    box, items, lock = Box(), [], threading.Lock()
    flag, gate, queued = threading.Event(), threading.Semaphore(0), queue.Queue()
    log = [[] for _ in range(3)]
"""

TAIL = """
    threads = [threading.Thread(target=body) for body in BODIES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return vars(box), items, log
"""

PLAIN = ["box.a = {n}", "box.b = {n}", "see(box.a)", "see(box.b)", "box.a += 1", "items.append({n})", "see(len(items))"]
PLAIN += [
    "flag.set()",
    "flag.clear()",
    "see(flag.is_set())",
    "gate.release()",
    "queued.put({n})",
    "see(queued.empty())",
]

LOOPS = [
    "while not box.a:\n    pass",
    "while not box.b:\n    time.sleep(0.01)",
    "while box.a == box.b:\n    pass",
    "while True:\n    x = box.a\n    if x:\n        break\nsee(x)",
    "box.wait_for({n})",
    "while not items:\n    pass",
    "while not box.a and not box.b:\n    pass",
    "while not (box.a and box.b):\n    mine = [1]",
    "while not box.b:\n    while not box.a:\n        pass\n    see(1)\n    box.b = 1",
    "n = 0\nwhile not box.a and n < 2:\n    n += 1\nsee(n)",
    "with lock:\n    while not box.b:\n        pass",
    "with lock:\n    box.b = 1",
    "while not flag.is_set():\n    pass",
    "while flag.is_set() == box.a:\n    pass",
    "while not gate.acquire(False):\n    time.sleep(0.01)\nsee(1)",
    "while not lock.acquire(False):\n    pass\nsee(1)\nlock.release()",
    "while queued.empty():\n    pass\nsee(queued.qsize())",
    "while True:\n    try:\n        see(queued.get_nowait())\n        break\n    except queue.Empty:\n        pass",
    "while queued.qsize() < 2:\n    mine = [1]",
]


def program(seed: int) -> str:
    rng = Random(seed)
    bodies = []
    number = rng.choice([2, 2, 3])
    for i in range(number):
        kinds = [
            rng.choice(LOOPS if rng.random() < 0.45 else PLAIN) for _ in range(rng.randint(1, 2 if number == 2 else 1))
        ]
        lines = "\n".join(kind.replace("{n}", str(rng.randint(0, 2))) for kind in kinds).replace("\n", "\n        ")
        bodies.append(f"\n    def body{i}():\n        see = log[{i}].append\n        {lines}\n")
    names = ", ".join(f"body{i}" for i in range(number))
    return HEAD + "".join(bodies) + TAIL.replace("BODIES", f"({names},)")


def seen_by(strategy: str, system: PythonSystem, *, classes: bool = False) -> Observed:
    return explore(explorer_of(Options(strategy=strategy)), system, classes=classes, runs=300, states=600)


@pytest.mark.parametrize("block", range(4))
def test_all_strategies_agree(block: int, tmp_path: Path) -> None:
    judged = spun = 0
    for seed in range(block * EXAMPLES // 4, (block + 1) * EXAMPLES // 4):
        target = tmp_path / f"program_{seed}.py"
        target.write_text(program(seed))
        try:
            full = seen_by("full", PythonSystem(f"{target}::scenario"))
            system = PythonSystem(f"{target}::scenario")
            seen_by("optimal", system)  # what it learns about the program all others then know
            none = seen_by("none", system, classes=True)
        except TooLarge:
            continue
        found = (none.outcomes, none.failures, none.livelock)
        assert found == (full.outcomes, full.failures, full.livelock), seed
        for name in ("classic", "source", "optimal"):
            assert (
                wrong_with(explorer_of(Options(strategy=name)), PROMISES[name], system, Reference(none, None)) == ""
            ), (seed, name)
        judged += 1
        spun += not full.terminates
    assert judged > EXAMPLES // 16
    assert spun > EXAMPLES // 40
