"""Context managers made by `contextlib`, which is not instrumented: what they call is the program's."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import pytest

import dpor


class Counter:
    def __init__(self) -> None:
        self.n = 0
        self.lock = threading.Lock()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        with self.lock:
            yield

    @contextlib.contextmanager
    def racy(self) -> Iterator[None]:
        value = self.n
        yield
        self.n = value + 1

    def under_lock(self) -> None:
        with self.locked():
            self.n += 1

    def in_a_stack(self) -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.locked())
            self.n += 1

    def unguarded(self) -> None:
        with self.racy():
            pass

    def decorated(self) -> None:
        @self.racy()
        def nothing() -> None:
            pass

        nothing()


def counted(first: Callable[[Counter], None], second: Callable[[Counter], None]) -> dpor.Report:
    def program() -> None:
        counter = Counter()
        threads = [threading.Thread(target=body, args=(counter,)) for body in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counter.n == 2

    return dpor.check(program)


def test_a_lock_held_by_a_context_manager() -> None:
    report = counted(Counter.under_lock, Counter.in_a_stack)
    assert (report.verdict, report.exhaustive, report.executions) == ("pass", True, 2)


@pytest.mark.parametrize("body", [Counter.unguarded, Counter.decorated])
def test_a_race_inside_a_context_manager(body: Callable[[Counter], None]) -> None:
    assert counted(body, Counter.under_lock).verdict == "fail"


def test_a_stack_that_threads_share_is_instrumented() -> None:
    def program() -> int:
        done: list[int] = []
        stack = contextlib.ExitStack()
        stack.callback(done.append, 1)
        threads = [threading.Thread(target=stack.close) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(done)

    report = dpor.check(program, all=True)
    assert report.exhaustive
    assert report.restarts
