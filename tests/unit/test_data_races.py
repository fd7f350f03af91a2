"""`--races`: which accesses are data races, and how they are told."""

from __future__ import annotations

import concurrent.futures
import queue
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import dpor
from dpor.core.data_races import data_races
from dpor.model import AbstractSystem
from tests.oracle.play import play


class Shared:
    def __init__(self) -> None:
        self.value = 0
        self.ready = False
        self.lock = threading.Lock()


def together(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body, name=f"t{i}") for i, body in enumerate(bodies, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def counter() -> None:
    shared = Shared()

    def add() -> None:
        shared.value += 1

    together(add, add)


def locked_counter() -> None:
    shared = Shared()

    def add() -> None:
        with shared.lock:
            shared.value += 1

    together(add, add)


def published_by_event() -> None:
    shared, event = Shared(), threading.Event()

    def publish() -> None:
        shared.value = 1
        event.set()

    def use() -> None:
        if event.is_set() or event.wait():
            assert shared.value == 1

    together(publish, use)


def published_by_flag() -> None:
    shared = Shared()

    def publish() -> None:
        shared.value = 1
        shared.ready = True

    def use() -> None:
        while not shared.ready:
            pass
        assert shared.value == 1

    together(publish, use)


def hidden_by_the_order_of_a_lock() -> None:
    """The first run has t1's critical section before t2's, which orders their writes."""
    shared = Shared()

    def first() -> None:
        shared.value = 1
        with shared.lock:
            pass

    def second() -> None:
        with shared.lock:
            pass
        shared.value = 2

    together(first, second)


def ordered_by_start_and_join() -> None:
    shared = Shared()

    def add() -> None:
        shared.value += 1

    shared.value = 1
    together(add)
    shared.value += 1
    together(add)
    assert shared.value == 4


def written_after_the_start() -> None:
    shared = Shared()
    thread = threading.Thread(target=lambda: shared.value)
    thread.start()
    shared.value = 1
    thread.join()


def seen_to_be_done() -> None:
    shared, future = Shared(), concurrent.futures.Future[int]()

    def work() -> None:
        shared.value = 1
        future.set_result(1)

    def look() -> None:
        if future.done():
            shared.value += 1

    together(work, look)


def one_worker() -> None:
    shared = Shared()

    def add() -> None:
        shared.value += 1

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(add)
        pool.submit(add)


def handed_over_by_queue() -> None:
    shared, channel = Shared(), queue.Queue[int]()

    def put() -> None:
        shared.value = 1
        channel.put(1)

    def get() -> None:
        channel.get()
        shared.value += 1

    together(put, get)


def notified() -> None:
    shared, condition = Shared(), threading.Condition()

    def put() -> None:
        with condition:
            shared.value = 1
            condition.notify()

    def get() -> None:
        with condition:
            while not shared.value:
                condition.wait()

    together(put, get)


def met_at_a_barrier() -> None:
    cells, barrier = [0, 0], threading.Barrier(2)

    def meet(mine: int) -> None:
        cells[mine] = 1
        barrier.wait()
        assert cells[1 - mine] == 1

    together(lambda: meet(0), lambda: meet(1))


def counted_by_a_semaphore() -> None:
    shared, semaphore = Shared(), threading.Semaphore(0)

    def give() -> None:
        shared.value = 1
        semaphore.release()

    def take() -> None:
        semaphore.acquire()
        shared.value = 2

    together(give, take)


def tried_in_vain() -> None:
    """A try that fails orders nothing."""
    shared = Shared()

    def hold() -> None:
        with shared.lock:
            shared.value = 1

    def attempt() -> None:
        if shared.lock.acquire(blocking=False):
            shared.lock.release()
        else:
            shared.value = 2

    together(hold, attempt)


def rebound_by_both() -> None:
    value = 0

    def rebind() -> None:
        nonlocal value
        value += 1

    together(rebind, rebind)


def elements(first: int, second: int) -> None:
    cells = [0, 0]

    def store(index: int) -> None:
        cells[index] = 1

    together(lambda: store(first), lambda: store(second))


def appended_by_both() -> None:
    found: list[int] = []
    together(lambda: found.append(1), lambda: found.append(2))


def appended_and_counted() -> None:
    found: list[int] = []
    together(lambda: found.append(1), lambda: len(found))


def key_stored_and_looked_up() -> None:
    table = {"a": 1}
    together(lambda: table.update(a=2), lambda: table["a"])


@pytest.mark.parametrize(
    "program",
    [
        locked_counter,
        published_by_event,
        ordered_by_start_and_join,
        handed_over_by_queue,
        seen_to_be_done,
        one_worker,
        notified,
        met_at_a_barrier,
        counted_by_a_semaphore,
        lambda: elements(0, 1),
        appended_by_both,
    ],
)
def test_what_is_ordered_is_no_race(program: Callable[[], None]) -> None:
    report = dpor.check(program, races=True, all=True)
    assert report.verdict == "pass", report.findings


@pytest.mark.parametrize(
    "program",
    [
        counter,
        published_by_flag,
        hidden_by_the_order_of_a_lock,
        written_after_the_start,
        tried_in_vain,
        rebound_by_both,
        lambda: elements(1, 1),
        appended_and_counted,
        key_stored_and_looked_up,
    ],
)
def test_what_nothing_orders_is_a_race(program: Callable[[], None]) -> None:
    report = dpor.check(program, races=True)
    assert [failure.kind for failure in report.findings] == [dpor.Kind.RACE]
    assert dpor.check(program, max_executions=20).findings == ()


def test_a_race_names_both_places_and_threads_and_is_replayed(tmp_path: Path) -> None:
    (failure,) = dpor.check(counter, races=True).findings
    line = counter.__code__.co_firstlineno + 4
    place = f"test_data_races.py:{line}"
    first, _, second = failure.message.removesuffix(": nothing orders them").partition(" and ")
    assert first.startswith("write Shared.value in t")
    assert second.startswith("read Shared.value in t")
    assert place in first
    assert place in second
    assert failure.line == line
    assert [step.operation for step in failure.trace if step.racing] == ["write Shared.value", "read Shared.value"]
    assert failure.saved is not None
    failure.saved.save(tmp_path / "s.json")
    assert dpor.replay(tmp_path / "s.json", counter).message == failure.message


def test_a_daemon_thread_s_access_is_told_like_any_other() -> None:
    def program() -> None:
        shared = Shared()
        threading.Thread(target=lambda: setattr(shared, "value", 1), name="d", daemon=True).start()
        assert shared.value >= 0

    (failure,) = dpor.check(program, races=True).findings
    assert failure.message.startswith("write Shared.value in d (")


def test_each_pair_of_places_is_told_once() -> None:
    report = dpor.check(published_by_flag, races=True, all=True, max_executions=5)
    assert len(report.findings) == 2
    assert len(dpor.check(counter, races=True, all=True).findings) == 1


def test_an_abstract_program_names_its_statements(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text('{"vars": {"x": 0}, "threads": [["r x a"], ["w x 1"]]}')
    (failure,) = dpor.check(file, races=True).findings
    assert failure.message == "write in T1 (T1:0  w x 1) and read in T0 (T0:0  r x a): nothing orders them"
    with pytest.raises(dpor.UserError, match="--races"):
        dpor.check(file, races=True, strategy="full")


@pytest.mark.parametrize(
    ("threads", "schedule", "races"),
    [
        ([["lock m", "w x 1", "unlock m"], ["lock m", "w x 2", "unlock m"]], "0 0 0 1 1 1", []),
        ([["w x 1", "lock m", "unlock m"], ["lock m", "unlock m", "w x 2"]], "0 0 0 1 1 1", []),
        ([["w x 1", "lock m", "unlock m"], ["lock m", "unlock m", "w x 2"]], "1 1 0 0 0 1", [(2, 5)]),
        ([["w x 1", "V s"], ["P s", "r x a"]], "0 0 1 1", []),
        ([["V s", "w x 1"], ["P s", "r x a"]], "0 0 1 1", [(1, 3)]),
        ([["spawn 1", "w x 1"], ["r x a"]], "0 0 1", [(1, 2)]),
        ([["w x 1", "spawn 1", "join 1", "w x 2"], ["r x a"]], "0 0 1 1 0 0", []),
        ([["r x a", "w x 1"], ["w x 2"]], "0 0 1", [(0, 2), (1, 2)]),
    ],
)
def test_races_of_one_run(threads: list[list[str]], schedule: str, races: list[tuple[int, int]]) -> None:
    spec = {"vars": {"x": 0}, "locks": ["m"], "sems": {"s": 0}, "threads": threads}
    played = play(AbstractSystem(spec), schedule)
    assert data_races(played.trace, played.system.is_memory) == races
