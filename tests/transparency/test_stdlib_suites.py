"""Modules of the standard library pass CPython's own tests when they are instrumented."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from tests.transparency.suites import EXPECTED, FAST, LANGUAGE, LIBRARY

RUNNER = Path(__file__).parent / "run_suite.py"


def run(suite: str, modules: str, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", str(RUNNER), f"test.test_{suite}", *modules.split(), *options]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=900, check=False)
    assert done.stdout, done.stderr[-2000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def check(suite: str, modules: str, *options: str) -> None:
    if importlib.util.find_spec(f"test.test_{suite}") is None:
        pytest.skip("this Python has no such suite")
    result = run(suite, modules, *options)
    failed = {test for test in result["failed"] if not any(fnmatch(test, pattern) for pattern in EXPECTED)}
    if failed:
        failed -= set(run(suite, modules, "--plain")["failed"])
    assert not failed
    assert result["ran"]
    assert result["instrumented"]


@pytest.mark.parametrize("suite", FAST)
def test_fast_suites(suite: str) -> None:
    check(suite, FAST[suite])


@pytest.mark.slow
@pytest.mark.parametrize("suite", LIBRARY)
def test_library(suite: str) -> None:
    check(suite, LIBRARY[suite])


@pytest.mark.slow
@pytest.mark.parametrize("suite", LANGUAGE)
@pytest.mark.parametrize("options", [(), ("--everything",)], ids=["", "everything"])
def test_language(suite: str, options: tuple[str, ...]) -> None:
    check(suite, f"test.test_{suite}", *options)
