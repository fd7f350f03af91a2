"""Locations, accesses and operations: what a thread is about to do, and what it did. The same for all systems.

An *operation* is what a thread will do next; the same type stands for what it did, once the outcome is known (a try of
a lock that failed is another operation than one that succeeded). Operations are interned by an `OperationTable`: they
are made once for a whole search, can be compared by identity, and nothing is allocated for an event.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, TypeAlias

from dpor.core.names import as_text

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
    """Changes that commute with each other, but with no read and no write. Example: two stores to different elements of
    a list each UPDATE the list as a whole, which an operation that reads all of it READs."""


READ, WRITE, UPDATE = Mode.READ, Mode.WRITE, Mode.UPDATE

Access: TypeAlias = tuple[Location, Mode]
Accesses: TypeAlias = tuple[Access, ...]


class Effect(NamedTuple):
    """What an operation on synchronisation objects does: the new states, the modes of its accesses, its result."""

    states: States
    modes: tuple[Mode, ...]
    result: Any


class Applied(NamedTuple):
    """What an operation on synchronisation objects does, and the operation with the modes that it has then."""

    states: States
    operation: Operation
    result: Any


class Rule(Protocol):
    """The meaning of one operation on synchronisation objects, as pure functions: when it is enabled and what it
    changes.

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
        """True if there are states in which the operation is not enabled."""
        ...

    def enabled(self, states: States, thread: ThreadId) -> bool: ...

    @property
    def plain(self) -> Accesses:
        """The accesses of other locations than its objects. Their modes come last in `modes`."""
        ...

    @property
    def takes(self) -> tuple[int, ...]:
        """The indices of the objects that the operation takes if it succeeds. All that threads did before they *gave*
        an object happens before what a thread does after it *took* it."""
        ...

    @property
    def gives(self) -> tuple[int, ...]: ...

    def succeeded(self, effect: Effect) -> bool:
        """True if the operation did what it is for. A try of a lock that is held does not, nor a wait that times
        out."""
        ...

    def apply(self, states: States, thread: ThreadId) -> Effect:
        """Return what the operation does. Called only if `enabled` holds."""
        ...


class Operation:
    """An interned operation. Only `OperationTable.intern` makes them; compare them by identity.

    kind          a word for reports: "read", "write", "lock", "try", ...
    accesses      location and mode of each object touched; for a pending operation with a rule, the strongest modes
    rule, thread  the rule, and the thread that performs it, if object states decide whether the operation is enabled or
                  which modes it has; else None and -1
    value, alternatives   of a data choice: the value taken, and the number of values
    barrier       True if it is ordered after everything before it (time passing when nothing else can move)
    starts        the thread whose first event comes after this one; -1: none
    unsettled     True if it was met where what others do may change its accesses (a plan has those that were seen)
    visible       the `Discipline` that knows that all its accesses are visible; None: none does
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
        "unsettled",
        "value",
        "visible",
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
        self.unsettled = False
        self.visible: object = None

    @property
    def described(self) -> tuple[Any, ...]:
        """All that tells it from other operations: the arguments of `OperationTable.intern`."""
        return (
            self.kind,
            self.accesses,
            self.rule,
            self.thread,
            self.value,
            self.alternatives,
            self.barrier,
            self.starts,
        )

    def enabled(self, states: States) -> bool:
        """True if the operation can run when its objects are in these states. Operations without a rule always can."""
        return self.rule is None or self.applied(states) is not None

    def outcome(self, modes: tuple[Mode, ...]) -> Operation:
        """Return the same operation with the modes that its outcome has."""
        done = self._outcomes.get(modes)
        if done is None:
            accesses = tuple((location, mode) for (location, _), mode in zip(self.accesses, modes, strict=True))
            if accesses == self.accesses:
                done = self
            else:
                kind, _, *others = self.described
                done = self._table.intern(kind, accesses, *others)
            self._outcomes[modes] = done
        return done

    def applied(self, states: States) -> Applied | None:
        """Return what it does in these states; None if it is blocked. Computed once for each states, as rules are
        pure."""
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
        """Return the same data choice with another value taken."""
        kind, accesses, rule, thread, _, *others = self.described
        return self._table.intern(kind, accesses, rule, thread, value, *others)

    def in_states(self, states: States) -> Operation:
        """Return the operation with the modes that it would have if it ran in these states, in which it must be
        enabled."""
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
"""Stands for an unknown operation in a trace that is to be repeated: any operation may take its place."""


class OperationTable:
    """Interns operations and locations for one system, for the whole of a search."""

    def __init__(self) -> None:
        self._ask: Callable[[int, str], Sequence[str]] | None = None
        self._operations: dict[tuple[object, ...], Operation] = {}
        self._locations: dict[Hashable, Location] = {}
        self._names: list[Hashable] = []
        self._reserved: dict[str, Location] = {}

    def number_by(self, ask: Callable[[int, str], Sequence[str]]) -> None:
        """From now on another process numbers the locations. `ask` asks it for the number of a name, given how many
        names are known here, and returns the names from there on."""
        self._ask = ask

    def reserve(self, names: Sequence[str]) -> None:
        """Let the locations with these names have the same numbers as in the table that told them (`names_as_text`).
        The names before them must be in both tables."""
        self._reserved.update({name: number for number, name in enumerate(names, len(self._names))})
        self._names.extend(names)

    def location(self, name: Hashable) -> Location:
        """Return the number of the location with this name. A name must mean the same place in every run."""
        number = self._locations.get(name)
        if number is None:
            number = self._agreed(name) if self._reserved or self._ask is not None else None
            if number is None:
                number = len(self._names)
                self._names.append(name)
            else:
                self._names[number] = name
            self._locations[name] = number
        return number

    def _agreed(self, name: Hashable) -> Location | None:
        """Return the number that another table has for the name; None if there is none."""
        text = as_text(name)
        if text is not None and text not in self._reserved and self._ask is not None:
            self.reserve(self._ask(len(self._names), text))
        return self._reserved.pop(text or "", None)

    def names_as_text(self) -> list[str] | None:
        """Return the names of all locations, in the order of their numbers; None if one cannot be told."""
        reserved = {number: name for name, number in self._reserved.items()}
        names = [reserved.get(number) or as_text(name) for number, name in enumerate(self._names)]
        return None if None in names else [name for name in names if name is not None]

    @property
    def size(self) -> int:
        """The number of locations. They are numbered from 0."""
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
            operation = Operation(self, *key)
            self._operations[key] = operation
        return operation
