"""`asyncio` inside threads: each model thread has a running loop of its own, though all are on one OS thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import Any

import pytest

import dpor
from dpor.core.outcome import Kind


def both(body: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def racy() -> None:
    box = [0]

    async def add() -> None:
        value = box[0]
        await asyncio.sleep(0)
        box[0] = value + 1

    both(lambda: asyncio.run(add()))
    assert box[0] == 2


def locked() -> None:
    box, lock = [0], threading.Lock()

    async def add() -> None:
        with lock:
            value = box[0]
            await asyncio.sleep(0)
            box[0] = value + 1

    both(lambda: asyncio.run(add()))
    assert box[0] == 2


def no_loop() -> str:
    try:
        asyncio.get_running_loop()
    except RuntimeError as error:
        return str(error)
    return "there is one"


def in_executor() -> Any:
    async def ask() -> Any:
        return await asyncio.to_thread(lambda: 1)

    return asyncio.run(ask())


def test_two_threads_each_run_a_loop() -> None:
    (failure,) = dpor.check(racy).findings
    assert failure.message.startswith("AssertionError")
    report = dpor.check(locked)
    assert (report.verdict, report.exhaustive) == ("pass", True)


def test_the_loop_of_the_checker_is_not_the_programs() -> None:
    async def checking() -> tuple[list[str], bool]:
        report = dpor.check(no_loop)
        return list(report.outcome_digests.values()), asyncio.get_running_loop().is_running()

    assert asyncio.run(checking()) == (["returned 'no running event loop'"], True)


def test_the_executor_of_a_loop_is_of_the_program() -> None:
    """From 3.12 on, a loop waits for its executor no longer than 300 seconds, and then warns."""
    report = dpor.check(in_executor, timeouts="idle")
    assert report.verdict is dpor.Verdict.PASS
    assert list(report.outcome_digests.values()) == ["returned 1"]


def gathered() -> None:
    async def main() -> None:
        order: list[int] = []

        async def step(n: int) -> None:
            await asyncio.sleep(n / 1000)
            order.append(n)

        await asyncio.gather(step(1), step(2))
        assert order == [1, 2]

    asyncio.run(main())


def in_tasks_one_after_the_other() -> None:
    async def main() -> None:
        for n in range(2):
            asyncio.get_running_loop().call_soon(lambda: None)
            assert await asyncio.sleep(0, n) == n

    asyncio.run(main())
    asyncio.run(main())


def in_own_executor() -> None:
    async def main() -> None:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            await asyncio.get_running_loop().run_in_executor(pool, int)

    asyncio.run(main())


def two_tasks_and_timers() -> list[str]:
    order: list[str] = []

    async def sleep(name: str, *seconds: float) -> None:
        for part in seconds:
            await asyncio.sleep(part)
        order.append(name)

    async def main() -> None:
        await asyncio.gather(sleep("in two", 0.001, 0.001), sleep("in one", 0.01))

    asyncio.run(main())
    return order


def a_timer_and_other_callbacks() -> list[str]:
    order: list[str] = []

    async def main() -> None:
        asyncio.get_running_loop().call_later(1, order.append, "timer")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        order.append("task")
        await asyncio.sleep(2)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    thread.join()
    return order


@pytest.mark.parametrize(
    ("program", "first", "second"),
    [(two_tasks_and_timers, "in two", "in one"), (a_timer_and_other_callbacks, "task", "timer")],
)
def test_a_loop_may_be_late(program: Callable[[], object], first: str, second: str) -> None:
    outcomes = {f"returned ['{first}', '{second}']", f"returned ['{second}', '{first}']"}
    report = dpor.check(program)
    assert (report.verdict, set(report.outcome_digests.values())) == ("pass", outcomes)
    idle = dpor.check(program, timeouts="idle")
    assert (idle.executions, set(idle.outcome_digests.values())) == (1, {f"returned ['{first}', '{second}']"})


def test_timers_of_a_late_loop_run_in_their_order() -> None:
    assert dpor.check(gathered).verdict is dpor.Verdict.PASS
    assert dpor.check(in_tasks_one_after_the_other).verdict is dpor.Verdict.PASS
    asyncio.run(asyncio.wait_for(asyncio.sleep(0), 1))  # the host's own loops are as they were
    assert asyncio.BaseEventLoop.create_task.__module__ == "asyncio.base_events"


def test_a_loop_waits_for_a_pool() -> None:
    assert dpor.check(in_own_executor).verdict is dpor.Verdict.PASS


def called_by_two_threads() -> str:
    """In whichever order they come, and each of them wakes the loop."""

    async def main() -> str:
        loop, seen, over = asyncio.get_running_loop(), "", asyncio.Event()

        def see(name: str) -> None:
            nonlocal seen
            seen += name
            if len(seen) == 2:
                over.set()

        threads = [threading.Thread(target=loop.call_soon_threadsafe, args=(see, name)) for name in "ab"]
        for thread in threads:
            thread.start()
        await over.wait()
        for thread in threads:
            thread.join()
        return seen

    return asyncio.run(main())


def told_without_being_woken() -> None:
    async def main() -> None:
        done = asyncio.get_running_loop().create_future()
        thread = threading.Thread(target=lambda: done.set_result(1))
        thread.start()
        await done
        thread.join()

    asyncio.run(main())


def submitting() -> int:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def add(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    found = asyncio.run_coroutine_threadsafe(add(1, 2), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    return found


def sharing_a_queue() -> None:
    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        thread = threading.Thread(target=lambda: queue.put_nowait(1))
        thread.start()
        queue.put_nowait(2)
        thread.join()
        assert queue.qsize() == 2

    asyncio.run(main())


def called_late() -> tuple[object, ...]:
    """The callback runs in the last round of the loop, or is added after that, or finds the loop closed."""
    seen: list[object] = []

    async def main() -> threading.Thread:
        loop = asyncio.get_running_loop()

        def call() -> None:
            try:
                loop.call_soon_threadsafe(seen.append, 1)
            except RuntimeError as error:
                seen.append(str(error))

        thread = threading.Thread(target=call)
        thread.start()
        return thread

    asyncio.run(main()).join()
    return tuple(seen)


def test_threads_call_a_loop_that_may_have_stopped() -> None:
    report = dpor.check(called_late)
    assert report.verdict is dpor.Verdict.PASS
    assert sorted(report.outcome_digests.values()) == [
        "returned ('Event loop is closed',)",
        "returned ()",
        "returned (1,)",
    ]


def test_threads_call_a_loop_in_every_order() -> None:
    report = dpor.check(called_by_two_threads)
    assert report.verdict is dpor.Verdict.PASS
    assert sorted(report.outcome_digests.values()) == ["returned 'ab'", "returned 'ba'"]


def test_a_loop_that_is_not_woken_waits_for_ever() -> None:
    (failure,) = dpor.check(told_without_being_woken).findings
    assert failure.kind is Kind.DEADLOCK


def test_a_coroutine_is_given_to_the_loop_of_another_thread() -> None:
    report = dpor.check(submitting)
    assert report.verdict is dpor.Verdict.PASS
    assert list(report.outcome_digests.values()) == ["returned 3"]


def cancelling() -> tuple[int, ...]:
    seen: list[int] = []

    async def main() -> None:
        handle = asyncio.get_running_loop().call_soon_threadsafe(seen.append, 1)
        thread = threading.Thread(target=handle.cancel)
        thread.start()
        await asyncio.sleep(0)
        thread.join()

    asyncio.run(main())
    return tuple(seen)


def test_that_another_thread_cancels_a_callback_is_said() -> None:
    """It may come before the callback runs, or after that."""
    report = dpor.check(cancelling)
    assert report.verdict is dpor.Verdict.INCONCLUSIVE
    assert any("a thread other than the loop's cancels" in reason for reason in report.reasons)


def test_that_threads_share_an_object_of_asyncio_is_said() -> None:
    report = dpor.check(sharing_a_queue)
    assert report.verdict is dpor.Verdict.INCONCLUSIVE
    assert any("several threads use a Queue of asyncio" in reason for reason in report.reasons)
