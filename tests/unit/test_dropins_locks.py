"""`Lock` and `RLock`: as the real ones for one thread, all outcomes for several."""

from __future__ import annotations

import threading as real
from collections.abc import Callable
from typing import Any

import pytest

from tests.under_control import explore, once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")


def said(action: Callable[[], Any]) -> Any:
    """What an action answers, or the error that it raises, in words."""
    try:
        return action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


ARGUMENTS = [
    ((), {}),
    ((True,), {}),
    ((False,), {}),
    ((1,), {}),
    ((0,), {}),
    ((True, -1), {}),
    ((True, 0), {}),
    ((True, 5), {}),
    ((True, -2), {}),
    ((False, 1), {}),
    ((False, 0), {}),
    ((False, -1), {}),
    ((True, 1e20), {}),
    ((True, float("nan")), {}),
    ((True, None), {}),
    (("x",), {}),
    ((), {"timeout": 2.5}),
    ((), {"blocking": False, "timeout": -1}),
]


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
@pytest.mark.parametrize(("args", "kwargs"), ARGUMENTS)
def test_a_free_lock_takes_its_arguments_as_the_real_one(kind: str, args: Any, kwargs: Any) -> None:
    def acquire(module: Any) -> Any:
        return said(lambda: getattr(module, kind)().acquire(*args, **kwargs))

    assert once(lambda: acquire(threading)) == acquire(real)


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_releasing_a_free_lock_is_the_real_error(kind: str) -> None:
    def release(module: Any) -> Any:
        return said(getattr(module, kind)().release)

    assert once(lambda: release(threading)) == release(real)


def test_a_held_lock_is_not_taken_again() -> None:
    def try_again(module: Any) -> Any:
        lock = module.Lock()
        with lock as entered:
            return entered, lock.locked(), lock.acquire(False), lock.acquire(timeout=0), lock.acquire(timeout=0.01)

    assert once(lambda: try_again(threading)) == try_again(real) == (True, True, False, False, False)


def test_a_re_entrant_lock_counts() -> None:
    def count(module: Any) -> Any:
        lock = module.RLock()
        seen = [lock._is_owned(), lock._recursion_count()]
        with lock, lock:
            seen += [lock._is_owned(), lock._recursion_count(), lock.acquire(False)]
            lock.release()
            saved = lock._release_save()
            seen += [saved[0], lock._is_owned()]
            lock._acquire_restore(saved)
            seen += [lock._recursion_count()]
        return seen, said(lock.release)

    assert once(lambda: count(threading)) == count(real)


def test_reprs_say_what_the_real_ones_say() -> None:
    def told(module: Any) -> list[str]:
        lock, again = module.Lock(), module.RLock()
        first = [repr(lock), repr(again)]
        with lock, again, again:
            texts = [*first, repr(lock), repr(again)]
        owner = f"owner={module.get_ident()}"
        return [text.partition(" at ")[0].replace(owner, "owner=me") for text in texts]

    assert once(lambda: told(threading)) == told(real)


def test_an_address_is_the_same_in_every_run() -> None:
    def addresses() -> Any:
        lock = threading.Lock()
        thread = threading.Thread(target=lock.acquire)
        thread.start()
        lock.acquire(False)
        lock.release()
        thread.join()
        return repr(lock)[-12:]

    explored = explore(addresses)
    assert explored.runs > 1
    assert len(explored.outcomes) == 1


def test_a_lock_cannot_be_a_base_class() -> None:
    with pytest.raises(TypeError, match=r"type '_thread\.lock' is not an acceptable base type"):
        type("Mine", (threading.Lock,), {})


def test_a_subclass_of_a_re_entrant_lock_is_shown_by_its_name() -> None:
    import _thread

    def told(module: Any) -> str:
        return repr(type("Mine", (module.RLock,), {})()).partition(" at ")[0]

    assert once(lambda: told(stdlib.module_for_program("_thread"))) == told(_thread)


def entering(make: Callable[[], Any], threads: int) -> Callable[[], Any]:
    """Each thread enters once: the order in which they do."""

    def program() -> Any:
        lock, order = make(), []

        def enter(number: int) -> None:
            with lock:
                order.append(number)

        workers = [threading.Thread(target=enter, args=(n,)) for n in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return "".join(map(str, order))

    return program


@pytest.mark.parametrize("strategy", ["source", "optimal"])
@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_threads_enter_in_every_order(kind: str, strategy: str) -> None:
    explored = explore(entering(getattr(threading, kind), 3), strategy)
    assert {o[0] for o in explored.outcomes} == {"012", "021", "102", "120", "201", "210"}
    assert explored.runs == 6


def test_events_are_one_to_a_step() -> None:
    """Two threads: a start, an acquire, a release, an end and a join each, and the main thread's end."""
    assert explore(entering(threading.Lock, 2), "optimal").runs == 2
    assert explore(entering(threading.Lock, 1), "none").events == 5 + 1


def test_two_locks_in_opposite_order_deadlock() -> None:
    def program() -> str:
        a, b = threading.Lock(), threading.Lock()

        def take(first: Any, second: Any) -> None:
            with first, second:
                pass

        workers = [threading.Thread(target=take, args=pair, name=n) for pair, n in (((a, b), "ab"), ((b, a), "ba"))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return "done"

    assert outcomes(program) == {"done", ("MainThread at join", "ab at lock", "ba at lock")}


def test_a_try_fails_or_succeeds() -> None:
    def program() -> Any:
        lock, got = threading.Lock(), []
        worker = threading.Thread(target=lambda: (lock.acquire(), lock.release()))
        worker.start()
        got.append(lock.acquire(blocking=False))
        if got[0]:
            lock.release()
        worker.join()
        return got[0]

    assert outcomes(program) == {True, False}


def test_a_timed_acquire_may_time_out_while_the_lock_is_held() -> None:
    def program() -> Any:
        lock = threading.Lock()
        worker = threading.Thread(target=lambda: (lock.acquire(), lock.release()))
        worker.start()
        got = lock.acquire(timeout=1)
        if got:
            lock.release()
        worker.join()
        return got

    assert outcomes(program) == {True, False}
    assert outcomes(program, timeouts="idle") == {True}


def test_another_thread_may_release_a_plain_lock_and_not_a_re_entrant_one() -> None:
    def program(kind: str) -> Any:
        lock = getattr(threading, kind)()
        lock.acquire()
        worker = threading.Thread(target=lock.release, name="other")
        worker.start()
        worker.join()
        return "done"

    assert outcomes(lambda: program("Lock")) == {"done"}
    assert outcomes(lambda: program("RLock")) == {("done", "other: RuntimeError: cannot release un-acquired lock")}
