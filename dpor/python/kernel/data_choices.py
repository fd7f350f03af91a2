"""`dpor.choose`: a choice that the program itself makes, and of which all alternatives are explored."""

from __future__ import annotations

import operator
from typing import Final

from dpor.core.errors import BadSchedule
from dpor.python.kernel import unwinding
from dpor.python.kernel.events import happened
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import yield_before_pending


def choose(n: int) -> int:
    """A data choice: return one of 0..n-1. The search explores each. Raises `ValueError` if n < 1."""
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"choose({n}): there must be at least one alternative")
    if run.current is None:
        return 0
    if run.unwinding or run.atomic or n == 1 or run.observer is not None:
        return 0
    if run.dying and run.multi:
        run.above.step_ends()
    if run.specifications is not None:
        run.specifications.settle()
        run.specifications.begin_calls()
    me = run.current
    pending = run.operations.intern("choose", (), alternatives=n)
    me.pending = pending
    yield_before_pending(me)
    if run.dying:
        run.above.step_begins(me)
    value = run.trace.actions[run.position] >> 16
    if value >= n:
        unwinding.fail(BadSchedule(f"the schedule takes alternative {value} of {n} in {me.name}"))
    done = pending.with_value(value)
    happened(me, done, None)
    if run.recorder is not None:
        run.recorder.event(me, done, None)
    return value


STATELESS: Final = (choose,)
"""Functions whose frames are left out of states: what remains of them follows from the pending operation."""
