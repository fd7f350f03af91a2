"""`multiprocessing.pool.ThreadPool`, a layer on the pool of `concurrent.futures`; the executions are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.python.dropins import thread_pools
from tests.source_outcomes import Outcomes, outcomes


def shown(directory: Path, *lines: str, **how: Any) -> Outcomes:
    body = "".join(f"    {line}\n" for line in lines)
    return outcomes(
        directory,
        f"import multiprocessing\nfrom multiprocessing.pool import ThreadPool\ndef scenario():\n    seen = []\n{body}",
        **how,
    )


PROGRAMS: dict[str, tuple[tuple[str, ...], set[Any], int]] = {
    "apply": (("with ThreadPool(2) as pool: return pool.apply(max, (1, 2))",), {2}, 1),
    "map": (("with ThreadPool(2) as pool: return pool.map(abs, [1, -2])",), {(1, 2)}, 1),
    "map of a generator": (("with ThreadPool(2) as pool: return pool.map(abs, (n for n in [1, -2]))",), {(1, 2)}, 1),
    "map of nothing": (("with ThreadPool(2) as pool: return pool.map(abs, [])",), {()}, 1),
    "starmap in chunks": (
        ("with ThreadPool(2) as pool: return pool.starmap(max, [(1, 2), (4, 3)], chunksize=2)",),
        {(2, 4)},
        1,
    ),
    "tasks run at the same time": (
        ("with ThreadPool(2) as pool: pool.map(seen.append, [1, 2])", "return seen"),
        {(1, 2), (2, 1)},
        2,
    ),
    "one thread takes tasks in their order": (
        ("with ThreadPool(1) as pool: pool.map(seen.append, [1, 2, 3])", "return seen"),
        {(1, 2, 3)},
        1,
    ),
    "an exception is passed on": (
        (
            "with ThreadPool(2) as pool:",
            "    try: pool.map(lambda n: 1 // n, [1, 0])",
            "    except ZeroDivisionError: return 'failed'",
        ),
        {"failed"},
        1,
    ),
    "join waits for all": (
        ("pool = ThreadPool(2)", "pool.map_async(seen.append, (1, 2))", "pool.close()", "pool.join()", "return seen"),
        {(1, 2), (2, 1)},
        2,
    ),
    "a closed pool takes nothing": (
        ("pool = ThreadPool(2)", "pool.close()", "try: pool.apply(abs)", "except ValueError as e: return str(e)"),
        {"Pool not running"},
        1,
    ),
    "join is refused before the pool is closed": (
        ("pool = ThreadPool(2)", "try: pool.join()", "except ValueError as e: return str(e)"),
        {"Pool is still running"},
        1,
    ),
    "a pool needs a thread": (
        ("try: ThreadPool(0)", "except ValueError as e: return str(e)"),
        {"Number of processes must be at least 1"},
        1,
    ),
    "the pool of dummy": (
        ("from multiprocessing.dummy import Pool", "with Pool(2) as pool: return pool.map(abs, [1, -2])"),
        {(1, 2)},
        1,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_outcomes_are_found(name: str, tmp_path: Path) -> None:
    lines, expected, executions = PROGRAMS[name]
    found = shown(tmp_path, *lines)
    assert (found, found.incomplete, found.executions) == (expected, set(), executions)


def test_a_race_of_tasks_is_found(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "from multiprocessing.pool import ThreadPool\n"
        "class Counter:\n"
        "    n = 0\n"
        "    def add(self, by): self.n += by\n"
        "def scenario():\n"
        "    counter = Counter()\n"
        "    with ThreadPool(2) as pool: pool.map(counter.add, [1, 2])\n"
        "    assert counter.n == 3\n"
    )
    assert dpor.check(f"{tmp_path}/program.py::scenario").verdict == "fail"


HANDLED: dict[str, tuple[tuple[str, ...], Any]] = {
    "a result may be ready": (
        (
            "with ThreadPool(1) as pool:",
            "    result = pool.apply_async(abs, (1,))",
            "    ready = result.ready()",
            "    return ready, result.get()",
        ),
        {(True, 1), (False, 1)},
    ),
    "a wait may time out": (
        (
            "with ThreadPool(1) as pool:",
            "    result = pool.apply_async(abs, (1,))",
            "    try: return result.get(1)",
            "    except multiprocessing.TimeoutError: return 'late', result.get()",
        ),
        {1, ("late", 1)},
    ),
    "results come in the order in which tasks end": (
        (
            "with ThreadPool(1) as pool:",
            "    first, second = [pool.apply_async(abs, (n,)) for n in range(2)]",
            "    second.get()",
            "    return first.ready()",
        ),
        {True},
    ),
    "a callback comes before the result": (
        (
            "with ThreadPool(1) as pool: result = pool.apply_async(abs, (1,), callback=seen.append).get()",
            "return result, seen",
        ),
        {(1, (1,))},
    ),
    "a callback runs while others go on": (
        (
            "pool = ThreadPool(1)",
            "pool.apply_async(abs, (1,), callback=seen.append)",
            "seen.append(0)",
            "pool.close()",
            "pool.join()",
            "return seen",
        ),
        {(0, 1), (1, 0)},
    ),
    "an exception has a callback of its own": (
        (
            "with ThreadPool(1) as pool:",
            "    pool.apply_async(len, error_callback=lambda error: seen.append(type(error).__name__)).wait()",
            "return seen",
        ),
        {("TypeError",)},
    ),
    "a callback that fails ends the thread of results": (
        ("with ThreadPool(1) as pool: pool.apply_async(abs, (1,), callback=lambda n: 1 // 0).get()",),
        {"deadlock"},
    ),
    "results are iterated over in order": (
        ("with ThreadPool(1) as pool: return list(pool.imap(abs, (n for n in (1, -2))))",),
        {(1, 2)},
    ),
}


@pytest.mark.parametrize("name", HANDLED)
def test_who_looks_at_more_than_results_sees_the_threads_that_handle_them(name: str, tmp_path: Path) -> None:
    lines, expected = HANDLED[name]
    found = shown(tmp_path, *lines)
    assert (found, found.incomplete) == (expected, set())


OPENING = {
    "a task when the pool is terminated": "with ThreadPool(1) as pool: pool.apply_async(seen.append, (1,))",
    "a task when the program ends": "ThreadPool(1).apply_async(seen.append, (1,))",
    "an initializer": "with ThreadPool(1, seen.append, (0,)) as pool: pool.apply(abs, (1,))",
    "a private attribute": "with ThreadPool(2) as pool: len(pool._pool)",
    "a task that asks for its thread": "with ThreadPool(1) as pool: pool.apply(threading.current_thread)",
}


@pytest.mark.parametrize("first", [(), (thread_pools.HANDLED,)])
@pytest.mark.parametrize("name", OPENING)
def test_what_shows_more_of_a_pool_needs_that_of_cpython(name: str, first: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="too many executions"):
        shown(tmp_path, OPENING[name], most=5, facts=first)


@pytest.mark.parametrize("name", ["apply", "a closed pool takes nothing", "join is refused before the pool is closed"])
def test_both_layers_agree(name: str, tmp_path: Path) -> None:
    lines, expected, _ = PROGRAMS[name]
    assert shown(tmp_path, *lines, facts=[thread_pools.HANDLED]) == expected


def test_a_run_that_is_unwound_opens_no_pool(tmp_path: Path) -> None:
    lines = "pool = ThreadPool(2)", "with pool: pool.apply(threading.Event().wait)"
    assert shown(tmp_path, *lines) == {"deadlock"}
