"""What holds for all tests: those marked slow or network run only if `-m` asks for them, and searches check their
invariants (`dpor.explorers.invariants`)."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from dpor.python.program import initial_state, unseen_calls
from dpor.python.program.system import PythonSystem

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


@pytest.fixture(autouse=True)
def _executed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules are executed again before each run, also if they are much code. To restore them goes through all that a
    process has loaded, and that of the tests is large. tests/unit/test_module_contents.py is about restoring."""
    monkeypatch.setattr(initial_state, "LEAST_SIZE", float("inf"))


@pytest.fixture(autouse=True)
def _unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter does not tell of calls: most tests run nothing but code with hooks, in few runs, and would take
    half as long again. And what hooks see is tested by them alone. tests/regressions/test_unseen_calls.py has both."""
    monkeypatch.setattr(unseen_calls, "is_to_be_watched", lambda number: False)


@pytest.fixture(autouse=True)
def _left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Programs are left when the test is over, not only when the process ends. Else all would stay in memory, some
    4 GB: the next one remembers which classes there are."""
    made: list[weakref.ref[PythonSystem]] = []
    init = PythonSystem.__init__

    def noted(self: PythonSystem, *args: Any, **kwargs: Any) -> None:
        made.append(weakref.ref(self))
        init(self, *args, **kwargs)

    monkeypatch.setattr(PythonSystem, "__init__", noted)
    yield
    for each in made:
        if (system := each()) is not None and hasattr(system, "_loader"):
            system.leave()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = config.getoption("-m")
    for item in items:
        for mark in ON_REQUEST:
            if item.get_closest_marker(mark) and mark not in asked:  # keywords hold names of folders, too
                item.add_marker(pytest.mark.skip(reason=f"asked for with -m {mark}"))
