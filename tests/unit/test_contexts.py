"""Context variables: what one is set to belongs to the thread, unless threads share the context itself."""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
from collections.abc import Callable

import pytest

import dpor

depth = contextvars.ContextVar("depth", default=0)
box = contextvars.ContextVar("box", default=[0])  # noqa: B039 - that threads share it is the point


def both(first: Callable[[], object], second: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def private() -> None:
    def deepen() -> None:
        token = depth.set(depth.get() + 1)
        assert depth.get() == 1
        depth.reset(token)

    depth.set(7)
    both(deepen, deepen)
    assert depth.get() == 7


def in_a_default() -> int:
    def add() -> None:
        box.get()[0] += 1

    both(add, add)
    return box.get()[0]


def in_a_copy() -> int:
    box.set([0])
    context = contextvars.copy_context()

    def add() -> None:
        box.get()[0] += 1

    both(lambda: context.run(add), add_to(box.get()))
    return box.get()[0]


def add_to(numbers: list[int]) -> Callable[[], None]:
    def add() -> None:
        numbers[0] += 1

    return add


def the_context_itself() -> list[int | None]:
    context = contextvars.copy_context()
    seen: list[int | None] = []
    both(lambda: context.run(depth.set, 1), lambda: seen.append(context.get(depth)))
    return seen


def entered_by_both() -> int:
    """A context can be entered only when the other thread has left it."""
    context = contextvars.copy_context()
    seen: list[int] = []

    def enter() -> None:
        with contextlib.suppress(RuntimeError):
            context.run(lambda: seen.append(1))

    both(enter, enter)
    return len(seen)


@pytest.mark.parametrize(
    ("program", "executions", "outcomes"),
    [(private, 1, 1), (in_a_default, 4, 2), (in_a_copy, 4, 2), (the_context_itself, 2, 2), (entered_by_both, 4, 2)],
)
def test_executions_and_outcomes(program: Callable[[], object], executions: int, outcomes: int) -> None:
    report = dpor.check(program, all=True)
    assert (report.verdict, report.executions, report.outcomes) == ("pass", executions, outcomes)


if sys.version_info >= (3, 14):

    def entered() -> list[object]:
        """In the context of the other if that has left it, else with an error; and it sees what the other has set."""
        context, seen, hook = contextvars.Context(), [], threading.excepthook

        def deepen() -> None:
            depth.set(depth.get() + 1)
            seen.append(depth.get())

        threading.excepthook = lambda args: seen.append(str(args.exc_value).partition(":")[0])
        threads = [threading.Thread(target=deepen, context=context) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        threading.excepthook = hook
        return sorted(map(str, seen))

    def test_threads_are_given_a_context() -> None:
        report = dpor.check(entered)
        assert report.verdict is dpor.Verdict.PASS
        assert sorted(report.outcome_digests.values()) == [
            "returned ['1', '2']",
            "returned ['1', 'cannot enter context']",
        ]
