"""The target of `run_suite.py`: one test function of one of CPython's own suites, named in `sys.argv` after the suite.

It is what `unittest` does with a test, less the reporting: that would catch what is to be seen here.
"""

from __future__ import annotations

import sys
import unittest
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any

suite = import_module(sys.argv[1])
"""Imported like any module of a program, hence instrumented."""


def cases(found: Any) -> Iterator[Any]:
    if isinstance(found, unittest.TestSuite):
        for part in found:
            yield from cases(part)
    else:
        yield found


def named() -> dict[str, Any]:
    """All test cases of the suite, by what follows the suite's name in their ids."""
    found = unittest.defaultTestLoader.loadTestsFromModule(suite)
    return {case.id().removeprefix(suite.__name__ + "."): case for case in cases(found)}


def names() -> list[str]:
    return sorted(named())


MANY, FEW = 1024 * 64, 64


def make_smaller(case: Any) -> None:
    """The tests that send 10,000 items through a queue with 100 threads, or 65,536 until it is shut down: fewer show
    the same."""
    run_threads = getattr(case, "run_threads", None)

    def with_fewer(n: int, queue: Any, inputs: list[int], *functions: Any) -> Any:
        del inputs[100:]
        return run_threads(min(n, 5), queue, inputs, *functions)

    if "test_many_threads" in case.id():
        case.run_threads = with_fewer
    shut_down = getattr(case, "_shutdown_all_methods_in_many_threads", None)
    if shut_down is not None:
        constants = tuple(FEW if constant == MANY else constant for constant in shut_down.__code__.co_consts)
        code = shut_down.__code__.replace(co_consts=constants)
        smaller = FunctionType(code, shut_down.__globals__, code.co_name)
        case._shutdown_all_methods_in_many_threads = MethodType(smaller, case)


def run(case: Any) -> None:
    kind = type(case)
    make_smaller(case)
    method = getattr(case, case._testMethodName)
    for skipped in (kind, method):
        if getattr(skipped, "__unittest_skip__", False):
            raise unittest.SkipTest(skipped.__unittest_skip_why__)
    kind.setUpClass()
    try:
        try:
            case.setUp()
            try:
                method()
            finally:
                case.tearDown()
        finally:
            while case._cleanups:
                function, args, kwargs = case._cleanups.pop()
                function(*args, **kwargs)
    finally:
        kind.tearDownClass()
        kind.doClassCleanups()
        unittest.doModuleCleanups()


def scenario() -> str:
    set_up = getattr(suite, "setUpModule", None)
    try:
        if set_up is not None:
            set_up()
        run(named()[sys.argv[2]])
    except unittest.SkipTest as skipped:
        return f"skipped: {skipped}"
    return "passed"
