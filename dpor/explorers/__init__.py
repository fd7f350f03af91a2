"""The searches, one algorithm a file. They know a `System` and its traces; they know nothing of Python threads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dpor.core.options import Options
from dpor.core.plural import listed
from dpor.core.system import LockingSystem, OracleSystem, StatefulSystem, System, TellsData
from dpor.explorers.alone import CONFIGURATIONS, Alone
from dpor.explorers.bounded_classic import BoundedClassic
from dpor.explorers.bounded_none import BoundedNone
from dpor.explorers.causal import Causal
from dpor.explorers.classic import Classic
from dpor.explorers.dpor import Dpor
from dpor.explorers.full import Full
from dpor.explorers.hunt import Hunt
from dpor.explorers.none import NoReduction
from dpor.explorers.optimal import Optimal
from dpor.explorers.original import Original
from dpor.explorers.pct import Pct
from dpor.explorers.pos import Pos
from dpor.explorers.random_walk import RandomWalk
from dpor.explorers.rev import Rev
from dpor.explorers.rff import Rff
from dpor.explorers.sa import Sa
from dpor.explorers.search import Stats
from dpor.explorers.source import Source
from dpor.explorers.strategy import KNOWN_PROMISES, Explorer, Strategy

__all__ = [
    "CAUSAL",
    "CONFIGURATIONS",
    "KNOWN_PROMISES",
    "SAMPLERS",
    "SHARING_STATES",
    "STATEFUL",
    "STATELESS",
    "STATIC",
    "STRATEGIES",
    "BoundedClassic",
    "BoundedNone",
    "Causal",
    "Classic",
    "Dpor",
    "Explorer",
    "Full",
    "NoReduction",
    "Optimal",
    "Pct",
    "Pos",
    "RandomWalk",
    "Source",
    "Stats",
    "Strategy",
    "strategies_with",
    "with_one_lines",
    "with_strategies",
]


def _none(system: System, options: Options) -> Explorer:
    return NoReduction(system) if options.preemptions is None else BoundedNone(system, options.preemptions)


def _classic(system: System, options: Options) -> Explorer:
    return Classic(system) if options.preemptions is None else BoundedClassic(system, options.preemptions)


_ORDER = ("order", "seed")
_STORING = ("max_states", "store", "whole_states")
_ANALYSIS = ("field_access", "pointers", "immutable")

_TABLE = (
    Strategy(
        "none",
        _none,
        options=("preemptions",),
        promises=("outcomes", "classes"),
        one_line="every interleaving; a judge for small programs",
    ),
    Strategy(
        "classic",
        _classic,
        options=("preemptions",),
        promises=("outcomes", "classes", "once"),
        resumes=True,
        paper="FG05",
        one_line="backtrack sets and sleep sets",
    ),
    Strategy(
        "source",
        lambda system, options: Source(system, options.order, options.seed),
        options=_ORDER,
        promises=("outcomes", "classes", "once"),
        resumes=True,
        paper="ADJS14",
        one_line="as optimal, may start runs it must drop",
    ),
    Strategy(
        "optimal",
        lambda system, options: Optimal(system, options.order, options.seed),
        options=_ORDER,
        promises=("outcomes", "classes", "once", "no blocked run"),
        resumes=True,
        divides=True,
        paper="ADJS14",
        one_line="each class of equivalent interleavings once",
    ),
    Strategy(
        "full",
        lambda system, options: Full(system, options.store),
        needs=StatefulSystem,
        options=_STORING,
        promises=("outcomes", "few states", "endless"),
        one_line="every state; a judge",
    ),
    Strategy(
        "original",
        lambda system, options: Original(system, options.store, options.sync_choices),
        needs=StatefulSystem,
        options=(*_STORING, "sync_choices"),
        promises=("outcomes", "few states", "endless"),
        paper="PL",
        one_line="choices where Java Pathfinder makes them",
    ),
    Strategy(
        "alone",
        lambda system, options: Alone(system, options.store, options.escape, options.locks),
        needs=LockingSystem,
        options=(*_STORING, "escape", "locks"),
        promises=("outcomes", "few states", "endless"),
        paper="DHRR04",
        one_line="no choices where objects have not escaped, or a lock guards them",
    ),
    Strategy(
        "sa",
        lambda system, options: Sa(system, options.store, options.sync_choices),
        needs=OracleSystem,
        options=(*_STORING, "sync_choices", *_ANALYSIS, "oracle"),
        promises=("outcomes", "few states", "endless"),
        paper="PL",
        one_line="as original, fewer by a static analysis",
    ),
    Strategy(
        "dpor",
        lambda system, options: Dpor(system, options.store),
        needs=StatefulSystem,
        options=_STORING,
        promises=("outcomes", "few states", "endless"),
        paper="YCGK08",
        one_line="only the states that matter",
    ),
    Strategy(
        "dpor+static",
        lambda system, options: Dpor(system, options.store),
        needs=StatefulSystem,
        options=(*_STORING, *_ANALYSIS),
        promises=("outcomes", "endless"),
        paper="PL",
        one_line="as dpor, reads of immutable fields cost nothing",
    ),
    Strategy(
        "mcr",
        lambda system, options: Causal(system, by_value=True, most_cuts=options.max_states),
        needs=TellsData,
        options=("max_states",),
        promises=("observations",),
        paper="HH17",
        one_line="each combination of values that threads read once",
    ),
    Strategy(
        "rf",
        lambda system, options: Causal(system, by_value=False, most_cuts=options.max_states),
        needs=TellsData,
        options=("max_states",),
        promises=("observations",),
        paper="HH17",
        one_line="each combination of writes that threads read once",
    ),
    Strategy(
        "random",
        lambda system, options: RandomWalk(system, options.seed),
        options=("seed",),
        one_line="at each step any thread as likely as the others",
    ),
    Strategy(
        "pct",
        lambda system, options: Pct(system, options.seed, options.depth),
        options=("seed", "depth"),
        paper="BKMN10",
        one_line="random priorities, changed at a few random steps",
    ),
    Strategy(
        "pos",
        lambda system, options: Pos(system, options.seed),
        options=("seed",),
        paper="YYG18",
        one_line="random priorities of events, drawn anew where they race",
    ),
    Strategy(
        "rev",
        lambda system, options: Rev(system, options.seed),
        options=("seed",),
        one_line="one pair of operations of the last run reversed",
    ),
    Strategy(
        "rff",
        lambda system, options: Rff(system, options.seed),
        options=("seed",),
        paper="WSDMR24",
        one_line="reads are to see other writes, by place, than in runs before",
    ),
    Strategy(
        "hunt",
        lambda system, options: Hunt(system, options.seed, options.depth),
        options=("seed", "depth"),
        one_line="rff, pos, pct and rev, mixed by what each brings",
    ),
)

STRATEGIES: Final[dict[str, Strategy]] = {strategy.name: strategy for strategy in _TABLE}
"""All strategies, by their names on the command line. Nothing about a strategy is said anywhere else."""

SAMPLERS: Final = tuple(strategy.name for strategy in _TABLE if strategy.samples)
"""The strategies that try one random schedule after another."""

STATEFUL: Final = tuple(strategy.name for strategy in _TABLE if strategy.stores_states)
"""The strategies that store the states they meet. They need a system that can tell its state."""

SHARING_STATES: Final = tuple(strategy.name for strategy in _TABLE if strategy.shares_states)
"""Those of them of which other processes can have parts of the graph."""

DIVIDED: Final = tuple(strategy.name for strategy in _TABLE if strategy.divides)
"""The strategies of which other processes can have parts of the tree."""

CAUSAL: Final = tuple(strategy.name for strategy in _TABLE if strategy.asks_data)
"""The strategies that go through what the threads can observe. They need a system that tells what its events see."""

STATELESS: Final = tuple(name for name in STRATEGIES if name not in (*SAMPLERS, *STATEFUL, *CAUSAL))
"""The strategies that cover everything and store no states. They work with any system."""

STATIC: Final = tuple(strategy.name for strategy in _TABLE if "immutable" in strategy.options)
"""The strategies that use facts about the program's source."""


