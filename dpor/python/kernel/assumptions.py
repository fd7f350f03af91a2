"""What runs of a search have shown and later runs rely on: *facts*, each a word, or a tuple of a word and particulars.

The set of facts only grows (`broken`), and the search starts again whenever it does. Further facts are defined where
they are used: those about classes, globals and fields in `sharing`, about containers in `effects.accesses`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

from dpor.core.errors import AssumptionBroken
from dpor.python.kernel import unwinding
from dpor.python.kernel.run import run

T = TypeVar("T")

DAEMONS: Final = "daemon threads"
"""The program has daemon threads, so its end is an operation."""
CLOCKS: Final = "the clock is looked at"
IDENTITIES: Final = "identities are looked at"
"""The program reads the clock, or asks for an `id`: then what these return is part of the state."""
STARTS: Final = "starts threads"
"""A fact about a module: it starts a thread while it is imported, and may bind its globals after that."""
INSTRUMENTED: Final = "instrumented"
"""A fact about a package: it is instrumented on demand (see `opaque_code`)."""
DYING: Final = "objects die"
"""Objects die while several threads exist, and somebody could notice: letting go of them is an operation."""
EXECUTED_AGAIN: Final = ("modules", "executed again")
"""What runs change in modules cannot be restored in place, so they are executed again before each run."""
TIME_PASSES: Final = "time passes"
"""While a thread waited with a long timeout, the time of others came so near to its end that it may have timed out
first."""
SPINS: Final = "spins"
"""A fact about a loop, named by file, function and line: it waits by spinning."""


def about(facts: Iterable[object], *words: object) -> Iterator[tuple[Any, ...]]:
    """Yield, for each fact that is a tuple and begins with these words, the rest of the tuple."""
    n = len(words)
    return (fact[n:] for fact in facts if type(fact) is tuple and fact[:n] == words)


class Following(Generic[T]):
    """A value computed from the facts; computed anew when facts were added or another search has begun."""

    def __init__(self, find: Callable[[Collection[object]], T]) -> None:
        self._find = find
        self._facts: Collection[object] = ()
        self._found = find(())
        self._of = 0

    def __call__(self, facts: Collection[object]) -> T:
        if facts is not self._facts or len(facts) != self._of:
            self._found = self._find(facts)
            self._facts, self._of = facts, len(facts)
        return self._found


def broken(fact: object, reason: str, *, at_once: bool = False) -> None:
    """The run has broken an assumption: note the fact, and start the search again when this run has ended.

    reason    what the run showed, in words
    at_once   end the run here instead of letting it go on
    """
    run.facts.add(fact)
    if run.broken is None:
        run.broken = reason
    if at_once:
        unwinding.fail(AssumptionBroken(reason, runs=1))


def start_again(reason: str) -> None:
    """What the search relied on does not hold, and is not among the facts: start it again when the run has ended."""
    run.broken = reason if run.broken is None else f"{run.broken}; {reason}"


def note(fact: object) -> None:
    """Note that from now on more is part of the state (`fact` says what). Only searches that compare states need it."""
    if (run.stateful or run.spins) and fact not in run.facts:
        broken(fact, f"{fact}: that is part of the state")


def used_by_several(fact: object, what: str) -> None:
    """Note that several threads use this; start the search again if the fact is new."""
    if fact not in run.facts:
        broken(fact, f"{what} is used by several threads")
