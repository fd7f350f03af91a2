"""`queue`: our own classes, or CPython's source once a program has opened them."""

from __future__ import annotations

import queue as real
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.under_control import explore, once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")
queue: Any = stdlib.module_for_program("queue")


def said(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return type(error).__name__


def run_all(*bodies: Callable[[], Any]) -> None:
    workers = [threading.Thread(target=body, name=f"t{n}") for n, body in enumerate(bodies)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def test_exceptions_are_the_real_classes() -> None:
    for name in ("Empty", "Full", "ShutDown"):
        assert getattr(queue, name, None) is getattr(real, name, None)
    assert stdlib.module_for_program("_queue").Empty is real.Empty  # type: ignore[union-attr]


def test_the_module_has_all_that_the_real_one_lists() -> None:
    assert queue.__all__ == real.__all__
    assert all(hasattr(queue, name) for name in real.__all__)


@pytest.mark.parametrize("kind", ["Queue", "LifoQueue", "PriorityQueue"])
def test_one_thread_sees_what_it_sees_of_the_real_one(kind: str) -> None:
    def used(module: Any) -> Any:
        q = getattr(module, kind)(3)
        for item in (2, 3, 1):
            q.put(item)
        seen = [q.full(), q.qsize(), said(lambda: q.put_nowait(0)), said(lambda: q.put(0, timeout=0.001))]
        seen += [q.get(), q.get(timeout=1), q.get_nowait(), q.empty(), said(q.get_nowait)]
        seen += [said(lambda: q.get(timeout=0.001)), said(lambda: q.get(timeout=-1))]
        for _ in range(3):
            q.task_done()
        q.join()
        return [*seen, said(q.task_done)]

    assert once(lambda: used(queue)) == used(real)


def test_a_simple_queue_is_used_as_the_real_one() -> None:
    def used(module: Any) -> Any:
        q = module.SimpleQueue()
        seen = [q.empty(), said(q.get_nowait), said(lambda: q.get(False)), said(lambda: q.get(timeout=0.001))]
        q.put(1)
        q.put(2, True, 5)
        q.put_nowait(3)
        seen += [q.qsize(), q.get(), q.get(timeout=1), q.get(block=False), q.empty()]
        return [*seen, said(lambda: q.get(timeout=-1)), said(lambda: q.get(True, 0)), repr(q).partition(" at ")[0]]

    assert once(lambda: used(queue)) == used(real)


@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue"])
def test_a_get_waits_for_a_put(kind: str) -> None:
    def program() -> Any:
        q, got = getattr(queue, kind)(), []
        run_all(lambda: got.append(q.get()), lambda: q.put("x"))
        return got

    assert outcomes(program) == {("x",)}


@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue"])
def test_a_get_that_does_not_wait_may_find_nothing(kind: str) -> None:
    def program() -> Any:
        q, got = getattr(queue, kind)(), []
        run_all(lambda: got.append(said(q.get_nowait)), lambda: q.put("x"))
        return got

    assert outcomes(program) == {("x",), ("Empty",)}


@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue"])
def test_a_timed_get_may_give_up(kind: str) -> None:
    def program() -> Any:
        q, got = getattr(queue, kind)(), []
        run_all(lambda: got.append(said(lambda: q.get(timeout=1))), lambda: q.put("x"))
        return got

    assert outcomes(program) == {("x",), ("Empty",)}
    assert outcomes(program, timeouts="idle") == {("x",)}


@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue"])
def test_puts_of_several_threads_come_in_any_order(kind: str) -> None:
    def program() -> Any:
        q = getattr(queue, kind)()
        run_all(lambda: q.put(1), lambda: q.put(2))
        return [q.get(), q.get()]

    explored = explore(program, "optimal")
    assert explored.outcomes == {((1, 2),), ((2, 1),)}
    assert explored.runs == 2


def test_a_put_into_a_full_queue_waits() -> None:
    def program() -> Any:
        q, order = queue.Queue(maxsize=1), []

        def put() -> None:
            for item in range(3):
                q.put(item)

        run_all(put, lambda: order.extend(q.get() for _ in range(3)))
        return order

    assert outcomes(program) == {(0, 1, 2)}


def test_a_put_into_a_queue_that_stays_full_waits_for_ever() -> None:
    def program() -> Any:
        q = queue.Queue(maxsize=1)
        run_all(lambda: q.put(1), lambda: q.put(2))
        return "done"

    assert outcomes(program) == {("MainThread at join", "t0 at put"), ("MainThread at join", "t1 at put")}


def test_join_waits_until_all_is_done() -> None:
    def program() -> Any:
        q, done = queue.Queue(), []

        def work() -> None:
            for _ in range(2):
                done.append(q.get())
                q.task_done()

        for item in range(2):
            q.put(item)
        worker = threading.Thread(target=work)
        worker.start()
        q.join()
        seen = list(done)
        worker.join()
        return seen

    assert outcomes(program) == {(0, 1)}


def test_a_size_that_was_asked_may_be_old() -> None:
    def program() -> Any:
        q, seen = queue.SimpleQueue(), []
        run_all(lambda: q.put(1), lambda: seen.append((q.empty(), said(q.get_nowait))))
        return seen

    assert outcomes(program) == {((True, "Empty"),), ((True, 1),), ((False, 1),)}


def test_a_simple_queue_that_is_not_empty_has_an_item_to_get() -> None:
    """In the pure Python twin an item is there before it can be taken; in the C type it never is."""

    def program() -> Any:
        q, seen = queue.SimpleQueue(), []

        def get() -> None:
            if not q.empty():
                seen.append(said(q.get_nowait))

        run_all(lambda: q.put(1), get)
        return seen

    assert outcomes(program) == {(), (1,)}


def test_a_put_is_one_event() -> None:
    assert explore(lambda: run_all(queue.SimpleQueue().put_nowait, lambda: None) or 1).outcomes  # a wrong call is told

    def program() -> Any:
        q = queue.SimpleQueue()
        run_all(lambda: q.put(1))
        return q.get()

    assert explore(program).events == 1 + 1 + 1 + 1 + 1 + 1  # start, put, end, join, get, and the main thread's end


@pytest.mark.skipif(sys.version_info < (3, 13), reason="new in 3.13")
def test_a_shutdown_wakes_those_who_wait() -> None:
    def program() -> Any:
        q, got = queue.Queue(), []
        run_all(lambda: got.append(said(q.get)), q.shutdown)
        return got

    assert outcomes(program) == {("ShutDown",)}


@pytest.mark.skipif(sys.version_info < (3, 13), reason="new in 3.13")
def test_an_immediate_shutdown_drops_what_is_there() -> None:
    def program() -> Any:
        q, got = queue.Queue(), []
        q.put("x")
        run_all(lambda: got.append(said(q.get)), lambda: q.shutdown(immediate=True))
        return [*got, said(lambda: q.put(1))]

    assert outcomes(program) == {("x", "ShutDown"), ("ShutDown", "ShutDown")}
