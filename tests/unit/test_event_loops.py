"""`asyncio` inside threads: each model thread has a running loop of its own, though all are on one OS thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import Any

import dpor


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


def test_threads_of_an_executor_are_refused_with_what_to_do() -> None:
    (reason,) = dpor.check(in_executor).reasons
    assert reason.endswith("starts a threading.Thread, a real thread that cannot be scheduled: start the threads with"
                           " threading.Thread, or concurrent.futures.ThreadPoolExecutor")  # fmt: skip


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


def test_the_orders_of_the_tasks_of_a_loop_are_said_not_to_be_tried() -> None:
    report = dpor.check(gathered)
    assert report.verdict is dpor.Verdict.INCONCLUSIVE
    assert any("several tasks" in reason for reason in report.reasons)
    assert dpor.check(in_tasks_one_after_the_other).verdict is dpor.Verdict.PASS
    asyncio.run(asyncio.wait_for(asyncio.sleep(0), 1))  # the host's own loops are as they were
    assert asyncio.BaseEventLoop.create_task.__module__ == "asyncio.base_events"


def test_that_a_loop_waits_for_a_pool_is_refused() -> None:
    report = dpor.check(in_own_executor)
    assert report.verdict is dpor.Verdict.INCONCLUSIVE
    assert any("executor" in reason for reason in report.reasons)
