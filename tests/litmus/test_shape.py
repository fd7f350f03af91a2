"""The shape of [PL]'s tables, on counts: what is to be fewer than what, and that nothing is lost by it.

At sizes that are quick; `-m slow` takes the default ones. `python -m bench tables` judges all, within a budget.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import dpor
from dpor.core.options import FieldAccess, PointerAnalysis

QUICK = ("cdx", "running_example", "readers_writers:readers=1,writers=1")
SLOW = ("jpapabench:tasks=2", "jpapabench", "cocome", "credemo", "daisy", "raytracer", "elevator", "simplejbb")
TARGETS = [*QUICK, *[pytest.param(target, marks=pytest.mark.slow) for target in SLOW]]
CONFIGURATIONS = ("original", "sa", "dpor", "dpor+static")


@cache
def checked(target: str, strategy: str, **options: Any) -> dpor.Report:
    report = dpor.check(target, strategy=strategy, all=True, max_seconds=None, **options)
    assert report.exhaustive, report.reasons
    return report


def choices(target: str, strategy: str, **options: Any) -> int:
    return checked(target, strategy, **options).choices


def same(target: str, strategy: str, **options: Any) -> bool:
    """As without any reduction of choices by facts?"""
    original, other = checked(target, "original"), checked(target, strategy, **options)
    places = [{(f.kind, f.file, f.line) for f in report.findings} for report in (original, other)]
    return original.outcome_digests.keys() == other.outcome_digests.keys() and places[0] == places[1]


@pytest.mark.parametrize("target", TARGETS)
def test_the_four_configurations(target: str) -> None:
    original, sa, plain, combined = (choices(target, strategy) for strategy in CONFIGURATIONS)
    assert combined <= min(sa, plain)
    assert max(sa, plain) <= original
    assert all(same(target, strategy) for strategy in CONFIGURATIONS)


@pytest.mark.parametrize("immutable", [True, False])
@pytest.mark.parametrize("target", TARGETS)
def test_the_precisions(target: str, immutable: bool) -> None:
    found = [
        choices(target, "sa", field_access=precision, immutable=immutable)
        for precision in (FieldAccess.SENSITIVE, FieldAccess.CALLEE, FieldAccess.INSENSITIVE)
    ]
    assert sorted(found) == found
    assert found[-1] <= choices(target, "original")
    assert all(same(target, "sa", field_access=precision, immutable=immutable) for precision in FieldAccess)


@pytest.mark.parametrize("target", TARGETS)
def test_immutable_fields(target: str) -> None:
    for precision in FieldAccess:
        with_them, without = (choices(target, "sa", field_access=precision, immutable=each) for each in (True, False))
        assert with_them <= without


@pytest.mark.parametrize("target", TARGETS)
def test_the_pointer_analyses(target: str) -> None:
    for pointers in PointerAnalysis:
        assert choices(target, "sa", pointers=pointers) <= choices(target, "sa")
        assert same(target, "sa", pointers=pointers)


def test_a_reader_who_has_seen_that_data_is_ready_has_no_race_with_its_making() -> None:
    assert 10 * choices("cdx", "dpor+static") <= choices("cdx", "sa")


@pytest.mark.slow
def test_what_is_particular_to_a_workload() -> None:
    assert choices("raytracer", "dpor") <= 10 < 100 <= choices("raytracer", "sa")
    for target in ("cocome", "simplejbb"):
        assert 20 * choices(target, "dpor") <= choices(target, "sa")


@pytest.mark.slow
def test_what_is_so_with_every_access_an_event() -> None:
    """As for the paper's searches, which do not leave out beforehand what nobody writes."""
    java: dict[str, Any] = {"every_access": True, "store": "choices"}
    assert 10 * choices("cdx", "sa", **java) <= choices("cdx", "original", **java)
    assert 20 * choices("simplejbb", "dpor", every_access=True) <= choices("simplejbb", "sa", **java)
