"""Carries out a scenario. This module is a part of the program that is checked: it is instrumented, and makes the calls
as a program would that is written by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

Calls = Sequence[tuple[str, tuple[Any, ...]]]
"""Names of methods, each with its arguments."""


def concurrently(
    make: Callable[[], Any],
    record: Callable[[Any], Any],
    beginning: Calls,
    threads: Sequence[tuple[str, Calls]],
    end: Calls,
) -> None:
    """Make an object; call it in this thread, then in several at once, then in this one again."""
    obj = record(make())
    _call(obj, beginning)
    started = [threading.Thread(target=_call, args=(obj, calls), name=name) for name, calls in threads]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    _call(obj, end)


def _call(obj: Any, calls: Calls) -> None:
    for method, args in calls:
        try:
            getattr(obj, method)(*args)
        except Exception:  # an answer like any other: whoever records the calls takes note of it
            pass


def one_after_another(make: Callable[[], Any], calls: Calls, note: Callable[[Any, Any, bool], None]) -> None:
    """Make an object and call it in this thread alone; `note` is told of each answer."""
    obj = make()
    for method, args in calls:
        try:
            answer = getattr(obj, method)(*args)
        except Exception as error:
            note(obj, error, True)
        else:
            note(obj, answer, False)
