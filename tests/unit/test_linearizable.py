"""`dpor.linearizable`: the calls of a concurrent object, held against a sequential one in every interleaving."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpor
from dpor.python.specs import linearizing
from dpor.python.specs.linearizing import RecordedCall, TooLong, is_linearizable, needed


def run(*bodies: Any) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Counter:
    """A specification, and what is wrong with several threads."""

    def __init__(self) -> None:
        self.n = 0

    def add(self) -> int:
        self.n += 1
        return self.n


class LockedCounter(Counter):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def add(self) -> int:
        with self.lock:
            return super().add()


@pytest.mark.parametrize("strategy", ["optimal", "source", "classic", "dpor"])
@pytest.mark.parametrize(("make", "verdict"), [(Counter, "fail"), (LockedCounter, "pass")])
def test_a_counter(make: type[Counter], verdict: str, strategy: str) -> None:
    def scenario() -> None:
        counter = dpor.linearizable(Counter)(make())
        run(counter.add, counter.add)

    assert dpor.check(scenario, strategy=strategy).verdict == verdict


def test_calls_that_follow_one_another_in_a_thread_may_take_a_lock() -> None:
    """The order of calls is a location without a state, which takes part in operations of locks that have one."""

    def scenario() -> None:
        counter = dpor.linearizable(Counter)(LockedCounter())

        def twice() -> None:
            counter.add()
            counter.add()

        run(twice, counter.add)

    assert dpor.check(scenario).verdict == "pass"


def test_the_history_is_shown() -> None:
    def scenario() -> None:
        counter = dpor.linearizable(Counter)(Counter())
        counter.add()
        run(counter.add, counter.add)

    (failure,) = dpor.check(scenario).findings
    assert failure.kind is dpor.Kind.LINEARIZABILITY
    assert failure.message == "no order of the calls has the answers that Counter gives"
    *overlapping, others = failure.details
    assert [line.partition("  ")[2].split("  ")[0] for line in overlapping] in (
        ["add() -> 2", "add() -> 2"],
        ["add() -> 3", "add() -> 3"],
    )
    assert others == "(whatever the other call answered, and whether or not it took effect)"


class Queue:
    """First in, first out; None if there is nothing."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def put(self, item: int) -> None:
        self.items.append(item)

    def get(self) -> int | None:
        return self.items.pop(0) if self.items else None

    def __len__(self) -> int:
        return len(self.items)


class LockedQueue(Queue):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def put(self, item: int) -> None:
        with self.lock:
            super().put(item)

    def get(self) -> int | None:
        with self.lock:
            return super().get()

    def __len__(self) -> int:
        with self.lock:
            return super().__len__()


@pytest.mark.parametrize(("make", "verdict"), [(Queue, "fail"), (LockedQueue, "pass")])
def test_a_queue(make: type[Queue], verdict: str) -> None:
    def scenario() -> None:
        queue = dpor.linearizable(Queue)(make())
        queue.put(1)
        assert len(queue) == 1
        run(queue.get, queue.get)

    assert dpor.check(scenario).verdict == verdict


class Cache:
    """Keeps the two values that were used last."""

    def __init__(self) -> None:
        self.values: OrderedDict[str, int] = OrderedDict()

    def put(self, key: str, value: int) -> None:
        self.values[key] = value
        self.values.move_to_end(key)
        if len(self.values) > 2:
            self.values.popitem(last=False)

    def get(self, key: str) -> int | None:
        if key in self.values:
            self.values.move_to_end(key)
            return self.values[key]
        return None


class LockedCache(Cache):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def put(self, key: str, value: int) -> None:
        with self.lock:
            super().put(key, value)

    def get(self, key: str) -> int | None:
        with self.lock:
            return super().get(key)


@pytest.mark.parametrize(("make", "verdict"), [(Cache, "fail"), (LockedCache, "pass")])
def test_a_cache(make: type[Cache], verdict: str) -> None:
    def scenario() -> None:
        cache = dpor.linearizable(Cache)(make())
        cache.put("a", 1)
        cache.put("b", 2)
        run(lambda: cache.get("a"), lambda: cache.put("c", 3))
        cache.get("b")

    assert dpor.check(scenario).verdict == verdict


class Commuting:
    """Two methods that touch nothing in common."""

    def __init__(self) -> None:
        self.x = 0
        self.y = 0

    def a(self) -> int:
        self.x = 1
        return 1

    def b(self) -> int:
        self.y = 1
        return 1


class Refusing:
    """After a, b is answered otherwise."""

    def __init__(self) -> None:
        self.was_a = False

    def a(self) -> int:
        self.was_a = True
        return 1

    def b(self) -> int:
        return 2 if self.was_a else 1


