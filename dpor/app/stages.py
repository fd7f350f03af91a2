"""The searches of one check: one if a strategy is named, otherwise several in turn, until one of them ends.

No single search is the best for all programs. One without states ends first where there are few classes, and one that
stores states where many schedules meet in the same state. So the default begins without states, depth first, which
costs least for each execution. If that does not end soon, it takes the schedules with the fewest preemptions first,
since most bugs need few of them [MQ07]. Which classes it has come to by then says nothing simple: the first run of a
class may have more preemptions than others of that class. So short searches with a bound on preemptions follow, and
what they cover is told if the check is cut later; of the first that does not end, which share it has explored. Then it
stores states, as long as these are met again. Otherwise it goes on without them, depth first. (With a file to be kept
in, or several processes, it neither bounds preemptions nor stores states.) Beside all of these that are neither
bounded nor store states, there is a hunt (`hunting`).

Each stage covers everything if it ends, so the first that ends decides. What an earlier one has found is kept. If a run
is too long and is cut, or a wait in a loop may time out any number of times, a search without states cannot cover
everything; one that stores states can, if the run goes round in a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import attrs

from dpor.app.strategies import is_resumable
from dpor.core.options import Options, Order
from dpor.core.system import StatesMayTell
from dpor.explorers import STATEFUL, Stats

DEPTH_FIRST = 20_000
"""The `work` of the first stage. In most programs it takes less time than Python needs to start."""
FEWEST_FIRST = 60_000
"""That of the second."""
BOUNDED = 20_000
"""That of each search with a bound on preemptions."""
BOUNDS = (0, 1, 2, 3)
LOOK_AFTER = 2_000
"""States after which storing them is given up if they are hardly ever met again, ..."""
LEAST_MET = 0.02
"""... which is so if runs have come to a known state less often than this, for each stored state."""


@attrs.frozen
class Stage:
    """One search of a check.

    options   those of the check, with the strategy of the stage
    is_over   returns True if the next stage should begin, given the counts so far
    may_cut   True if it goes on although a run was cut
    """

    options: Options
    is_over: Callable[[Stats], bool]
    may_cut: bool = True

    @property
    def is_last(self) -> bool:
        return self.is_over is _never

    @property
    def needs_states(self) -> bool:
        return self.options.explorer in STATEFUL

    @property
    def bound(self) -> int | None:
        """The most preemptions of its schedules; None if that is not bounded."""
        return self.options.preemptions

    def to_the_end(self) -> Stage:
        """Return this stage without a next one: it alone may cover what a search that has ended could not."""
        return attrs.evolve(self, is_over=_never)


def stages(options: Options) -> list[Stage]:
    """Return the stages of a check with these options."""
    usual = options.preemptions is None and options.order is Order.DEPTH and not options.races
    if options.strategy is not None or not usual:
        return [Stage(options, _never)]
    optimal = attrs.evolve(options, strategy="optimal")
    found = [
        Stage(optimal, lambda counts: work(counts) >= DEPTH_FIRST, may_cut=False),
        Stage(
            attrs.evolve(optimal, order=Order.PREEMPTIONS), lambda counts: work(counts) >= FEWEST_FIRST, may_cut=False
        ),
        *[
            Stage(
                attrs.evolve(options, preemptions=bound, seed=Options().seed),
                lambda counts: work(counts) >= BOUNDED,
                may_cut=False,
            )
            for bound in BOUNDS
        ],
        Stage(attrs.evolve(options, strategy="dpor", seed=Options().seed), _are_hardly_met_again),
        Stage(optimal, _never),
    ]
    lasts = options.checkpoint or options.is_shared
    return [stage for stage in found if not lasts or is_resumable(stage.options)]


def is_for_states(stages: Sequence[Stage], ended: Stage, incomplete: Collection[str]) -> bool:
    """True if a stage after the one that has ended stores states, and so may cover what that did not, for these reasons
    alone."""
    if ended.needs_states or not incomplete or not all(isinstance(reason, StatesMayTell) for reason in incomplete):
        return False
    return any(stage.needs_states for stage in stages[stages.index(ended) + 1 :])


def is_next_bound(bound: int, covered: int | None) -> bool:
    """True if a search with this bound is worth its time: the one before has covered its own."""
    return bound == (0 if covered is None else covered + 1)


def work(counts: Stats) -> int:
    """Return how many events and silent accesses a search has carried out, repeated ones too: they are what it takes
    its time for."""
    return counts.events + counts.replayed + counts.silent


def _never(counts: Stats) -> bool:
    return False


def _are_hardly_met_again(counts: Stats) -> bool:
    return counts.states >= LOOK_AFTER and counts.matched < LEAST_MET * counts.states
