"""Futures and pools of ours have the outcomes of CPython's own, which are executed as part of the program once they are
opened. Programs are drawn at random."""

from __future__ import annotations

from pathlib import Path
from random import Random
from textwrap import indent

import pytest

from dpor.python.dropins import future
from dpor.python.dropins.idents import POOLS_OPENED
from tests.source_outcomes import Outcomes, outcomes

MOST = 3_000
"""Executions; larger programs are left out."""

PROGRAM = """
from concurrent import futures

def scenario():
    log, lock, made, free = [], threading.Lock(), [], futures.Future()

    def note(*what):
        with lock:
            log.append(what)

    def said(action, *args):
        try:
            result = action(*args)
            return "a future" if isinstance(result, futures.Future) else result
        except Exception as error:
            return type(error).__name__

    def places(found, made):
        return [n for n, each in enumerate(made) if each in found]

{tasks}
    pool = futures.ThreadPoolExecutor({workers})
{main}
    return log, [said(each.result) for each in made]
"""


def of_task(random: Random, number: int) -> str:
    kinds = [f"note('t{number}')", "raise KeyError", "note(said(free.set_result, 1))", f"note('u{number}')"]
    if number:
        other = f"made[{random.randrange(number)}]"
        kinds += [
            *[f"note(said({other}.result))", f"note({other}.done())", f"note({other}.cancel())"],
            f"{other}.add_done_callback(lambda done: note('called'))",
        ]
    lines = random.sample(kinds, random.choice([0, 1, 1, 2]))
    return "\n".join([f"def task{number}(made):", *[f"    {line}" for line in lines], f"    return {number}"])


def of_main(random: Random, count: int) -> list[str]:
    one = f"made[{random.randrange(count)}]"
    kinds = [
        *[f"note({one}.cancel())", f"note(said({one}.result))", "note('main')", f"note(said({one}.result, 1))"],
        *[f"note({one}.running(), {one}.cancelled())", f"note({one}.done())", "note(said(free.set_result, 2))"],
        *["note(free.done(), said(free.cancel))", f"{one}.add_done_callback(lambda done: note('called'))"],
        *["note(places(futures.wait(made, return_when='FIRST_COMPLETED').done, made))", "futures.wait(made)"],
        *["note(places(futures.wait(made, return_when='FIRST_EXCEPTION')[1], made))", "note(len(pool.map(str, [1])))"],
        *["note(places(futures.wait([*made, free], 1, 'FIRST_COMPLETED').done, made))", "pool.submit(note, 'more')"],
        *["note([made.index(each) for each in futures.as_completed(made)])", "note(said(pool.submit, note, 'late'))"],
    ]
    return random.sample(kinds, random.choice([1, 2, 2, 3]))


def program(seed: int) -> str:
    random = Random(seed)
    count = random.choice([1, 2, 2, 3])
    main = [f"made.append(pool.submit(task{number}, list(made)))" for number in range(count)]
    ending = random.choice(["pool.shutdown()", "futures.wait(made)", "early", "pool.shutdown(cancel_futures=True)"])
    if ending == "early":
        main += ["pool.shutdown(wait=False)", "note(said(pool.submit, note, 'no'))"]
    main += [*of_main(random, count), ending if ending != "early" else "pass"]
    tasks = "\n\n".join(of_task(random, number) for number in range(count))
    return PROGRAM.format(
        tasks=indent(tasks, "    "), workers=random.choice([1, 2, 2, 3]), main=indent("\n".join(main), "    ")
    )


def found(directory: Path, source: str, *facts: str) -> Outcomes | None:
    """None if there are too many executions."""
    try:
        return outcomes(directory, source, most=MOST, facts=facts)
    except AssertionError:
        return None


@pytest.mark.parametrize("seed", range(4, 9))
def test_the_outcomes_are_those_of_the_library(seed: int, tmp_path: Path) -> None:
    source = program(seed)
    expected = found(tmp_path, source, future.OPENED, POOLS_OPENED)
    if expected is not None:
        ours = found(tmp_path, source)
        assert ours == expected
        assert ours.executions <= expected.executions
