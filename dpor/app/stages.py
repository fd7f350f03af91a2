"""The searches of one check: one if a strategy is named, otherwise several in turn, until one of them ends.

No single search is the best for all programs. One without states ends first where there are few classes, and one that
stores states where many schedules meet in the same state. So the default begins without states, depth first, which
costs least for each execution. If that does not end soon, it takes the schedules with the fewest preemptions first,
since most bugs need few of them [Musuvathi & Qadeer, PLDI 2007], and then random ones (`rev` and `pct`), which find
bugs that lie deep in a large tree. Then it stores states, as long as these are met again. Otherwise it tries more
random schedules, and goes on without states, depth first. (With a file to be kept in, or several processes, it neither
stores states nor draws schedules.)

Each stage that is not random covers everything if it ends, so the first that ends decides. What an earlier one has
found is kept. If a run is too long and is cut, or a wait in a loop may time out any number of times, a search without
states cannot cover everything; one that stores states can, if the run goes round in a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import attrs

from dpor.core.options import Options, Order
from dpor.core.system import StatesMayTell
from dpor.explorers import SAMPLERS, STATEFUL, Stats

DEPTH_FIRST = 20_000
"""The `work` of the first stage. In most programs it takes less time than Python needs to start."""
FEWEST_FIRST = 60_000
"""That of the second."""
REVERSALS, PRIORITIES = 100_000, 20_000
"""That of the random ones."""
MORE_REVERSALS = 500_000
"""That of the random one after states were given up."""
LOOK_AFTER, LOOK_AT_LAST = 2_000, 200_000
"""States, and `work`, after which storing states is given up if they are hardly ever met again, ..."""
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
    def is_random(self) -> bool:
        return self.options.explorer in SAMPLERS


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
        Stage(attrs.evolve(options, strategy="rev"), lambda counts: work(counts) >= REVERSALS, may_cut=False),
        Stage(attrs.evolve(options, strategy="pct"), lambda counts: work(counts) >= PRIORITIES, may_cut=False),
        Stage(attrs.evolve(options, strategy="dpor", seed=Options().seed), _are_hardly_met_again),
        Stage(
            attrs.evolve(options, strategy="rev", seed=options.seed + 1),
            lambda counts: work(counts) >= MORE_REVERSALS,
            may_cut=False,
        ),
        Stage(optimal, _never),
    ]
    is_alone = not options.checkpoint and not options.is_shared
    return [stage for stage in found if is_alone or not (stage.needs_states or stage.is_random)]


def is_for_states(stages: Sequence[Stage], ended: Stage, incomplete: Collection[str]) -> bool:
    """True if a stage after the one that has ended stores states, and so may cover what that did not, for these reasons
    alone."""
    states_may_tell = bool(incomplete) and all(isinstance(reason, StatesMayTell) for reason in incomplete)
    return states_may_tell and any(stage.needs_states for stage in stages[stages.index(ended) + 1 :])


def work(counts: Stats) -> int:
    """Return how many events and silent accesses a search has carried out, repeated ones too: they are what it takes
    its time for."""
    return counts.events + counts.replayed + counts.silent


def _never(counts: Stats) -> bool:
    return False


def _are_hardly_met_again(counts: Stats) -> bool:
    is_time = counts.states >= LOOK_AFTER or work(counts) >= LOOK_AT_LAST
    return is_time and counts.matched < LEAST_MET * counts.states
