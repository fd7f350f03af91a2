"""`dpor.invariant`: looked at after every event of every interleaving, though one run of each class is explored."""

from __future__ import annotations

import queue
import threading
from pathlib import Path
from typing import Any

import pytest

import dpor
from tests.words_of_python import BY_ZERO


class Bank:
    def __init__(self) -> None:
        self.a = 0
        self.b = 0


def run(*bodies: Any) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def writes(bank: Bank) -> None:
    """Two writes that commute."""

    def f() -> None:
        bank.a = 1

    def g() -> None:
        bank.b = 1

    run(f, g)


STRATEGIES = ["optimal", "source", "classic", "none", "dpor", "full"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("a", [0, 1])
def test_states_that_only_one_order_of_independent_writes_has_are_seen(a: int, strategy: str) -> None:
    def scenario() -> None:
        bank = Bank()
        dpor.invariant(lambda: (bank.a, bank.b) != (a, 1 - a), name="apart")
        writes(bank)

    report = dpor.check(scenario, strategy=strategy)
    assert report.verdict == "fail"
    (failure,) = report.findings
    assert (failure.kind, failure.message) == (dpor.Kind.INVARIANT, "apart: does not hold")
    assert failure.file is not None
    source = Path(failure.file).read_text().splitlines()[(failure.line or 0) - 1].strip()
    assert source == ("bank.a = 1" if a else "bank.b = 1")


@pytest.mark.parametrize(("strategy", "executions"), [("optimal", 2), ("source", 2)])
def test_writes_that_an_invariant_sees_are_ordered_and_no_others(strategy: str, executions: int) -> None:
    def scenario() -> None:
        bank, other = Bank(), Bank()

        @dpor.invariant
        def small() -> None:
            assert bank.a + bank.b <= 2

        def f() -> None:
            other.a = bank.a = 1

        def g() -> None:
            other.b = bank.b = 1

        run(f, g)

    report = dpor.check(scenario, strategy=strategy)
    assert (report.verdict, report.executions) == ("pass", executions)


def test_the_text_of_a_failed_assertion_is_told() -> None:
    def scenario() -> None:
        bank = Bank()

        @dpor.invariant
        def small() -> None:
            assert bank.a + bank.b < 2, f"{bank.a} and {bank.b}"

        writes(bank)

    report = dpor.check(scenario, all=True)
    assert {failure.message for failure in report.findings} == {"small: 1 and 1"}


def test_what_an_invariant_looks_at_may_depend_on_what_it_sees() -> None:
    """`t.a` counts only while `s.a` is set."""

    def scenario() -> None:
        s, t = Bank(), Bank()
        dpor.invariant(lambda: not s.a or t.a == 0)

        def f() -> None:
            s.a = 1

        def g() -> None:
            t.a = 1
            t.a = 0

        run(g, f)

    assert dpor.check(scenario).verdict == "fail"


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_locks_are_looked_at_like_data(strategy: str) -> None:
    def guarded(outside: bool) -> dpor.Report:
        def scenario() -> None:
            bank, lock = Bank(), threading.Lock()
            dpor.invariant(lambda: lock.locked() or bank.a == bank.b)

            def move() -> None:
                with lock:
                    bank.a += 1
                    if not outside:
                        bank.b += 1
                if outside:
                    bank.b += 1

            run(move, move)

        return dpor.check(scenario, strategy=strategy)

    assert guarded(outside=False).verdict == "pass"
    assert guarded(outside=True).verdict == "fail"


def test_a_lock_that_an_invariant_takes_is_taken_for_granted() -> None:
    def scenario() -> None:
        lock = threading.Lock()
        items: list[int] = []

        def small() -> bool:
            with lock:
                return len(items) < 2

        dpor.invariant(small)

        def put() -> None:
            with lock:
                items.append(1)

        run(put, put)

    assert dpor.check(scenario).verdict == "fail"


total = other = 0


class Totals:
    total = 0
    other = 0


class Slotted:
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


def _fields() -> tuple[Any, Any, Any]:
    banks = Bank(), Bank()
    return lambda i: banks[i].a, lambda: setattr(banks[0], "a", 1), lambda: setattr(banks[1], "a", 1)


def _slots() -> tuple[Any, Any, Any]:
    objects = Slotted(), Slotted()
    return lambda i: objects[i].value, lambda: setattr(objects[0], "value", 1), lambda: setattr(objects[1], "value", 1)


def _class_attributes() -> tuple[Any, Any, Any]:
    def first() -> None:
        Totals.total = 1

    def second() -> None:
        Totals.other = 1

    return lambda i: (Totals.total, Totals.other)[i], first, second


def _globals() -> tuple[Any, Any, Any]:
    def first() -> None:
        global total
        total = 1

    def second() -> None:
        global other
        other = 1

    return lambda i: (total, other)[i], first, second


def _lists() -> tuple[Any, Any, Any]:
    table = {"a": [0], "b": [0]}

    def first() -> None:
        table["a"][0] = 1

    def second() -> None:
        table["b"][0] = 1

    return lambda i: table["ab"[i]][0], first, second


def _sets() -> tuple[Any, Any, Any]:
    sets: tuple[set[int], set[int]] = set(), set()
    return lambda i: sets[i], lambda: sets[0].add(1), lambda: sets[1].add(1)


def _queues() -> tuple[Any, Any, Any]:
    queues: list[queue.Queue[int]] = [queue.Queue(), queue.Queue()]
    return lambda i: queues[i].qsize(), lambda: queues[0].put(1), lambda: queues[1].put(1)


def _queues_in_c() -> tuple[Any, Any, Any]:
    queues: list[queue.SimpleQueue[int]] = [queue.SimpleQueue(), queue.SimpleQueue()]
    return lambda i: queues[i].qsize(), lambda: queues[0].put(1), lambda: queues[1].put(1)


def _events() -> tuple[Any, Any, Any]:
    events = threading.Event(), threading.Event()
    return lambda i: events[i].is_set(), events[0].set, events[1].set


def _locks() -> tuple[Any, Any, Any]:
    locks = threading.Lock(), threading.Lock()
    return lambda i: locks[i].locked(), locks[0].acquire, locks[1].acquire


KINDS = [_fields, _slots, _class_attributes, _globals, _lists, _sets, _queues, _queues_in_c, _events, _locks]


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__[1:])
def test_all_that_can_change_is_looked_at(kind: Any, strategy: str) -> None:
    """The second is set, and the first is not: one of two orders of changes that commute."""

    def scenario() -> None:
        value, first, second = kind()
        dpor.invariant(lambda: value(0) or not value(1))
        run(first, second)

    assert dpor.check(scenario, strategy=strategy).verdict == "fail"


