"""The outcomes of a program as they are told to a user: what one run comes to, and a schedule that gives it.

What a run comes to is its *result*: the failures in it, by kind and text, or, if nothing failed, what the target
returned. Which thread raised an exception, and where, is left out: a test should go on holding when lines move.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import attrs

from dpor.core.errors import UserError
from dpor.core.operations import Action
from dpor.core.outcome import Kind
from dpor.core.steps import Step
from dpor.core.system import Ending, Run


def _kind(kind: Kind | str) -> str:
    try:
        return Kind(kind).value
    except ValueError:
        known = ", ".join(each.value for each in Kind if each is not Kind.RACE)
        raise UserError(f"there is no kind of failure {kind!r}; there are {known}") from None


@attrs.frozen(order=True)
class Failed:
    """What an outcome is if something failed: `dpor.Failed("deadlock")`, `dpor.Failed("exception", "KeyError: 3")`.

    kind      of the failure, such as "assertion" (`dpor.Kind`)
    message   its text; None stands for any, where outcomes are compared
    """

    kind: str = attrs.field(converter=_kind)
    message: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind


@attrs.frozen(kw_only=True)
class Outcome:
    """One outcome of a program.

    text      the outcome in words
    failures  what failed; empty: nothing did
    result    of one without failures, what distinguishes it from others: what the target returned, by structure
    schedule  the choices that give it: for each event, the thread's number (and a data choice's value shifted)
    switches  the number of context switches in it
    least     True if no schedule with fewer switches gives this outcome
    threads   the names of the threads, by number
    trace     the run under that schedule, one step for each event; empty if there was no time to describe it
    """

    text: str
    failures: tuple[Failed, ...] = ()
    result: Hashable = attrs.field(default=None, repr=False)
    schedule: tuple[Action, ...] = attrs.field(default=(), repr=False)
    switches: int = 0
    least: bool = False
    threads: tuple[str, ...] = attrs.field(default=(), repr=False)
    trace: tuple[Step, ...] = attrs.field(default=(), repr=False)

    def __str__(self) -> str:
        return self.text


def failures_of(run: Run) -> tuple[Failed, ...]:
    """Return what failed in a run, each failure once. Data races are none: they say nothing of what the run does."""
    found = {
        Failed(finding.kind.value, re.sub("0x[0-9a-f]+", "0x", finding.message))
        for finding in run.findings
        if finding.kind is not Kind.RACE
    }
    return tuple(sorted(found))


def result_of(run: Run, returned: Any) -> Hashable:
    """Return the result of a run; None if it has none, because it was not carried out to its end. A run that goes round
    a livelock counts as one that was.

    returned   of an outcome of the run's system, what the target returned: a function
    """
    failures = failures_of(run)
    goes_round = run.ending is Ending.STOPPED and any(finding.is_cycle for finding in run.findings)
    failed_first = run.ending is Ending.DROPPED and failures
    if not (run.ending is Ending.COMPLETE or run.ending is Ending.SPINNING or goes_round or failed_first):
        return None
    if failures:
        return ("failed", tuple((failed.kind, failed.message) for failed in failures))
    return ("returned", returned(run.outcome))
