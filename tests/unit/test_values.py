"""Reports show values as they are written, and run no code of the program for that."""

from __future__ import annotations

import enum
import threading
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest

import dpor
from dpor.core.results import Failure
from dpor.python.narrate.values import LONGEST, value_in_words


class Colour(enum.Enum):
    RED = 1


class Flags(enum.IntFlag):
    A = 1
    B = 2


Point = namedtuple("Point", "x y")


class Text(str):
    __slots__ = ()


class Hostile:
    """Nothing that it is asked may be called."""

    def __no(self, *args: Any) -> Any:
        raise AssertionError("code of the program was called")

    __repr__ = __str__ = __len__ = __iter__ = __eq__ = __getattr__ = __getattribute__ = __no  # type: ignore[assignment]
    __hash__ = object.__hash__
    __class__ = property(__no)  # type: ignore[assignment]


class HostileList(list[int]):
    __iter__ = __len__ = __repr__ = __getitem__ = Hostile.__repr__  # type: ignore[assignment]


def called(obj: Any) -> str:
    return type(obj).__name__


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Colour.RED, "Colour.RED"),
        ({Colour.RED: [Colour.RED]}, "{Colour.RED: [Colour.RED]}"),
        (Point(1, [2]), "Point(1, [2])"),
        ((1,), "(1,)"),
        (set(), "set()"),
        (frozenset({1}), "frozenset({1})"),
        (OrderedDict(a=1), "OrderedDict({'a': 1})"),
        (Text("x"), "<Text>"),
        (len, "<function len>"),
        (called, "<function called>"),
        (Point, "<class Point>"),
        (KeyError("a", 1), "KeyError('a', 1)"),
    ],
)
def test_a_value_is_shown_as_it_is_written(value: Any, words: str) -> None:
    assert value_in_words(value, called) == words


def test_no_code_of_the_program_is_called() -> None:
    assert value_in_words([Hostile(), {1: Hostile()}], called) == "[<Hostile>, {1: <Hostile>}]"
    assert value_in_words(HostileList([1, 2]), called) == "HostileList([1, 2])"


def test_what_is_long_or_contains_itself_is_cut() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    deep: Any = "x" * 1000
    for _ in range(100):
        deep = [deep, deep]
    for value in (endless, deep, 10**5000, "x" * 10**6, list(range(10**5)), {n: [n] * 100 for n in range(300)}):
        assert 15 < len(value_in_words(value, called)) < 3 * LONGEST


def failure_of(target: Callable[[], object]) -> Failure:
    (failure,) = dpor.check(target).findings
    return failure


def values_of(target: Callable[[], object], *names: str) -> list[tuple[str, str, str]]:
    return [(step.thread, step.operation, step.values) for step in failure_of(target).trace if step.thread in names]


def together(**bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body, name=name) for name, body in bodies.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Job:
    state = 0


def test_elements_and_containers_before_and_after() -> None:
    def elements() -> None:
        one, other = Job(), Job()
        jobs, colours, order = {one}, {Colour.RED: 0, (Colour.RED, 1): one}, [3]

        def a() -> None:
            jobs.add(other)
            jobs.discard(one)
            colours[Colour.RED] = 5
            colours[Colour.RED, 1] = other
            order.append(4)

        together(a=a, b=lambda: (one in jobs, len(jobs), colours[Colour.RED], (Colour.RED, 1) in colours, len(order)))
        assert one in jobs

    assert values_of(elements, "a")[:-1] == [
        ("a", "add jobs{<Job #2>}", ""),
        ("a", "discard jobs{<Job>}", ""),
        ("a", "write colours[Colour.RED]", "5"),
        ("a", "write colours[(Colour.RED, 1)]", "<Job #2>"),
        ("a", "append order", "[3] -> [3, 4]"),
    ]


def test_a_written_value_is_the_one_that_was_written_though_another_thread_writes_before_the_next_event() -> None:
    def overwritten() -> None:
        job = Job()
        job.state = 0
        seen: list[int] = []

        def a() -> None:
            job.state = 1
            seen.append(job.state)

        def b() -> None:
            job.state = 2

        together(a=a, b=b)
        assert seen != [2]

    assert [values for _, operation, values in values_of(overwritten, "a", "b") if operation == "write Job.state"] == [
        "1",
        "2",
    ]
