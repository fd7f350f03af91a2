"""`dpor.invariant`: a condition that must hold after every event."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar

from dpor.core.operations import WRITE
from dpor.core.outcome import Finding, Kind
from dpor.core.schedule import relative
from dpor.python.effects.kinds import static
from dpor.python.kernel import accessing
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects
from dpor.python.sharing.fields import is_instrumented
from dpor.python.specs import specifying

F = TypeVar("F", bound=Callable[[], object])


def invariant(check: F, *, name: str | None = None) -> F:
    """Require that `check()` holds after every event of this run from now on; returns `check`, so it can decorate it.

    It holds if it returns None or something true, and raises nothing. It may read everything and must change nothing.
    Locks that it acquires are granted at once. Events are where threads meet: what a thread does while it is the only
    one is checked when it starts another. Outside of a check, this does nothing.

    Raises `TypeError` if `check` is not a function of the program that is checked.
    """
    if run.current is None or run.unwinding:
        return check
    code = _code_of(check)
    if code is None:
        raise TypeError(f"an invariant is a function of the program, written in Python, not {check!r}")
    told = name or _name_of(code)

    def call() -> str | None:
        with specifying.looking(specifying.SpecificationObserver(f"the invariant {told}")):
            return specifying.failure_of(check)

    def finding(message: str, thread: str, place: specifying.CodeLine | None) -> Finding:
        file, line = place or (None, None)
        return Finding(Kind.INVARIANT, f"{told}: {message}", thread, file, line, needs_timeout=run.timed_out)

    specifications = specifying.present()
    specifications.kept.append(check)
    if run.multi:
        shared_objects.publish(check)
        accessing.touch("invariant", ((specifications.order, WRITE),))
    specifications.checks.append(specifying.EventCheck(call, finding))
    specifications.now(run.current)
    return check


def _code_of(check: Any) -> types.CodeType | None:
    while isinstance(check, functools.partial):
        check = check.func
    function = getattr(check, "__func__", check)
    if not isinstance(function, types.FunctionType):
        function = static(type(check), "__call__")
    if isinstance(function, types.FunctionType) and is_instrumented(function):
        return function.__code__
    return None


def _name_of(code: types.CodeType) -> str:
    if code.co_name != "<lambda>":
        return code.co_name
    return f"{relative(code.co_filename)}:{code.co_firstlineno}"
