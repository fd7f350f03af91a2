"""In which order the current run iterates over sets whose elements are hashed by address: see `effects.set_order`."""

from __future__ import annotations

from math import factorial
from typing import Final

from dpor.python.kernel import assumptions, data_choices
from dpor.python.kernel.assumptions import Following, about
from dpor.python.kernel.run import run
from dpor.python.sharing.sharing_state import sharing

MOST: Final = 4
"""All orders are tried for sets of up to this many elements."""

ORDERS: Final = "orders of sets"
"""The fact that the program iterates over sets of this many such objects."""

_known: Final = Following(lambda facts: max((length for (length,) in about(facts, ORDERS)), default=0))


def choose_order() -> None:
    """Choose the order for this run, as a data choice. Called when the modules that the target imports are imported:
    until then every set has the order of `set_order.agreed_order`, as it has one in each process."""
    length = _known(run.facts)
    sharing.order = data_choices.choose(factorial(length)) if length else 0


def note_iteration(length: int) -> None:
    """Called before a set of this many elements is iterated over."""
    sharing.largest_set = max(sharing.largest_set, length)
    if len(run.threads) > 1:
        note_several_threads()


def note_several_threads() -> None:
    """Called when there are several threads: from then on the order in which sets are iterated over matters. If the
    program iterates over a larger set than was known, that is a new fact."""
    if sharing.largest_set and sharing.largest_set > _known(run.facts):
        assumptions.broken(
            (ORDERS, sharing.largest_set),
            f"a set of {sharing.largest_set} objects is iterated over: all orders are tried, since addresses decide",
        )
