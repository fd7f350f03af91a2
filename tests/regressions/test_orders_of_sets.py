"""Sets whose elements are hashed by address are gone through in every order, and what is found replays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import factorial
from pathlib import Path
from typing import Any

import pytest

import dpor


class Job:
    def __init__(self, n: int) -> None:
        self.n = n


def both(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def numbers(jobs: Any) -> list[int]:
    return [job.n for job in jobs]


LOOKS: dict[str, Callable[[set[Job]], list[int]]] = {
    "loop": lambda jobs: [job.n for job in jobs],
    "list": lambda jobs: numbers(list(jobs)),
    "unpacked": lambda jobs: numbers([*jobs]),
    "frozen": lambda jobs: numbers(tuple(frozenset(jobs))),
    "popped": lambda jobs: numbers([jobs.pop(), jobs.pop(), jobs.pop()]),
    "keys": lambda jobs: numbers(dict.fromkeys(jobs)),
    "mapped": lambda jobs: list(map(lambda job: job.n, jobs)),  # noqa: C417
}


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("early", [False, True])
def test_in_every_order(look: Callable[[set[Job]], list[int]], early: bool, strategy: str) -> None:
    def program() -> Any:
        jobs = {Job(n) for n in range(3)}
        found = look(jobs) if early else None
        seen = []
        both(lambda: seen.append(found or look(jobs)), lambda: None)
        return seen

    report = dpor.check(program, all=True, max_seconds=None, strategy=strategy)
    assert (report.exhaustive, report.outcomes) == (True, factorial(3))


def test_a_set_is_gone_through_in_the_same_order_as_long_as_it_stays() -> None:
    def program() -> None:
        jobs = {Job(n) for n in range(3)}
        both(lambda: jobs.copy(), lambda: None)
        assert numbers(jobs) == numbers(jobs) == numbers(list(jobs))

    assert dpor.check(program, max_seconds=None).verdict is dpor.Verdict.PASS


def test_to_whom_the_order_makes_no_difference_it_costs_nothing() -> None:
    def program() -> Any:
        jobs = {Job(n) for n in range(4)}
        both(lambda: all(jobs), lambda: len(jobs))
        return sorted(jobs, key=lambda job: job.n)[0].n

    assert dpor.check(program, all=True, max_seconds=None).executions == 1


def test_of_many_elements_a_few_orders_are_tried_and_that_is_said() -> None:
    def program() -> Any:
        jobs = {Job(n) for n in range(6)}
        both(lambda: None, lambda: None)
        return numbers(jobs)[0]

    report = dpor.check(program, all=True, max_seconds=None)
    assert (report.verdict, report.outcomes) == (dpor.Verdict.INCONCLUSIVE, 6)
    assert any("a set of 6 objects" in reason for reason in report.reasons)


def test_while_modules_are_imported_a_set_has_one_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in any one process: `param` makes each of its classes from a set of the base classes."""
    (tmp_path / "made_at_import.py").write_text(
        "jobs = {type(name, (), {'calls': 0}) for name in 'abcdef'}\nnames = [job.__name__ for job in jobs]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    target = tmp_path / "program.py"
    target.write_text(
        "import threading\nimport made_at_import\n\ndef scenario():\n"
        "    thread = threading.Thread(target=made_at_import.names.append, args=('g',))\n"
        "    thread.start()\n    found = made_at_import.names[0]\n    thread.join()\n    return found\n"
    )
    report = dpor.check(f"{target}::scenario", all=True)
    assert (report.verdict, report.outcomes) == (dpor.Verdict.PASS, 1)


def test_order_by_identity_is_the_same_whatever_was_tried_before() -> None:
    def program() -> None:
        made: list[Job] = []
        both(*(lambda n=n: made.append(Job(n)) for n in range(3)))
        assert sorted(made, key=id) == made, [repr(job) for job in made]

    report = dpor.check(program, max_seconds=None)
    assert report.verdict is dpor.Verdict.FAIL
    assert not any("NotDeterministic" in reason for reason in report.reasons)
