"""Programs that change or leave what they share with the checker, made small."""

from __future__ import annotations

import atexit
import builtins
import sys

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


def test_an_exit_in_a_function_registered_with_atexit_ends_that_function_alone() -> None:
    def program() -> None:
        atexit.register(sys.exit, 7)

    report = dpor.check(program)
    assert report.verdict == "pass"
    assert not report.reasons
