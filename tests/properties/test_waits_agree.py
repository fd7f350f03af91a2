"""Waits with and without timeouts, on conditions, events, semaphores and queues: every search sees the outcomes that
`full` sees. Programs are drawn at random."""

from __future__ import annotations

from pathlib import Path
from random import Random
from textwrap import indent

import pytest

from dpor.python.dropins import queues
from tests.source_outcomes import outcomes

MOST = 2_000
"""Executions; larger programs are left out."""

PROGRAM = """
import queue

def said(action, *args, **kwargs):
    try:
        return action(*args, **kwargs)
    except Exception as error:
        return type(error).__name__

def scenario():
    lock = threading.{lock}()
    one, two = threading.Condition(lock), threading.Condition(lock)
    event, semaphore, q = threading.Event(), threading.Semaphore(0), queue.Queue(1)
    log = [[] for _ in range({count})]
{threads}
    run(*[{names}])
    return log
"""

GROUPS = [
    ["with one: note(one.wait())", "with one: note(one.wait(timeout=1))", "with one: one.notify()", "with one: pass"],
    ["with one: note(one.wait())", "with one: one.wait(timeout=1); one.notify()", "with one: one.notify_all()"],
    ["with two: note(two.wait(timeout=1))", "with two: one.notify(); note(two.wait(1))", "with two: two.notify(2)"],
    ["note(event.wait(timeout=1))", "event.set()", "event.wait()", "event.clear()", "note(event.is_set())"],
    [
        "note(semaphore.acquire(timeout=1))",
        "semaphore.acquire()",
        "semaphore.release()",
        "note(lock.acquire(timeout=1))",
    ],
    ["note(said(q.put, 1, timeout=1))", "q.put(2)", "note(said(q.get, timeout=1))", "note(q.get())"],
]


def program(seed: int) -> str:
    random = Random(seed)
    count = random.choice([2, 3, 3])
    acts = [act for group in random.choices(GROUPS, k=random.choice([1, 1, 2])) for act in group]
    threads = []
    for number in range(count):
        lines = [random.choice(acts) for _ in range(random.choice([1, 1, 2]))]
        head = [f"def thread{number}():", f"    def note(what): log[{number}].append(what)"]
        threads.append("\n".join([*head, *[f"    {line}" for line in lines]]))
    return PROGRAM.format(
        lock=random.choice(["Lock", "RLock"]),
        count=count,
        threads=indent("\n\n".join(threads), "    "),
        names=", ".join(f"thread{number}" for number in range(count)),
    )


def disagreeing(directory: Path, seed: int) -> list[str] | None:
    """The strategies that see other outcomes than `full`. None: too many executions."""
    source = program(seed)
    facts = (queues.OPENED,) if seed % 2 else ()
    try:
        expected = outcomes(directory, source, "full", most=MOST, facts=facts)
        return [
            strategy
            for strategy in ("optimal", "source", "dpor")
            if outcomes(directory, source, strategy, most=MOST, facts=facts) != expected
        ]
    except AssertionError as error:
        if "too many" in str(error):
            return None
        raise


@pytest.mark.parametrize("seed", range(30))
def test_all_searches_see_the_same(seed: int, tmp_path: Path) -> None:
    assert not disagreeing(tmp_path, seed)
