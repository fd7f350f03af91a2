"""`traceback`: formatting an exception reads it and all exceptions chained to it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

from dpor.python.effects.accesses import Touched, yield_before
from dpor.python.effects.reach import writes
from dpor.python.hooks.calls.registry import set_wrapper
from dpor.python.hooks.exceptions import read_shown
from dpor.python.kernel import opaque_code
from dpor.python.kernel.run import run


def _showing(function: Any) -> Callable[..., Any]:
    def show(*args: Any, **kwargs: Any) -> Any:
        if run.multi:
            touched = Touched()
            values = (*args, *kwargs.values())
            touched.deeply(read_shown, (*values, sys.exc_info()))
            if touched.deeply(writes, [value for value in values if hasattr(type(value), "write")]):
                opaque_code.opaque(f"traceback.{function.__name__}")  # it writes line by line
            yield_before(function.__name__, touched)
        return function(*args, **kwargs)

    return show


for _name in ("format_exc", "format_exception", "format_exception_only", "print_exc", "print_exception"):
    set_wrapper(getattr(traceback, _name), _showing(getattr(traceback, _name)))
set_wrapper(traceback.TracebackException, _showing(traceback.TracebackException))
_from_exception = vars(traceback.TracebackException)["from_exception"].__func__
set_wrapper(_from_exception, _showing(_from_exception))
