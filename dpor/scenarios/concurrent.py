"""`dpor.concurrent`: makes scenarios from a class and its operations, small ones first, and explores each of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import attrs

from dpor.app.checking import check
from dpor.core.errors import UserError
from dpor.core.options import Options, with_changes
from dpor.core.outcome import Kind
from dpor.core.results import NOTHING_CHANGED, NOTHING_SHARED, ONE_THREAD, Report, Verdict
from dpor.explorers import STATEFUL
from dpor.python.kernel.library import MODELLED, STDLIB
from dpor.scenarios.answers import Orders, TooManyOrders
from dpor.scenarios.ends import Ends
from dpor.scenarios.explore import THREADS, Bench, Consistency, Explored, Factory, failure_of
from dpor.scenarios.operations import Operation, calls_of
from dpor.scenarios.result import BrokenScenario, ConcurrentReport, Covered, answered
from dpor.scenarios.shrink import shrunk
from dpor.scenarios.sizes import Scenario, Size, sizes
from dpor.scenarios.source import importable, source_of

FEW: Final = 400
"""If a size has at most so many scenarios, all are explored; ..."""
DRAWN: Final = 100
"""... else so many that are drawn."""
MOST_SECONDS: Final = 10.0
"""For one scenario."""
SHRINKING_SECONDS: Final = 20.0


def concurrent(
    make: Factory,
    *operations: Operation,
    threads: int = 2,
    calls: int = 2,
    beginning: int = 1,
    specification: Factory | None = None,
    consistency: str = "linearizable",
    save: str | Path | None = None,
    options: Options | None = None,
    **changes: Any,
) -> ConcurrentReport:
    """Check a class by its operations alone: make scenarios, small ones first, and explore every interleaving of each.

    `make`: a class or a function that makes an object, or the name of one (`module:Class`, `path/file.py::Class`).
    `operations`: methods, by name, or as `dpor.operation(name, values or strategies...)`; none: all public methods.
    `threads`, `calls`, `beginning`: at most so many threads, calls in each, and calls before them.
    `specification`: what says which answers are right: a class without threads; None: the class itself, in one thread.
    `consistency`: linearizable, serializable (calls of different threads in any order) or quiescent (all calls).
    `save`: the file for the source of a scenario that fails. Further arguments are the options of `dpor.check`.
    """
    given = with_changes(options or Options(), changes, "dpor.concurrent")
    if given.explorer in STATEFUL:
        raise UserError(f"scenarios are explored by searches without states, not by {given.explorer}")
    for name, number, least in (("threads", threads, 2), ("calls", calls, 1), ("beginning", beginning, 0)):
        if type(number) is not int or not least <= number <= len(THREADS):
            raise UserError(f"{name} must be a number from {least} to {len(THREADS)}, not {number!r}")
    try:
        judged = Consistency(consistency)
    except ValueError:
        known = ", ".join(each.value for each in Consistency)
        raise UserError(f"consistency is one of {known}, not {consistency!r}") from None
    bench = Bench(
        make,
        lambda kind: calls_of(kind, operations),
        specification=specification,
        consistency=judged,
        options=attrs.evolve(given, strategy=given.explorer, all=False),
    )
    return _Checking(bench, make, given, judged, None if save is None else Path(save)).run(
        sizes(threads, calls, beginning)
    )


class _Checking:
    """One check of a class."""

    def __init__(
        self, bench: Bench, make: Factory, options: Options, consistency: Consistency, save: Path | None
    ) -> None:
        self._bench = bench
        self._make = make
        self._options = options
        self._consistency = consistency
        self._save = save
        self._begun = time.monotonic()
        self._ends = Ends(bench.answers, bench.calls)
        self._reasons: dict[str, None] = {}
        self._covered: list[Covered] = []
        self._executions = 0
        self._shares = False

    def run(self, wanted: Sequence[Size]) -> ConcurrentReport:
        for size in wanted:
            broken = self._size(size)
            if broken is not None:
                return self._report(self._explained(*broken))
            if self._left <= 0:
                break
        if not self._shares and not self._reasons:
            self._reasons["there was nothing to interleave: no two calls use anything in common"] = None
        return self._report(None)

    @property
    def _left(self) -> float:
        """Seconds that are left."""
        most = self._options.max_seconds
        return float("inf") if most is None else self._begun + most - time.monotonic()

    def _size(self, size: Size) -> tuple[Scenario, Explored] | None:
        """Explore the scenarios of one size. Return the first that fails, made small."""
        calls = self._bench.calls
        is_all = size.count(len(calls)) <= FEW
        scenarios = size.all(calls) if is_all else size.drawn(calls, DRAWN, self._options.seed)
        done = stuck = unsure = 0
        try:
            for scenario in scenarios:
                if self._left <= 0:
                    is_all = False
                    self._reasons[f"--max-seconds {self._options.max_seconds:g} reached at {size}"] = None
                    break
                orders = self._orders(scenario)
                if orders is None:
                    unsure += 1
                    continue
                done += 1
                stuck += orders.stuck
                explored = self._explored(*self._with_end(scenario, orders))
                if explored.failure is not None:
                    is_all = False
                    return self._small(self._with_end(scenario, orders)[0], explored)
                reasons = {*explored.report.reasons} - {NOTHING_SHARED, NOTHING_CHANGED, ONE_THREAD}
                self._shares = self._shares or not {*explored.report.reasons} - reasons
                if reasons:
                    unsure += 1
                    self._reasons |= dict.fromkeys(sorted(reasons))
        finally:
            self._covered.append(Covered(size=str(size), scenarios=done, all=is_all, stuck=stuck, unsure=unsure))
        return None

    def _orders(self, scenario: Scenario) -> Orders | None:
        """Return what the calls of the scenario may answer; None if that takes too long."""
        try:
            return self._bench.orders(scenario)
        except TooManyOrders:
            self._reasons["a scenario has too many orders to try them all in one thread"] = None
            return None

    def _with_end(self, scenario: Scenario, orders: Orders) -> tuple[Scenario, Orders]:
        """Return the scenario with an end that shows what the threads have left."""
        if orders.stuck:
            return scenario, orders
        whole = attrs.evolve(scenario, end=self._ends.of(orders))
        return whole, self._bench.orders(whole)

    def _explored(self, scenario: Scenario, orders: Orders) -> Explored:
        explored = self._bench.explore(scenario, orders, min(max(self._left, 1.0), MOST_SECONDS))
        self._executions += explored.report.executions + explored.report.executions_besides
        return explored

    def _small(self, scenario: Scenario, known: Explored) -> tuple[Scenario, Explored]:
        """Make a failing scenario smaller."""
        failing: dict[Scenario, Explored] = {}
        over = time.monotonic() + SHRINKING_SECONDS

        def fails(smaller: Scenario) -> bool:
            orders = self._orders(smaller) if time.monotonic() < over else None
            explored = None if orders is None else self._explored(smaller, orders)
            if explored is None or explored.failure is None:
                return False
            failing[smaller] = explored
            return True

        small = shrunk(scenario, fails, self._bench.calls)
        return small, failing.get(small, known)

    # ------------------------------------------------------------------ a failure

    def _explained(self, scenario: Scenario, explored: Explored) -> BrokenScenario:
        """Write the scenario's source, check that, and return its failure; or else the one that was found."""
        failure = explored.failure
        assert failure is not None
        source, orders = self._source(scenario, failure.kind), self._bench.orders(scenario)
        report, file = explored.report, None
        if source is not None:
            checked, file = self._checked(source, orders.stuck)
            again = failure_of(checked, orders)
            if again is None:
                source = None
            else:
                report, failure = checked, again
        message = f"{scenario}: {_what(failure.kind, failure.message)}"
        return BrokenScenario(
            scenario=str(scenario),
            calls=answered(explored.calls),
            failure=attrs.evolve(failure, message=message),
            source=source,
            file=None if source is None else file,
            report=report,
        )

    def _source(self, scenario: Scenario, kind: Kind) -> str | None:
        """Return the text of a test that may fail as the scenario does."""
        found = importable(self._make)
        if found is None:
            return None
        judged = kind in (Kind.LINEARIZABILITY, Kind.ASSERTION)
        about = f"Written by dpor lincheck: {scenario}"
        return source_of(scenario, THREADS, found, self._bench.orders(scenario) if judged else None, about)

    def _checked(self, source: str, all: bool) -> tuple[Report, str | None]:
        found = importable(self._make)
        assert found is not None
        top = found.module.partition(".")[0]
        more = () if top in MODELLED or top in STDLIB else (top,)
        options = attrs.evolve(
            self._options, max_seconds=MOST_SECONDS, instrument=(*self._options.instrument, *more), all=all
        )
        with _imports_from(found.folder), TemporaryDirectory() as folder:
            file = self._save or Path(folder, "test_scenario.py")
            file.write_text(source, encoding="utf-8")
            report = check(f"{file}::scenario", options)
        return report, None if self._save is None else str(file)

    def _report(self, broken: BrokenScenario | None) -> ConcurrentReport:
        verdict = Verdict.INCONCLUSIVE if self._reasons else Verdict.PASS
        return ConcurrentReport(
            target=self._bench.name,
            consistency=self._consistency.value,
            operations=tuple(map(str, self._bench.calls)),
            verdict=verdict if broken is None else Verdict.FAIL,
            covered=tuple(self._covered),
            reasons=tuple(self._reasons) if broken is None else (),
            failure=broken,
            executions=self._executions,
            seconds=time.monotonic() - self._begun,
        )


def _what(kind: Kind, message: str) -> str:
    """Return in one line what is wrong."""
    if "no order of the calls" in message:
        return "no order of the calls has these answers"
    return message.splitlines()[0]


@contextmanager
def _imports_from(folder: Path) -> Iterator[None]:
    """Context in which modules of this folder can be imported."""
    added = str(folder) not in sys.path
    if added:
        sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if added and str(folder) in sys.path:
            sys.path.remove(str(folder))
