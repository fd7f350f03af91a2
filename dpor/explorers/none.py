"""No reduction: every interleaving of the events is run, depth first. It is the judge of all other searches."""

from __future__ import annotations

from dpor.core.operations import VALUE_SHIFT, Action
from dpor.core.system import Run, System
from dpor.explorers import invariants
from dpor.explorers.search import StatelessSearch, threads_of


class NoReduction(StatelessSearch):
    """Depth-first search over all schedules."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self._todo: list[list[Action]] = []  # for each event, the actions still to be tried instead of it
        self._done: list[int] = []
        self._resumed: list[Action] | None = None

    def check(self, start: int, run: Run) -> None:
        super().check(start, run)
        invariants.check_lengths(len(self.trace), todo=self._todo, done=self._done)

    def _choose(self, enabled: int) -> Action:
        todo = self._resumed
        if todo is None:
            todo = list(threads_of(enabled))
            self._done.append(0)
        self._resumed = None
        self._todo.append(todo)
        return todo.pop(0)

    def _learn(self, start: int, run: Run) -> None:
        """Add the other values of each new data choice to the alternatives: how many there are is known only once the
        choice has been made."""
        trace, stats = self.trace, self.stats
        for position in range(start, len(trace)):
            operation, todo = trace.operations[position], self._todo[position]
            if self._done[position] == 0:
                stats.choices += bool(todo)
            if operation.value == 0:
                thread = trace.threads[position]
                todo[:0] = [thread | value << VALUE_SHIFT for value in range(1, operation.alternatives)]

    def _go_back(self) -> bool:
        while self._todo:
            todo = self._todo.pop()
            if todo:
                self._resumed = todo
                self._done[-1] += 1
                self.trace.cut(len(self._todo))
                return True
            self._done.pop()
        return False
