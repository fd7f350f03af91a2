"""`Event`."""

from __future__ import annotations

import threading as real
from typing import Any

import pytest

from tests.under_control import explore, once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")


def test_one_thread_sees_what_it_sees_of_the_real_one() -> None:
    def used(module: Any) -> Any:
        event = module.Event()
        seen = [event.is_set(), event.wait(0), event.wait(-1), event.wait(0.001), repr(event).partition(": ")[2]]
        event.set()
        seen += [event.is_set(), event.wait(), event.wait(1), repr(event).partition(": ")[2], event._flag]
        event.clear()
        return [*seen, event.is_set()]

    assert once(lambda: used(threading)) == used(real)
    assert once(lambda: repr(threading.Event())).startswith("<threading.Event at 0x7f")


def test_the_old_name_is_deprecated() -> None:
    def ask() -> Any:
        with pytest.warns(DeprecationWarning, match="isSet"):
            return threading.Event().isSet()

    assert once(ask) is False


def test_a_waiter_goes_on_when_the_event_is_set() -> None:
    def program() -> Any:
        event, answers = threading.Event(), []
        worker = threading.Thread(target=lambda: answers.append(event.wait()))
        worker.start()
        event.set()
        worker.join()
        return answers

    explored = explore(program, "optimal")
    assert explored.outcomes == {((True,),)}
    assert explored.runs == 2  # set before the wait began, or after


def test_a_waiter_that_was_woken_goes_on_though_the_event_was_cleared() -> None:
    def program() -> Any:
        event, answers = threading.Event(), []
        worker = threading.Thread(target=lambda: answers.append(event.wait()), name="waiter")
        worker.start()
        event.set()
        event.clear()
        worker.join()
        return answers

    assert outcomes(program) == {((True,),)[0], ("MainThread at join", "waiter at await")}


def test_a_timed_wait_answers_whether_it_was_set() -> None:
    def program() -> Any:
        event = threading.Event()
        worker = threading.Thread(target=event.set)
        worker.start()
        answer = event.wait(1)
        worker.join()
        return answer

    assert outcomes(program) == {True, False}
    assert outcomes(program, timeouts="idle") == {True}


def test_an_event_that_nobody_sets_is_waited_for_for_ever() -> None:
    assert outcomes(lambda: threading.Event().wait()) == {"MainThread at await"}


def test_attributes_of_the_programs_own_can_be_kept_on_an_event() -> None:
    def program() -> Any:
        event = threading.Event()
        event.payload = 3
        return event.payload

    assert once(program) == 3
