"""Reads-from fuzzing: runs in which certain reads are to see certain writes, by place [WSDMR24].

What a thread does next depends on what its reads have seen. So each run gets a *schedule*, a few constraints of the
form "what reads here is to see what was written there" (or must not see it). The threads are steered towards that:
whoever would see something else waits, and so does whoever would overwrite what is to be seen. Schedules of runs that
have shown a pair which no run had shown before are kept, and later ones are made of them by a small change. A pair that
is added is about something that runs with the kept schedule have come to, and is drawn by how rarely it has been shown:
one that no run has shown is the most likely.

Here            In [WSDMR24]
Schedule        abstract schedule
_kept           corpus
_one_kept       power schedule
_changed        mutation: insert, delete, negate, swap
_score          proactive scheduling of events by the constraints
_over           when the constraint is satisfied

Otherwise the threads run as in `pos`: each pending event has a random priority. A run without constraints comes again
and again, and has the guarantee of `pos`. The reason for the rest: many bugs need but one read that sees an unlikely
write, however many other threads there are; by priorities alone, all of these would have to come late.

Differences: the paper's constraints are about accesses of memory; here a lock is seen, too (who takes it sees who gave
it last), so that a reader can come between two sections of a writer. A schedule for which threads have waited longer
than a run takes, or in which one goes round and round, is given up for the rest of that run.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple, TypeAlias

from dpor.core.dependence import dependent
from dpor.core.operations import READ, Location, Operation, ThreadId
from dpor.core.system import Run, System, Trace
from dpor.explorers.reads_from import Act, Pair, Placed, ReadsFrom, left_by, seen_by
from dpor.explorers.search import MOST_IN_A_ROW, threads_of
from dpor.explorers.walk import Walk, drawn

WAITS, ANY, HELPS = -1, 0, 1
"""Scores of a pending operation: it would break a constraint, is none's concern, or is what one needs."""
TRIED: Final = 3
"""That a pair was to be seen makes it as unlikely to be drawn as that so many runs have shown it."""


class Constraint(NamedTuple):
    """That the read of the pair is to see its source (`holds`), or must not."""

    pair: Pair
    holds: bool


Schedule: TypeAlias = tuple[Constraint, ...]


class _Kept:
    """A schedule that is kept: how often it has been changed, and what its run has come to that sees something."""

    def __init__(self) -> None:
        self.times = 0
        self.reads: set[Act] = set()


