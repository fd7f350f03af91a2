"""Sets up a run, carries it out, and leaves nothing behind.

A run ends when no thread can move, the explorer says stop, the run is too long, an assumption is broken, or a replay
differs (`unwinding`).
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import Final

from greenlet import getcurrent

from dpor.core.discipline import Discipline
from dpor.core.errors import AssumptionBroken, NotDeterministic, Unsupported, UserError
from dpor.core.operations import (
    Operation,
    OperationTable,
    Rule,
)
from dpor.core.system import Chooser, Ending, Pending, Trace
from dpor.python.kernel import depth, timing, unwinding
from dpor.python.kernel.assumptions import DAEMONS, DYING, SPINS, Following, about
from dpor.python.kernel.blocked import left_blocked
from dpor.python.kernel.depth import DEEP
from dpor.python.kernel.listeners import Recorder
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.numbers import Numbers
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import Fixed
from dpor.python.kernel.threads import live
from dpor.python.kernel.workers import Workers

_has_spinning: Final = Following(lambda facts: any(about(facts, SPINS)))


class SearchState:
    """What all runs of one search share: interned operations, numbers of threads, facts learned, greenlets, and what is
    known of accesses that are no events (None: every access is one)."""

    def __init__(self) -> None:
        self.operations = OperationTable()
        self.facts: set[object] = set()
        self.numbers = Numbers()
        self.known_operations: dict[tuple[int, ...], tuple[Rule, tuple[Operation, bool, bool]]] = {}
        self.workers = Workers(live)
        self.fixed: tuple[Fixed, Fixed] | None = None
        self.discipline: Discipline | None = None


def refuse_nesting() -> None:
    """Raise `UserError` if a run is in progress: there can be only one in a process."""
    if run.current is not None:
        raise UserError('a check was started inside a checked program: guard it with if __name__ == "__main__"')


def begin_run(
    search: SearchState, options: RuntimeOptions, trace: Trace, choose: Chooser, recorder: Recorder | None
) -> None:
    """Set up a run; `drive` carries it out. Module-level code of the program may run in between."""
    run.begin(options, trace, choose, recorder)
    run.operations, run.facts, run.numbers = search.operations, search.facts, search.numbers
    run.known_operations, run.workers = search.known_operations, search.workers
    run.daemons, run.deep, run.dying = DAEMONS in run.facts, DEEP in run.facts, DYING in run.facts
    run.spins = not run.stateful and _has_spinning(run.facts)
    run.discipline = None if run.dying else search.discipline
    run.update_careful()
    if search.fixed is None:
        search.fixed = Fixed("process"), Fixed("alive")
    run.process, run.alive = search.fixed
    run.process.dpor_state, run.alive.dpor_state = True, 1
    main = ModelThread(0, "MainThread", False, None)
    main.greenlet = run.hub = getcurrent()
    run.ready = run.everybody = main.bit
    run.threads.append(main)
    run.os_thread = get_ident()
    run.current = main


def drive(body: Callable[[], None]) -> tuple[Ending, list[Pending]]:
    """Carry out the run; `body` is what the main thread does. Return how it ended and which threads were left blocked.

    Raises the error that ended the run, or `AssumptionBroken` if the search has to start again.
    """
    run.hub = getcurrent()
    run.workers.prepare(run.hub, len(run.numbers) + 1)
    main = run.threads[0]
    depth.begin_run(run.workers.base)
    try:
        run.workers.begin(main, body)
        left = left_blocked() if run.error is None else []
        if run.unseen:
            run.above.may_have_looked()
        if run.multi and not run.watched and run.error is None:
            timing.run_over()
            run.above.run_over()
        if run.recorder is not None:
            run.recorder.finish()
        return run.ending, left
    finally:
        error = run.error
        unwinding.unwind()
        depth.end_run()
        if run.broken is not None and (error is None or isinstance(error, (NotDeterministic, Unsupported))):
            # The set of operations has changed, so a replay that differs is no error; and with more hooks, what is not
            # supported may be.
            raise AssumptionBroken(run.broken, runs=1)
        if error is not None:
            raise error


def end_run() -> None:
    """End the run, whatever happened in it. Finalisers of the program that run from now on are not part of it."""
    run.current = None  # type: ignore[assignment]
    run.discipline = None
    run.unwinding = True
    run.update_careful()