def strategies_with(option: str) -> list[str]:
    """Return the names of the strategies that use an option; an empty list if all use it.

    >>> strategies_with("depth"), strategies_with("max_steps")
    (['pct', 'hunt'], [])
    """
    return [name for name, strategy in STRATEGIES.items() if option in strategy.options]


def with_one_lines(names: Iterable[str]) -> str:
    """Describe the strategies with these names, for the help of the command line."""
    return ", ".join(f"{name} ({STRATEGIES[name].one_line})" for name in names)


def with_strategies(text: str, option: str) -> str:
    """Return the text about an option with the strategies filled in that it names by `{own}` and the like (see
    `dpor.core.options.About`).

    >>> with_strategies("of {own}, not of {samplers}", "sync_choices")
    'of original and sa, not of random, pct, pos, rev, rff and hunt'
    """
    own = strategies_with(option)
    every = (
        f"{with_one_lines(STATELESS)}. Storing states, so that programs which loop for ever end, too:"
        f" {with_one_lines(STATEFUL)}. By what threads observe, abstract programs only: {with_one_lines(CAUSAL)}."
        f" Never exhaustive, one random schedule after another: {with_one_lines(SAMPLERS)}."
    )
    return text.format(own=own and listed(own), samplers=listed(SAMPLERS), static=listed(STATIC), all=every)
