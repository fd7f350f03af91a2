"""What holds for all tests: those marked slow or network run only if `-m` asks for them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "the same in every run", derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("the same in every run")

ON_REQUEST = ("slow", "network")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = config.getoption("-m")
    for item in items:
        for mark in ON_REQUEST:
            if mark in item.keywords and mark not in asked:
                item.add_marker(pytest.mark.skip(reason=f"asked for with -m {mark}"))
