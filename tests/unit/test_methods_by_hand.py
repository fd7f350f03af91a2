"""Whatever changes an object that threads share is an operation, however it is called: special methods called by name,
methods that a class has from its base in C, mixins of `collections.abc` on classes that are not instrumented."""

from __future__ import annotations

import array
import collections
import copy
import operator
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dpor

SOURCES = {
    "list": "[3, 1, 2]",
    "dict": "{1: 2, 3: 4}",
    "set": "{1, 2}",
    "deque": "collections.deque([3, 1, 2])",
    "bytearray": "bytearray(b'cab')",
    "array": "array.array('i', [3, 1, 2])",
    "defaultdict": "collections.defaultdict(int, {1: 2})",
    "OrderedDict": "collections.OrderedDict({1: 2, 3: 4})",
    "Counter": "collections.Counter('aab')",
    "ChainMap": "collections.ChainMap({1: 2})",
    "UserDict": "collections.UserDict({1: 2})",
    "UserList": "collections.UserList([3, 1])",
}
MAKERS: dict[str, Callable[[], Any]] = {
    kind: eval(f"lambda: {source}", {"collections": collections, "array": array}) for kind, source in SOURCES.items()
}
ARGUMENTS: list[tuple[Any, ...]] = [
    *((), (0,), (1,), (9,), ("z",), (b"q",), (1, 5), (0, 9), (1, 0), ([7],), ({9: 9},), ({7},), ({1},)),
    *((slice(0, 1),), (slice(0, 1), [8, 8]), (array.array("i", [9]),), (collections.deque([5]),)),
]
NOT_OF_THE_OBJECT = {"__init_subclass__", "__subclasshook__", "__new__", "__class__", "__reduce__", "__reduce_ex__"}


def changing() -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Each method that changes an object of the kind, with arguments with which it does."""
    for kind, make in MAKERS.items():
        for name in sorted(set(dir(make())) - NOT_OF_THE_OBJECT):
            arguments = next((each for each in ARGUMENTS if _changes(make(), name, copy.deepcopy(each))), None)
            if arguments is not None:
                yield kind, name, arguments


def _changes(obj: Any, name: str, arguments: tuple[Any, ...]) -> bool:
    before = repr(obj)
    try:
        getattr(obj, name)(*arguments)
        return repr(obj) != before
    except Exception:
        return False


PROGRAM = """
import array, collections, threading

def scenario_{number}():
    obj = {make}
    def look():
        first = repr(obj)
        second = repr(obj)
        assert first == second
    def change():
        obj.{name}({arguments})
    threads = [threading.Thread(target=look), threading.Thread(target=change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def written(value: Any) -> str:
    """The value as source text."""
    return re.sub("^deque", "collections.deque", re.sub("^array", "array.array", repr(value)))


@pytest.mark.parametrize("kind", MAKERS)
def test_each_method_that_changes_a_container(kind: str, tmp_path: Path) -> None:
    """By its name, between two looks of another thread."""
    methods = [(name, arguments) for of, name, arguments in changing() if of == kind]
    file = tmp_path / "program.py"
    file.write_text(
        "".join(
            PROGRAM.format(number=number, make=SOURCES[kind], name=name, arguments=", ".join(map(written, arguments)))
            for number, (name, arguments) in enumerate(methods)
        )
    )
    missed = [
        name for number, (name, _) in enumerate(methods) if dpor.check(f"{file}::scenario_{number}").verdict != "fail"
    ]
    assert len(methods) > 3
    assert missed == []


class Limited:
    def __init__(self) -> None:
        self.limit = 10

    def by_super(self) -> None:
        super().__setattr__("limit", 20)


@pytest.mark.parametrize(
    "change",
    [
        lambda obj: obj.__setattr__("limit", 20),
        lambda obj: object.__setattr__(obj, "limit", 20),
        lambda obj: obj.by_super(),
        lambda obj: obj.__delattr__("limit"),
        lambda obj: obj.__dict__.__setitem__("limit", 20),
        lambda obj: obj.__dict__.__ior__({"limit": 20}),
        lambda obj: operator.methodcaller("__setattr__", "limit", 20)(obj),
        lambda obj: list(map(obj.__setattr__, ["limit"], [20])),
    ],
)
@pytest.mark.parametrize(
    "look",
    [
        lambda obj: obj.limit,
        lambda obj: obj.__getattribute__("limit"),
        lambda obj: object.__getattribute__(obj, "limit"),
    ],
)
def test_methods_of_object(look: Callable[[Any], Any], change: Callable[[Any], Any]) -> None:
    def target() -> None:
        obj = Limited()

        def looks() -> None:
            first = look(obj)
            second = look(obj)
            assert first == second

        threads = [threading.Thread(target=looks), threading.Thread(target=lambda: change(obj))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert dpor.check(target).verdict == "fail"
