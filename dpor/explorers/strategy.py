"""The description of a strategy. `STRATEGIES` in `dpor/explorers/__init__.py` is the table of all of them.

Several things are made from that table: the help of the command line, the completion of the shell, the check which
option goes with which strategy, the promises that `dpor fuzz` holds a search to, and the table of docs/explorers.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import attrs

from dpor.core.options import Options
from dpor.core.system import LockingSystem, OracleSystem, Run, StatefulSystem, System, TellsData, Trace
from dpor.explorers.search import Stats


class Explorer(Protocol):
    """A search in progress.

    pace    called where something between two runs may take long; raises `OutOfTime` if there is no more time
    """

    pace: Callable[[], None]

    @property
    def trace(self) -> Trace:
        """The trace of the run that `explore` yielded last."""
        ...

    @property
    def stats(self) -> Stats: ...

    def explore(self) -> Iterator[Run]:
        """Explore the program: yield each run when it is over, and end when everything has been covered."""
        ...

    def is_finished(self) -> bool:
        """True if everything has been covered by the runs so far. Asked after a run, instead of for the next one."""
        ...


KNOWN_PROMISES: Final = {
    "outcomes": "all outcomes, deadlocks and failures are seen",
    "observations": "the same, but outcomes count only by what threads have observed, not by data that none has read",
    "classes": "each trace class is seen",
    "once": "none twice",
    "no blocked run": "no run is begun in vain",
    "few states": "no more states are stored than `full` stores",
    "endless": "whether the program can go on for ever, and in a livelock, is told as `full` tells it",
}
"""All that a strategy can promise."""


@attrs.frozen
class Strategy:
    """A search by its name on the command line.

    make       takes a system and the options, and returns the explorer
    needs      the protocol of `dpor.core.system` that the system must implement
    options    the options that this strategy uses, apart from those that every strategy uses
    promises   the promises that it keeps, from `KNOWN_PROMISES`; empty if it is never exhaustive
    resumes    True if the search can be cut, kept in a file and resumed, unless preemptions are bounded
    divides    True if parts of its tree can be given to other processes. (If it stores states: of its graph)
    paper      the paper's tag in GLOSSARY.md; "" if there is none
    one_line   what it does, in a few words, for the help and the documents
    """

    name: str
    make: Callable[[Any, Options], Explorer]
    needs: type[Any] = attrs.field(kw_only=True, default=System)
    options: tuple[str, ...] = attrs.field(kw_only=True, default=())
    promises: tuple[str, ...] = attrs.field(kw_only=True, default=())
    resumes: bool = attrs.field(kw_only=True, default=False)
    divides: bool = attrs.field(kw_only=True, default=False)
    paper: str = attrs.field(kw_only=True, default="")
    one_line: str = attrs.field(kw_only=True)

    def __call__(self, system: Any) -> Explorer:
        """Return an explorer of the system, with the default of every option."""
        return self.make(system, Options())

    @property
    def samples(self) -> bool:
        """True if it tries one random schedule after another and never ends."""
        return not self.promises

    @property
    def asks_facts(self) -> bool:
        """True if it asks, while it searches, what the threads may still do."""
        return issubclass(self.needs, OracleSystem)

    @property
    def shares_states(self) -> bool:
        """True if other processes can have parts of its graph of states. (What is relied on of locks stays in one.)"""
        return self.stores_states and not issubclass(self.needs, LockingSystem)

    @property
    def stores_states(self) -> bool:
        return issubclass(self.needs, StatefulSystem)

    @property
    def asks_data(self) -> bool:
        """True if its traces tell what events see of data: then every access is an event."""
        return issubclass(self.needs, TellsData)
