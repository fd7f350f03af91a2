"""The end of a scenario: calls that show what the threads have left.

First come calls that change nothing, then those without arguments, which often take things out, and then the others. A
call at which an order of the scenario would wait for ever is left out. What an end does not need is left out when the
scenario is made smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpor.scenarios.answers import WAITS, Answers, Orders
from dpor.scenarios.operations import Call

MOST_QUIET: Final = 6
MOST_OTHERS: Final = 3


class Ends:
    """The ends of scenarios that consist of these calls."""

    def __init__(self, answers: Answers, calls: Sequence[Call]) -> None:
        self._answers = answers
        quiet = [call for call in calls if self._changes_nothing(call, calls)]
        others = [call for call in calls if call not in quiet]
        takes = [call for call in others if not call.args]
        self._calls = [*quiet[:MOST_QUIET], *takes, *takes, *[c for c in others if c.args][:MOST_OTHERS]]

    def _changes_nothing(self, call: Call, calls: Sequence[Call]) -> bool:
        """True if no answer is seen to be another one after this call."""
        ask = self._answers.after
        return all(
            ask((*path, other)) == ask((*path, call, other))
            for path in [(), *[(each,) for each in calls]]
            if ask((*path, call)) != WAITS
            for other in calls
        )

    def of(self, orders: Orders) -> tuple[Call, ...]:
        """Return the end for a scenario with these orders."""
        end: tuple[Call, ...] = ()
        for number, call in enumerate(self._calls):
            rest = self._calls[number + 1 :]
            if all(self._answers.after((*path, *end, call), rest) != WAITS for path in orders.paths):
                end = (*end, call)
        return end