@pytest.mark.parametrize("strategy", ["optimal", "source", "classic", "dpor", "none"])
@pytest.mark.parametrize("first", ["a", "b"])
def test_the_order_of_calls_that_commute_counts(first: str, strategy: str) -> None:
    """That one had ended before the other began shows in no value: only where their order is explored."""

    def scenario() -> None:
        both = dpor.linearizable(Refusing)(Commuting())
        run(*((both.a, both.b) if first == "a" else (both.b, both.a)))

    assert dpor.check(scenario, strategy=strategy).verdict == "fail"


def test_calls_without_an_event_count() -> None:
    """They answer from what never changes, or from what is their thread's own."""

    class Constant:
        def a(self) -> int:
            return 1

        def b(self) -> int:
            return 1

    def scenario() -> None:
        both: Any = dpor.linearizable(Refusing)(Constant())
        run(both.b, both.a)

    assert dpor.check(scenario).verdict == "fail"


def test_calls_that_make_choices_count() -> None:
    class Choosing:
        def a(self) -> int:
            return 1 + dpor.choose(1)

        def b(self) -> int:
            return 1 + dpor.choose(2)

    def scenario() -> None:
        both: Any = dpor.linearizable(Refusing)(Choosing())
        run(both.a, both.b)

    report = dpor.check(scenario, all=True)
    assert report.verdict == "fail"


def test_a_recorded_object_may_use_another() -> None:
    class Outer:
        def __init__(self) -> None:
            self.inner = dpor.linearizable(Counter)(LockedCounter())

        def add(self) -> int:
            return self.inner.add()

    def scenario() -> None:
        counter = dpor.linearizable(Counter)(Outer())
        run(counter.add, counter.add)

    assert dpor.check(scenario).verdict == "pass"


def test_containers_are_recorded_too() -> None:
    class Stack:
        def __init__(self) -> None:
            self.items: list[int] = []

        def append(self, item: int) -> None:
            self.items.append(item)

        def pop(self) -> int:
            return self.items.pop()

        def __len__(self) -> int:
            return len(self.items)

    def scenario(kept: bool) -> dpor.Report:
        def body() -> None:
            items: Any = deque(maxlen=None if kept else 1)
            stack = dpor.linearizable(Stack)(items)
            run(lambda: stack.append(1), lambda: stack.append(2), lambda: len(stack))

        return dpor.check(body)

    assert scenario(kept=True).verdict == "pass"
    assert scenario(kept=False).verdict == "fail"


def test_exceptions_are_answers() -> None:
    class Fixed:
        def __init__(self) -> None:
            self.left = 1

        def take(self) -> None:
            if not self.left:
                raise LookupError("none left")
            self.left -= 1

    def scenario() -> None:
        fixed = dpor.linearizable(Fixed)(Fixed())

        def take() -> None:
            try:
                fixed.take()
            except LookupError:
                pass

        run(take, take)

    (failure,) = dpor.check(scenario).findings
    assert [line.split(" -> ")[1].split("  ")[0] for line in failure.details] == ["None", "None"]


def test_calls_that_do_not_return_may_have_had_their_effect() -> None:
    class Once:
        """`wait` sets, and never returns."""

        def __init__(self) -> None:
            self.n = 0
            self.never = threading.Event()

        def wait(self) -> None:
            self.n = 1
            self.never.wait()

        def get(self) -> int:
            return self.n

    class Plain:
        def __init__(self) -> None:
            self.n = 0

        def wait(self) -> None:
            self.n = 1

        def get(self) -> int:
            return self.n

    def scenario() -> None:
        once = dpor.linearizable(Plain)(Once())
        threading.Thread(target=once.wait, daemon=True).start()
        once.get()

    assert dpor.check(scenario).verdict == "pass"


def test_only_methods_of_the_specification_can_be_called() -> None:
    def scenario() -> None:
        counter: Any = dpor.linearizable(Counter)(LockedCounter())
        assert not hasattr(counter, "lock")

    assert dpor.check(scenario).verdict == "pass"


def test_outside_of_a_check_the_object_itself_is_used() -> None:
    counter = Counter()
    assert dpor.linearizable(Counter)(counter) is counter


def test_a_failure_is_replayed() -> None:
    def scenario() -> None:
        counter = dpor.linearizable(Counter)(Counter())
        run(counter.add, counter.add)

    (failure,) = dpor.check(scenario).findings
    assert failure.saved is not None
    assert dpor.replay(failure.saved, scenario).details == failure.details


