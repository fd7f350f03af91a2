"""Decides whether a history of calls is linearizable while it grows, call by call: linearization just in time [Low17].

A *way* is an order of calls that explains all answers so far: those that have returned are in it, and of the others
some, each with the answer that it will have to give. When a call returns, each way is gone on with: either the call is
in it, with this answer; or it is put at the end now, after any of the calls that have not returned, in any order. No
call is put in earlier than an answer needs it, so nothing is tried that a later answer does not ask for. If no way is
left, no order explains the answers.

Ways after which the sequential object is in the same state, and the same calls are ahead with the same answers, go on
alike: one of them is kept. So a long history costs little as long as few calls overlap at a time. This needs the states
of the object; where they are not known, `linearizing` tries the orders one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeAlias

import attrs

from dpor.python.specs.linearizing import MOST_TRIES, RecordedCall, TooLong

Perform: TypeAlias = Callable[[Sequence[RecordedCall]], tuple[Hashable, Hashable | None]]
"""Lets a new sequential object answer calls in this order. Returns the last answer, and the state of the object; None
for a state that is not known."""


class StateNotKnown(Exception):
    """The states of the sequential object cannot be compared."""


@attrs.frozen
class Way:
    """An order of calls. `ahead`: those that have not returned, with the answers that they will have to give."""

    order: tuple[RecordedCall, ...] = ()
    ahead: frozenset[tuple[RecordedCall, Hashable]] = frozenset()


class Judge:
    """Judges one history."""

    def __init__(self, perform: Perform) -> None:
        self._perform = perform
        self._ways = [Way()]
        self._tries = 0

    def returns(self, call: RecordedCall, open_: Sequence[RecordedCall]) -> bool:
        """Take note that a call has returned, while these have not. Returns False if no order explains the answers.

        Raises `TooLong` if too many orders were tried, and `StateNotKnown`; then it can judge no more.
        """
        found: dict[Hashable, Way] = {}
        self._tries = 0
        for way in self._ways:
            answers = dict(way.ahead)
            if call not in answers:
                for key, longer in self._with(way, call, open_):
                    found.setdefault(key, longer)
            elif answers[call] == call.answer:
                ahead = way.ahead - {(call, call.answer)}
                found.setdefault((ahead, way.order), Way(way.order, ahead))
        self._ways = list(found.values())
        return bool(found)

    def _with(self, way: Way, call: RecordedCall, open_: Sequence[RecordedCall]) -> Iterator[tuple[Hashable, Way]]:
        """Yield the ways that lead on from this one, with the call at their end, each with what tells it apart."""
        seen: set[Hashable] = set()
        left = [way]
        while left:
            way = left.pop()
            answer, state = self._after(way, call)
            if answer == call.answer:
                yield (way.ahead, state), Way((*way.order, call), way.ahead)
            ahead = {known for known, _ in way.ahead}
            for other in open_:
                if other in ahead:
                    continue
                answer, state = self._after(way, other)
                longer = Way((*way.order, other), way.ahead | {(other, answer)})
                if (longer.ahead, state) not in seen:
                    seen.add((longer.ahead, state))
                    left.append(longer)

    def _after(self, way: Way, call: RecordedCall) -> tuple[Hashable, Hashable]:
        self._tries += 1
        if self._tries > MOST_TRIES:
            raise TooLong
        answer, state = self._perform((*way.order, call))
        if state is None:
            raise StateNotKnown
        return answer, state
