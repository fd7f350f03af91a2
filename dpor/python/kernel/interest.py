"""`dpor.assume` and `dpor.reached`: which runs are of interest, and which places some run must come to."""

from __future__ import annotations

from typing import Final

from dpor.primitives.assumed import NeverGoOn
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run

_NEVER: Final = NeverGoOn()


class Labels:
    """The labels that the present run has come to."""

    def __init__(self) -> None:
        self.met: set[str] = set()


labels: Final = run.attach(Labels)


def assume(condition: object) -> None:
    """Drop the run unless the condition holds: it is of no interest. The thread goes no further, others do as far as
    they can; what fails in these is told, for it could have come before. How many executions were dropped is reported,
    and a check in which all were is no pass. Outside of a check, nothing happens.
    """
    if not condition and run.current is not None and not run.unwinding and run.observer is None:
        perform(_NEVER)


def reached(label: str) -> None:
    """Some execution that is not dropped must come here, or the check does not pass: "never reached". Outside of a
    check, nothing happens."""
    if run.current is not None and not run.unwinding and run.observer is None:
        labels.met.add(str(label))


def has_stopped_a_thread() -> bool:
    """True if the assumption of a thread has failed in the present run, or in the one that has ended now."""
    waiting = (thread.pending.kind for thread in run.waiting if thread.pending is not None)
    return NeverGoOn.name in waiting or any(s.waits_for.split()[0] == NeverGoOn.name for s in run.stuck)


STATELESS: Final = (assume,)
"""Functions whose frames are left out of states: what remains of them follows from the pending operation."""
