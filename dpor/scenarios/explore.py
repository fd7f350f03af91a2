"""Explores scenarios of one class, each under every interleaving.

The program is loaded once, and what is learnt of it in one scenario is known in the next. So a small scenario takes
milliseconds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from types import ModuleType
from typing import Any, Final, TypeAlias

import attrs

from dpor.app.budgets import MOST_RESTARTS
from dpor.app.checking import Session
from dpor.app.targets import open_target
from dpor.core.errors import AssumptionBroken, InternalError, UserError
from dpor.core.home import DRIVER
from dpor.core.operations import Action
from dpor.core.options import Options
from dpor.core.outcome import Kind
from dpor.core.results import Failure, Report
from dpor.core.schedule import follow
from dpor.core.system import Trace
from dpor.python.program.host_functions import ProgramCopies
from dpor.python.program.loader import Loader
from dpor.python.program.system import PythonSystem
from dpor.python.program.target import Target, load_target
from dpor.python.specs import specifying
from dpor.python.specs.histories import linearizable
from dpor.python.specs.known_answers import raised, returned
from dpor.python.specs.linearizing import RecordedCall
from dpor.scenarios.answers import Answer, Answers, Orders
from dpor.scenarios.operations import Call
from dpor.scenarios.recording import Log
from dpor.scenarios.sizes import Calls, Scenario

Factory: TypeAlias = "str | Callable[..., Any]"
"""What makes an object: a class or a function without required arguments, or the name of one."""


class Consistency(StrEnum):
    """What concurrent calls must have in common with calls one after another."""

    LINEARIZABLE = "linearizable"
    """The answers are those of an order that keeps calls which do not overlap, and those of a thread, in order."""
    SERIALIZABLE = "serializable"
    """Those of an order that keeps the calls of each thread in order."""
    QUIESCENT = "quiescent"
    """Those of an order of all calls between the beginning and the end."""


THREADS: Final = ("Ada", "Bob", "Cy", "Dee", "Eve", "Flo", "Gus", "Hal")
"""The names of threads in scenarios."""


class Program:
    """The class under check as a target. Implements `dpor.python.program.target.Opener`.

    job   what the next runs do
    """

    def __init__(self, make: Factory, specification: Factory | None) -> None:
        self.name = make if isinstance(make, str) else getattr(make, "__qualname__", repr(make))
        self.job: Callable[[Loaded], Callable[[], object]] = lambda loaded: loaded.make()
        self.after: Callable[[], None] = _nothing
        self._given = make, specification

    def open_in(self, loader: Loader) -> Target:
        make, specification = self._given
        targets = [None if each is None else load_target(each, loader) for each in (make, specification)]
        return Loaded(self, targets, loader.load_name(DRIVER), loader)


class Loaded:
    """The program in one process. Implements `dpor.python.program.target.Target`."""

    kept: Final = ()
    entry: Final = None

    def __init__(self, program: Program, targets: Sequence[Target | None], driver: ModuleType, loader: Loader) -> None:
        self._program = program
        self._targets = targets
        self._loader = loader
        self.driver: Any = driver

    def function(self) -> Callable[[], object]:
        return self._program.job(self)

    def finish(self) -> None:
        self._program.after()

    def make(self) -> Callable[[], Any]:
        """Return what makes an object to call."""
        assert self._targets[0] is not None
        return self._targets[0].function()

    def specification(self) -> Callable[[], Any]:
        """Return what makes an object that says what calls one after another answer."""
        return self.make() if self._targets[1] is None else self._targets[1].function()

    def calls(self, calls: Calls) -> tuple[tuple[str, tuple[Any, ...]], ...]:
        """Return calls as the driver takes them, with arguments of this run's own."""
        copies = ProgramCopies(self.driver, self._loader)
        return tuple((call.method, copies.value(call.args)) for call in calls)


def _nothing() -> None:
    pass


@attrs.frozen
class Explored:
    """What the interleavings of one scenario have shown.

    report   of the check
    failure  what goes wrong; None: nothing. That a scenario waits for ever is no failure if it may in one thread, too
    calls    those of a failing run, with their answers; a call that did not end has none
    """

    report: Report
    failure: Failure | None = None
    calls: tuple[RecordedCall, ...] = ()


