"""Specifications of a run: checks between its events, and the reason why no state between them is missed.

An invariant is a function of the program that is called after events. Two events that do not conflict otherwise may
come in either order, and an explorer tries one; but between them lies a state that only one of the orders has. So all
writes of what a specification has read are *ordered*: each also writes one location, which makes every two of them
dependent. Equivalent runs then agree on the sequence of all values that specifications can see, and one run of each
class shows all of them. Other events change nothing that they see.

Only calling a specification shows what it reads. That it reads an object is a fact (`dpor.python.kernel.assumptions`):
a run that shows this for the first time starts the search again. So in a search that comes to its end, no call read
anything whose writes were not ordered: the argument holds for all its runs, and for all runs equivalent to them.

While a specification runs it makes no events (`control.observer`). Locks that it acquires are granted at once: it sees
the state as it is, whoever holds what.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeAlias

import attrs

from dpor.core.operations import READ, WRITE, Accesses, Location, Operation, OperationTable, Rule, ThreadId
from dpor.core.outcome import Finding
from dpor.primitives.ordered import Ordered
from dpor.python.effects import key_order
from dpor.python.kernel import accessing, assumptions
from dpor.python.kernel.assumptions import Following, about
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import ModelThread, UnwindThread, Waited
from dpor.python.kernel.program_frames import program_frame
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects

SPECIFIED: Final = "specified"
"""The first word of the fact that a specification reads the named object, or `EVERYTHING`."""
EVERYTHING: Final = "everything"
MOST_OBJECTS: Final = 16
"""After so many objects that specifications read, all writes are ordered instead.

Objects that threads make have another name in each class of runs, and each name would start the search again.
"""
ORDER: Final = "order of specified events"
_LOCKING: Final = frozenset({"lock", "try", "unlock"})


CodeLine: TypeAlias = tuple[str, int]
"""File and line."""


@attrs.define
class EventCheck:
    """A check that is called when all that an event does is done.

    call      returns what went wrong; None if nothing did
    finding   makes the finding from that, the thread of the event and its place
    """

    call: Callable[[], str | None]
    finding: Callable[[str, str, CodeLine | None], Finding]
    failed: bool = False


class Beginning(Protocol):
    """A recorded call (`dpor.python.specs.histories`), from where it was made to its first event."""

    @property
    def location(self) -> Location:
        """The location that the beginnings and ends of calls of this object access."""
        ...

    def begin(self) -> None: ...


Cache: TypeAlias = dict[tuple[Operation, tuple[Location, ...]], Operation]


class Specifications:
    """The specifications of one run. Implements `listeners.Specifications`.

    checks     invariants, in the order in which they were declared
    kept       objects of the program that the invariants refer to
    histories  of the objects whose calls are recorded
    beginning  by thread: the calls that begin with its next event
    findings   what did not hold
    """

    def __init__(self, facts: Collection[object], operations: OperationTable, cache: Cache) -> None:
        self.order: Location = operations.location(ORDER)
        self.checks: list[EventCheck] = []
        self.kept: list[Any] = []
        self.histories: list[Any] = []
        self.beginning: dict[ThreadId, list[Beginning]] = {}
        self.findings: list[Finding] = []
        self.watched = watched(facts)
        self._operations = operations
        self._ordered = cache
        self._unsettled = False
        self._event: tuple[str, CodeLine | None] = ("", None)

    # ------------------------------------------------------------------ events

    def happened(self, thread: ModelThread, operation: Operation) -> None:
        for call in self.beginning.pop(thread.id, ()):
            call.begin()
        accesses = operation.accesses
        alone = operation.starts >= 0 and not run.multi
        if alone:  # what the thread has done, being the only one, made no events
            for held in self.kept:
                shared_objects.publish_all(held)
        if alone or (accesses and accesses[-1][0] == self.order):
            self._unsettled = True
            self._look_at(thread)

    def settle(self) -> None:
        if self._unsettled:
            self._unsettled = False
            self._check()

    def now(self, thread: ModelThread) -> None:
        """Check a specification that was declared just now."""
        self._look_at(thread)
        self._check()

    def _look_at(self, thread: ModelThread) -> None:
        frame = program_frame(sys._getframe(1))
        self._event = thread.name, None if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    def _check(self) -> None:
        for check in self.checks:
            if not check.failed and (message := check.call()) is not None:
                check.failed = True
                self.findings.append(check.finding(message, *self._event))

    def begin_calls(self) -> None:
        if run.current.id in self.beginning:
            accessing.touch("call", ())

    def ordered(self, operation: Operation) -> Operation:
        key = operation, self._begun()
        done = self._ordered.get(key)
        if done is None:
            orders = self._orders((location for location, mode in operation.accesses if mode is not READ), key[1])
            accesses = operation.accesses + orders
            done = operation
            if orders:
                done = self._operations.intern(operation.kind, accesses)
                done.unsettled = True
            self._ordered[key] = done
        return done

    def ordered_rule(self, rule: Rule, objects: tuple[Waited, ...]) -> Rule:
        if rule.plain:  # an access, which has been ordered as such
            return rule
        orders = self._orders((o.dpor_location for o in objects), self._begun())
        return Ordered(rule, orders) if orders else rule

    def _begun(self) -> tuple[Location, ...]:
        """The locations of histories in which the next event of the present thread begins a call."""
        if not self.beginning:
            return ()
        return tuple(dict.fromkeys(each.location for each in self.beginning.get(run.current.id, ())))

    def _orders(self, written: Iterable[Location], begun: tuple[Location, ...]) -> Accesses:
        """The additional accesses that order an event with others; those of its own calls come last."""
        calls = tuple([(location, READ) for location in begun])
        if self.watched and any(map(self._is_watched, written)):
            return (*calls, (self.order, WRITE))
        return calls

    def _is_watched(self, location: Location) -> bool:
        return EVERYTHING in self.watched or owner_name(location) in self.watched


def owner_name(location: Location) -> Hashable:
    """Return the name of the object that a location is a part of, or the location's own name."""
    name = run.operations.name_of(location)
    while type(name) is tuple and type(name[0]) is int:
        name = run.operations.name_of(name[0])
    return name


