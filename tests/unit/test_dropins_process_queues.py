"""Queues of `multiprocessing` that threads of one process share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.source_outcomes import Outcomes, outcomes


def shown(directory: Path, made: str, *lines: str) -> Outcomes:
    body = "".join(f"    {line}\n" for line in (made, *lines))
    return outcomes(directory, f"import multiprocessing, pickle, queue\ndef scenario():\n{body}")


TRIED = ("try: return q.{get}", "except queue.Empty: return 'empty'")

PROGRAMS: dict[str, tuple[tuple[str, ...], set[Any]]] = {
    "who puts does not wait for the feeder: nowait": (
        ("q = multiprocessing.Queue()", "q.put(1)", *(t.format(get="get_nowait()") for t in TRIED)),
        {1, "empty"},
    ),
    "who puts does not wait for the feeder: timed": (
        ("q = multiprocessing.Queue()", "q.put(1)", *(t.format(get="get(timeout=1)") for t in TRIED)),
        {1, "empty"},
    ),
    "the size is counted at once": (
        ("q = multiprocessing.Queue()", "q.put(1)", "return q.empty(), q.qsize(), q.full()"),
        {(True, 1, False), (False, 1, False)},
    ),
    "a bound counts what was put": (
        ("q = multiprocessing.Queue(1)", "q.put(1)", "try: q.put_nowait(2)", "except queue.Full: return q.full()"),
        {True},
    ),
    "puts keep their order": (
        ("q = multiprocessing.Queue()", "run(lambda: (q.put(1), q.put(2)))", "return q.get(), q.get()"),
        {(1, 2)},
    ),
    "an object is pickled some time after it was put": (
        ("q = multiprocessing.Queue()", "item = []", "q.put(item)", "item.append(1)", "return q.get()"),
        {(), (1,)},
    ),
    "a copy is received": (
        ("q = multiprocessing.Queue()", "item = []", "q.put(item)", "return q.get() is item"),
        {False},
    ),
    "what cannot be pickled is dropped": (
        ("q = multiprocessing.Queue()", "q.put(lambda: 1)", "q.put(2)", "return q.get(), q.qsize()"),
        {(2, 0)},
    ),
    "a loop waits for the feeder": (
        ("q = multiprocessing.Queue()", "q.put(1)", "while q.empty(): pass", "return q.get_nowait()"),
        {1},
    ),
    "a get that waits keeps others out": (
        (
            "q, seen = multiprocessing.Queue(), []",
            "def other():",
            "    try: seen.append(q.get_nowait())",
            "    except queue.Empty: seen.append('empty')",
            "    q.put(1)",
            "run(lambda: seen.append(q.get()), other)",
            "return seen",
        ),
        {("empty", 1)},
    ),
    "a closed queue takes nothing": (
        (
            "q = multiprocessing.Queue()",
            "q.put([])",
            "q.close()",
            "q.join_thread()",
            "try: q.put(1)",
            "except ValueError as error: return str(error)[-9:]",
        ),
        {"is closed"},
    ),
    "a queue cannot be pickled": (
        (
            "q = multiprocessing.JoinableQueue()",
            "try: pickle.dumps(q)",
            "except RuntimeError as error: return str(error)[:21]",
        ),
        {"JoinableQueue objects"},
    ),
    "join waits until all is done": (
        (
            "q, seen = multiprocessing.JoinableQueue(), []",
            "def other():",
            "    seen.append(q.get())",
            "    q.task_done()",
            "thread = threading.Thread(target=other)",
            "thread.start()",
            "q.put(1)",
            "q.join()",
            "return seen",
        ),
        {(1,)},
    ),
    "nobody owes more than was put": (
        (
            "q = multiprocessing.JoinableQueue()",
            "try: q.task_done()",
            "except ValueError as error: return str(error)",
        ),
        {"task_done() called too many times"},
    ),
    "a simple queue has at once what is put": (
        ("q = multiprocessing.SimpleQueue()", "q.put([])", "return q.empty(), q.get()"),
        {(False, ())},
    ),
    "a subclass passes on": (
        (
            "from multiprocessing.queues import Queue",
            "class Q(Queue):",
            "    def put(self, item): super().put(item + 1)",
            "q = Q(ctx=multiprocessing.get_context())",
            "q.put(1)",
            "return q.get()",
        ),
        {2},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_outcomes_are_found(name: str, tmp_path: Path) -> None:
    lines, expected = PROGRAMS[name]
    found = shown(tmp_path, *lines)
    assert (found, found.incomplete) == (expected, set())


def test_nobody_feeds_what_nobody_polls(tmp_path: Path) -> None:
    made = "q, seen = multiprocessing.Queue(2), []"
    found = shown(tmp_path, made, "run(lambda: q.put(1), lambda: seen.append(q.get()))", "return seen")
    assert (found, found.executions) == ({(1,)}, 1)


UNSEEN = {
    "may have to wait for room in its pipe": ("q.put('x' * 40_000)", "return len(q.get())"),
    "is closed while a thread gets from it": (
        "def get():",
        "    try: q.get()",
        "    except Exception: pass",
        "run(get, lambda: (q.put(1), q.close()))",
    ),
    "is listed even if nobody refers to the queue": ("q.put(1)", "return threading.active_count()"),
}


@pytest.mark.parametrize("why", UNSEEN)
def test_what_is_not_modelled_is_said(why: str, tmp_path: Path) -> None:
    (reason,) = shown(tmp_path, "q = multiprocessing.Queue()", *UNSEEN[why]).incomplete
    assert reason.endswith(why)


def test_private_attributes_are_those_of_cpython(tmp_path: Path) -> None:
    assert shown(tmp_path, "q = multiprocessing.Queue(3)", "return q._maxsize") == {3}


def test_a_get_that_waits_has_the_lock_of_those_who_get(tmp_path: Path) -> None:
    """The item is there before and after, and yet `get_nowait` finds nothing."""
    lines = (
        "q, seen = multiprocessing.Queue(), []",
        "def other():",
        "    seen.append(q.empty())",
        "    try: q.get_nowait()",
        "    except queue.Empty: seen.append('nothing')",
        "    seen.append(q.empty())",
        "    q.put(2)",
        "q.put(1)",
        "run(q.get, other)",
        "return seen",
    )
    assert (False, "nothing", False) in shown(tmp_path, *lines)
