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
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=2400, check=False)
    assert done.stdout, done.stderr[-2000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def check(suite: str, modules: str, *options: str) -> None:
    if importlib.util.find_spec(f"test.test_{suite}") is None:
        pytest.skip("this Python has no such suite")
    hooked = run(suite, modules, *options)
    plain = run(suite, modules, "--plain")["outcomes"]
    differing = differences(plain, hooked["outcomes"])
    assert {test: both for test, both in differing.items() if expectation(test) is None} == {}
    assert plain
    assert hooked["instrumented"]


def differences(plain: dict[str, list[str]], hooked: dict[str, list[str]]) -> dict[str, tuple[Any, Any]]:
    """The tests that ended otherwise, ran more or less often, or ran on one side only."""
    names = sorted({*plain, *hooked})
    return {name: (plain.get(name), hooked.get(name)) for name in names if plain.get(name) != hooked.get(name)}


def expectation(test: str) -> str | None:
    """The pattern of `EXPECTED` that the test falls under."""
    return next((pattern for pattern in EXPECTED if fnmatch(test, pattern)), None)


def test_a_test_that_did_not_run_is_a_difference() -> None:
    assert differences({"a": ["passed"], "b": ["passed"]}, {"a": ["passed"]}) == {"b": (["passed"], None)}
    assert differences({"a": ["passed"]}, {"a": ["skipped"]}) == {"a": (["passed"], ["skipped"])}
    assert differences({"a": ["passed"]}, {"a": ["passed", "passed"]})
    assert differences({"a": ["failed"]}, {"a": ["failed"]}) == {}


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
