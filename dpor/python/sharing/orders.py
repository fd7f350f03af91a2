"""Which of the orders of sets whose elements are hashed by address the present run shows: see `effects.set_order`."""

from __future__ import annotations

from math import factorial
from typing import Final

from dpor.python.kernel import assumptions, data_choices
from dpor.python.kernel.assumptions import Following, about
from dpor.python.kernel.run import run

MOST: Final = 4
"""Of how many elements at most all orders are tried."""

ORDERS: Final = "orders of sets"
"""The fact that sets of so many objects are gone through."""

chosen = 0
"""The number of the permutation."""
_seen = 0
"""The largest that this run has gone through while there was one thread."""
_known: Final = Following(lambda facts: max((length for (length,) in about(facts, ORDERS)), default=0))


def begin() -> None:
    """Before each run."""
    global chosen, _seen
    chosen = _seen = 0


def choose() -> None:
    """First of all in each run."""
    global chosen
    length = _known(run.facts)
    if length:
        chosen = data_choices.choose(factorial(length))


def note(length: int) -> None:
    """A set of so many elements is about to be gone through."""
    global _seen
    _seen = max(_seen, length)
    if len(run.threads) > 1:
        tell_of_threads()


def tell_of_threads() -> None:
    """There are several threads: orders count."""
    if _seen > _known(run.facts):
        assumptions.broken(
            (ORDERS, _seen), f"a set of {_seen} objects is gone through: in every order, as of addresses"
        )
