"""The stand-ins pass CPython's own tests of `threading`, `queue` and `concurrent.futures`, under control."""

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


def results(suite: str, *options: str) -> dict[str, str]:
    command = [sys.executable, "-W", "ignore", str(RUNNER), f"test.{suite}", *options]
    command += [f"--without={pattern}" for pattern in EXCLUDED]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1800, check=False)
    assert done.stdout, done.stderr[-2000:]
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def failed(found: dict[str, str]) -> dict[str, str]:
    return {test: said for test, said in found.items() if said != "passed" and not said.startswith("skipped")}


def test_locks_and_barriers() -> None:
    """A part of the suites, for every run of our tests."""
    found = results("test_threading", "--only=[BR]*Tests*", "--schedules=2")
    assert failed(found) == {}
    assert len(found) > 20


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_suite(suite: str) -> None:
    try:
        known = importlib.util.find_spec(f"test.{suite}")
    except ModuleNotFoundError:
        known = None
    if known is None:
        pytest.skip("this Python comes without the suite")
    found = results(suite)
    assert failed(found) == {}
    assert found


def test_patterns_have_reasons() -> None:
    assert all(EXCLUDED.values())
    assert not fnmatch("LockTests.test_acquire_release", "|".join(EXCLUDED))
