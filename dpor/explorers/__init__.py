"""The searches, one algorithm a file. They know a `System` and its traces; they know nothing of Python threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from dpor.core.system import OracleSystem, Run, StatefulSystem, Store, SyncChoices, System, Trace
from dpor.explorers.bounded_classic import BoundedClassic
from dpor.explorers.bounded_none import BoundedNone
from dpor.explorers.classic import Classic
from dpor.explorers.dpor import Dpor
from dpor.explorers.full import Full
from dpor.explorers.none import NoReduction
from dpor.explorers.optimal import Optimal
from dpor.explorers.original import Original
from dpor.explorers.pct import Pct
from dpor.explorers.random_walk import RandomWalk
from dpor.explorers.sa import Sa
from dpor.explorers.search import Stats
from dpor.explorers.source import Source
from dpor.explorers.states import StatefulSearch

__all__ = [
    "BOUNDED",
    "SAMPLERS",
    "STATEFUL",
    "STATIC",
    "STRATEGIES",
    "BoundedClassic",
    "BoundedNone",
    "Classic",
    "Dpor",
    "Explorer",
    "Full",
    "NoReduction",
    "Optimal",
    "Pct",
    "RandomWalk",
    "Source",
    "Stats",
]


class Explorer(Protocol):
    """A search in progress."""

    @property
    def trace(self) -> Trace:
        """The run that `explore` yielded last."""
        ...

    @property
    def stats(self) -> Stats: ...

    def explore(self) -> Iterator[Run]:
        """Yields after each run; ends when everything has been covered."""
        ...

    def progress(self) -> float | None:
        """An estimate of the share explored, in 0..1; None where there can be none."""
        ...


STRATEGIES: dict[str, Callable[[System], Explorer]] = {
    "none": NoReduction,
    "classic": Classic,
    "source": Source,
    "optimal": Optimal,
}
"""By the names of the command line: those that store no states, for any system."""


def _sa(system: StatefulSystem, store: Store, sync_choices: SyncChoices) -> Sa:
    assert isinstance(system, OracleSystem)
    return Sa(system, store, sync_choices)


STATEFUL: dict[str, Callable[[StatefulSystem, Store, SyncChoices], StatefulSearch]] = {
    "full": lambda system, store, sync_choices: Full(system, store),
    "original": Original,
    "sa": _sa,
    "dpor": lambda system, store, sync_choices: Dpor(system, store),
    "dpor+static": lambda system, store, sync_choices: Dpor(system, store),
}
"""Those that store the states they meet, for systems that can tell them. `dpor+static` is `dpor` in a system that uses
what is known of the program beforehand."""

STATIC = ("sa", "dpor+static")
"""Those that use facts about the program's source."""

BOUNDED: dict[str, Callable[[System, int], Explorer]] = {"none": BoundedNone, "classic": BoundedClassic}
"""The same with at most so many preemptions."""

SAMPLERS: dict[str, Callable[[System, int, int], Explorer]] = {
    "random": lambda system, seed, depth: RandomWalk(system, seed),
    "pct": Pct,
}
"""Those that only try one schedule after another: from a seed, and for `pct` the depth of the bugs it looks for."""
