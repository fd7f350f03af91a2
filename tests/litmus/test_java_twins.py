"""The counts in docs/stateful.md, of the programs that are quick."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import dpor
from tests.programs import monitors, twins

TABLE = (Path(__file__).parents[2] / "docs" / "stateful.md").read_text()
PROGRAMS: dict[str, str | Callable[[], object]] = {
    "chen & macdonald": "chen_macdonald",
    "plus minus 1": "counter:rounds=1",
    "plus minus 2": "counter:rounds=2",
    "plus minus 3": "counter:rounds=3",
    "lock beside the object, endless": monitors.lock_beside_object(),
    "philosophers 3": monitors.philosophers(3),
    "readers 4": twins.readers(4),
    "indexer 2 x 4": twins.indexer(2),
}


@pytest.mark.parametrize("column", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_table_is_true(name: str, column: int) -> None:
    row = next(line for line in TABLE.splitlines() if line.startswith(f"| {name} |"))
    told = re.findall(r"[\d,]*\d", row.split("|")[2 + column])
    report = dpor.check(PROGRAMS[name], strategy=("original", "dpor")[column - 1], all=True)
    assert report.exhaustive, report.reasons
    assert [f"{n:,}" for n in (report.choices, report.states, report.matched)] == told
