"""Run one of CPython's own test suites of `threading` and the like under control, each test function as a target.

    python run_suite.py test.test_queue [--schedules 3] [--only PATTERN] [--without PATTERN]...

Each test runs once with every thread as far as it gets (or for a thousand events: some go round until another has
moved), then under random schedules. Prints, as the last line, a JSON
object: for each test "passed", "skipped: why", or what went wrong. In a process of its own: what hangs is ended.

    python run_suite.py test.test_queue --list

runs none.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import warnings
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from dpor.core.errors import AssumptionBroken, UserError  # noqa: E402
from dpor.core.outcome import Kind  # noqa: E402
from dpor.core.system import Chooser, Run, Trace  # noqa: E402
from dpor.python.kernel.options import RuntimeOptions  # noqa: E402
from dpor.python.program.system import PythonSystem  # noqa: E402

TARGET = Path(__file__).with_name("one_test.py")
OPTIONS = RuntimeOptions(max_steps=200_000, timeouts="idle")
"""A test counts on it that a tenth of a second is enough for what others have to do: time passes when all wait."""


TURN = 1_000


def in_turn() -> Chooser:
    """The first thread that can move, until it cannot or has had its turn; then the next."""
    present = left = 0

    def choose(enabled: int) -> int:
        nonlocal present, left
        left -= 1
        if left < 0 or not enabled >> present & 1:
            later = enabled >> present + 1 << present + 1 if left < 0 else enabled
            present, left = first(later or enabled), TURN
        return present

    return choose


def first(enabled: int) -> int:
    return (enabled & -enabled).bit_length() - 1


def at_random(seed: int) -> Chooser:
    draw = random.Random(seed)
    return lambda enabled: draw.choice([n for n in range(enabled.bit_length()) if enabled >> n & 1])


def run(system: PythonSystem, choose: Callable[[], Chooser]) -> Run:
    """One run; once more if it has shown that something is shared which was not known to be."""
    while True:
        try:
            return system.run(Trace(), choose())
        except AssumptionBroken:
            continue


def result(system: PythonSystem, test: str, schedules: int) -> str:
    sys.argv[2:] = [test]
    for number in range(schedules):
        choose = in_turn if number == 0 else (lambda: at_random(number))
        try:
            done = run(system, choose)
        except UserError as error:
            return f"schedule {number}: {type(error).__name__}: {error}"
        if any(f.thread == "MainThread" or f.kind is Kind.DEADLOCK for f in done.findings):
            return f"schedule {number}: {[f'{f.thread}: {f.message}' for f in done.findings]}"
        if not isinstance(system._returned, tuple):
            return f"schedule {number}: {done.ending.name} {done.incomplete}"
    return str(system._returned[1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("suite")
    parser.add_argument("--schedules", type=int, default=3)
    parser.add_argument("--only", default="*")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.argv[1:] = [arguments.suite]
    system = PythonSystem(f"{TARGET}::scenario", OPTIONS, instrument=("test",))
    gc.collect()
    gc.freeze()  # the tests collect garbage again and again: only theirs
    names = system._loader.modules["one_test"].module.names()
    results = {}
    for name in names:
        if fnmatch(name, arguments.only) and not any(fnmatch(name, pattern) for pattern in arguments.without):
            print(name, file=sys.stderr, flush=True)
            results[name] = "listed" if arguments.list else result(system, name, arguments.schedules)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