# ---------------------------------------------------------------------- the search for an order


def play(order: Any) -> bool:
    """A register: its last read is answered by its last write."""
    value = 0
    for call in order[:-1]:
        if call.method == "write":
            value = call.args[0]
    last = order[-1]
    return last.ended is None or last.method == "write" or last.answer == value


@given(
    st.lists(
        st.tuples(st.sampled_from(["write", "read"]), st.integers(0, 1), st.integers(0, 9), st.integers(1, 5)),
        max_size=5,
    )
)
def test_an_order_is_found_if_there_is_one(drawn: list[tuple[str, int, int, int]]) -> None:
    """Held against all permutations."""
    calls = [
        RecordedCall("t", method, (value,), {}, began, value, began + length) for method, value, began, length in drawn
    ]

    def keeps(order: tuple[RecordedCall, ...]) -> bool:
        in_time = all(a.began <= (b.ended or 0) for i, a in enumerate(order) for b in order[i + 1 :])
        return in_time and all(play(order[: i + 1]) for i in range(len(order)))

    assert is_linearizable(calls, play) == any(keeps(order) for order in permutations(calls))


@given(
    st.lists(
        st.tuples(st.sampled_from(["write", "read"]), st.integers(0, 2), st.integers(0, 9), st.integers(1, 5)),
        max_size=5,
    )
)
def test_the_calls_that_are_needed_rule_out_every_order(drawn: list[tuple[str, int, int, int]]) -> None:
    calls = [
        RecordedCall("t", method, (value,), {}, began, value, began + length) for method, value, began, length in drawn
    ]
    if is_linearizable(calls, play):
        return

    def explained(kept: list[RecordedCall]) -> bool:
        """With any of the other calls, in any place from their beginnings on, unanswered."""
        others = [attrs.evolve(call, ended=None) for call in calls if call not in kept]
        return any(
            all(a.began <= (99 if b.ended is None else b.ended) for i, a in enumerate(order) for b in order[i + 1 :])
            and all(play(order[: i + 1]) for i in range(len(order)))
            for number in range(len(others) + 1)
            for some in combinations(others, number)
            for order in permutations([*kept, *some])
        )

    kept = needed(calls, play)
    assert not explained(kept)
    assert all(explained([other for other in kept if other is not call]) for call in kept)


def test_a_put_that_a_get_needs_is_shown_and_what_does_not_matter_is_not() -> None:
    """Whatever the first `get` took, the last one cannot have had 2: one of 0 and 1 was before it."""
    history = [("put", 0), ("get", 0), ("put", 1), ("put", 2), ("put", 3), ("get", 2), ("get", 1)]
    calls = [
        RecordedCall("t", method, (value,), {}, 2 * n, value, 2 * n + 1) for n, (method, value) in enumerate(history)
    ]

    def play(order: Any) -> bool:
        items: list[int] = []
        for call in order[:-1]:
            if call.method == "put":
                items.append(call.args[0])
            elif items:
                items.pop(0)
        last = order[-1]
        return last.ended is None or last.method == "put" or (bool(items) and items[0] == last.answer)

    assert [(call.method, *call.args) for call in needed(calls, play)] == [("put", 0), ("put", 1), ("get", 2)]


def test_too_many_orders_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linearizing, "MOST_TRIES", 10)
    calls = [RecordedCall("t", "write", (n,), {}, 0, None, 9) for n in range(5)]
    with pytest.raises(TooLong):
        is_linearizable([*calls, RecordedCall("t", "read", (), {}, 0, 7, 9)], play)


def test_a_failure_that_takes_long_to_judge_is_explained(tmp_path: Path) -> None:
    """The search for an order of sixteen calls takes longer than a run without events may take that explains."""
    (tmp_path / "program.py").write_text(
        "import threading, dpor\n"
        "class Fifo:\n"
        "    def __init__(self): self.q = []\n"
        "    def put(self, x): self.q.append(x)\n"
        "    def get(self): return self.q.pop(0)\n"
        "class Lifo(Fifo):\n"
        "    def get(self): return self.q.pop()\n"
        "def scenario():\n"
        "    q = dpor.linearizable(Fifo)(Lifo())\n"
        "    def put():\n"
        "        for n in range(4): q.put(n)\n"
        "    threads = [threading.Thread(target=put) for _ in range(2)]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n"
        "    for _ in range(8): q.get()\n"
    )
    result = dpor.check(f"{tmp_path}/program.py::scenario")
    assert [finding.kind.value for finding in result.findings] == ["linearizability"]
    assert result.findings[0].trace
