"""Maximal causality reduction [HH17]: one execution for each combination of what the threads can observe.

The search goes through the cuts of the program's causal model (`dpor.core.causal_model`), depth first, each once. It
runs the program only where the model does not know what a thread does next: the run leads to the cut, lets the thread
move, and goes on to an end; the model learns from all of it. A cut at which nobody can move is an end of the program.
If no run had the pasts of its threads so far, it is run as well, so whatever is reported has been seen in a run, also a
deadlock or a failure that the model was the first to show.

Every reachable state is a cut that is visited: go along a schedule to it; as long as the model knows what the threads
do, the search has been at each cut, and where it did not know, it has learned it from a run. Each run shows something
that no thread had observed before, or ends as none had ended. So there are as many executions as there are classes.

Threads observe values (`mcr`), or which event wrote what they read (`rf`: the reads-from classes, in which the order of
critical sections alone does not count).

Here                             In the paper
CausalModel, Cut                 the constraints on the order of events: order in threads, locks, validity of reads
an action that is not known      a solution of the constraint for a new state: the seed interleaving
a value that a thread observes   the value of a read

Differences to the paper: here the model puts together what all runs have shown; there it is that of one run, and the
beginning of a schedule stays as it is below it. That loses executions, since a value can be possible only after another
order of what the beginning has fixed. And deadlocks are found there only if a run happens to meet them.

What nobody observes is not told apart: data that no thread reads before the end can be others than those of the run.
"""

from __future__ import annotations

from typing import Final

from dpor.core.causal_model import CausalModel, Cut, Name
from dpor.core.errors import NotDeterministic
from dpor.core.operations import THREAD_MASK, Action
from dpor.core.system import Ending, Run, TellsData, Trace
from dpor.explorers import invariants
from dpor.explorers.search import MOST_IN_A_ROW, StatelessSearch

MOST_CUTS: Final = 1_000_000
"""The search gives up when it has visited so many cuts, unless it is told otherwise. It stores their names: 100 MB."""


class Causal(StatelessSearch):
    """A search through the cuts of a causal model.

    by_value   True if threads observe values; False if they observe which event wrote what they read
    most_cuts  how many cuts are visited before the search gives up (`Stats.left_out` is not 0 then)
    """

    system: TellsData

    def __init__(self, system: TellsData, by_value: bool, most_cuts: int | None = None) -> None:
        super().__init__(system)
        self.model = CausalModel(system.initial, by_value)
        self._most_cuts = most_cuts or MOST_CUTS
        self._cut: Cut | None = None  # where the search is; None until the first run has ended
        self._way: list[Action] = []  # the way there
        self._left: list[list[Action]] = []  # what is left to try at each cut of the way, and at this one
        self._cuts: set[Name] = set()
        self._classes: set[Name] = set()  # the pasts with which runs have ended
        self._completed = 0  # how many these are
        self._schedule: list[Action] = []  # how the next run begins

    # ------------------------------------------------------------------ runs

    def _set_out(self) -> None:
        self.trace = Trace(data=True)

    def _choose(self, enabled: int) -> Action:
        threads, schedule = self.trace.threads, self._schedule
        position = len(threads)
        if position < len(schedule):
            action = schedule[position]
            if not enabled >> (action & THREAD_MASK) & 1:
                raise NotDeterministic(f"thread {action & THREAD_MASK} cannot perform event {position} as expected")
            return action
        if not position:
            self.model.begin([pending.thread for pending in self.system.pending()])
        elif enabled >> threads[-1] & 1:
            last = threads[-1]
            if threads[-MOST_IN_A_ROW:].count(last) < MOST_IN_A_ROW:
                return last
            enabled = enabled & ~(1 << last) or enabled  # it may be waiting in a loop for one of the others
        return (enabled & -enabled).bit_length() - 1

    def _count(self, start: int, run: Run, times: int) -> None:
        super()._count(len(self._schedule), run, times)

    def _learn(self, start: int, run: Run) -> None:
        end = self.model.learn(self.trace, run)
        if run.ending is Ending.COMPLETE:
            self._completed += 1
            self._classes.add(end.name_of_pasts)

    def check(self, start: int, run: Run) -> None:
        super().check(start, run)
        invariants.check_lengths(self._completed, classes=self._classes)
        if self._cut is not None:
            invariants.check_lengths(len(self._way) + 1, left=self._left)

    # ------------------------------------------------------------------ cuts

    def _go_back(self) -> bool:
        if self._cut is None:
            self._cut = Cut(self.model)
            self._arrive()
        cut, way, left = self._cut, self._way, self._left
        while left:
            self.pace()
            if not left[-1]:
                left.pop()
                if way:
                    way.pop()
                    cut.back()
                continue
            action = left[-1].pop()
            if not cut.take(action):
                schedule = [*way, action]
                if schedule == self._schedule:  # it has been run, but was cut before it got there
                    continue
                left[-1].append(action)
                self._schedule = schedule
                return True
            way.append(action)
            if cut.name in self._cuts:
                way.pop()
                cut.back()
            elif len(self._cuts) >= self._most_cuts:
                self.stats.left_out += 1
                return False
            elif self._arrive():
                return True
        return False

    def _arrive(self) -> bool:
        """Visit a cut for the first time. Returns True if it is an end that must be run."""
        assert self._cut is not None
        self._cuts.add(self._cut.name)
        self.stats.states += 1
        actions = self._cut.actions()
        self._left.append(actions)
        if actions or self._cut.name_of_pasts in self._classes:
            return False
        self._schedule = self._way.copy()
        return True
