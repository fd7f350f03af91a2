"""Decides whether a history of calls is linearizable. Pure: needs only the calls and a way to try an order of them.

A history is linearizable if its calls can be put into one order that keeps every call before those that began after it
had ended, and in which a sequential object would give the same answers [HW90]. Calls that have not ended may have had
their effect or not. The search is depth first, as Wing and Gong do it: the next call in the order is one that began
before any of the remaining calls had ended.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

import attrs

MOST_TRIES = 20_000
MOST_WHILE_TELLING = 3_000
"""Tries to find out which calls a failure needs, all in all."""


@attrs.define(eq=False)
class RecordedCall:
    """One call of a history.

    answer         what it returned or raised; None until it has ended
    began, ended   numbered through the whole history, from 0; `ended` is None until it has
    """

    thread: str
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    began: int = -1
    answer: Hashable = None
    ended: int | None = None


Play: TypeAlias = Callable[[Sequence[RecordedCall]], bool]
"""Takes calls in an order: True if a new sequential object, called in this order, gives the recorded answer to the last
one."""


class TooLong(Exception):
    """No order was found, but not all orders were tried."""


def is_linearizable(calls: Sequence[RecordedCall], play: Play, most: int | None = None) -> bool:
    """Return whether some order of the calls explains all answers [HW90]. Raises `TooLong` if more than `most` orders
    were tried."""
    order: list[RecordedCall] = []
    left_to_try = MOST_TRIES if most is None else most

    def go_on() -> bool:
        nonlocal left_to_try
        left = [call for call in calls if call not in order]
        ends = [call.ended for call in left if call.ended is not None]
        if not ends:
            return True
        for call in left:
            if call.began > min(ends):
                continue
            left_to_try -= 1
            if left_to_try < 0:
                raise TooLong
            order.append(call)
            if play(order) and go_on():
                return True
            order.pop()
        return False

    return go_on()


def needed(calls: Sequence[RecordedCall], play: Play) -> list[RecordedCall]:
    """Return a minimal set of calls of a history that is not linearizable which alone rules out every order.

    Leaving a call out altogether would be wrong: without its `put(1)` a correct `get() -> 1` has no order either. So
    the other calls are treated as unfinished: they may have had their effect at any later time or not at all, and
    answered anything. If there is no order even then, the failure does not depend on them. (If that takes too many
    tries, more calls are returned.)
    """
    kept = [call for call in calls if call.ended is not None]
    left_to_try = MOST_WHILE_TELLING

    def counted(order: Sequence[RecordedCall]) -> bool:
        nonlocal left_to_try
        left_to_try -= 1
        return play(order)

    for call in reversed(kept.copy()):
        fewer = [other for other in kept if other is not call]
        left_open = [other if other in fewer else attrs.evolve(other, ended=None) for other in calls]
        try:
            if not is_linearizable(left_open, counted, max(0, min(left_to_try, MOST_WHILE_TELLING // 10))):
                kept = fewer
        except TooLong:
            pass
    return kept


def drawn(calls: Sequence[RecordedCall], words: Callable[[RecordedCall], str]) -> list[str]:
    """Draw the calls, one a line, with the time that each took, from left to right. All have ended.

    >>> calls = [RecordedCall("t1", "put", (), {}, 3, "", 7), RecordedCall("t2", "get", (), {}, 5, "", 9)]
    >>> print("\\n".join(drawn(calls, lambda call: call.method)))
    t1  put  [-]
    t2  get   [-]
    """
    told = [words(call) for call in calls]
    names, width = max(len(call.thread) for call in calls), max(map(len, told))
    times = sorted({time for call in calls for time in (call.began, call.ended) if time is not None})
    columns = {time: column for column, time in enumerate(times)}
    lines = []
    for call, text in zip(calls, told, strict=True):
        begin, end = columns[call.began], columns[call.ended if call.ended is not None else times[-1]]
        lines.append(f"{call.thread:{names}}  {text:{width}}  {' ' * begin}[{'-' * (end - begin - 1)}]")
    return lines
