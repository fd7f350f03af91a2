"""Loops that poll: by waits that time out, by looks at a deadline, by tries and looks at synchronisation objects."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from dpor.app.found import Results
from dpor.python.kernel import timing

PROGRAMS = '''
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor


def beside(work, *then):
    """Run `work` in a thread, and the others here meanwhile."""
    thread = threading.Thread(target=work)
    thread.start()
    for step in then:
        step()
    thread.join()


def worker_that_looks_at_an_event():
    jobs, stop, done = queue.Queue(), threading.Event(), []

    def work():
        while not stop.is_set():
            try:
                job = jobs.get(timeout=0.1)
            except queue.Empty:
                continue
            done.append(job)
            jobs.task_done()

    beside(work, lambda: jobs.put(1), jobs.join, stop.set)
    assert done == [1]


def periodic():
    stop, lock, buffered, written = threading.Event(), threading.Lock(), [], []

    def flush():
        while not stop.wait(1):
            with lock:
                items = buffered[:]
                buffered.clear()
            written.extend(items)

    def log(item):
        with lock:
            buffered.append(item)

    beside(flush, lambda: log(1), lambda: log(2), stop.set)
    assert written + buffered == [1, 2]


def condition_with_a_timeout():
    changed, state = threading.Condition(), [0]

    def wait():
        with changed:
            while state[0] < 2:
                changed.wait(0.1)

    def step():
        with changed:
            state[0] += 1

    beside(wait, step, step)


def join_with_a_timeout():
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    thread.start()
    setter = threading.Thread(target=event.set)
    setter.start()
    while thread.is_alive():
        thread.join(0.1)
    setter.join()


def three_tries():
    lock, got = threading.Lock(), []

    def work():
        for _ in range(3):
            if lock.acquire(timeout=1):
                got.append(1)
                lock.release()
                return

    beside(work, work)


def until_a_deadline():
    event = threading.Event()

    def wait():
        end = time.monotonic() + 1
        while not event.is_set() and time.monotonic() < end:
            event.wait(0.3)

    beside(wait, event.set)


def counts_its_time_outs():
    stop, idle = threading.Event(), [0]

    def wait():
        while not stop.wait(1):
            idle[0] += 1

    beside(wait, stop.set)


def round_and_round_until_a_deadline():
    event = threading.Event()

    def wait():
        end = time.monotonic() + 1
        while not event.is_set():
            if time.monotonic() > end:
                raise TimeoutError

    beside(wait, event.set)


def is_set():
    event = threading.Event()

    def wait():
        while not event.is_set():
            pass

    beside(wait, event.set)


def get_nowait():
    items = queue.Queue()

    def wait():
        while True:
            try:
                return items.get_nowait()
            except queue.Empty:
                time.sleep(0.01)

    beside(wait, lambda: items.put(1))


def empty():
    items = queue.Queue()

    def wait():
        while items.empty():
            time.sleep(0.01)
        assert items.get_nowait() == 1

    beside(wait, lambda: items.put(1))


def tried_lock():
    lock = threading.Lock()
    lock.acquire()

    def wait():
        while not lock.acquire(False):
            pass

    beside(wait, lock.release)


def is_alive():
    thread = threading.Thread(target=lambda: None)
    thread.start()
    while thread.is_alive():
        pass


def done():
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(int)
        while not future.done():
            time.sleep(0.1)


def never_set():
    event = threading.Event()

    def wait():
        while not event.is_set():
            pass

    beside(wait)


def set_for_a_moment():
    event = threading.Event()

    def wait():
        while not event.is_set():
            pass

    beside(wait, event.set, event.clear)


def waits_for_one_after_the_other():
    events = [threading.Event() for _ in range(3)]

    def set_all():
        for event in events:
            event.set()

    thread = threading.Thread(target=set_all)
    thread.start()
    came = [event.wait(1) for event in events]
    thread.join()
    return came


def waits_for_new_objects():
    done = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    while not done:
        threading.Event().wait(1)
    thread.join()
'''

LIMITED = "may time out more often in a run than --timeout-limit 1"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    file = tmp_path / "polling.py"
    file.write_text(PROGRAMS)
    return file


TIMED = [
    *("worker_that_looks_at_an_event", "periodic", "condition_with_a_timeout", "join_with_a_timeout", "three_tries"),
    "until_a_deadline",
]


@pytest.mark.parametrize("name", TIMED)
def test_states_tell_how_often_a_wait_may_time_out(name: str, programs: Path) -> None:
    """Without states, each call is tried with one time-out; the default goes on with states, which need no limit."""
    optimal = dpor.check(f"{programs}::{name}", strategy="optimal")
    assert optimal.verdict == "inconclusive"
    assert LIMITED in optimal.reasons[0]
    report = dpor.check(f"{programs}::{name}")
    assert (report.verdict, report.strategy) == ("pass", "dpor")


def test_a_call_may_time_out_for_each_of_several_objects(programs: Path) -> None:
    report = dpor.check(f"{programs}::waits_for_one_after_the_other", strategy="optimal")
    assert (report.verdict, report.outcomes) == ("pass", 8)
    assert dpor.check(f"{programs}::waits_for_one_after_the_other", strategy="dpor").outcomes == 8


def test_but_not_for_ever_more_of_them(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = dpor.check(f"{programs}::waits_for_new_objects", strategy="optimal")
    assert LIMITED in report.reasons[0]
    monkeypatch.setattr(timing, "OBJECTS", 1_000_000)  # a planted mistake
    report = dpor.check(f"{programs}::waits_for_new_objects", strategy="optimal", max_steps=300)
    assert report.reasons[0].startswith("a run was cut after 300 events")


def test_it_is_not_told_if_their_number_is_part_of_the_state(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake."""
    monkeypatch.setattr(timing, "is_counted", lambda site: True)
    assert dpor.check(f"{programs}::periodic").verdict == "inconclusive"


