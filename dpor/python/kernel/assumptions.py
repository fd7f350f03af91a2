"""What runs of a search have shown, and later runs rely on: *facts*, each a word, or a tuple of a word and particulars.

The set of them only grows (`broken`), and the search begins again whenever it does. What more there is lies beside
what needs it: of classes, globals and fields in `sharing`, of containers in `effects.accesses`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

from dpor.core.errors import AssumptionBroken
from dpor.python.kernel import unwinding
from dpor.python.kernel.run import run

T = TypeVar("T")

DAEMONS: Final = "daemon threads"
"""The end of the program is an operation."""
CLOCKS: Final = "the clock is looked at"
IDENTITIES: Final = "identities are looked at"
"""What these show is part of the state."""
STARTS: Final = "starts threads"
"""Of a module: it starts a thread when it is imported, and may bind its globals after that."""
INSTRUMENTED: Final = "instrumented"
"""Of a package: see `opaque_code`."""
DYING: Final = "objects die"
"""While several threads exist, and somebody could notice: letting go of them is an operation."""
SPINS: Final = "spins"
"""Of a loop, by file, function and line: it waits by spinning."""


def about(facts: Iterable[object], *words: object) -> Iterator[tuple[Any, ...]]:
    """Those that are tuples and begin with these, for each what follows."""
    n = len(words)
    return (fact[n:] for fact in facts if type(fact) is tuple and fact[:n] == words)


class Following(Generic[T]):
    """What follows from the facts, found anew when there are more of them, or those of another search."""

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
    """Something that the search relied on does not hold: note it, and start again when this run has ended."""
    run.facts.add(fact)
    if run.broken is None:
        run.broken = reason
    if at_once:
        unwinding.fail(AssumptionBroken(reason))


def note(fact: object) -> None:
    """Something happens that makes more of what was before part of the state. Searches that look at none need not
    know."""
    if (run.stateful or run.spins) and fact not in run.facts:
        broken(fact, f"{fact}: that is part of the state")


def used_by_several(fact: object, what: str) -> None:
    """Learn a fact that runs so far did not know; start again if it is new."""
    if fact not in run.facts:
        broken(fact, f"{what} is used by several threads")
