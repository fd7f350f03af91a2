"""Every way of touching a shared object is an operation: each small program has exactly its outcomes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import dpor
from tests.programs.touches import OUTCOMES

LIMITED = ("match_class",)
"""What it does is one step here and several in CPython: told as a limit (README)."""


@pytest.mark.parametrize("program", OUTCOMES, ids=lambda program: program.__name__)
def test_all_outcomes_are_found(program: Callable[[], object]) -> None:
    report = dpor.check(program, all=True, max_seconds=None)
    assert report.outcomes == OUTCOMES[program]
    if program.__name__ in LIMITED:
        assert not report.exhaustive
    else:
        assert report.exhaustive, report.reasons
