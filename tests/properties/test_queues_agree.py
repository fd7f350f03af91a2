"""Queues of ours have the outcomes of CPython's own, which are executed as part of the program once they are opened.
Programs are drawn at random."""

from __future__ import annotations

from pathlib import Path
from random import Random
from textwrap import indent

import pytest

from dpor.python.dropins import queues
from tests.source_outcomes import Outcomes, outcomes

MOST = 3_000
"""Executions; larger programs are left out."""

PROGRAM = """
import queue

def said(action, *args, **kwargs):
    try:
        return action(*args, **kwargs)
    except Exception as error:
        return type(error).__name__

def scenario():
    q, log = queue.{kind}({size}), [[] for _ in range({count})]
{threads}
    run(*[{names}])
    left = []
    while not q.empty():
        left.append(q.get())
    return log, left
"""


def of_thread(random: Random, number: int) -> str:
    item = 10 - 3 * number
    kinds = [
        *[f"q.put({item})", f"note(said(q.put_nowait, {item + 1}))", f"note(said(q.put, {item + 2}, timeout=1))"],
        *["note(q.get())", "note(said(q.get_nowait))", "note(said(q.get, timeout=1))", "note(q.get()); q.task_done()"],
        *["note(said(q.task_done))", "q.join()", "note(q.qsize())", "note(q.empty(), q.full())", f"q.put({item})"],
    ]
    lines = random.sample(kinds, random.choice([1, 2, 2, 3]))
    head = [f"def thread{number}():", f"    def note(*what): log[{number}].append(what)"]
    return "\n".join([*head, *[f"    {line}" for line in lines]])


def program(seed: int) -> str:
    random = Random(seed)
    count = random.choice([2, 2, 3])
    return PROGRAM.format(
        kind=random.choice(["Queue", "Queue", "LifoQueue", "PriorityQueue"]),
        size=random.choice([0, 0, 1, 2]),
        count=count,
        threads=indent("\n\n".join(of_thread(random, number) for number in range(count)), "    "),
        names=", ".join(f"thread{number}" for number in range(count)),
    )


def found(directory: Path, source: str, *facts: str) -> Outcomes | None:
    """None if there are too many executions."""
    try:
        return outcomes(directory, source, most=MOST, facts=facts)
    except AssertionError:
        return None


@pytest.mark.parametrize("seed", range(30))
def test_the_outcomes_are_those_of_the_library(seed: int, tmp_path: Path) -> None:
    source = program(seed)
    expected = found(tmp_path, source, queues.OPENED)
    if expected is not None:
        ours = found(tmp_path, source)
        assert ours == expected
        assert ours.executions <= expected.executions
