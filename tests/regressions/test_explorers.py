"""Programs on which an explorer once lost something, made small."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from dpor.core.system import Ending
from dpor.explorers import STRATEGIES
from dpor.model import AbstractSystem
from dpor.model.syntax import parse
from dpor.testing import trace_class
from tests.source_outcomes import outcomes

PROGRAMS: dict[str, dict[str, Any]] = {
    # Values of a choice were planned only when the choice was new: the sleeping value 0 hid the orders of the writes
    # that go with value 1.
    "choice-beside-a-race": {
        "vars": {"x": 0},
        "threads": [["choose a 2"], ["choose b 2"], ["w x 1", "w x 2"], ["w x 3"]],
    },
    # Every run from `lock m` on begins with a sleeping thread and is dropped, so that only the pending step of the
    # thread which it blocks shows that the lock could have been taken in the other order.
    "blocked-in-a-dropped-run": {
        "locks": ["n"],
        "rlocks": ["m"],
        "conds": ["c"],
        "threads": [
            ["lock m"],
            ["notifyall c", "lock n", "lock m", "try n b", ["if", "b", ["unlock n"]], "notifyall c"],
            ["notifyall c", "lock n", "lock n"],
        ],
    },
    # A sleeping weak initial does not cover a sequence where what follows it is not kept [source sets].
    "weak-initial-asleep": {"vars": {"x": 0}, "threads": [["w x 1"], ["r x a"], ["r x a"], ["r x a"]]},
    # A thread's own later step was taken for its first one.
    "initial-of-the-same-thread": {
        "vars": {"x": [0, 0, 0, 0]},
        "threads": [[f"w x[{i}] 1", f"r x[{(i + 1) % 4}] a"] for i in range(4)],
    },
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_class_once_under_every_order_of_the_threads(name: str) -> None:
    spec = PROGRAMS[name]
    for threads in permutations(spec["threads"]) if len(spec["threads"]) < 4 else [spec["threads"]]:
        system = AbstractSystem(parse({**spec, "threads": list(threads)}))
        judge = explored("none", system)
        for strategy in ("optimal", "source", "classic"):
            found = explored(strategy, system)
            assert len(found) == len(dict(judge)), strategy
            assert dict(found) == dict(judge), strategy


def explored(strategy: str, system: AbstractSystem) -> list[tuple[Hashable, Hashable]]:
    """Trace class and outcome of each complete run."""
    explorer = STRATEGIES[strategy](system)
    return [(trace_class(explorer.trace), run.outcome) for run in explorer.explore() if run.ending is Ending.COMPLETE]


@pytest.mark.parametrize("strategy", ["optimal", "source"])
def test_what_commutes_with_a_reversed_event_still_happens(strategy: str, tmp_path: Path) -> None:
    """A thread begins to wait for a notify after another has timed out, and cannot go on in its place. It was taken to
    be able to: the condition was looked at as it was before the wait, which commutes with the timeout."""
    source = """
    def scenario():
        cond, seen = threading.Condition(threading.Lock()), []
        def tries():
            with cond:
                seen.append(cond.wait(timeout=1))
        def waits():
            with cond:
                cond.wait()
        run(tries, waits)
    """
    assert outcomes(tmp_path, source, strategy) == {"deadlock"}


def test_operations_are_forgotten_where_the_way_to_a_state_has_become_another(tmp_path: Path) -> None:
    """The dictionary has another name if the main thread gets the lock first, and both ways lead to the same state. An
    event below it was taken to name the dictionary as on the way that was known by then."""
    source = """
    def scenario():
        lock, table = threading.Lock(), {}
        def hold():
            with lock:
                pass
        def put():
            with lock:
                table["q"] = 1
        def put_if_free():
            if lock.acquire(False):
                table["q"] = 2
                lock.release()
        threads = [threading.Thread(target=body) for body in (hold, put, put_if_free)]
        threads[0].start()
        if lock.acquire(False):
            lock.release()
        for thread in threads[1:]:
            thread.start()
        for thread in threads:
            thread.join()
        return table["q"]
    """
    assert outcomes(tmp_path, source, "dpor") == {1, 2}


def test_futures_are_waited_for_in_one_order_on_all_ways_to_a_state(tmp_path: Path) -> None:
    """They were ordered by their numbers, which locations get as they are first met. On another way to the same state
    the futures have other names, and had the other order."""
    source = """
    from concurrent.futures import ThreadPoolExecutor, wait
    def scenario():
        items = [0]
        def task():
            items[0] = 2
        def waits():
            for _ in range(2):
                with ThreadPoolExecutor(1) as pool:
                    wait([pool.submit(task), pool.submit(task)], return_when="FIRST_COMPLETED")
        thread = threading.Thread(target=waits)
        thread.start()
        items[0] = 1
        thread.join()
        return items[0]
    """
    assert outcomes(tmp_path, source, "dpor") == {1, 2}
