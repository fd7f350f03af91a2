"""What the record of all suites complains of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.transparency import record

PYTHON = "3.12.1"


def told(*different: str, tests: int = 9) -> dict[str, Any]:
    return {"tests": tests, "different": {test: [["passed"], ["failed"]] for test in different}}


@pytest.fixture(autouse=True)
def two_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of expected differences, and the runs to make."""
    rows = {"*.test_names": "hooks are names", "*.test_frames": "hooks have frames"}
    monkeypatch.setattr(record, "EXPECTED", rows)
    monkeypatch.setattr(record, "expectation", lambda test: next((r for r in rows if test.endswith(r[1:])), None))
    monkeypatch.setattr(record, "RUNS", {"library a": ("a", "a", ()), "language b": ("b", "b", ())})


def test_rows_may_be_needed_by_different_pythons() -> None:
    first = {"library a": told("a.test_names"), "language b": told()}
    second = {"library a": told(), "language b": told("b.test_frames")}
    assert record.faults_of({PYTHON: first, "3.13.0": second}) == []


def test_a_row_that_no_run_needs_is_told() -> None:
    (fault,) = record.faults_of({PYTHON: {"library a": told("a.test_names"), "language b": told()}})
    assert fault == "*.test_frames: no test needs this row of EXPECTED"


def test_a_difference_without_a_row_is_told() -> None:
    runs = {"library a": told("a.test_names", "a.test_new"), "language b": told("b.test_frames")}
    (fault,) = record.faults_of({PYTHON: runs})
    assert fault == "3.12.1, library a: a.test_new differs, and no row of EXPECTED says why"


def test_a_suite_that_came_to_no_end_differs() -> None:
    runs = {"library a": told("a.test_names", "b.test_frames"), "language b": told(record.SUITE, tests=0)}
    (fault,) = record.faults_of({PYTHON: runs})
    assert fault == "3.12.1, language b: (the suite) differs, and no row of EXPECTED says why"


def test_a_run_that_is_missing_is_told() -> None:
    (fault,) = record.faults_of({PYTHON: {"library a": told("a.test_names", "b.test_frames")}})
    assert fault == "3.12.1: 1 of 2 runs are not recorded, the first language b"
