"""The files that ARCHITECTURE, CONTRIBUTING and GLOSSARY name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("dpor", "statics", "workloads", "tests", "bench")
NOT_OURS = {"bank.py"}
"""Examples of programs."""


def _missing(text: str) -> set[str]:
    """The Python files that are named in backticks, by the end of their path, and are not there."""
    there = [path.as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    named = {name for quoted in re.findall(r"`([^`]+)`", text) for name in re.findall(r"[\w/]+\.py\b", quoted)}
    return {name for name in named - NOT_OURS if not any(f"/{path}".endswith(f"/{name}") for path in there)}


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "tests/README.md"])
def test_every_file_that_is_named_is_there(page: str) -> None:
    assert not _missing((ROOT / page).read_text(encoding="utf-8"))


def test_a_file_that_is_not_there_is_noticed() -> None:
    assert _missing("see `kernel/run.py` and `kernel/control.py`") == {"kernel/control.py"}
