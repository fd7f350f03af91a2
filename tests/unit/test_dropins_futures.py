"""`concurrent.futures`: CPython's own source on our primitives."""

from __future__ import annotations

import concurrent.futures as real
from collections.abc import Callable
from typing import Any

import pytest

import dpor
from dpor.core.errors import Unsupported
from dpor.core.system import Trace
from dpor.python.dropins.futures import OTHER_POOLS
from dpor.python.kernel.options import RuntimeOptions
from tests.under_control import FunctionSystem, explore, once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")
futures: Any = stdlib.module_for_program("concurrent.futures")


def said(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return type(error).__name__


def test_exceptions_are_the_real_classes() -> None:
    assert futures.TimeoutError is TimeoutError
    for name in ("CancelledError", "InvalidStateError", "BrokenExecutor"):
        assert getattr(futures, name) is getattr(real, name)
    assert issubclass(futures.thread.BrokenThreadPool, real.BrokenExecutor)


def test_it_is_found_under_all_its_names() -> None:
    package: Any = stdlib.module_for_program("concurrent")
    assert package.futures is futures
    assert stdlib.module_for_program("concurrent.futures.thread") is futures.thread
    assert stdlib.module_for_program("concurrent.futures._base") is futures._base
    assert futures.ThreadPoolExecutor is futures.thread.ThreadPoolExecutor
    assert all(hasattr(futures, name) for name in real.__all__)


@pytest.mark.parametrize("pool", [name for name in OTHER_POOLS.values() if hasattr(real, name)])
def test_a_pool_of_processes_or_interpreters_ends_the_check(pool: str) -> None:
    system = FunctionSystem(lambda: getattr(futures, pool)(), RuntimeOptions(), set())
    with pytest.raises(Unsupported, match=rf"{pool} is not modelled: .* use ThreadPoolExecutor"):
        system.run(Trace(), lambda enabled: 0)


def test_names_of_pools_of_processes_can_be_imported() -> None:
    def work() -> None:
        import concurrent.futures.process
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
        from concurrent.futures.process import BrokenProcessPool

        assert ProcessPoolExecutor is concurrent.futures.process.ProcessPoolExecutor
        assert issubclass(BrokenProcessPool, concurrent.futures.BrokenExecutor)
        assert issubclass(ThreadPoolExecutor, concurrent.futures.Executor)

    assert dpor.check(work).verdict == "pass"


def test_a_deadline_of_no_seconds_comes() -> None:
    def work() -> Any:
        with pytest.raises(futures.TimeoutError):
            list(futures.as_completed([futures.Future()], timeout=0))
        return "done"

    assert explore(work).outcomes == {("done",)}


def test_results_come_in_the_order_of_the_arguments() -> None:
    def program() -> Any:
        with futures.ThreadPoolExecutor(max_workers=2) as pool:
            return list(pool.map(lambda x: x * x, [1, 2]))

    assert outcomes(program) == {(1, 4)}


def test_a_result_or_an_exception_is_handed_over() -> None:
    def program() -> Any:
        with futures.ThreadPoolExecutor(1) as pool:
            good, bad = pool.submit(pow, 2, 3), pool.submit(lambda: 1 // 0)
            return good.result(), said(bad.result), type(bad.exception()).__name__, good.done()

    assert outcomes(program) == {(8, "ZeroDivisionError", "ZeroDivisionError", True)}


def test_a_future_is_cancelled_or_already_runs() -> None:
    def program() -> Any:
        with futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(lambda: "ran")
            cancelled = future.cancel()
            return cancelled, said(future.result)

    assert outcomes(program) == {(True, "CancelledError"), (False, "ran")}


def test_a_future_of_the_programs_own_can_be_set_only_once() -> None:
    def program() -> Any:
        future, said_ = futures.Future(), []
        workers = [threading.Thread(target=lambda: said_.append(said(lambda: future.set_result(1)))) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return sorted(said_, key=str), future.result()

    assert outcomes(program) == {(("InvalidStateError", None), 1)}


def test_a_timed_result_may_not_be_there_in_time() -> None:
    def program() -> Any:
        future = futures.Future()
        worker = threading.Thread(target=lambda: future.set_result(1))
        worker.start()
        answer = said(lambda: future.result(timeout=1))
        worker.join()
        return answer

    assert outcomes(program) == {1, "TimeoutError"}


def test_callbacks_run_in_the_thread_that_completes_or_at_once() -> None:
    def program() -> Any:
        future, ran = futures.Future(), []
        worker = threading.Thread(target=lambda: future.set_result(1), name="worker")
        worker.start()
        future.add_done_callback(lambda done: ran.append((threading.current_thread().name, done is future)))
        worker.join()
        return ran

    assert outcomes(program) == {(("worker", True),), (("MainThread", True),)}


def test_wait_tells_what_is_done() -> None:
    def program(return_when: str) -> Any:
        first, second = futures.Future(), futures.Future()
        second.set_result(2)
        worker = threading.Thread(target=lambda: first.set_result(1))
        worker.start()
        done, not_done = futures.wait([first, second], return_when=return_when)
        answer = len(done), len(not_done)
        worker.join()
        return answer

    assert outcomes(lambda: program(futures.ALL_COMPLETED)) == {(2, 0)}
    assert outcomes(lambda: program(futures.FIRST_COMPLETED)) == {(1, 1), (2, 0)}


def test_as_completed_yields_as_they_complete() -> None:
    def program() -> Any:
        first, second = futures.Future(), futures.Future()
        workers = [
            threading.Thread(target=lambda: first.set_result("a")),
            threading.Thread(target=lambda: second.set_result("b")),
        ]
        for worker in workers:
            worker.start()
        order = "".join(future.result() for future in futures.as_completed([first, second]))
        for worker in workers:
            worker.join()
        return order

    assert outcomes(program) == {"ab", "ba"}


def test_nothing_is_taken_after_a_shutdown() -> None:
    def program() -> Any:
        pool = futures.ThreadPoolExecutor(1)
        pool.shutdown()
        return said(lambda: pool.submit(print))

    assert once(program) == "RuntimeError"


def test_a_shutdown_can_cancel_what_has_not_begun() -> None:
    def program() -> Any:
        pool = futures.ThreadPoolExecutor(1)
        made = [pool.submit(lambda: "ran") for _ in range(2)]
        pool.shutdown(cancel_futures=True)
        return [said(future.result) for future in made]

    one, other = "CancelledError", "ran"
    assert outcomes(program) == {(one, one), (one, other), (other, one), (other, other)}


def test_a_pool_that_is_not_shut_down_ends_with_the_main_thread() -> None:
    def program() -> Any:
        return futures.ThreadPoolExecutor(1).submit(lambda: 3).result()

    assert outcomes(program) == {3}


def test_an_initializer_that_fails_breaks_the_pool() -> None:
    def program() -> Any:
        pool = futures.ThreadPoolExecutor(1, initializer=lambda: 1 // 0)
        said_ = said(lambda: pool.submit(print).result())
        pool.shutdown()
        return said_

    import logging

    logging.getLogger("concurrent.futures").disabled = True
    try:
        assert outcomes(program) == {"BrokenThreadPool"}
    finally:
        logging.getLogger("concurrent.futures").disabled = False


def test_threads_of_pools_are_numbered_anew_in_each_run() -> None:
    def program() -> Any:
        names = []
        for _ in range(2):
            with futures.ThreadPoolExecutor(1) as pool:
                names.append(pool.submit(lambda: threading.current_thread().name).result())
        return names

    expected = ("ThreadPoolExecutor-0_0", "ThreadPoolExecutor-1_0")
    assert outcomes(program) == {expected}
    assert outcomes(program) == {expected}


def test_tasks_race_as_threads_do() -> None:
    """The peers miss it: two tasks of a pool that read, then write."""

    def program() -> Any:
        turnstile, value = threading.Lock(), [0]

        def add() -> None:
            with turnstile:
                seen = value[0]
            with turnstile:
                value[0] = seen + 1

        with futures.ThreadPoolExecutor(2) as pool:
            pool.submit(add)
            pool.submit(add)
        return value[0]

    assert outcomes(program) == {1, 2}


def test_a_run_with_a_pool_that_the_main_thread_waited_for_ends_without_further_steps() -> None:
    def program() -> Any:
        with futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: 1).result()

    assert ("global", "concurrent.futures.thread", "_shutdown") not in explore(program).facts


def test_the_threads_of_a_pool_are_counted() -> None:
    def counted() -> Any:
        threading: Any = stdlib.module_for_program("threading")
        with futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(int)
            count = threading.active_count()
            return future.result(), count

    assert outcomes(counted) == {(0, 2)}


def test_to_wait_for_the_first_of_some_tasks_and_submit_others_takes_few_executions() -> None:
    """Whether a task has begun is nothing that one sees by waiting for it, and a worker that is free later delays
    others at most."""

    def program(*generations: int) -> int:
        done = 0
        with futures.ThreadPoolExecutor(2) as pool:
            for count in generations:
                pending = {pool.submit(int) for _ in range(count)}
                while pending:
                    found, pending = futures.wait(pending, return_when="FIRST_COMPLETED")
                    done += len(found)
        return done

    assert explore(lambda: program(1, 1, 1, 1)).runs == 1
    assert explore(lambda: program(1, 2)).runs == 8


def test_a_worker_that_calls_functions_is_not_free() -> None:
    def program() -> str:
        log: list[str] = []
        begin = threading.Event()
        with futures.ThreadPoolExecutor(1) as pool:
            first = pool.submit(begin.wait)
            first.add_done_callback(lambda _: log.append("called"))
            pool.submit(log.append, "next")
            begin.set()
        return " ".join(log)

    assert outcomes(program) == {"called next"}


def test_a_pool_has_no_more_workers_than_it_may() -> None:
    def program() -> int:
        at_work, most = 0, 0
        lock = threading.Lock()

        def work() -> None:
            nonlocal at_work, most
            with lock:
                at_work += 1
                most = max(most, at_work)
            with lock:
                at_work -= 1

        with futures.ThreadPoolExecutor(2) as pool:
            for _ in range(3):
                pool.submit(work)
        return most

    assert outcomes(program) == {1, 2}
