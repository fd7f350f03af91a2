"""The drop-ins pass CPython's own tests of `threading`, `queue` and `concurrent.futures`, under control."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.primitives.suites import EXCLUDED, SUITES

RUNNER = Path(__file__).with_name("run_suite.py")
HANGS = 60
"""Seconds after which a test that is excluded hangs."""


def excluded(suite: str) -> dict[str, str]:
    """Patterns of the tests of the suite that are not run on this Python, with the reasons."""
    python = sys.version_info[:2]
    return {row.test: row.reason for row in EXCLUDED if row.suite == suite and row.since <= python <= row.until}


def run(suite: str, *options: str, timeout: float = 1800) -> dict[str, str]:
    command = [sys.executable, "-W", "ignore", str(RUNNER), f"test.{suite}", *options]
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=timeout, check=False
    )
    assert done.stdout, done.stderr[-2000:]
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def results(suite: str, *options: str) -> dict[str, str]:
    return run(suite, *options, *(f"--without={pattern}" for pattern in excluded(suite)))


def failed(found: dict[str, str]) -> dict[str, str]:
    return {test: said for test, said in found.items() if not is_fine(said)}


def is_fine(said: str) -> bool:
    return said == "passed" or said.startswith("skipped")


def skip_if_missing(suite: str) -> None:
    try:
        known = importlib.util.find_spec(f"test.{suite}")
    except ModuleNotFoundError:
        known = None
    if known is None:
        pytest.skip("this Python comes without the suite")


def test_locks_and_barriers() -> None:
    """A part of the suites, for every run of our tests."""
    skip_if_missing("test_threading")
    found = results("test_threading", "--only=[BR]*Tests*", "--schedules=2")
    assert failed(found) == {}
    assert len(found) > 20


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_suite(suite: str) -> None:
    skip_if_missing(suite)
    found = results(suite)
    assert failed(found) == {}
    assert found


@pytest.mark.parametrize("suite", ["test_thread", "test_threading", "test_threading_local"])
def test_every_pattern_matches(suite: str) -> None:
    skip_if_missing(suite)
    names = run(suite, "--list")
    assert [pattern for pattern in excluded(suite) if not any(fnmatch(name, pattern) for name in names)] == []


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_what_is_excluded_would_fail(suite: str) -> None:
    """A row for a test that passes by now is to be deleted."""
    skip_if_missing(suite)
    names = [name for name in run(suite, "--list") if any(fnmatch(name, pattern) for pattern in excluded(suite))]
    assert [name for name in names if passes(suite, name)] == []


def passes(suite: str, name: str) -> bool:
    try:
        return is_fine(run(suite, f"--only={name}", timeout=HANGS)[name])
    except subprocess.TimeoutExpired:
        return False
