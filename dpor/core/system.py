"""The interface between explorers and what they run: a system repeats a trace and extends it, an explorer chooses.

The system calls the explorer back before each new event (`Chooser`); the explorer does not step the system. So a thread
that goes on running need not be switched away from and back to, which would cost more than the event itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from enum import Enum, StrEnum
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from dpor.core.guarding import Guarding
from dpor.core.operations import THREAD_MASK, Action, Location, Operation, States, ThreadId
from dpor.core.outcome import Finding

STOP: Action = -1
"""The answer of a chooser that abandons the run."""

Chooser: TypeAlias = Callable[[int], Action]
"""Called before each new event with the bit mask of the enabled threads (never 0). Returns an action of one of them, or
`STOP`. Meanwhile the trace given to `System.run` holds all events so far."""


Asking: TypeAlias = Callable[[str, Any], Any]
"""Asks another process for the number of a "location" or a "thread"."""


class Data:
    """What the events of a trace saw of data, and what they wrote, as parallel lists.

    observed   the data that the event depends on, in the order of its accesses; None if it saw none
    written    the data after it; None if it wrote none
    """

    __slots__ = ("observed", "written")

    def __init__(self) -> None:
        self.observed: list[States | None] = []
        self.written: list[States | None] = []


class Trace:
    """The events of the present run, as parallel lists: what an explorer reads on the hot path.

    actions   the choices (thread, and value of a data choice)
    threads   the thread of each event
    operations   what it did, with its outcome
    befores   for operations on synchronisation objects (and, in models, on any variable that some operation waits
              for): the states of the objects just before the event, in the order of the accesses; else None
    data      what events saw of data and wrote to them: only in traces that ask for it (see `TellsData`), which no one
              cuts; else None
    """

    __slots__ = ("actions", "befores", "data", "operations", "threads")

    def __init__(self, data: bool = False) -> None:
        self.actions: list[Action] = []
        self.threads: list[ThreadId] = []
        self.operations: list[Operation] = []
        self.befores: list[States | None] = []
        self.data: Data | None = Data() if data else None

    def __len__(self) -> int:
        return len(self.threads)

    def add(self, action: Action, operation: Operation, before: States | None) -> None:
        """Append an event that is to be repeated."""
        self.actions.append(action)
        self.threads.append(action & THREAD_MASK)
        self.operations.append(operation)
        self.befores.append(before)

    def copy(self) -> Trace:
        """Return a new trace with the same events, without their data."""
        new = Trace()
        new.actions, new.threads = self.actions.copy(), self.threads.copy()
        new.operations, new.befores = self.operations.copy(), self.befores.copy()
        return new

    def cut(self, length: int) -> None:
        """Forget the events from `length` on."""
        del self.actions[length:], self.threads[length:], self.operations[length:], self.befores[length:]


class Ending(Enum):
    COMPLETE = "complete"
    """No thread can move any more: the program has finished, or is deadlocked."""
    SPINNING = "spinning"
    """Threads can move only in loops that wait for something that no thread is left to write: a livelock, without
    end."""
    DROPPED = "dropped"
    """No thread can move any more, and one cannot because it has found that the run is of no interest (`dpor.assume`).
    The run has no outcome; what fails in it, fails all the same."""
    STOPPED = "stopped"
    """The chooser answered STOP."""
    ENDED = "ended"
    """The run took too long by the clock. A repetition may come further."""
    CUT = "cut"
    """The run was too long (`--max-steps`), or something in the program made it pointless to go on. `Run.incomplete`
    has the reason."""


class Pending(NamedTuple):
    """The next operation of a thread, and the states of its objects."""

    thread: ThreadId
    operation: Operation
    states: States


class StatesMayTell(str):
    """A reason why a run shows less than everything, which may not hold for a search that stores states."""

    __slots__ = ()


class IfEndless(str):
    """A reason why a run shows less than everything, which holds only if the program need not come to an end."""

    __slots__ = ()


class Run:
    """How a run ended.

    blocked     the pending operations of the threads that cannot run, whatever the ending
    outcome     what distinguishes this result from others: hashable, equal for equivalent runs (None unless COMPLETE)
    deadlock    identity of the deadlocked terminal state, or None if there is no deadlock
    findings    what went wrong, in order of occurrence
    incomplete  why this run shows less than all that its schedule could do; each goes into `Report.reasons`
    shares      True if the threads had anything in common, whether or not a thread changed it
    silent      the accesses that were no events (`dpor.core.discipline`), in order: of each, how many events came
                before it, and its thread
    labels      what the run has come to, of what some run must come to (`dpor.reached`)
    """

    __slots__ = ("blocked", "deadlock", "ending", "findings", "incomplete", "labels", "outcome", "shares", "silent")

    def __init__(
        self,
        ending: Ending,
        blocked: Sequence[Pending] = (),
        outcome: Hashable = None,
        deadlock: Hashable = None,
        findings: Sequence[Finding] = (),
        incomplete: Sequence[str] = (),
        shares: bool = True,
        silent: Sequence[tuple[int, ThreadId]] = (),
        labels: frozenset[str] = frozenset(),
    ) -> None:
        self.ending = ending
        self.blocked = blocked
        self.outcome = outcome
        self.deadlock = deadlock
        self.findings = findings
        self.incomplete = incomplete
        self.shares = shares
        self.silent = silent
        self.labels = labels

    def schedule(self, trace: Trace) -> tuple[Action, ...]:
        """Return the schedule of this run, whose trace this is, for runs in which every access is an event."""
        actions = trace.actions
        if not self.silent:
            return tuple(actions)
        schedule: list[Action] = []
        taken = 0
        for position, thread in self.silent:
            schedule += actions[taken:position]
            schedule.append(thread)
            taken = position
        return (*schedule, *actions[taken:])


class System(Protocol):
    """A program that can be run repeatedly."""

    def run(self, trace: Trace, choose: Chooser) -> Run:
        """Repeat the events in `trace`, then ask `choose` for each new one and append it, until the run ends.

        Raises `NotDeterministic` if a repeated event is not the recorded one, `AssumptionBroken` if the search must
        start again. In any case it leaves no thread, no patch and nothing of the program running.
        """
        ...

    def pending(self) -> Sequence[Pending]:
        """Return the next operation of each live thread, enabled or not. Call this only while a chooser is being
        called."""
        ...


@runtime_checkable
class PlacedSystem(System, Protocol):
    """A system that knows where in the program a thread is."""

    def place(self, thread: ThreadId) -> Hashable:
        """Return where a live thread waits before its next operation: the same in each run of a search, and in each
        thread that runs the same code. Call this only while a chooser is being called."""
        ...


class Forwarding:
    """A system that passes every call on to another one, except for the methods that a subclass overrides."""

    run: Callable[[Trace, Chooser], Run]
    pending: Callable[[], Sequence[Pending]]

    def __init__(self, system: System) -> None:
        for name in (*dir(type(system)), *vars(system)):
            if not name.startswith("_") and not hasattr(type(self), name):
                method = getattr(system, name)
                if callable(method):
                    setattr(self, name, method)


StateKey: TypeAlias = Hashable
"""The exact identity of a state: equal for two states only if no program could tell them apart."""


class Store(StrEnum):
    """Which states are stored."""

    EVENTS = "events"
    """The states after every event."""
    CHOICES = "choices"
    """The first state, the last, and those with a choice; also, where there is no choice for very long, one now and
    then, so that endless loops are recognised. [DHRR04, section 7]"""
    NOTHING = "nothing"
    """None: the search is stateless."""


class SyncChoices(StrEnum):
    """The starts, ends and joins of threads at which `original` makes a choice."""

    ALL = "all"
    SHARED = "shared"
    """Those of threads that share something at that moment. [DHRR04: D]"""


class Escape(StrEnum):
    """Which objects have not escaped from a thread, so that `alone` explores their accesses alone. [DHRR04]"""

    NONE = "none"
    """Every object counts as shared. [B]"""
    UNSHARED = "unshared"
    """One thread alone ever accesses it, or nobody changes it. [S, at its best]"""
    DYNAMIC = "dynamic"
    """No other thread can reach it in the present state. [D]"""


class Locks(StrEnum):
    """Which locks let `alone` explore an access alone. [DHRR04]"""

    NONE = "none"
    DISCIPLINE = "discipline"
    """One that is held at every access. [LD]"""


@runtime_checkable
class TellsData(System, Protocol):
    """A system that tells what events see of data and write to them, in traces that ask for it (`Trace.data`).

    In a run with such a trace each access is an event. The trace is empty at first.
    """

    def initial(self, location: Location) -> Any:
        """Return the data, or the state of the object, that is there before the first event."""
        ...


@runtime_checkable
class KnowsStates(Protocol):
    """A system that performs other operations where states are compared."""

    def will_store_states(self) -> None:
        """Called before the first run of a search that stores states: it may repeat a trace before it asks for one."""
        ...


@runtime_checkable
class StatefulSystem(System, Protocol):
    """A system that can identify its states. Call all methods only while a chooser is being called."""

    def state(self) -> StateKey | None:
        """Return the identity of the present state; None if it cannot be determined. Then it equals no other state."""
        ...

    def unstored(self) -> Mapping[str, int]:
        """Return the reasons why states could not be stored so far, with how often each occurred."""
        ...

    def sync_states(self) -> Mapping[Location, Any]:
        """Return the states of all objects that the operations which can block depend on."""
        ...

    def is_choice(self, thread: ThreadId, sync_choices: SyncChoices) -> bool:
        """True if it may matter in the present state which thread moves before the thread's next operation, which is
        enabled.

        False only if no other thread can reach what it accesses, and it synchronises with none.
        """
        ...

    def remembers_way(self) -> bool:
        """True if states depend on how they were reached, by names of objects or by times. Then equal states do not
        always have equal successors.
        """
        ...

    def changes_data(self, operation: Operation) -> bool:
        """True if the event changes anything else than locks, conditions, semaphores and the like."""
        ...

    def has_changed_silently(self) -> bool:
        """True if data have changed since the last event by accesses that are no events."""
        ...

    def livelock(self, moving: int) -> Finding | None:
        """Return the finding of a livelock: no end can be reached from the present state, but the threads of the mask
        move on and on. None if that is of no interest, because a thread has stopped that could have ended it."""
        ...

    def canonical(self, operation: Operation) -> Operation:
        """Return the operation under names that do not depend on the path by which the present state was reached.

        If an object has no such name, one that it shares with other objects is used, and the rule is left out.
        """
        ...


@runtime_checkable
class OracleSystem(StatefulSystem, Protocol):
    """A system with facts about what its threads may still do. The facts may be wrong. See `dpor.explorers.sa`."""

    def ruled_out(self, thread: ThreadId) -> Collection[str]:
        """Return the facts from which it follows that no other thread will make an access that conflicts with this
        thread's next operation, which is a plain access; empty if there are none. Call this only while a chooser is
        being called."""
        ...

    def withdraw_facts(self, facts: Collection[str]) -> None:
        """Report that these facts do not hold. `ruled_out` will not use them any more. Raises `AssumptionBroken`."""
        ...


@runtime_checkable
class LockingSystem(StatefulSystem, Protocol):
    """A system that knows which locks a thread holds. See `dpor.explorers.alone`."""

    def guarding(self, by_use: bool, by_locks: bool) -> Guarding:
        """Return the discipline on which searches of this kind rely, the same each time. `Guarding` has the arguments.
        A contradiction raises `AssumptionBroken`, at the end of the run at the latest."""
        ...

    def held(self, thread: ThreadId) -> Collection[Location]:
        """Return the locks that the thread holds. Call this where `pending` may be called, and for a thread that was
        blocked when a run ended; if it is not known any more what such a thread holds, that is nothing."""
        ...