watched: Final = Following(lambda facts: frozenset(name for (name,) in about(facts, SPECIFIED)))
"""The names of the objects that specifications read."""


# ---------------------------------------------------------------------- the specifications of the present run

_cache: tuple[OperationTable, frozenset[Hashable], Cache] | None = None
"""Ordered operations of the present search, until it learns a new fact."""


def begin_run(facts: Collection[object], operations: OperationTable) -> None:
    """Called before a run: from its start on, writes of what other runs have shown to be read are ordered."""
    forget()
    if watched(facts):
        _make(facts, operations)


def forget() -> None:
    """Drop what is left of the run before; its objects die now."""
    run.specified = run.specifications = None


def end_run() -> None:
    """Called after the run. `current` still returns them, for their findings."""
    run.specifications = None


def present() -> Specifications:
    """Return those of the present run; makes them when the first is needed."""
    made = current()
    if made is None:
        made = _make(run.facts, run.operations)
        run.update_careful()
    return made


def current() -> Specifications | None:
    """Return those of the present run, or of the last one if it has ended; None if it has none."""
    found = run.specified
    assert found is None or isinstance(found, Specifications)
    return found


def _make(facts: Collection[object], operations: OperationTable) -> Specifications:
    global _cache
    known = watched(facts)
    key_order.may_look()
    if _cache is None or _cache[0] is not operations or _cache[1] != known:
        _cache = (operations, known, {})
    made = run.specified = run.specifications = Specifications(facts, operations, _cache[2])
    return made


# ---------------------------------------------------------------------- looking


class SpecificationObserver:
    """Collects what code of a specification reads. Implements `listeners.Observer`.

    name     of the specification, in words
    owners   the objects that it read
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.owners: dict[Hashable, None] = {}

    def access(self, operation: Operation) -> None:
        for location, mode in operation.accesses:
            self.owners[owner_name(location)] = None
            if mode is not READ:
                incomplete(f"{self.name} may change what it looks at: {operation.kind}")

    def perform(self, rule: Rule, objects: tuple[Waited, ...]) -> Any:
        states = tuple([o.dpor_state for o in objects])
        if rule.name in _LOCKING:
            return True
        me = run.current.id
        if not rule.enabled(states, me):
            incomplete(f"{self.name} would wait ({rule.name}), and was answered as if it need not")
            return True
        for o in objects:
            self.owners[owner_name(o.dpor_location)] = None
        effect = rule.apply(states, me)
        if effect.states != states:
            incomplete(f"{self.name} changes what it looks at ({rule.name}); the change is ignored")
        return effect.result


@contextmanager
def looking(look: SpecificationObserver) -> Iterator[None]:
    """Context in which the present thread runs a specification: what it does is not part of the run. Learns what it
    reads."""
    run.observer = look
    run.update_careful()
    try:
        yield
    finally:
        run.observer = None
        run.update_careful()
    known = watched(run.facts)
    new = [name for name in look.owners if name not in known]
    if new and EVERYTHING not in known:
        for name in new if len(known) + len(new) <= MOST_OBJECTS else [EVERYTHING]:
            assumptions.broken((SPECIFIED, name), f"{look.name} looks at what threads write")


def failure_of(call: Callable[[], object]) -> str | None:
    """Call it; return None if it holds, else what is wrong, in words."""
    try:
        held = call()
        return None if held is None or held else "does not hold"
    except (UnwindThread, KeyboardInterrupt):
        raise
    except AssertionError as error:
        return str(error) or "does not hold"
    except BaseException as error:
        return f"raised {type(error).__name__}: {error}".removesuffix(": ")
