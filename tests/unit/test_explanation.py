"""What a failure is explained by: the arrows between threads, and the orders that it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from dpor.app.checking import Session
from dpor.core.errors import AssumptionBroken
from dpor.core.explanation import Edge
from dpor.core.options import Options
from dpor.core.results import Failure
from dpor.core.schedule import follow
from dpor.core.steps import Step
from dpor.core.system import Chooser, Run, Trace
from dpor.findings.racing import orders_of
from dpor.model import AbstractSystem
from dpor.python.narrate import recording
from dpor.report.columns import lines
from dpor.report.folded import step_of
from dpor.report.sentences import closing, tried
from dpor.report.shortened import of_run

PROGRAMS = """
import concurrent.futures
import queue, threading


def together(*bodies, names=("Ada", "Bob")):
    threads = [threading.Thread(target=body, name=name) for body, name in zip(bodies, names)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def oversold():
    sold = []

    def book():
        if len(sold) < 1:
            sold.append(1)

    together(book, book)
    assert len(sold) == 1


def crossed():
    a, b = threading.Lock(), threading.Lock()

    def one():
        with a:
            with b:
                pass

    def two():
        with b:
            with a:
                pass

    together(one, two)


def always():
    seen = []
    together(lambda: seen.append(1), lambda: seen.append(2))
    assert not seen


def noticed():
    stock = {"a": 1}

    def buy():
        if "a" in stock:
            del stock["a"]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(buy), pool.submit(stock.pop, "a", None)]:
            future.result()


class Job:
    def __init__(self, number):
        self.number = number

    def __repr__(self):
        return f"job {self.number}"


def raised():
    jobs = {Job(1): None}

    def take():
        for job in list(jobs):
            if job in jobs:
                del jobs[job]

    together(take, take)


def queued():
    jobs, got = queue.Queue(), []
    together(lambda: got.extend([jobs.get(), jobs.get()]), lambda: jobs.put(2))


def pooled():
    done = []
    with concurrent.futures.ThreadPoolExecutor(1, "Pool") as pool:
        pool.submit(done.append, 1)
    assert not done


def long():
    sold = []

    def book():
        for _ in range(100):
            len(sold)
        if len(sold) < 1:
            sold.append(1)

    together(book, book)
    assert len(sold) == 1


def namesakes():
    sold = []

    def book():
        if len(sold) < 1:
            sold.append(1)

    together(book, book, names=("Ada", "Ada"))
    assert len(sold) == 1
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("programs.py").write_text(PROGRAMS)


def failure_of(name: str) -> Failure:
    (failure,) = dpor.check(f"programs.py::{name}").findings
    return failure


def test_check_then_act_needs_two_orders() -> None:
    failure = failure_of("oversold")
    assert closing(failure) == [
        "Fails whenever",
        "  Ada runs line 18 (len sold) before Bob runs line 19 (append sold), and",
        "  Bob runs line 18 (len sold) before Ada runs line 19 (append sold).",
    ]
    explanation = failure.explanation
    assert explanation is not None
    assert explanation.held == explanation.failing
    _, avoided, also, *others = tried(failure)
    assert avoided.startswith(
        "The failure disappears if only this order is reversed: Ada runs line 18 (len sold) before "
    )
    assert also == "It still fails if only one of these orders is reversed:"
    assert others == ["  Bob runs line 19 (append sold) before Ada runs line 19 (append sold)"]


def test_threads_of_one_name_are_told_apart() -> None:
    failure = failure_of("namesakes")
    orders = closing(failure)
    assert [order.split(" runs")[0].strip() for order in orders[1:]] == ["Ada", "Ada #2"]
    assert [step.operation for step in failure.trace if step.thread == "MainThread"][:4] == [
        "start Ada", "start Ada #2", "join Ada", "join Ada #2",
    ]  # fmt: skip


def test_a_deadlock_needs_each_lock_taken_first() -> None:
    failure = failure_of("crossed")
    assert closing(failure)[-1].endswith("before Ada acquires b (line 30).")
    assert [order.later for order in failure.explanation.whenever] == [None, None]  # type: ignore[union-attr]
    locks = [step.locks for step in failure.trace if step.locks]
    assert [state for ((_, state),) in locks] == ["held by Ada", "held by Bob"]


def test_what_happens_only_where_it_fails_is_no_order() -> None:
    """That a future has its exception before somebody asks for it holds whenever this fails, and explains nothing."""
    first, *orders = closing(failure_of("noticed"))
    assert first == "Fails whenever"
    assert all("stock['a']" in order for order in orders)


