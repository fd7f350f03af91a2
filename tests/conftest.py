"""What holds for all tests: those marked slow or network run only if `-m` asks for them, and searches check their
invariants (`dpor.explorers.invariants`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "the same in every run", derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("the same in every run")

os.environ.setdefault("DPOR_CHECK", "1")  # for processes that tests start, too
os.environ.setdefault("DPOR_NO_CACHE", "1")  # what is tested is what the present source makes

ON_REQUEST = ("slow", "network")


@pytest.fixture(autouse=True)
def _path() -> Iterator[None]:
    """A target by the name of a module puts the folder of the test on the path, where no other test is to look."""
    before = list(sys.path)
    yield
    sys.path[:] = before


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = config.getoption("-m")
    for item in items:
        for mark in ON_REQUEST:
            if item.get_closest_marker(mark) and mark not in asked:  # keywords hold names of folders, too
                item.add_marker(pytest.mark.skip(reason=f"asked for with -m {mark}"))
