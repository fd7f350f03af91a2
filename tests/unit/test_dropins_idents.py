"""Idents of threads: one that has ended may leave its own to a later one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source_outcomes import outcomes

STALE = """
def scenario():
    seen, stale = set(), []
    def work():
        stale.append(threading.get_ident() in seen)
        seen.add(threading.get_ident())
    for _ in range(2):
        run(work)
    return stale[1]
"""


def test_what_is_kept_by_ident_may_be_stale(tmp_path: Path) -> None:
    assert outcomes(tmp_path, STALE) == {False, True}


@pytest.mark.parametrize("ask", ["a.ident == b.ident", "repr(a).split()[-1] == repr(b).split()[-1]"])
def test_others_see_the_same_ident(ask: str, tmp_path: Path) -> None:
    source = f"""
def scenario():
    a, b = (threading.Thread(target=lambda: None) for _ in range(2))
    for thread in (a, b):
        thread.start()
        thread.join()
    return {ask}
"""
    assert outcomes(tmp_path, source) == {False, True}


def test_two_threads_that_may_be_alive_at_once_have_idents_of_their_own(tmp_path: Path) -> None:
    source = """
def scenario():
    idents = []
    def work():
        idents.append(threading.get_ident())
    run(work)
    run(work, work)
    return idents[1] == idents[2]
"""
    assert outcomes(tmp_path, source) == {False}


def test_a_search_that_stores_states_says_that_it_does_not_try_this(tmp_path: Path) -> None:
    found = outcomes(tmp_path, STALE, "dpor")
    assert found == {False}
    assert [reason[:40] for reason in found.incomplete] == ["that a thread gets the ident of one that"]


def test_idents_that_nobody_asks_for_cost_nothing(tmp_path: Path) -> None:
    source = """
def scenario():
    for _ in range(3):
        run(lambda: None)
"""
    assert outcomes(tmp_path, source).executions == 1
