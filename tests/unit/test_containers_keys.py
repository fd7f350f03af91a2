"""Which part of a dict or set a key stands for."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
from collections.abc import Iterator
from typing import Any

import pytest

from dpor.python.effects.keys import ANY_KEY, PRIVATE, USER_EQ, part_of
from dpor.python.kernel.sync_objects import SyncObject
from tests.shared_objects import World, pretending


@pytest.fixture
def world() -> Iterator[World]:
    with pretending() as made:
        yield made


Point = collections.namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Name(str):
    pass


class Same:
    def __eq__(self, other: object) -> bool:
        raise AssertionError("no code of the program may be called")

    def __hash__(self) -> int:
        raise AssertionError("no code of the program may be called")


class Folded(str):
    def __eq__(self, other: object) -> bool:
        raise AssertionError("no code of the program may be called")

    __hash__ = str.__hash__


class Plain:
    pass


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("a", "a"),
        (1, 1),
        (None, None),
        ((1, "a"), (1, "a")),
        (frozenset({1}), frozenset({1})),
        (2.5, 2.5),
        (Name("a"), "a"),
        (Level.LOW, 1),
        (Point(1, 2), (1, 2)),
        (decimal.Decimal("1.5"), decimal.Decimal("1.5")),
        (datetime.date(2020, 1, 1), datetime.date(2020, 1, 1)),
        (Colour.RED, ("enum", __name__, "Colour", "RED")),
        (Plain, ("named", __name__, "Plain")),
        (len, ("named", "builtins", "len")),
        (pytest, ("module", "pytest")),
        (float("nan"), ANY_KEY),
        (Same(), USER_EQ),
        ((1, Same()), USER_EQ),
        (Folded("a"), USER_EQ),
        (Plain(), PRIVATE),
        ((1, Plain()), PRIVATE),
        ([], PRIVATE),
    ],
)
def test_the_part_of_a_key(world: World, key: Any, part: Any) -> None:
    assert part_of(key) == part


def test_equal_keys_are_one_part() -> None:
    for key, equal in (
        (1, True),
        (1, 1.0),
        (1, decimal.Decimal(1)),
        (0.0, -0.0),
        ("a", Name("a")),
        ((1, 2), Point(1, 2)),
    ):
        assert key == equal
        assert part_of(key) == part_of(equal)
        assert hash(part_of(key)) == hash(part_of(equal))


def test_a_shared_object_goes_by_its_number(world: World) -> None:
    key, other = Plain(), Plain()
    world.share(key=key, other=other)
    assert part_of(key) == part_of(key) != part_of(other)
    assert part_of(key)[0] == "object"  # type: ignore[index]


def test_a_bound_method_goes_by_its_object_and_function(world: World) -> None:
    a, b = Plain(), Plain()
    world.share(a=a, b=b)
    made = world.run("class C:\n    def m(self): pass\nx, y = C(), C()")
    world.share(x=made["x"], y=made["y"])
    assert part_of(made["x"].m) == part_of(made["x"].m) != part_of(made["y"].m)


def test_a_drop_in_goes_by_its_location(world: World) -> None:
    lock = SyncObject()
    assert part_of(lock) == ("object", lock.dpor_location)
