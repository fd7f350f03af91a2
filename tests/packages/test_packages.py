"""Programs that use packages of other people, which are instrumented too: a wrong use is found, a right one passes.

The packages are installed from PyPI, for the run of these tests only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "programs"

EXPECTED = [
    ("cachetools", "without_a_lock", "fail", "KeyError"),
    ("cachetools", "with_a_lock", "pass", ""),
    ("cachetools", "called_at_the_same_time", "fail", "called 2 times"),
    ("cachetools", "consistent_all_the_same", "pass", ""),
    ("urllib3", "a_connection_for_each", "inconclusive", ""),  # a pool has a finaliser, and when it dies is no step
    ("urllib3", "counted_exactly", "fail", "made 2, counted 1"),
    ("urllib3", "closed_meanwhile", "fail", "a connection is left open"),
    ("urllib3", "never_given_back", "fail", "waits for a notify"),
    ("urllib3", "never_given_back_with_a_timeout", "inconclusive", ""),
    ("pykka", "two_messages", "fail", "AssertionError"),
    ("pykka", "told_and_stopped", "pass", ""),
    ("pykka", "told_by_two", "pass", ""),
    ("circuitbreaker", "counted_exactly", "fail", "failed 2 times, counted 1"),
    ("pubsub", "subscribed_meanwhile", "fail", "AssertionError"),
    ("jinja2", "rendered_by_two", "pass", ""),
    ("readerwriterlock", "consistent", "pass", ""),
]

DISTRIBUTED_AS = {"pubsub": "pypubsub"}
"""Where a package has another name on PyPI."""

TOO_LARGE = {"two_messages"}
"""Sampled: the wrong order is found soon, all orders would take too long."""

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    packages = sorted({DISTRIBUTED_AS.get(package, package) for package, *_ in EXPECTED})
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]
    subprocess.run([*pip, str(directory), *packages], check=True)
    return directory


def check(package: str, name: str, site: Path, *options: str) -> Any:
    target = f"{PROGRAMS / f'with_{package}.py'}::{name}"
    file = site / "report.json"
    command = [sys.executable, "-m", "dpor", "check", target, "--json", str(file), "--max-seconds", "120", *options]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 3), done.stderr
    return json.loads(file.read_text())


@pytest.mark.parametrize(("package", "name", "verdict", "said"), EXPECTED)
def test_instrumented(package: str, name: str, verdict: str, said: str, site: Path) -> None:
    options = ["--strategy", "random", "--seed", "1"] if name in TOO_LARGE else []
    report = check(package, name, site, "--instrument", package, *options)
    assert report["verdict"] == verdict, report
    assert said in json.dumps(report["findings"])


@pytest.mark.parametrize("package", ["cachetools", "urllib3"])
def test_not_instrumented(package: str, site: Path) -> None:
    """What runs as one step shows no failure, and no proof: the report names the cure."""
    name = {"cachetools": "without_a_lock", "urllib3": "counted_exactly"}[package]
    report = check(package, name, site)
    assert report["verdict"] == "inconclusive"
    assert f"--instrument {package}" in " ".join(report["reasons"])
