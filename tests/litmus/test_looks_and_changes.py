"""Whatever looks at an object that another thread changes, and whatever changes it, is an operation."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import dpor
from tests.programs import iterators_and_files, library_looks_and_changes, looks_and_changes, objects_in_c
from tests.programs.looks_and_changes import HEAD, Group

GROUPS = (
    *looks_and_changes.GROUPS,
    *library_looks_and_changes.GROUPS,
    *iterators_and_files.GROUPS,
    *objects_in_c.GROUPS,
    *objects_in_c.ON_EXCEPTIONS,
)

SCENARIO = """
def scenario_{number}():
    {setup}

    def looks():
        def look():
            return {look}

        first = look()
        second = look()
        assert first == second

    def changes():
        {change}

    threads = [threading.Thread(target=looks), threading.Thread(target=changes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


EACH = 4
"""For every run of our tests, only one in so many pairs of a group."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of files and databases left open
@pytest.mark.parametrize("every", [EACH, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group.setup}-{group.looks[0]}-{group.changes[0]}"[:60])
def test_a_change_between_two_looks_is_found(group: Group, every: int, tmp_path: Path) -> None:
    """Or told to be out of reach; never a pass."""
    pairs = list(product(group.looks, group.changes))[::every]
    verdicts = _verdicts(group, pairs, tmp_path / "program.py")
    assert [pair for pair, verdict in verdicts.items() if verdict == "pass"] == []
    assert sum(verdict == "fail" for verdict in verdicts.values()) > len(pairs) / 2


@pytest.mark.parametrize("group", objects_in_c.OUT_OF_REACH, ids=lambda group: group.changes[0])
def test_what_is_not_seen_is_told(group: Group, tmp_path: Path) -> None:
    pairs = list(product(group.looks, group.changes))
    verdicts = _verdicts(group, pairs, tmp_path / "program.py")
    assert [pair for pair, verdict in verdicts.items() if verdict == "pass"] == []


def _verdicts(group: Group, pairs: list[tuple[str, str]], file: Path) -> dict[tuple[str, str], str]:
    file.write_text(
        HEAD
        + "".join(
            SCENARIO.format(number=number, setup=group.setup, look=look, change=change)
            for number, (look, change) in enumerate(pairs)
        )
    )
    return {pair: dpor.check(f"{file}::scenario_{number}").verdict for number, pair in enumerate(pairs)}
