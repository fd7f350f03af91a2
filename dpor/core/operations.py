"""Locations, accesses and operations: what a thread is about to do, and what it did. No behaviour of any system.

An *operation* is what a thread will do next; the same type names what it did, once the outcome is known (a failed
try-lock is another operation than a successful one). Operations are interned by an `OperationTable`, so identity is
equality, they are made once for a whole search, and nothing is allocated for an event.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, TypeAlias

ThreadId: TypeAlias = int
"""A thread's number: 0 is the first thread; the same thread has the same number in every run of a search."""

Location: TypeAlias = int
"""The number of something that can be accessed: a field, an element, a lock. Stable over all runs of a search."""

Action: TypeAlias = int
"""A choice of a schedule: `thread | value << VALUE_SHIFT`; the value is that of a data choice, else 0."""

VALUE_SHIFT = 16
THREAD_MASK = (1 << VALUE_SHIFT) - 1

States: TypeAlias = tuple[Any, ...]
"""The states of the objects that an operation touches, in the order of its accesses."""


class Mode(IntEnum):
    """How a location is accessed. Two accesses conflict unless both are READ or both are UPDATE."""

    READ = 0
    WRITE = 1
    UPDATE = 2
    """Changes that commute with each other and with nothing else (two elements of one list are stored: each UPDATEs
    the list as a whole, which whoever reads all of it READs)."""


READ, WRITE, UPDATE = Mode.READ, Mode.WRITE, Mode.UPDATE

Access: TypeAlias = tuple[Location, Mode]
Accesses: TypeAlias = tuple[Access, ...]


class Effect(NamedTuple):
    """What an operation on synchronisation objects does."""

    states: States
    modes: tuple[Mode, ...]
    result: Any


class Applied(NamedTuple):
    """What an operation on synchronisation objects does, and which operation it then is."""

    states: States
    operation: Operation
    result: Any


class Rule(Protocol):
    """The pure meaning of one operation on synchronisation objects: enabled? what changes?

    `states` holds one value for each object, in the order of the operation's accesses.
    """

    @property
    def name(self) -> str: ...

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes before the outcome is known: at least as strong as any outcome's."""
        ...

    @property
    def blocking(self) -> bool:
        """Are there states in which it is not enabled?"""
        ...

    def enabled(self, states: States, thread: ThreadId) -> bool: ...

    @property
    def plain(self) -> Accesses:
        """What it accesses besides its objects; the modes of these come last in `modes`."""
        ...

    @property
    def takes(self) -> tuple[int, ...]:
        """Synchronisation: all that threads did before they *gave* an object happens before what a thread does after it
        *took* it. Which objects this operation takes, by their numbers, if it succeeds."""
        ...

    @property
    def gives(self) -> tuple[int, ...]: ...

    def succeeded(self, effect: Effect) -> bool:
        """Did it do what it is for? (Not so a try on a lock that is held, or a wait whose time was up.)"""
        ...

    def apply(self, states: States, thread: ThreadId) -> Effect:
        """Called only where `enabled` holds."""
        ...


