"""An explanation in sentences: when the failure occurs, what avoids it, what was tried."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dpor.core.explanation import EventOrder
from dpor.core.outcome import Kind
from dpor.core.plural import plural
from dpor.core.results import Failure
from dpor.core.steps import Step

MOST_AVOIDING = 3
MOST_FAILING = 3


def closing(failure: Failure) -> list[str]:
    """Return the sentence that ends a report, in several lines if it has several orders; empty if nothing is known.

    It claims no more than was tried: see `tried`.
    """
    explanation = failure.explanation
    if failure.kind is Kind.RACE:
        return ["Nothing orders the two accesses."]
    if explanation is None or not explanation.schedules:
        return []
    if explanation.whenever and explanation.held:
        return _whenever([order_in_words(failure, order) for order in explanation.whenever])
    if explanation.failing == explanation.schedules:
        return ["Fails in every schedule tried: no order of the threads is known that avoids it."]
    if explanation.avoided_by:
        return [f"Does not fail if {reversed_in_words(failure, explanation.avoided_by[0])}."]
    return []


def _whenever(orders: Sequence[str]) -> list[str]:
    if len(orders) == 1:
        return [f"Fails whenever {orders[0]}."]
    return ["Fails whenever", *(f"  {order}, and" for order in orders[:-1]), f"  {orders[-1]}."]


def tried(failure: Failure, *, verbose: bool = False) -> list[str]:
    """Return lines on the schedules that were tried, the evidence for the closing sentence.

    A line that begins with spaces belongs to the one before.
    """
    explanation = failure.explanation
    if explanation is None or not explanation.schedules:
        return []
    schedules, failing, held = explanation.schedules, explanation.failing, explanation.held
    first = f"Tried: {plural(schedules, 'other schedule')}."
    if explanation.whenever and held and held == failing:
        first += f" The {held:,} with these orders failed in the same way, no others did."
    else:
        first += f" {failing:,} failed in the same way"
        first += f", {held:,} of them with these orders: others can lead to it, too." if held else "."
    lines = [first]
    for order in explanation.avoided_by[:MOST_AVOIDING]:
        lines.append(f"The failure disappears if only this order is reversed: {order_in_words(failure, order)}.")
    lines += _still_failing(failure, verbose)
    if explanation.untried:
        lines.append(f"{plural(explanation.untried, 'race')} of the run were not tried in the other order.")
    return lines


def _still_failing(failure: Failure, verbose: bool) -> list[str]:
    """Return lines on the reorderings that fail, too."""
    assert failure.explanation is not None
    also = [tried.order for tried in failure.explanation.reorderings if tried.fails is True]
    if not also:
        return []
    shown = also if verbose else also[:MOST_FAILING]
    lines = [
        "It still fails if only one of these orders is reversed:",
        *(f"  {order_in_words(failure, order)}" for order in shown),
    ]
    if len(shown) < len(also):
        lines.append(f"  ({len(also) - len(shown)} more: -v)")
    return lines


def order_in_words(failure: Failure, order: EventOrder) -> str:
    """The order of the failing run, in words."""
    return f"{_event(failure, order.earlier)} before {_later(failure, order)}"


def reversed_in_words(failure: Failure, order: EventOrder) -> str:
    """The reversed order, in words."""
    return f"{_later(failure, order)} before {_event(failure, order.earlier)}"


def _event(failure: Failure, number: int) -> str:
    step = failure.trace[number]
    same = [at for at, other in enumerate(failure.trace) if _alike(step, other)]
    time = f", time {same.index(number) + 1} of {len(same)}" if len(same) > 1 else ""
    done = f"{step.call}: {step.operation}" if step.call else step.operation
    if step.line is None:
        return f"{step.thread} does {step.source.strip() or done}{time}"
    return f"{step.thread} runs line {step.line} ({done}{time})"


def _later(failure: Failure, order: EventOrder) -> str:
    if order.later is not None:
        return _event(failure, order.later)
    name = failure.threads[order.thread] if order.thread < len(failure.threads) else f"thread {order.thread}"
    return f"{name} {_unblocked(failure, name)}"


def _unblocked(failure: Failure, name: str) -> str:
    """The operation that the thread was blocked before, as the message of a deadlock says it: "joins Ada (line 8)"."""
    for line in failure.message.splitlines():
        for verb, pattern in _BLOCKED:
            found = re.fullmatch(f"{re.escape(name)} {pattern}", line)
            if found is not None:
                place = found["place"]
                return f"{verb} {found['what']}" + (f" (line {place})" if place else "")
    return "stops waiting"


_BLOCKED: Final = tuple(
    (verb, rf"(?:at \S+:(?P<place>\d+) )?waits {waits} (?P<what>.+?)(?: again)?(?: \(made at .*|, held by .*)?")
    for verb, waits in (
        ("acquires", "to (?:lock|acquire)"),
        ("is notified on", "for a notify o[fn]"),
        ("joins", "for the end of"),
    )
)
"""Verbs for operations, and the lines of deadlocks on threads that are blocked before them."""


def _alike(a: Step, b: Step) -> bool:
    return (a.thread, a.line, a.source, a.operation) == (b.thread, b.line, b.source, b.operation)