def test_what_no_order_avoids_is_said_to_be_such() -> None:
    assert closing(failure_of("always"))[0].startswith("Fails in every schedule tried")


def test_arrows_leave_out_what_follows_from_the_rest() -> None:
    failure = failure_of("oversold")
    steps = [f"{step.thread} {step.operation}" for step in failure.trace]
    edges = failure.explanation.edges  # type: ignore[union-attr]
    assert [(steps[a], steps[b]) for a, b in edges] == [
        ("MainThread start Ada", "Ada len sold"),
        ("MainThread start Bob", "Bob len sold"),
        ("Ada len sold", "Bob append sold"),
        ("Bob append sold", "Ada append sold"),
        ("Ada end Ada", "MainThread join Ada"),
        ("Bob end Bob", "MainThread join Bob"),
    ]
    assert all(isinstance(edge, Edge) for edge in edges)


def test_variables_are_those_of_the_function_at_that_place() -> None:
    failure = failure_of("oversold")
    start = next(step for step in failure.trace if step.operation == "start Ada")
    assert dict(start.variables)["names"] == "('Ada', 'Bob')"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_columns_keep_to_the_width(width: int) -> None:
    text = ["".join(span.text for span in line) for line in lines(failure_of("oversold"), width)]
    assert max(map(len, text)) <= width
    starred = [line.lstrip(" |") for line in text if "* " in line]
    assert [line.split("  ")[0] for line in starred] == ["* 18", "* 19"]
    assert all("Ada" in line or "Bob" in line for line in text if "races with" in line)


def test_a_long_run_is_folded_around_what_matters() -> None:
    failure = failure_of("long")
    shown = list(of_run(failure))
    assert len(failure.trace) > 200
    assert len(shown) < 80
    rows, left_out = [row for row in shown if isinstance(row, tuple)], [n for n in shown if isinstance(n, int)]
    assert left_out
    assert {number for number, step in enumerate(failure.trace) if step.racing} <= {n for row in rows for n in row}
    assert sum(left_out) + sum(map(len, rows)) == sum(bool(step.source) for step in failure.trace)


def test_a_call_of_the_library_is_one_row() -> None:
    failure = failure_of("queued")
    rows = [(step.thread, step.operation, step.values) for step in told(failure)]
    assert [row for row in rows if "jobs" in row[1]] == [
        ("Bob", "put jobs", "[] -> [2]"),
        ("Ada", "get jobs", "[2] -> []"),
    ]


def test_a_thread_that_runs_nothing_of_the_program_is_shown_by_its_calls() -> None:
    rows = [(step.thread, step.operation, step.values) for step in told(failure_of("pooled"))]
    assert [row[1:] for row in rows if row[0] == "Pool task 1"] == [("run the task", "[] -> [1]")]


def told(failure: Failure) -> list[Step]:
    return [step_of(failure.trace, row) for row in of_run(failure) if isinstance(row, tuple)]


def test_the_traceback_says_what_the_exception_said() -> None:
    """Python asks it for its text when the program is over, and `__repr__` can no longer be called."""
    assert failure_of("raised").details[-1] == "KeyError: job 1"


def test_a_mistake_of_ours_while_a_run_is_told_is_no_exception_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> str:
        raise TypeError("planted")

    monkeypatch.setattr(recording, "value_in_words", broken)
    session = Session("programs.py::oversold", Options())
    with pytest.raises(TypeError, match="planted"):
        session.run()
    (failure,) = session.report().findings
    assert failure.message.startswith("AssertionError")
    assert failure.saved is not None


def test_a_fact_that_another_order_contradicts_ends_the_trying_and_loses_nothing() -> None:
    model = AbstractSystem(
        {"vars": {"x": 0}, "threads": [["r x a", "w x a+1"], ["r x a", "w x a+1"], ["r x a", "assert a!=1"]]}
    )

    class Contradicted:
        left = 1

        def run(self, trace: Trace, choose: Chooser) -> Run:
            if not self.left:
                raise AssumptionBroken("x is written")
            self.left -= 1
            return model.run(trace, choose)

    trace = Trace()
    run = model.run(trace, follow([0, 1, 0, 1, 2, 2]))
    pair, explanation = orders_of(Contradicted(), trace, run, run.findings[0])
    assert pair is not None
    assert (explanation.schedules, len(explanation.reorderings)) == (1, 2)
    assert explanation.reorderings[1].fails is None
    assert explanation.untried > 0
