"""The order of names, and what functions and classes are said to be, are part of outcomes and of states."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from tests.programs import names_and_metadata as programs

NAMES = [
    name for name in vars(programs) if name.startswith(("order", "doc", "module", "annotations", "names", "arguments"))
]


@pytest.mark.parametrize("name", NAMES)
def test_both_orders_are_seen(name: str) -> None:
    target = f"{Path(programs.__file__)}::{name}"
    for strategy in ("optimal", "full", "original", "sa", "dpor", "dpor+static"):
        report = dpor.check(target, strategy=strategy, all=True)
        assert (report.verdict, report.exhaustive, len(report.outcome_digests)) == (dpor.Verdict.PASS, True, 2), (
            strategy
        )


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("attributes_set_by_a_method", 1),
        ("attributes_in_a_dict_of_the_program", 2),
        ("attributes_of_a_lock_in_a_dict_of_the_program", 2),
        ("fields_of_two_objects", 3),
    ],
)
def test_attributes_that_the_program_sets_and_keeps_itself(name: str, outcomes: int) -> None:
    for strategy in ("optimal", "full", "dpor"):
        report = dpor.check(f"{Path(programs.__file__)}::{name}", strategy=strategy, all=True)
        assert (report.verdict, report.exhaustive, len(report.outcome_digests)) == (dpor.Verdict.PASS, True, outcomes)


def test_defaults_of_a_function_are_data() -> None:
    report = dpor.check(f"{Path(programs.__file__)}::defaults_without_end", strategy="dpor", all=True)
    assert (report.verdict, report.exhaustive, report.terminates) == (dpor.Verdict.PASS, True, False)
