"""Records events; where a trace is repeated, compares each with the recorded one."""

from __future__ import annotations

from dpor.core.errors import NotDeterministic
from dpor.core.operations import (
    UNKNOWN,
    Operation,
    States,
)
from dpor.python.kernel import unwinding
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.program_frames import last_place
from dpor.python.kernel.run import run


def happened(me: ModelThread, operation: Operation, before: States | None) -> None:
    """Record the event, or compare it with the recorded one if the trace is being repeated.

    before    the states of the operation's objects before it, one for each access; None for a plain access
    """
    if run.specifications is not None:
        run.specifications.happened(me, operation)
    position = run.position
    if position < run.replayed:
        if run.event_operations[position] is not operation:
            fill_in(me, operation, before)
    else:
        run.event_threads.append(me.id)
        run.event_operations.append(operation)
        run.trace.befores.append(before)
    run.position = position + 1
    me.events += 1


def fill_in(me: ModelThread, operation: Operation, before: States | None) -> None:
    """The repeated event has another operation than the recorded one. Fill it in if none was recorded; else the run
    differs, and ends."""
    if run.event_operations[run.position] is not UNKNOWN:
        unwinding.fail(differs(f"{me.name} now does: {operation_text(operation)}"))
    run.event_operations[run.position] = operation
    run.trace.befores[run.position] = before


def differs(what: str) -> NotDeterministic:
    """Return the error of a run that does not repeat its trace. `what`: what it has done instead."""
    place, operations, threads = run.position, run.trace.operations, run.trace.threads
    had = f"thread {threads[place]} had done {operation_text(operations[place])}; " if place < len(operations) else ""
    return NotDeterministic(
        f"a repeated run differs at event {place}: {had}{what}{last_place()}. Does the program depend on "
        f"something that is not restored before each run (a cache, the outside world, the real clock)?"
    )


_MOST_PLACES = 3
"""Locations of one operation named in a message."""


def operation_text(operation: Operation | None) -> str:
    """Return the operation in words for an error: its kind, and some of its locations."""
    if operation is None:
        return "nothing"
    places = [str(run.operations.name_of(location)) for location, _ in operation.accesses]
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return f"{operation.kind} of {', '.join(places[:_MOST_PLACES])}{more}"
