"""The folder `elsewhere` has libraries that programs of the judge use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.judge.baton import Abort

collect_ignore_glob = ["elsewhere/*"]


@pytest.fixture(autouse=True, scope="session")
def aborts_are_silent() -> Iterator[None]:
    """When a run of the judge is over, it raises `Abort` in its threads. A generator of theirs that a collection closes
    later may get one as well, which nobody can catch."""
    report = sys.unraisablehook

    def report_unless_aborted(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, Abort):
            report(unraisable)

    sys.unraisablehook = report_unless_aborted
    yield
    sys.unraisablehook = report
