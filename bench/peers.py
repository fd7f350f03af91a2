"""The same small programs under this and other tools for Python threads: verdict, executions, CPU seconds.

    python -m bench.peers                                this one
    frontrun python -m bench.peers frontrun              others: pip install them into the same environment
    python -m bench.peers interleave-test                (Python 3.12 or later)

Buggy programs are explored until a failure is found, the others to the end, or until the time is over. CPU seconds are
those of all threads of the process, so they can be compared on a machine that has other things to do.
"""

from __future__ import annotations

import importlib
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable

from bench.targets.shared_state import PROGRAMS, Program

SECONDS = 30.0
"""For each program."""


def with_dpor(program: Program) -> tuple[str, int]:
    import dpor

    def target() -> None:
        state = program.setup()
        threads = [threading.Thread(target=worker, args=(state,)) for worker in program.workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert program.holds(state)

    report = dpor.check(target, max_seconds=SECONDS)
    return str(report.verdict), report.executions


def with_frontrun(program: Program) -> tuple[str, int]:
    """Without its bound of two preemptions, which it has unless told otherwise."""
    result = importlib.import_module("frontrun").explore(
        setup=program.setup,
        workers=program.workers,
        invariant=program.holds,
        preemption_bound=None,
        total_timeout=SECONDS,
        reproduce_on_failure=0,
    )
    return "pass" if result.property_holds else "fail", result.num_explored


def with_interleave_test(program: Program) -> tuple[str, int]:
    """With its exhaustive search, which is bounded to two preemptions."""
    tool = importlib.import_module("interleave_test")

    def model() -> None:
        state = program.setup()
        threads = [tool.spawn(worker, state) for worker in program.workers]
        for thread in threads:
            thread.join()
        assert program.holds(state)

    result = tool.explore(model, strategy="dfs", max_preemptions=2, iterations=1_000_000, raise_on_failure=False)
    verdict = "fail" if not result.ok else "pass with 2 preemptions" if result.exhausted else "not in time"
    return verdict, result.schedules_run


TOOLS: dict[str, Callable[[Program], tuple[str, int]]] = {
    "dpor": with_dpor,
    "frontrun": with_frontrun,
    "interleave-test": with_interleave_test,
}


def measured(tool: str, program: Program) -> tuple[str, str, float]:
    """Verdict, executions and CPU seconds, in a process of its own, which is ended when the time is over."""
    receiving, sending = multiprocessing.Pipe(duplex=False)

    def child() -> None:
        TOOLS[tool](PROGRAMS[0])  # what is imported and set up once
        begun = time.process_time()
        verdict, executions = TOOLS[tool](program)
        sending.send((verdict, f"{executions:,}", time.process_time() - begun))

    process = multiprocessing.get_context("fork").Process(target=child, daemon=True)
    process.start()
    sending.close()
    answered = receiving.poll(SECONDS * 1.2)
    try:
        answer: tuple[str, str, float] = receiving.recv() if answered else ("not in time", "", SECONDS)
    except EOFError:
        answer = ("error", "", 0.0)
    process.kill()
    return answer


def main() -> None:
    tool = sys.argv[1] if len(sys.argv) > 1 else "dpor"
    if tool not in TOOLS:
        raise SystemExit(f"no tool {tool!r}; there are {', '.join(TOOLS)}")
    print(f"| program | should | {tool} | executions | CPU seconds |")
    print("|---|---|---|---|---|")
    for program in PROGRAMS:
        verdict, executions, seconds = measured(tool, program)
        should = "fail" if program.buggy else "pass"
        print(f"| {program.name} | {should} | {verdict} | {executions} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