class Rff(Walk):
    """A random search by constraints on what reads see.

    known   what runs have shown; those of other searches may be added
    new     the number of pairs that the last run was the first to show
    """

    def __init__(self, system: System, seed: int) -> None:
        self._placed = system if isinstance(system, Placed) else Placed(system)
        super().__init__(self._placed, seed)
        self.known = ReadsFrom()
        self.new = 0
        self._kept: dict[Schedule, _Kept] = {(): _Kept()}
        self._tried: dict[Pair, int] = {}
        self._longest = 0
        # of the present run:
        self._schedule: Schedule = ()
        self._priorities: dict[ThreadId, float] = {}
        self._pending: dict[ThreadId, tuple[Operation, Act]] = {}
        self._of_reads: dict[Act, list[Constraint]] = {}
        self._of_writes: dict[Location, list[Constraint]] = {}
        self._last: dict[Location, Act] = {}
        self._looked_at = 0  # events
        self._waited = 0
        self._in_a_row = 0

    def begin(self) -> None:
        self._schedule = self._changed(self._one_kept())
        known = self.known.locations
        self._forget_constraints()
        for constraint in self._schedule:
            pair, holds = constraint
            self._of_reads.setdefault(pair.read, []).append(constraint)
            if holds:
                self._tried[pair] = self._tried.get(pair, 0) + 1
                for location in known[pair.read]:
                    self._of_writes.setdefault(location, []).append(constraint)
        self._priorities.clear()
        self._pending.clear()
        self._last.clear()
        self._looked_at = self._waited = self._in_a_row = 0

    def pick(self, enabled: int) -> ThreadId:
        priorities, trace = self._priorities, self.trace
        last = trace.threads[-1] if trace.threads else -1
        pending = self.system.pending()
        for thread, operation, _ in pending:
            if thread == last or thread not in priorities or dependent(trace.operations[-1], operation):
                priorities[thread] = self._random.random()
        threads = list(threads_of(enabled))
        if self._of_reads:
            self._look(last)
        if self._of_reads:
            scores = {
                thread: self._score(operation, self._act(thread, operation))
                for thread, operation, _ in pending
                if enabled >> thread & 1
            }
            first = max(threads, key=lambda thread: (scores[thread], priorities[thread]))
            self._waited += scores[first] != min(scores.values())
        else:
            first = max(threads, key=lambda thread: priorities[thread])
        self._in_a_row = self._in_a_row + 1 if first == last else 0
        if self._in_a_row >= MOST_IN_A_ROW or self._waited > self._longest + MOST_IN_A_ROW:
            self._forget_constraints()
            self._waited = 0
            priorities[first] = -1.0
            first = max(threads, key=lambda thread: priorities[thread])
        return first

    def learn(self, trace: Trace, places: Sequence[Hashable]) -> int:
        """Take note of a run of another search, which has no constraints. Returns how many of its pairs are new."""
        new = self.known.learn(trace, places)
        self._kept[()].reads.update(pair.read for pair in self.known.shown)
        return new

    def _run(self) -> Run:
        run = super()._run()
        self._longest = max(self._longest, len(self.trace))
        self.new = self.known.learn(self.trace, self._placed.places)
        if self.new or not self._schedule:
            kept = self._kept.setdefault(self._schedule, _Kept())
            kept.reads.update(pair.read for pair in self.known.shown)
        return run

    # ------------------------------------------------------------------ the schedule of a run

    def _one_kept(self) -> Schedule:
        schedule = drawn([*self._kept], [1 / (1 + kept.times) for kept in self._kept.values()], self._random)
        self._kept[schedule].times += 1
        return schedule

    def _changed(self, schedule: Schedule) -> Schedule:
        change = self.below(6) if schedule else 0
        if change not in (1, 2, 3):
            return (*schedule, *self._rare(schedule))
        at = self.below(len(schedule))
        pair, holds = schedule[at]
        instead = {1: (), 2: (Constraint(pair, not holds),), 3: self._rare(schedule)}[change]
        return (*schedule[:at], *instead, *schedule[at + 1 :])

    def _rare(self, schedule: Schedule) -> Schedule:
        """Draw a constraint about what runs with this schedule come to; none if nothing is known."""
        seen, tried, reads = self.known.seen, self._tried, self._kept[schedule].reads
        pairs = [pair for pair in self.known.possible if pair.read in reads]
        if not pairs:
            return ()
        counts = [seen.get(pair, 0) + TRIED * tried.get(pair, 0) for pair in pairs]
        return (Constraint(drawn(pairs, [(1 + count) ** -2 for count in counts], self._random), True),)

    # ------------------------------------------------------------------ who is to wait

    def _score(self, operation: Operation, act: Act) -> int:
        last, score = self._last, ANY
        for constraint in self._of_reads.get(act, ()):
            if self._sees(operation, constraint.pair.source) != constraint.holds:
                return WAITS
            if constraint.holds:
                score = HELPS
        for location, mode in operation.accesses:
            if mode is not READ:
                for constraint in self._of_writes.get(location, ()):
                    source, read = constraint.pair
                    if read != act:
                        if last.get(location) == source:
                            return WAITS
                        if source == act:
                            score = HELPS
        return score

    def _look(self, last: ThreadId) -> None:
        """Look at the events that have come since."""
        self._pending.pop(last, None)
        trace, places = self.trace, self._placed.places
        for number in range(self._looked_at, len(trace)):
            operation = trace.operations[number]
            act = operation.kind, places[number]
            for constraint in [*self._of_reads.get(act, ())]:
                if constraint.holds and self._sees(operation, constraint.pair.source):
                    self._over(constraint)
            for location in left_by(operation):
                self._last[location] = act
        self._looked_at = len(trace)

    def _sees(self, operation: Operation, source: Act | None) -> bool:
        return any(self._last.get(location) == source for location in seen_by(operation))

    def _act(self, thread: ThreadId, operation: Operation) -> Act:
        known = self._pending.get(thread)
        if known is None or known[0] is not operation:
            known = self._pending[thread] = operation, (operation.kind, self._placed.place(thread))
        return known[1]

    def _over(self, constraint: Constraint) -> None:
        read = constraint.pair.read
        self._of_reads[read].remove(constraint)
        if not self._of_reads[read]:
            del self._of_reads[read]
        for location in self.known.locations[read]:
            if constraint in self._of_writes.get(location, ()):
                self._of_writes[location].remove(constraint)

    def _forget_constraints(self) -> None:
        self._of_reads, self._of_writes = {}, {}
