"""Small programs with real bugs (tests/cases): every bug is found, of the kind in the file's header, and every fixed
twin passes, or is inconclusive for a bound that is stated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpor
from dpor.explorers import STATIC

CASES = sorted((Path(__file__).parent.parent / "cases").glob("*.py"))


def expected(case: Path) -> str:
    match = re.search(r"^# expected: +(\w+)", case.read_text(), re.MULTILINE)
    assert match is not None
    return match[1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_the_bug_is_found(case: Path) -> None:
    report = dpor.check(f"{case}::scenario", max_seconds=60)
    assert report.verdict == "fail", report.reasons
    found = report.findings[0]
    if expected(case) == "deadlock":
        assert found.kind.value == "deadlock"
    else:
        assert found.message.startswith(expected(case)), found.message


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_the_fixed_twin_does_not_fail(case: Path) -> None:
    report = dpor.check(f"{case}::scenario_fixed", max_seconds=60)
    assert report.verdict == "pass" or (report.verdict == "inconclusive" and report.reasons), report.findings


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STATIC)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_with_facts_about_the_source(case: Path, strategy: str) -> None:
    report = dpor.check(f"{case}::scenario", strategy=strategy, max_seconds=60)
    assert report.verdict == "fail", report.reasons
    fixed = dpor.check(f"{case}::scenario_fixed", strategy=strategy, max_seconds=60)
    assert fixed.verdict == "pass" or (fixed.verdict == "inconclusive" and fixed.reasons), fixed.findings