def test_a_wait_that_never_comes_back_to_a_state_is_limited(programs: Path) -> None:
    report = dpor.check(f"{programs}::counts_its_time_outs")
    assert report.verdict == "inconclusive"
    assert LIMITED in report.reasons[0]
    assert "timed out 500 times in a run" in report.restarts[-1]


def test_without_that_limit_there_are_ever_more_states(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: nothing is counted."""
    monkeypatch.setattr(timing, "MANY", 1_000_000)
    report = dpor.check(f"{programs}::counts_its_time_outs", strategy="dpor", max_steps=1_000)
    assert report.reasons[0].startswith("a run was cut after 1,000 events")


def test_a_limit_of_0_holds_for_states_too(programs: Path) -> None:
    report = dpor.check(f"{programs}::periodic", strategy="dpor", timeout_limit=0)
    assert "may time out more often in a run than --timeout-limit 0" in report.reasons[0]


def test_numbers_of_time_outs_are_in_no_state(programs: Path) -> None:
    """The frame of a wait that times out again is as before. (The number was once in a local variable.)"""
    few = dpor.check(f"{programs}::worker_that_looks_at_an_event", strategy="full", every_access=True)
    assert few.states is not None
    assert few.states < 300


def test_a_loop_that_ends_may_look_at_the_clock(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state comes back only in programs that need not end. Then the clock might go on meanwhile."""
    assert dpor.check(f"{programs}::until_a_deadline", strategy="dpor").exhaustive
    endless = dpor.check(f"{programs}::round_and_round_until_a_deadline", strategy="dpor")
    assert endless.verdict == "inconclusive"
    assert "looks at the clock" in endless.reasons[0]


def test_an_endless_one_is_missed_if_all_programs_are_thought_to_end(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted mistake."""
    note_states = Results.note_states

    def ends(self: Results, system: object, search: object) -> None:
        search.terminates = True  # type: ignore[attr-defined]
        note_states(self, system, search)  # type: ignore[arg-type]

    monkeypatch.setattr(Results, "note_states", ends)
    assert dpor.check(f"{programs}::round_and_round_until_a_deadline", strategy="dpor").verdict == "pass"


def test_time_passes_for_a_loop_that_looks_at_an_event_and_the_clock(programs: Path) -> None:
    for strategy in (None, "optimal"):
        report = dpor.check(f"{programs}::round_and_round_until_a_deadline", strategy=strategy)
        assert report.verdict == "fail"
        assert report.findings[0].needs_timeout


@pytest.mark.parametrize("name", ["is_set", "get_nowait", "empty", "tried_lock", "is_alive", "done"])
def test_polling_synchronisation_objects_ends_without_states(name: str, programs: Path) -> None:
    report = dpor.check(f"{programs}::{name}", strategy="optimal", max_executions=20)
    assert (report.verdict, report.executions <= 5) == ("pass", True)


@pytest.mark.parametrize("name", ["never_set", "set_for_a_moment"])
def test_polling_what_nobody_sets_is_a_livelock(name: str, programs: Path) -> None:
    report = dpor.check(f"{programs}::{name}", strategy="optimal", max_executions=20)
    assert report.findings[0].kind.value == "livelock"
    assert "nothing that is left to run writes event" in report.findings[0].message