class Operation:
    """An interned operation. Made by `OperationTable.intern` alone; compared by identity.

    kind          a word for reports: "read", "write", "lock", "try", ...
    accesses      location and mode of each object touched; for a pending operation with a rule, the strongest modes
    rule, thread  meaning and caller, of operations whose enabledness or modes depend on object states; else None, -1
    value, alternatives   of a data choice: the value taken, of how many
    barrier       ordered after everything before it (time passing when nothing else can move)
    starts        the thread whose first event comes after this one; -1: none
    """

    __slots__ = (
        "_applied",
        "_outcomes",
        "_table",
        "accesses",
        "alternatives",
        "barrier",
        "kind",
        "rule",
        "starts",
        "thread",
        "value",
    )

    def __init__(
        self,
        table: OperationTable,
        kind: str,
        accesses: Accesses,
        rule: Rule | None,
        thread: ThreadId,
        value: int,
        alternatives: int,
        barrier: bool,
        starts: ThreadId,
    ) -> None:
        self._table = table
        self._outcomes: dict[tuple[Mode, ...], Operation] = {}
        self._applied: dict[States, Applied | None] = {}
        self.kind = kind
        self.accesses = accesses
        self.rule = rule
        self.thread = thread
        self.value = value
        self.alternatives = alternatives
        self.barrier = barrier
        self.starts = starts

    def enabled(self, states: States) -> bool:
        """Can it run when its objects are in these states? Operations without a rule always can."""
        return self.rule is None or self.applied(states) is not None

    def outcome(self, modes: tuple[Mode, ...]) -> Operation:
        """The same operation with the modes that it turned out to have."""
        done = self._outcomes.get(modes)
        if done is None:
            accesses = tuple((location, mode) for (location, _), mode in zip(self.accesses, modes, strict=True))
            if accesses == self.accesses:
                done = self
            else:
                done = self._table.intern(
                    self.kind,
                    accesses,
                    self.rule,
                    self.thread,
                    self.value,
                    self.alternatives,
                    self.barrier,
                    self.starts,
                )
            self._outcomes[modes] = done
        return done

    def applied(self, states: States) -> Applied | None:
        """What it does in these states; None if it is blocked. Rules are pure: worked out once for each states."""
        try:
            return self._applied[states]
        except KeyError:
            pass
        assert self.rule is not None
        applied = None
        if self.rule.enabled(states, self.thread):
            effect = self.rule.apply(states, self.thread)
            applied = Applied(effect.states, self.outcome(effect.modes), effect.result)
        self._applied[states] = applied
        return applied

    def with_value(self, value: int) -> Operation:
        """The same data choice with another value taken."""
        return self._table.intern(
            self.kind, self.accesses, self.rule, self.thread, value, self.alternatives, self.barrier, self.starts
        )

    def in_states(self, states: States) -> Operation:
        """The operation with the modes that it would have if it ran (it must be enabled) in these states."""
        if self.rule is None:
            return self
        applied = self.applied(states)
        assert applied is not None
        return applied.operation

    def __repr__(self) -> str:
        accesses = " ".join(f"{mode.name[0]}{location}" for location, mode in self.accesses)
        choice = f" {self.value}/{self.alternatives}" if self.alternatives > 1 else ""
        return f"<{self.kind} {accesses}{choice}>"


UNKNOWN = Operation(None, "unknown", (), None, -1, 0, 1, False, -1)  # type: ignore[arg-type]
"""Stands in a trace that is to be repeated for an operation that is not known: whatever happens takes its place."""


class OperationTable:
    """Interns operations and locations for one system, for the whole of a search."""

    def __init__(self) -> None:
        self._operations: dict[tuple[object, ...], Operation] = {}
        self._locations: dict[Hashable, Location] = {}
        self._names: list[Hashable] = []

    def location(self, name: Hashable) -> Location:
        """The number of the location with this name; a name must mean the same place in every run."""
        number = self._locations.get(name)
        if number is None:
            number = self._locations[name] = len(self._names)
            self._names.append(name)
        return number

    @property
    def size(self) -> int:
        """How many locations there are: their numbers are those below."""
        return len(self._names)

    def name_of(self, location: Location) -> Hashable:
        return self._names[location]

    def intern(
        self,
        kind: str,
        accesses: Accesses,
        rule: Rule | None = None,
        thread: ThreadId = -1,
        value: int = 0,
        alternatives: int = 1,
        barrier: bool = False,
        starts: ThreadId = -1,
    ) -> Operation:
        key = (kind, accesses, rule, thread, value, alternatives, barrier, starts)
        operation = self._operations.get(key)
        if operation is None:
            operation = Operation(self, kind, accesses, rule, thread, value, alternatives, barrier, starts)
            self._operations[key] = operation
        return operation
