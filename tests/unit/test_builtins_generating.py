"""The methods that `dataclasses` and `attrs` generate take the steps that they take in Python."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import attr._make
import pytest

from tests.source_outcomes import outcomes

CLASSES = {
    "dataclass": "@dataclasses.dataclass(order=True, unsafe_hash=True)",
    "attr.s": "@attr.s(auto_attribs=True, order=True, hash=True)",
    "attrs.define": "@attrs.define(order=True, unsafe_hash=True)",
}


def of(directory: Path, decorator: str, body: str) -> Any:
    lines = [
        "import attr, attrs, dataclasses",
        decorator,
        "class C:",
        "    x: int",
        "    y: int = 1",
        "def scenario():",
    ]
    lines += ["    a, b, seen = C(1, 1), C(1, 1), []"]
    lines += [f"    {line}" for line in body.splitlines()]
    return outcomes(directory, "\n".join([*lines, "    return seen"]))


@pytest.mark.parametrize("decorator", CLASSES.values(), ids=list(CLASSES))
@pytest.mark.parametrize(
    "use",
    [
        "a == b",
        "a.__eq__(b)",
        "a in [b]",
        "not a != b",
        "b <= a <= b",
        "hash(a) == hash(b)",
        "repr(a).endswith('x=1, y=1)')",
    ],
)
def test_fields_are_read(tmp_path: Path, decorator: str, use: str) -> None:
    found = of(tmp_path, decorator, f"run(lambda: setattr(a, 'x', 5), lambda: seen.append({use}))")
    assert found == {(True,), (False,)}
    assert not found.incomplete


@pytest.mark.parametrize("decorator", CLASSES.values(), ids=list(CLASSES))
def test_each_field_is_read_by_itself(tmp_path: Path, decorator: str) -> None:
    body = "def write():\n    a.x = 5\n    a.y = 5\nrun(write, lambda: seen.append(f'{a}'[2:]))"
    assert of(tmp_path, decorator, body) == {(f"x={x}, y={y})",) for x in (1, 5) for y in (1, 5)}


@pytest.mark.parametrize("decorator", CLASSES.values(), ids=list(CLASSES))
def test_an_object_that_is_made_again_is_written(tmp_path: Path, decorator: str) -> None:
    found = of(tmp_path, decorator, "run(lambda: a.__init__(2, 2), lambda: seen.append((a.x, a.y)))")
    assert found == {((x, y),) for x in (1, 2) for y in (1, 2)}


@pytest.mark.parametrize("decorator", CLASSES.values(), ids=list(CLASSES))
def test_a_repr_may_be_asked_for_by_two_threads(tmp_path: Path, decorator: str) -> None:
    found = of(
        tmp_path,
        decorator,
        "a.x = a\nrun(lambda: seen.append(repr(a).count('...')), lambda: (repr(a), setattr(a, 'y', 2)))",
    )
    assert found == {(1,)}


@pytest.mark.parametrize(
    "copied", ["dataclasses.replace(a).x", "dataclasses.asdict(a)['x']", "attrs.evolve(a).x", "attrs.asdict(a)['x']"]
)
def test_what_copies_reads_field_by_field(tmp_path: Path, copied: str) -> None:
    decorator = CLASSES["dataclass" if copied.startswith("data") else "attrs.define"]
    found = of(tmp_path, decorator, f"run(lambda: setattr(a, 'x', 5), lambda: seen.append({copied}))")
    assert found == {(1,), (5,)}
    assert not found.incomplete


def test_frozen_classes_and_factories(tmp_path: Path) -> None:
    decorator = (
        "@dataclasses.dataclass(frozen=True)\nclass F:\n    items: list = dataclasses.field(default_factory=list)"
    )
    body = "f = F()\nrun(lambda: f.items.append(1), lambda: seen.append(f == F()))\ntry:\n    f.items = 1\n"
    body += "except dataclasses.FrozenInstanceError:\n    seen.append(repr(f))"
    found = of(tmp_path, f"{decorator}\n@dataclasses.dataclass", body)
    assert found == {(True, "F(items=[1])"), (False, "F(items=[1])")}


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    before = [dict(vars(module)) for module in (dataclasses, attr._make)]
    of(tmp_path, CLASSES["dataclass"], "pass")
    assert [vars(module) for module in (dataclasses, attr._make)] == before
