"""The failures of earlier runs, kept in pytest's cache: their schedules are tried first the next time."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from dpor.core.errors import BadSchedule
from dpor.core.schedule import SavedSchedule, relative

LONGEST = 80


def slug(nodeid: str) -> str:
    """Return a file name for a test, different for different tests.

    >>> slug("tests/test_bank.py::test_transfer[2-3]")
    'test_bank-test_transfer-2-3-4b34df74'
    """
    words = re.sub(r"\W+", "-", nodeid.rsplit("/", 1)[-1].replace(".py", "")).strip("-")
    return f"{words[-LONGEST:]}-{hashlib.sha256(nodeid.encode()).hexdigest()[:8]}"


class FailureStore:
    """A folder in pytest's cache with one file for each test that has failed. Without the cache nothing is kept."""

    def __init__(self, config: pytest.Config) -> None:
        cache = getattr(config, "cache", None)
        self._folder: Path | None = None if cache is None else cache.mkdir("dpor")

    def path(self, item: pytest.Item) -> Path | None:
        return None if self._folder is None else self._folder / f"{slug(item.nodeid)}.json"

    def load(self, item: pytest.Item) -> SavedSchedule | None:
        """Return the schedule of the test's last failure; None if there is none that can be read."""
        path = self.path(item)
        try:
            return SavedSchedule.load(path) if path is not None and path.exists() else None
        except BadSchedule:
            return None

    def keep(self, item: pytest.Item, schedule: SavedSchedule) -> str | None:
        """Save the schedule. Returns the path of the file, None if there is none."""
        path = self.path(item)
        return None if path is None else save(schedule, path)

    def forget(self, item: pytest.Item) -> None:
        path = self.path(item)
        if path is not None:
            path.unlink(missing_ok=True)


def save(schedule: SavedSchedule, path: Path) -> str | None:
    """Save the schedule. Returns the path as reports show it; None if the file cannot be written, as the failure is to
    be reported all the same."""
    try:
        schedule.save(path)
    except BadSchedule:
        return None
    return relative(str(path))