def test_containers_and_variables_are_looked_at() -> None:
    def scenario() -> None:
        count = 0
        by_name: dict[str, int] = {}
        dpor.invariant(lambda: not (count == 1 and "x" not in by_name))

        def f() -> None:
            nonlocal count
            count = 1

        def g() -> None:
            by_name["x"] = 1

        run(g, f)

    assert dpor.check(scenario).verdict == "fail"


def test_an_invariant_made_known_while_threads_run_counts_from_then_on() -> None:
    def scenario() -> None:
        bank = Bank()

        def f() -> None:
            dpor.invariant(lambda: bank.b == 0, name="still")

        def g() -> None:
            bank.b = 1
            bank.b = 0

        run(f, g)

    report = dpor.check(scenario, all=True)
    assert report.verdict == "fail"
    assert report.outcomes == 3  # broken when it is made known, or by the write, or made known after both writes


def test_what_the_only_thread_stores_is_seen_when_it_starts_another() -> None:
    """What was stored while there was one thread is reached by the invariant alone."""

    def scenario() -> None:
        banks: list[Bank] = []
        other = Bank()
        dpor.invariant(lambda: not (banks and banks[0].a == 1 and other.a == 0))
        run(lambda: None)
        bank = Bank()
        banks.append(bank)

        def g() -> None:
            other.a = 1

        thread = threading.Thread(target=g)
        thread.start()
        bank.a = 1
        thread.join()

    assert dpor.check(scenario).verdict == "fail"


def test_many_objects_that_threads_make_are_seen() -> None:
    def scenario() -> None:
        nodes: list[Bank] = []
        dpor.invariant(lambda: sum(node.a for node in nodes) <= 1)

        def make() -> None:
            node = Bank()
            nodes.append(node)
            node.a = 1

        run(make, make)

    report = dpor.check(scenario)
    assert (report.verdict, report.findings[0].kind) == ("fail", dpor.Kind.INVARIANT)


def test_more_objects_than_are_told_apart() -> None:
    def scenario() -> None:
        banks = [Bank() for _ in range(20)]
        dpor.invariant(lambda: not any(bank.a != bank.b for bank in banks[1:]) or banks[0].a == 0)

        def f() -> None:
            banks[0].a = 1

        def g() -> None:
            banks[19].a = 1
            banks[19].b = 1

        run(f, g)

    assert dpor.check(scenario).verdict == "fail"


def test_daemon_threads_are_seen() -> None:
    def scenario() -> None:
        bank = Bank()
        dpor.invariant(lambda: bank.a == 0 or bank.b == 1)

        def f() -> None:
            bank.b = 1

        threading.Thread(target=f, daemon=True).start()
        bank.a = 1

    assert dpor.check(scenario).verdict == "fail"


def test_a_failure_is_replayed(tmp_path: Path) -> None:
    def scenario() -> None:
        bank = Bank()
        dpor.invariant(lambda: (bank.a, bank.b) != (0, 1))
        writes(bank)

    (failure,) = dpor.check(scenario).findings
    assert failure.saved is not None
    failure.saved.save(tmp_path / "schedule.json")
    assert dpor.replay(tmp_path / "schedule.json", scenario).kind is dpor.Kind.INVARIANT


def test_an_invariant_that_changes_something_is_no_proof() -> None:
    def scenario() -> None:
        bank = Bank()

        def changing() -> bool:
            bank.b += 1
            return True

        dpor.invariant(changing)
        writes(bank)

    report = dpor.check(scenario)
    assert report.verdict == "inconclusive"
    assert "the invariant changing may change what it looks at: write" in report.reasons


def test_an_exception_in_an_invariant_is_told() -> None:
    def scenario() -> None:
        dpor.invariant(lambda: 1 // 0, name="odd")

    (failure,) = dpor.check(scenario).findings
    assert failure.message == f"odd: raised ZeroDivisionError: {BY_ZERO}"


def test_what_is_not_of_the_program_is_no_invariant() -> None:
    def scenario() -> None:
        dpor.invariant([].copy)

    (failure,) = dpor.check(scenario).findings
    assert failure.message.startswith("TypeError: an invariant is a function of the program, written in Python, not")


def test_outside_of_a_check_it_does_nothing() -> None:
    @dpor.invariant
    def never() -> bool:
        return False

    assert not never()


def test_an_invariant_does_not_change_what_is_explored_otherwise() -> None:
    def counting(specified: bool) -> dpor.Report:
        def scenario() -> int:
            bank = Bank()
            if specified:
                dpor.invariant(lambda: bank.b == 0)

            def add() -> None:
                bank.a += 1

            run(add, add)
            return bank.a

        return dpor.check(scenario, all=True)

    plain, specified = counting(False), counting(True)
    assert plain.outcome_digests.keys() == specified.outcome_digests.keys()
