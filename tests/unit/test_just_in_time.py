"""Judging a history while it grows says what trying all orders says, and in time for long histories."""

from __future__ import annotations

import random
import time
from collections import OrderedDict, deque
from collections.abc import Hashable, Sequence
from typing import Any

import pytest

from dpor.python.specs import just_in_time
from dpor.python.specs.frozen_values import freeze, state_of
from dpor.python.specs.just_in_time import Judge, StateNotKnown
from dpor.python.specs.linearizing import RecordedCall, TooLong, is_linearizable


class Queue:
    def __init__(self) -> None:
        self.items: deque[int] = deque()

    def put(self, item: int) -> None:
        self.items.append(item)

    def get(self) -> int | None:
        return self.items.popleft() if self.items else None

    def size(self) -> int:
        return len(self.items)


def perform(order: Sequence[RecordedCall]) -> tuple[Hashable, Hashable | None]:
    queue = Queue()
    answer = None
    for call in order:
        answer = getattr(queue, call.method)(*call.args)
    return answer, state_of(queue)


def play(order: Sequence[RecordedCall]) -> bool:
    return order[-1].ended is None or perform(order)[0] == order[-1].answer


class History:
    """Calls that overlap at random: each takes effect somewhere between its beginning and its end, or is answered
    wrongly."""

    def __init__(self, rng: random.Random, threads: int, most: int, lies: float) -> None:
        self.calls: list[RecordedCall] = []
        self._queue, self._rng, self._lies = Queue(), rng, lies
        self._busy: list[RecordedCall | None] = [None] * threads
        self._done: set[int] = set()
        self._most, self._time = most, 0

    def steps(self) -> Any:
        """Yield each call when it returns."""
        rng = self._rng
        while len(self.calls) < self._most or any(self._busy):
            number = rng.randrange(len(self._busy))
            call = self._busy[number]
            self._time += 1
            if call is None:
                if len(self.calls) < self._most:
                    method = rng.choice(["put", "get", "size"])
                    args = (rng.randint(0, 2),) if method == "put" else ()
                    call = self._busy[number] = RecordedCall(str(number), method, args, {}, self._time)
                    self.calls.append(call)
            elif id(call) not in self._done:
                self._done.add(id(call))
                call.answer = getattr(self._queue, call.method)(*call.args)
                if rng.random() < self._lies:
                    call.answer = rng.randint(0, 2)
            else:
                call.ended = self._time
                self._busy[number] = None
                yield call


def judged(seed: int) -> tuple[bool, bool]:
    """What the two say of a history, up to the first call that has no order."""
    rng = random.Random(seed)
    history = History(rng, rng.randint(1, 3), rng.randint(1, 7), rng.choice([0.0, 0.15]))
    judge = Judge(perform)
    for call in history.steps():
        left_open = [other for other in history.calls if other.ended is None]
        answers = [other.answer for other in left_open]
        for other in left_open:
            other.answer = None
        mine, its = judge.returns(call, left_open), is_linearizable(history.calls, play)
        for other, answer in zip(left_open, answers, strict=True):
            other.answer = answer
        if not (mine and its):
            return mine, its
    return True, True


def test_it_says_what_all_orders_say() -> None:
    found = [judged(seed) for seed in range(1500)]
    assert all(mine == its for mine, its in found)
    assert 100 < sum(its for _, its in found) < 1400


@pytest.mark.parametrize(
    "mistake", ["no other first", "all states alike", "answers ahead not kept", "answer not compared"]
)
def test_the_judge_of_the_judge_finds_mistakes(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    after = Judge._after

    def wrong(self: Judge, way: Any, call: RecordedCall) -> tuple[Hashable, Hashable]:
        answer, state = after(self, way, call)
        if mistake == "all states alike":
            return answer, 0
        if mistake == "answer not compared" and call.ended is not None:
            return call.answer, state
        return (7, state) if mistake == "answers ahead not kept" and call.ended is None else (answer, state)

    monkeypatch.setattr(Judge, "_after", wrong)
    if mistake == "no other first":
        returns = Judge.returns
        monkeypatch.setattr(Judge, "returns", lambda self, call, open_: returns(self, call, ()))
    assert any(mine != its for mine, its in map(judged, range(1500)))


@pytest.mark.parametrize("lies", [0.0, 0.02])
@pytest.mark.parametrize("threads", [2, 4])
def test_forty_calls_are_judged_soon(threads: int, lies: float) -> None:
    begun = time.process_time()
    for seed in range(5):
        history = History(random.Random(seed), threads, 40, lies)
        judge = Judge(perform)
        for call in history.steps():
            if not judge.returns(call, [other for other in history.calls if other.ended is None]):
                break
    assert time.process_time() - begun < 10


def test_a_state_that_is_not_known_is_told() -> None:
    calls = [RecordedCall("t", "put", (1,), {}, 1, None, 2)]
    with pytest.raises(StateNotKnown):
        Judge(lambda order: (None, None)).returns(calls[0], [])


def test_too_many_orders_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(just_in_time, "MOST_TRIES", 10)
    calls = [RecordedCall(str(n), "put", (n,), {}, n) for n in range(6)]
    get = RecordedCall("g", "get", (), {}, 7, 5, 8)
    with pytest.raises(TooLong):
        Judge(perform).returns(get, calls)


class Slots:
    __slots__ = ("a",)

    def __init__(self) -> None:
        self.a = 1


class Both(Slots):
    pass


class Text(str):
    pass


@pytest.mark.parametrize("value", [Queue(), [1, {"a": {2}}], OrderedDict(a=1), Exception, None, "x", {Queue: 1}])
def test_states_that_are_known(value: Any) -> None:
    assert state_of(value) == freeze(value)


def test_states_that_are_not_known() -> None:
    cell = 1
    holder = Queue()
    holder.items = iter([1])  # type: ignore[assignment]
    for value in (object(), Slots(), Both(), Text("a"), (lambda: cell), iter([1]), holder, [Slots()], {1: Both()}):
        assert state_of(value) is None
