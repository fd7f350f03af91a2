"""`Condition`: waiters are first come first woken, and a notify may be spent on one that gives up."""

from __future__ import annotations

import sys
import threading as real
from collections.abc import Callable
from typing import Any

import pytest

from dpor.python.dropins import copying
from tests.under_control import explore, once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")


def run_all(*bodies: Callable[[], Any]) -> None:
    workers = [threading.Thread(target=body, name=f"t{n}") for n, body in enumerate(bodies)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


@pytest.mark.parametrize("method", ["wait", "notify", "notify_all"])
@pytest.mark.parametrize("lock", ["Lock", "RLock"])
def test_a_condition_needs_its_lock(method: str, lock: str) -> None:
    def message(module: Any) -> str:
        condition = module.Condition(getattr(module, lock)())
        with pytest.raises(RuntimeError) as error:
            getattr(condition, method)()
        return str(error.value)

    assert once(lambda: message(threading)) == message(real)


def test_the_lock_is_shared_with_the_condition() -> None:
    def used(module: Any) -> Any:
        lock = module.Lock()
        condition = module.Condition(lock)
        with condition as entered:
            seen = [entered, lock.locked(), condition.acquire(blocking=False)]
        condition.acquire()
        condition.release()
        return [*seen, lock.locked()]

    assert once(lambda: used(threading)) == used(real)


def test_reprs_say_what_the_real_ones_say() -> None:
    def told(module: Any) -> str:
        return repr(module.Condition(module.Lock())).partition(" at ")[0]

    assert once(lambda: told(threading)) == told(real)
    assert once(lambda: repr(threading.Condition())[-5:]) == ", 0)>"


def test_a_wait_that_times_out_at_once_answers_false() -> None:
    def wait(module: Any) -> Any:
        condition = module.Condition()
        with condition:
            return [condition.wait(0), condition.wait(-1), condition.wait(0.001), condition._is_owned()]

    assert once(lambda: wait(threading)) == wait(real) == [False, False, False, True]


def test_arguments_of_a_wait_are_checked_before_the_lock_is_given_back() -> None:
    def wait() -> Any:
        condition = threading.Condition()
        with condition:
            with pytest.raises(OverflowError):
                condition.wait(1e20)
            with pytest.raises(TypeError):
                condition.wait("soon")
            return len(condition._waiters)

    assert once(wait) == 0


def test_a_lost_wake_up_is_found() -> None:
    """The predicate is asked before the lock is taken."""

    def program() -> str:
        condition, ready = threading.Condition(), threading.Event()

        def wait() -> None:
            if not ready.is_set():
                with condition:
                    condition.wait()

        def notify() -> None:
            with condition:
                ready.set()
                condition.notify()

        run_all(wait, notify)
        return "done"

    assert outcomes(program) == {"done", ("MainThread at join", "t0 at rewait")}


def test_waiters_are_woken_in_the_order_in_which_they_came() -> None:
    def program() -> Any:
        condition, came, woken = threading.Condition(), [], []

        def wait(number: int) -> None:
            with condition:
                came.append(number)
                condition.wait()
                woken.append(number)

        def notify() -> None:
            with condition:
                condition.notify()

        run_all(lambda: wait(1), lambda: wait(2), notify)
        return "not reached"

    explored = explore(program)
    assert all(set(outcome) <= {"MainThread at join", "t0 at rewait", "t1 at rewait"} for outcome in explored.outcomes)
    assert len(explored.outcomes) == 3  # nobody, the first, or the second was woken


def test_notify_all_wakes_everybody_that_waits() -> None:
    def program() -> Any:
        condition, awake, waiting = threading.Condition(), [], threading.Semaphore(0)

        def wait(number: int) -> None:
            with condition:
                waiting.release()
                condition.wait()
                awake.append(number)

        def notify() -> None:
            waiting.acquire()
            waiting.acquire()
            with condition:
                condition.notify_all()

        run_all(lambda: wait(1), lambda: wait(2), notify)
        return sorted(awake)

    assert outcomes(program) == {(1, 2)}


def test_a_notify_may_be_spent_on_a_waiter_whose_time_is_up() -> None:
    """The timed waiter comes first, times out, and takes the only notify with it: the other waits for ever."""

    def program() -> Any:
        condition, in_queue, answers = threading.Condition(), [], []

        def timed() -> None:
            with condition:
                in_queue.append("timed")
                answers.append(condition.wait(1))

        def untimed() -> None:
            with condition:
                if in_queue:
                    in_queue.append("untimed")
                    condition.wait()

        def notify() -> None:
            with condition:
                if len(in_queue) == 2:
                    condition.notify()

        run_all(timed, untimed, notify)
        return answers

    found = explore(program).outcomes
    assert ("MainThread at join", "t1 at rewait") in found
    assert {o for o in found if o and o[0] == (False,)} == {((False,),)}


def test_a_wait_gives_a_re_entrant_lock_back_entirely() -> None:
    def program() -> Any:
        condition, seen = threading.Condition(), []

        def wait() -> None:
            with condition, condition, condition:
                seen.append(condition.wait())
                seen.append(condition._lock._recursion_count())

        def notify() -> None:
            with condition:
                condition.notify()

        workers = [threading.Thread(target=wait, name="waiter"), threading.Thread(target=notify)]
        for worker in workers:
            worker.start()
        workers[1].join()
        if len(condition._waiters) == 0 and workers[0].is_alive():
            return "not yet"
        workers[0].join()
        return seen

    assert (True, 3) in {o[0] for o in explore(program).outcomes}


def test_wait_for_asks_again_until_it_holds() -> None:
    def program() -> Any:
        condition, items = threading.Condition(), []

        def produce() -> None:
            for item in "ab":
                with condition:
                    items.append(item)
                    condition.notify()

        worker = threading.Thread(target=produce)
        worker.start()
        with condition:
            answer = condition.wait_for(lambda: len(items) == 2)
        worker.join()
        return answer

    assert outcomes(program) == {True}


def test_wait_for_answers_what_the_predicate_does() -> None:
    def asked(module: Any) -> Any:
        condition = module.Condition()
        with condition:
            return [
                condition.wait_for(lambda: ["x"]),
                condition.wait_for(list, timeout=0),
                condition.wait_for(lambda: "", timeout=0.001),
            ]

    assert once(lambda: asked(threading)) == asked(real) == [["x"], [], ""]


def test_wait_for_gives_up_at_its_deadline() -> None:
    def program() -> Any:
        condition = threading.Condition()

        def poke() -> None:
            with condition:
                condition.notify()

        worker = threading.Thread(target=poke)
        worker.start()
        with condition:
            answer = condition.wait_for(lambda: False, timeout=0.1)
        worker.join()
        return answer

    assert outcomes(program) == {False}


DUCK = """
class Duck:
    def __init__(self):
        self.inner = Lock()

    def acquire(self, blocking=True):
        return self.inner.acquire(blocking)

    def release(self):
        self.inner.release()

    def locked(self):
        return self.inner.locked()

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *exc_info):
        self.release()
"""
"""A lock of the program's own (instrumented, as programs are), on a lock of ours."""

Duck: Any = copying.execute("duck", DUCK, "duck.py", {"Lock": threading.Lock}, lambda name: None).Duck


WITHOUT_LOCKED = [] if sys.version_info >= (3, 14) else ["Semaphore"]


@pytest.mark.parametrize("lock", ["Duck", *WITHOUT_LOCKED, "Condition", "Mine"])
def test_a_condition_on_any_lock_waits_and_is_notified(lock: str) -> None:
    kinds: dict[str, Callable[[], Any]] = {
        "Duck": Duck,
        "Semaphore": threading.Semaphore,
        "Condition": threading.Condition,
        "Mine": type("Mine", (type(once(threading.RLock)),), {}),
    }

    def program() -> Any:
        condition, ready = threading.Condition(kinds[lock]()), []

        def notify() -> None:
            with condition:
                ready.append(1)
                condition.notify_all()

        worker = threading.Thread(target=notify)
        worker.start()
        with condition:
            while not ready:
                condition.wait()
        worker.join()
        return "woken"

    assert outcomes(program) == {"woken"}


def test_a_condition_on_a_lock_of_the_programs_own_needs_it_too() -> None:
    def program() -> Any:
        condition = threading.Condition(Duck())
        with pytest.raises(RuntimeError, match="cannot wait on un-acquired lock"):
            condition.wait()
        with pytest.raises(RuntimeError, match="cannot notify on un-acquired lock"):
            condition.notify()
        return "refused"

    assert once(program) == "refused"


def test_a_plain_lock_that_another_thread_holds_lets_a_wait_begin() -> None:
    """CPython asks only whether the lock is held, and then gives it back for its holder."""

    def program() -> Any:
        lock = threading.Lock()
        condition = threading.Condition(lock)
        lock.acquire()
        worker = threading.Thread(target=lambda: condition.wait(0), name="other")
        worker.start()
        worker.join()
        return lock.locked()

    assert outcomes(program) == {True}


def test_notify_wakes_no_more_than_asked() -> None:
    def program(n: int) -> Any:
        condition, waiting = threading.Condition(), []

        def wait() -> None:
            with condition:
                waiting.append(1)
                condition.wait()

        workers = [threading.Thread(target=wait, daemon=True) for _ in range(3)]
        for worker in workers:
            worker.start()
        while True:
            with condition:
                if len(waiting) == 3:
                    condition.notify(n)
                    return len(condition._waiters)
            return None

    assert outcomes(lambda: program(2)) == {None, 1}
    assert outcomes(lambda: program(0)) == {None, 3}
    assert outcomes(lambda: program(7)) == {None, 0}


def test_a_condition_tells_whether_its_lock_is_held_where_that_of_python_does() -> None:
    def program() -> Any:
        condition = threading.Condition()
        if not hasattr(real.Condition(), "locked"):
            return not hasattr(condition, "locked")
        with condition:
            return condition.locked()

    assert outcomes(program) == {True}
