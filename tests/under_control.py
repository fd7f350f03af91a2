"""Runs a function as the main thread under control, every interleaving of it, on the drop-ins.

The function itself is not instrumented: only what it does to the drop-ins (and copies of library source) are
operations, and between two of them it is one step. That is what tests of the drop-ins need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dpor.core.errors import AssumptionBroken
from dpor.core.system import Chooser, Ending, Run, Trace
from dpor.explorers import STRATEGIES
from dpor.primitives.threads import End
from dpor.python.dropins import stdlib
from dpor.python.hooks import attributes, failures
from dpor.python.kernel import driving
from dpor.python.kernel.driving import SearchState
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.program.layers import Layers
from dpor.python.sharing import shared_objects

# What the fronts below call goes up through it.
run.serve(Layers(lambda filename: False, *[lambda name: False] * 3))


class FunctionSystem:
    """A function as a `System`. The outcome of a run: what it returned, what ended threads, who is stuck."""

    def __init__(
        self,
        function: Callable[[], Any],
        options: RuntimeOptions,
        facts: set[object],
        roots: Callable[[], Iterable[tuple[Any, Any]]] = lambda: (),
    ) -> None:
        self._function = function
        self._roots = roots
        self._options = options
        self._search = SearchState()
        self._search.facts.update(facts)
        self.facts = self._search.facts
        self.returned: Any = None
        stdlib.begin_search()
        for name in list(stdlib.made_modules):  # the function has imported them before
            stdlib.module_for_program(name)
        shared_objects.forget()
        attributes.forget_types()

    def run(self, trace: Trace, choose: Chooser) -> Run:
        returned: list[Any] = []

        def main() -> None:
            try:
                try:
                    returned.append(self._function())
                except Exception as error:
                    failures.report(error)
                stdlib.run_atexit()
            finally:
                perform(End(), stdlib.main_thread())

        driving.begin_run(self._search, self._options, trace, choose, None)
        try:
            shared_objects.begin_run(self._roots)
            stdlib.reset()
            ending, blocked = driving.drive(main)
        finally:
            driving.end_run()
        failed = tuple(f"{failure.thread.name}: {failure.message}" for failure in run.exceptions)
        stuck = tuple(f"{s.thread} at {s.waits_for.split()[0]}" for s in run.stuck if not s.daemon)
        self.returned = returned[0] if returned else None
        outcome = (*map(frozen, returned), *failed, *stuck) if ending is Ending.COMPLETE else None
        return Run(ending, blocked, outcome, stuck or None, (), tuple(run.incomplete))


def frozen(value: Any) -> Any:
    """The value with lists and dicts as tuples, so that it can be in a set."""
    if isinstance(value, dict):
        return tuple(sorted((key, frozen(item)) for key, item in value.items()))
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value


class Explored:
    """What a search has shown: the set of outcomes, how many runs, which facts, why it is not exhaustive."""

    def __init__(self) -> None:
        self.outcomes: set[Any] = set()
        self.runs = 0
        self.blocked = 0
        self.events = 0
        self.facts: set[object] = set()
        self.incomplete: set[str] = set()
        self.returned: Any = None


def explore(
    function: Callable[[], Any],
    strategy: str = "source",
    most: int = 20_000,
    roots: Callable[[], Iterable[tuple[Any, Any]]] = lambda: (),
    **options: Any,
) -> Explored:
    """All outcomes of the function. Starts again when an assumption is broken, as `dpor.app.checking` does.

    `roots`: what every thread can reach, named.
    """
    facts: set[object] = set()
    while True:
        system = FunctionSystem(function, RuntimeOptions(**options), facts, roots)
        search = STRATEGIES[strategy](system)
        explored = Explored()
        try:
            for done in search.explore():
                if done.ending is not Ending.STOPPED:
                    explored.runs += 1
                    explored.outcomes.add(done.outcome)
                explored.incomplete.update(done.incomplete)
                assert explored.runs < most, f"more than {most} runs"
        except AssumptionBroken:
            facts = system.facts
            continue
        explored.returned = system.returned
        explored.blocked, explored.events, explored.facts = search.stats.blocked, search.stats.events, facts
        return explored


def outcomes(function: Callable[[], Any], **how: Any) -> set[Any]:
    """The outcomes alone; those of a single value as that value."""
    return {o[0] if o is not None and len(o) == 1 else o for o in explore(function, **how).outcomes}


def once(function: Callable[[], Any]) -> Any:
    """What the function answers, in one run and nothing else going on; as it is, lists as lists."""
    explored = explore(function)
    assert len(explored.outcomes) == 1, explored.outcomes
    (outcome,) = explored.outcomes
    assert outcome == (frozen(explored.returned),), outcome
    return explored.returned
