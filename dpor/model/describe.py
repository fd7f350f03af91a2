"""Describes runs of abstract programs in words: their events, and what the threads of a deadlock wait for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dpor.core.operations import THREAD_MASK, VALUE_SHIFT, Operation, States, ThreadId
from dpor.core.outcome import Finding, Kind
from dpor.core.system import Pending, Trace
from dpor.model.machine import AbstractMachine
from dpor.model.rules import Await
from dpor.model.semantics import Semantics
from dpor.primitives.conditions import Retake


class EventText(NamedTuple):
    """An event in words.

    thread      the thread's name: "T0"
    place       the place of its statement: "T0:3", or "T0:3.2.0" inside an if or a loop
    statement   the statement's text
    kind        the kind of the operation
    value       the value that was read or written, or the result
    """

    thread: str
    place: str
    statement: str
    kind: str
    value: str


def describe(semantics: Semantics, machine: AbstractMachine, trace: Trace) -> list[EventText]:
    """Repeat the trace on `machine`, which is at its start, and return a description of each event."""
    texts = []
    for action in trace.actions:
        thread = action & THREAD_MASK
        where, statement = machine.codes[thread].places[machine.pcs[thread]]
        act = machine.act(thread)
        before = act.read(machine.memory) if act else ()
        operation = machine.step(thread, action >> VALUE_SHIFT)
        after = act.read(machine.memory) if act else ()
        texts.append(EventText(f"T{thread}", where, statement, operation.kind, _value(operation, before, after)))
    return texts


def terminal_state(
    semantics: Semantics,
    memory: Mapping[str, Any],
    registers: Sequence[Iterable[Any]],
    failures: Iterable[str],
) -> str:
    """Describe a terminal state in a line: the objects, the registers of each thread, and the failures."""
    parts = [f"{name}={value}" for name, value in memory.items()]
    for thread, (code, values) in enumerate(zip(semantics.codes, registers, strict=True)):
        parts += [f"T{thread}.{name}={value}" for name, value in zip(code.registers, values, strict=True)]
    return " ".join(parts + [f"failed {failure}" for failure in sorted(failures)])


def _value(operation: Operation, before: States, after: States) -> str:
    match operation.kind:
        case "choose":
            return str(operation.value)
        case "read" | "await":
            return str(before[0])
        case "write":
            return str(after[0])
        case "rmw" | "P" | "V":
            return f"{before[0]} -> {after[0]}"
        case "cas":
            return f"{before[0]} -> {after[0]}" if before != after else f"{before[0]}, kept"
        case "try" | "tlock":
            return "taken" if before != after else f"held by T{_owner(before[0])}"
        case "tP":
            return f"{before[0]} -> {after[0]}" if before != after else f"{before[0]}, not taken"
        case "notify" | "notifyall":
            woken = [f"T{waiting}" for waiting in _queue(before[0]) if waiting not in _queue(after[0])]
            return f"wakes {', '.join(woken) or 'nobody'}"
        case "rewait":
            if isinstance(operation.rule, Retake):
                return "after its timeout"
            return "notified" if before != after else "timed out"
    return ""


def deadlock_finding(semantics: Semantics, blocked: Sequence[Pending], timed_out: bool) -> Finding:
    """Return the finding of a deadlock. Its message has a line for each thread, which says what the thread waits
    for."""
    lines = [f"T{pending.thread} {_waits(semantics, pending)}" for pending in blocked]
    return Finding(Kind.DEADLOCK, "\n".join(lines), f"T{blocked[0].thread}", needs_timeout=timed_out)


def livelock_finding(machine: AbstractMachine, moving: int) -> Finding:
    """Return the finding of a livelock. Its message has a line for each of the threads in the mask `moving`, which go
    on for ever, and says where the thread is at present."""
    threads = [thread for thread in range(len(machine.codes)) if moving >> thread & 1]
    places = [machine.codes[thread].places[machine.pcs[thread]] for thread in threads]
    message = "\n".join(
        f"T{thread} goes round for ever, here at {place.where} {place.text!r}"
        for thread, place in zip(threads, places, strict=True)
    )
    return Finding(Kind.LIVELOCK, message, f"T{threads[0]}", needs_timeout=machine.timed_out)


def _waits(semantics: Semantics, pending: Pending) -> str:
    thread, operation, states = pending
    names = [str(semantics.table.name_of(location)) for location, _ in operation.accesses]
    match operation.kind:
        case "lock":
            return f"waits to lock {names[0]}, held by {_holder(states[0], thread)}"
        case "rewait" if thread in _queue(states[0]) and not operation.enabled((states[0], None)):
            return f"waits for a notify on {names[0]}"
        case "rewait":
            return f"waits to lock {names[1]} again, held by {_holder(states[1], thread)}"
        case "P":
            return f"waits for semaphore {names[0]}, which is {states[0]}"
        case "await":
            assert isinstance(operation.rule, Await)
            return f"awaits {operation.rule.condition} of {names[0]}, which is {states[0]}"
    return f"waits for {names[0].replace('thread ', 'T')} to end"


def _holder(lock: object, thread: ThreadId) -> str:
    owner = _owner(lock)
    return "itself" if owner == thread else f"T{owner}"


def _owner(lock: object) -> object:
    """Return the thread that holds a plain or re-entrant lock, given the lock's state."""
    return lock[0] if isinstance(lock, tuple) else lock


def _queue(condition: object) -> tuple[object, ...]:
    return condition if isinstance(condition, tuple) else ()