class Bench:
    """Runs scenarios of one class.

    answers   what calls answer one after another
    """

    def __init__(
        self,
        make: Factory,
        operations: Callable[[type], Sequence[Call]],
        *,
        specification: Factory | None = None,
        consistency: Consistency = Consistency.LINEARIZABLE,
        options: Options,
    ) -> None:
        self._program = Program(make, specification)
        self._consistency = consistency
        self.options = options
        system = open_target(self._program, options)
        assert isinstance(system, PythonSystem)
        self._system = system
        self.kind = self._kind()
        self.calls = [*operations(self.kind)]
        self._methods = [*dict.fromkeys(call.method for call in self.calls)]
        self.answers = Answers(self._ask, self.kind.__name__)

    @property
    def name(self) -> str:
        return self._program.name

    # ------------------------------------------------------------------ in one thread

    def _alone(self, job: Callable[[Loaded], Callable[[], object]]) -> None:
        """Run the program once, in one thread."""
        self._program.job, self._program.after = job, _nothing
        for _ in range(MOST_RESTARTS):
            try:
                result = self._system.run(Trace(), _first)
            except AssumptionBroken:
                continue
            for finding in result.findings:
                if result.deadlock is None:
                    raise UserError(f"{self.name}, called in one thread: {finding.message}")
            return
        raise InternalError(f"a run in one thread began again {MOST_RESTARTS} times")

    def _kind(self) -> type:
        found: list[type] = []
        self._alone(lambda loaded: functools.partial(_note_kind, loaded.make(), found))
        return found[0]

    def _ask(self, calls: Sequence[Call]) -> Sequence[Answer]:
        answers: list[Answer] = []

        def note(obj: object, result: Any, raises: bool) -> None:
            answers.append(raised(result) if raises else returned(obj, result))

        def job(loaded: Loaded) -> Callable[[], object]:
            answers.clear()
            make = loaded.specification()
            return functools.partial(loaded.driver.one_after_another, make, loaded.calls((*calls,)), note)

        self._alone(job)
        return answers

    def orders(self, scenario: Scenario) -> Orders:
        """Return what the calls of a scenario may answer. Raises `dpor.scenarios.answers.TooManyOrders`."""
        return self.answers.orders(scenario, self._consistency is not Consistency.QUIESCENT)

    # ------------------------------------------------------------------ in several threads

    def explore(self, scenario: Scenario, orders: Orders, seconds: float | None) -> Explored:
        """Explore a scenario."""
        log: list[Log] = []
        self._program.after = _nothing
        if self._consistency is Consistency.LINEARIZABLE:
            record = linearizable(self.answers.specification(self._methods))
        else:
            record = functools.partial(self._logged, log)
            self._program.after = lambda: self._judge(log[-1], scenario, orders.allowed)

        self._program.job = lambda loaded: functools.partial(
            loaded.driver.concurrently,
            loaded.make(),
            record,
            loaded.calls(scenario.beginning),
            tuple((name, loaded.calls(calls)) for name, calls in zip(THREADS, scenario.threads, strict=False)),
            loaded.calls(scenario.end),
        )
        self._system.begin_other()
        options = attrs.evolve(self.options, max_seconds=seconds, all=orders.stuck)
        report = Session(self._program, options, opened=self._system, explains=False).run()
        failure = failure_of(report, orders)
        if failure is None:
            return Explored(report)
        self._repeat(failure.schedule)
        if log:
            return Explored(report, failure, (*log[-1].calls,))
        specified = specifying.current()
        return Explored(report, failure, () if specified is None else (*specified.histories[0].calls,))

    def _repeat(self, schedule: Sequence[Action]) -> None:
        for _ in range(MOST_RESTARTS):
            try:
                self._system.run(Trace(), follow(schedule))
                return
            except AssumptionBroken:
                pass

    def _logged(self, logs: list[Log], obj: Any) -> Any:
        logs[:] = [Log(self._methods)]
        return logs[0].record(obj)

    def _judge(self, log: Log, scenario: Scenario, allowed: Collection[tuple[Answer, ...]]) -> None:
        """Called at the end of a run. Raises `AssertionError` if the answers are not allowed."""
        answers = log.answers(THREADS[: len(scenario.threads)])
        done = None not in answers and len(answers) == len(scenario.calls)
        if done and answers not in allowed:
            raise AssertionError(f"no order of the calls has these answers of {self.kind.__name__}")


def failure_of(report: Report, orders: Orders) -> Failure | None:
    """Return the first failure of a scenario with these orders that is one."""
    return next((each for each in report.findings if not orders.stuck or each.kind is not Kind.DEADLOCK), None)


def _note_kind(make: Callable[[], Any], found: list[type]) -> None:
    found[:] = [type(make())]


def _first(enabled: int) -> int:
    return (enabled & -enabled).bit_length() - 1
