"""Targets that are functions of the host: what they refer to becomes the program's own, anew in each run."""

from __future__ import annotations

import functools
import threading
from enum import Enum
from typing import Any

import pytest

import dpor


class Account:
    def __init__(self) -> None:
        self.n = 0

    def deposit(self) -> None:
        v = self.n
        self.n = v + 1


class Derived(Account):
    def deposit(self) -> None:
        super().deposit()


SHARED = Account()


def both(*bodies: Any) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_an_object_made_outside_is_instrumented() -> None:
    account = Account()

    def scenario() -> None:
        both(account.deposit, account.deposit)
        assert account.n == 2

    assert dpor.check(scenario).verdict == "fail"
    assert account.n == 0


def test_a_derived_object_made_outside_is_instrumented() -> None:
    account = Derived()

    def scenario() -> int:
        both(account.deposit, account.deposit)
        return account.n

    assert dpor.check(scenario, all=True).outcomes == 2


def test_a_module_global_is_instrumented() -> None:
    def scenario() -> int:
        both(SHARED.deposit, SHARED.deposit)
        return SHARED.n

    report = dpor.check(scenario, all=True)
    assert (report.outcomes, report.executions) == (2, 4)


def test_a_class_made_inside_the_test_is_instrumented() -> None:
    class Local:
        total = 0

        def __init__(self) -> None:
            self.n = 0

        @property
        def value(self) -> int:
            return self.n

        def add(self) -> None:
            self.n = self.value + 1

    outside = Local()

    def scenario() -> tuple[int, int]:
        inside = Local()
        both(inside.add, inside.add)
        both(outside.add, outside.add)
        return inside.n, outside.n

    assert dpor.check(scenario, all=True).outcomes == 4


def test_containers_of_the_closure_begin_anew_in_each_run() -> None:
    stats = {"n": 0, "list": [0]}
    lock = threading.Lock()

    def scenario() -> Any:
        def add() -> None:
            with lock:
                stats["n"] += 1  # type: ignore[operator]
                stats["list"].append(1)  # type: ignore[attr-defined]

        both(add, add)
        return stats

    report = dpor.check(scenario, all=True)
    assert (report.verdict, report.executions, report.outcomes) == ("pass", 2, 1)
    assert stats == {"n": 0, "list": [0]}


def test_functions_that_share_a_variable_share_it() -> None:
    count = 0

    def add() -> None:
        nonlocal count
        count += 1

    def scenario() -> int:
        both(add, add)
        return count

    assert dpor.check(scenario, all=True).outcomes == 2


def test_a_partial_of_a_method_is_instrumented() -> None:
    account = Account()
    deposit = functools.partial(account.deposit)

    def scenario() -> int:
        both(deposit, deposit)
        return account.n

    assert dpor.check(scenario, all=True).outcomes == 2


def test_a_condition_made_outside_is_refused() -> None:
    changed = threading.Condition()

    def scenario() -> None:
        with changed:
            pass

    with pytest.raises(dpor.core.errors.BadTarget, match="Condition was made outside"):
        dpor.check(scenario)


def test_attributes_of_functions_are_shared() -> None:
    def handler() -> None:
        pass

    def scenario() -> int:
        def add() -> None:
            handler.calls += 1  # type: ignore[attr-defined]

        handler.calls = 0  # type: ignore[attr-defined]
        both(add, add)
        return handler.calls  # type: ignore[attr-defined,no-any-return]

    assert dpor.check(scenario, all=True).outcomes == 2


def test_a_method_in_c_as_the_body_of_a_thread_is_an_operation() -> None:
    def scenario() -> list[int]:
        items: list[int] = []
        threads = [threading.Thread(target=items.append, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return items

    assert dpor.check(scenario, all=True).outcomes == 2


class Colour(Enum):
    RED = 1


def test_a_member_of_an_enumeration_is_the_program_s() -> None:
    colour = Colour.RED

    def scenario() -> None:
        assert colour is Colour.RED

    assert dpor.check(scenario).verdict == "pass"
