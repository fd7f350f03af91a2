"""What there is to know of a strategy. The table of all of them is `STRATEGIES` in `dpor/explorers/__init__.py`.

The help of the command line, what the shell completes, which option goes with which strategy, what `dpor fuzz` holds a
search to and the table of docs/explorers.md all come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import attrs

from dpor.core.options import Options
from dpor.core.system import OracleSystem, Run, StatefulSystem, System, Trace
from dpor.explorers.search import Stats


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


KNOWN_PROMISES: Final = {
    "outcomes": "all outcomes, deadlocks and failures are seen",
    "classes": "each trace class is seen",
    "once": "none twice",
    "no blocked run": "no run is begun in vain",
    "few states": "no more states are stored than `full` stores",
    "endless": "whether the program can go on for ever, and in a livelock, is told as `full` tells it",
}
"""All that a strategy can promise."""

SAMPLING: Final = "seed"
"""The option that strategies have which only try one schedule after another."""


@attrs.frozen
class Strategy:
    """A search by its name on the command line.

    make       begins it: an explorer of a system, as the options say
    needs      what the system must be able to do, in the words of `dpor.core.system`
    options    those that mean something to this strategy, of the options that do not mean something to all
    promises   what it can be held to, of `KNOWN_PROMISES`; empty: it is never exhaustive
    paper      the tag in GLOSSARY.md; "" if it needs none
    one_line   what it does, in a few words, for help and docs
    """

    name: str
    make: Callable[[Any, Options], Explorer]
    needs: type[Any] = attrs.field(kw_only=True, default=System)
    options: tuple[str, ...] = attrs.field(kw_only=True, default=())
    promises: tuple[str, ...] = attrs.field(kw_only=True, default=())
    paper: str = attrs.field(kw_only=True, default="")
    one_line: str = attrs.field(kw_only=True)

    def __call__(self, system: Any) -> Explorer:
        """Begin it with all options as they are by default."""
        return self.make(system, Options())

    @property
    def samples(self) -> bool:
        """Does it only try one schedule after another, and never end?"""
        return SAMPLING in self.options

    @property
    def asks_facts(self) -> bool:
        """Does it ask, while it searches, what the threads may still do?"""
        return issubclass(self.needs, OracleSystem)

    @property
    def stores_states(self) -> bool:
        return issubclass(self.needs, StatefulSystem)
