"""Objects that are given their `__dict__`: their fields are the keys of a dict that others may have as well."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import dpor

STRATEGIES = ("optimal", "dpor", "original")


def both(*bodies: Any) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def outcomes(program: Any, strategy: str) -> int:
    report = dpor.check(program, all=True, max_seconds=None, strategy=strategy)
    assert report.exhaustive, report
    return report.outcomes


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Borg:
    shared: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.__dict__ = self.shared


class Monostate:
    n: int

    def __new__(cls, fields: dict[str, Any]) -> Monostate:
        made = super().__new__(cls)
        object.__setattr__(made, "__dict__", fields)
        return made


class Open(dict[str, Any]):
    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.__dict__ = self


class One:
    def __init__(self, n: int) -> None:
        self.n = n


class Other:
    n: int


def test_objects_of_one_class_have_one_dict(strategy: str) -> None:
    def program() -> Any:
        Borg.shared.clear()
        first: Any = Borg()
        first.n = 0

        def add() -> None:
            mine: Any = Borg()
            mine.n += 1

        both(add, add)
        return first.n

    assert outcomes(program, strategy) == 2


def test_a_dict_given_by_new_and_looked_at_by_name(strategy: str) -> None:
    def program() -> Any:
        fields = {"n": 0}

        def add() -> None:
            mine = Monostate(fields)
            setattr(mine, "n", getattr(mine, "n") + 1)  # noqa: B009, B010

        both(add, add)
        return fields["n"]

    assert outcomes(program, strategy) == 2


def test_a_dict_that_is_its_own_fields(strategy: str) -> None:
    def program() -> Any:
        both_ways: Any = Open(n=0)

        def by_field() -> None:
            both_ways.n += 1

        def by_key() -> None:
            both_ways["n"] += 1

        both(by_field, by_key)
        return both_ways["n"]

    assert outcomes(program, strategy) == 2


@pytest.mark.parametrize("early", [False, True])
def test_the_dict_of_another_object(strategy: str, early: bool) -> None:
    def program() -> Any:
        one, other = One(0), Other()
        if early:
            other.__dict__ = one.__dict__

        def add() -> None:
            one.n += 1

        def add_by_other() -> None:
            mine = other
            if not early:
                mine = Other()
                mine.__dict__ = vars(one)
            mine.n += 1

        both(add, add_by_other)
        return one.n

    assert outcomes(program, strategy) == 2


def test_a_field_that_goes(strategy: str) -> None:
    def program() -> Any:
        seen = []
        fields = {"n": 0}

        def remove() -> None:
            mine: Any = Monostate(fields)
            del mine.n

        def look() -> None:
            seen.append(hasattr(Monostate(fields), "n"))

        both(remove, look)
        return seen

    assert outcomes(program, strategy) == 2


def test_the_dict_is_replaced_while_others_look(strategy: str) -> None:
    def program() -> Any:
        one = One(0)
        seen = []

        def replace() -> None:
            one.__dict__ = {"n": 1}

        both(replace, lambda: seen.append(one.n))
        return seen

    assert outcomes(program, strategy) == 2


def test_a_method_that_is_stored_in_the_dict(strategy: str) -> None:
    class Plugin:
        def __init__(self, fields: dict[str, Any]) -> None:
            self.__dict__ = fields

        def act(self) -> int:
            return 0

    def program() -> Any:
        fields: dict[str, Any] = {}
        seen = []

        def replace() -> None:
            fields["act"] = lambda: 1

        both(replace, lambda: seen.append(Plugin(fields).act()))
        return seen

    assert outcomes(program, strategy) == 2


def test_a_dict_of_its_own_is_private(strategy: str) -> None:
    def program() -> Any:
        def work() -> None:
            mine = Monostate({"n": 0})
            mine.n += 1

        both(work, work)

    assert dpor.check(program, all=True, max_seconds=None, strategy=strategy).executions == 1
