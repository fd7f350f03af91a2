"""Programs that change or leave what they share with the checker, made small."""

from __future__ import annotations

import atexit
import builtins
import sys
from typing import Any

import pytest

import dpor


def test_patched_builtins_are_brought_back() -> None:
    def program() -> None:
        import builtins

        builtins.len = lambda _: 3  # type: ignore[assignment]
        builtins.mine = 1  # type: ignore[attr-defined]

    before = len
    dpor.check(program)
    assert builtins.len is before
    assert not hasattr(builtins, "mine")


def test_functions_registered_with_atexit_are_not_run() -> None:
    def program() -> None:
        atexit.register(sys.exit, 7)

    report = dpor.check(program)
    assert report.verdict == "inconclusive"
    assert report.reasons == ("exit, registered with atexit, is not run",)


def test_a_recursion_that_leaves_nothing_for_the_search() -> None:
    def program() -> None:
        import threading

        hits: list[Any] = [0]

        def deeper() -> None:
            hits[0] += 1
            deeper()

        def work() -> None:
            with pytest.raises(RecursionError):
                deeper()

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    report = dpor.check(program, max_executions=2)
    assert report.verdict != "pass"
    assert all("recurses" in reason or "max-" in reason or "differs" in reason for reason in report.reasons)
