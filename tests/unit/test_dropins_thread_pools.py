"""`multiprocessing.pool.ThreadPool`, a layer on the pool of `concurrent.futures`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpor
from tests.source_outcomes import Outcomes, outcomes


def shown(directory: Path, *lines: str, **how: Any) -> Outcomes:
    body = "".join(f"    {line}\n" for line in lines)
    return outcomes(
        directory, f"from multiprocessing.pool import ThreadPool\ndef scenario():\n    seen = []\n{body}", **how
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


OPENING = {
    "a callback": "with ThreadPool(1) as pool: pool.apply_async(abs, (1,), callback=seen.append).get()",
    "a result that may not be ready": "with ThreadPool(1) as pool: return pool.apply_async(abs, (1,)).ready()",
    "a timeout": "with ThreadPool(1) as pool: pool.apply_async(abs, (1,)).wait(1)",
    "an iterator": "with ThreadPool(1) as pool: return list(pool.imap(abs, [1]))",
    "a task when the pool is terminated": "with ThreadPool(1) as pool: pool.apply_async(seen.append, (1,))",
    "a task when the program ends": "ThreadPool(1).apply_async(seen.append, (1,))",
    "an initializer": "with ThreadPool(1, seen.append, (0,)) as pool: pool.apply(abs, (1,))",
    "a list that may change": "with ThreadPool(1) as pool: pool.map_async(abs, [1]).get()",
    "two failures": "with ThreadPool(2) as pool: pool.map(lambda n: 1 // 0, [1, 2])",
    "a private attribute": "with ThreadPool(2) as pool: len(pool._pool)",
}


@pytest.mark.parametrize("name", OPENING)
def test_what_shows_more_of_a_pool_needs_that_of_cpython(name: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="too many executions"):
        shown(tmp_path, OPENING[name], most=2)


def test_a_run_that_is_unwound_opens_no_pool(tmp_path: Path) -> None:
    lines = "pool = ThreadPool(2)", "with pool: pool.apply(threading.Event().wait)"
    assert shown(tmp_path, *lines) == {"deadlock"}
