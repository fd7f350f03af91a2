"""`Discipline`: which accesses are silent, what contradicts, and what is known of it in the next search."""

from __future__ import annotations

import pytest

from dpor.core.discipline import MOST, MOST_ALIKE, Contradiction, Discipline
from dpor.core.operations import READ, UPDATE, WRITE, Mode, OperationTable

M, N = 100, 101
X, Y = 0, 1
TABLE = OperationTable()
KINDS = {READ: "read", WRITE: "write", UPDATE: "update"}


class Log:
    """A discipline, and the contradictions that it has told of."""

    def __init__(self) -> None:
        self.found: list[Contradiction] = []
        told = self.found.append
        self.discipline = Discipline(lambda x: x != Y, lambda lock: lock != N + 1, lambda x: (x // 10,), told)

    def access(self, thread: int, mode: Mode, *held: int, at: int = X) -> bool:
        return self.discipline.is_silent(thread, TABLE.intern(KINDS[mode], ((at, mode),)), held)


def test_what_one_thread_alone_accesses_is_silent() -> None:
    log = Log()
    assert all(log.access(1, mode) for mode in (READ, WRITE, UPDATE))
    assert not log.access(2, READ)
    assert log.found == [Contradiction(X, (), ())]


@pytest.mark.parametrize("mode", [READ, UPDATE])
def test_what_does_not_conflict_is_silent(mode: Mode) -> None:
    log = Log()
    assert log.access(1, mode)
    assert log.access(2, mode)
    assert log.access(1, mode)


@pytest.mark.parametrize(("one", "other"), [(READ, WRITE), (READ, UPDATE), (UPDATE, READ), (UPDATE, WRITE)])
def test_what_conflicts_is_not(one: Mode, other: Mode) -> None:
    log = Log()
    assert log.access(1, one)
    assert not log.access(2, other)


def test_what_all_access_under_one_lock_is_silent() -> None:
    log = Log()
    assert log.access(1, WRITE, M, N)
    assert log.access(2, WRITE, M)
    assert log.access(1, READ, N, M)
    assert not log.access(2, READ, N)
    assert log.found == [Contradiction(X, (M,), (N,))]


def test_the_first_accesses_count_too() -> None:
    """An object may be made ready without the lock only before another thread can reach it: then it is not shared."""
    log = Log()
    assert log.access(1, WRITE)
    assert log.access(1, WRITE, M)
    assert not log.access(2, READ, M)


def test_a_lock_that_another_thread_releases_guards_nothing() -> None:
    log = Log()
    assert log.access(1, WRITE, M)
    assert log.access(2, WRITE, M)
    log.discipline.released(M)
    assert log.found == [Contradiction(X, (M,), ())]
    assert log.access(1, WRITE, M, at=5)
    assert not log.access(2, WRITE, M, at=5)


def test_some_locks_guard_nothing_and_some_locations_are_never_silent() -> None:
    log = Log()
    assert log.access(1, WRITE, N + 1)
    assert not log.access(2, WRITE, N + 1)
    assert not log.access(1, READ, M, at=Y)


def test_what_has_been_contradicted_stays_visible() -> None:
    log = Log()
    log.access(1, WRITE)
    log.access(2, WRITE)
    log.discipline.begin()
    assert not log.access(1, WRITE)
    assert len(log.found) == 1


def test_what_else_was_seen_is_forgotten() -> None:
    log = Log()
    assert log.access(1, WRITE)
    log.discipline.begin()
    assert log.access(2, WRITE)
    assert not log.found


def test_an_operation_is_silent_if_all_its_accesses_are() -> None:
    log = Log()
    both = TABLE.intern("both", ((X, WRITE), (Y, READ)))
    assert not log.discipline.is_silent(1, both, (M,))
    assert both.visible is None
    assert not log.access(2, WRITE, N)
    assert log.found == [Contradiction(X, (M,), (N,))]


def test_an_operation_without_accesses_is_an_event() -> None:
    log = Log()
    nothing = TABLE.intern("yield", ())
    assert not log.discipline.is_silent(1, nothing, ())
    assert nothing.visible is log.discipline


def test_an_operation_that_is_always_visible_is_marked() -> None:
    log = Log()
    operation = TABLE.intern("look", ((Y, READ),))
    assert not log.discipline.is_silent(1, operation, ())
    assert operation.visible is log.discipline


def test_after_a_few_searches_all_that_is_alike_is_visible() -> None:
    log = Log()
    for location in range(2, 2 + MOST_ALIKE):
        log.discipline.begin()
        for thread in (1, 2):
            log.access(thread, WRITE, at=location)
    log.discipline.begin()
    assert not log.access(1, WRITE, at=9)
    assert log.access(1, WRITE, at=10)


def test_several_contradictions_in_one_search_count_once() -> None:
    log = Log()
    for location in range(2, 8):
        for thread in (1, 2):
            log.access(thread, WRITE, at=location)
    log.discipline.begin()
    assert log.access(1, WRITE, at=9)


def test_in_the_end_everything_is_visible() -> None:
    log = Log()
    for search in range(MOST):
        log.discipline.begin()
        for thread in (1, 2):
            log.access(thread, WRITE, at=10 * search + 20)
    log.discipline.begin()
    assert not log.access(1, WRITE, at=5)


def test_two_parts_of_a_search_may_contradict_each_other() -> None:
    one, other, agrees = Log(), Log(), Log()
    assert one.access(1, WRITE, M)
    assert other.access(2, READ, N)
    assert agrees.access(2, READ, M, N)
    one.discipline.recall(agrees.discipline.to_json())
    assert not one.found
    one.discipline.recall(other.discipline.to_json())
    assert one.found == [Contradiction(X, (M,), (N,))]
    assert not one.access(1, WRITE, M)


def test_a_search_goes_on_with_what_its_first_part_has_shown() -> None:
    first, second = Log(), Log()
    assert first.access(1, WRITE, M)
    assert first.access(1, WRITE, at=5)
    first.discipline.released(N)
    assert not first.access(1, READ, at=Y)
    second.discipline.recall(first.discipline.to_json())
    assert second.access(2, WRITE, M)
    assert not second.access(2, WRITE, at=5)
    assert second.access(1, WRITE, N, at=6)
    assert not second.access(2, WRITE, N, at=6)
    assert [found.location for found in second.found] == [5, 6]
