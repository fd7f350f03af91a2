"""The seam between explorers and whatever runs: a system repeats a trace and extends it, an explorer chooses.

The explorer is called back before each new event (`Chooser`) instead of stepping the system from outside: a thread
that goes on running is then not switched away from and back to, which costs more than the event itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from enum import Enum, StrEnum
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from dpor.core.operations import Action, Location, Operation, States, ThreadId
from dpor.core.outcome import Finding

STOP: Action = -1
"""What a chooser answers to abandon the run."""

Chooser: TypeAlias = Callable[[int], Action]
"""Asked before each new event, with the bit mask of the enabled threads (never 0). Answers an action of one of them,
or `STOP`. The trace given to `System.run` holds all events so far while it is asked."""


class Trace:
    """The events of the present run, as parallel lists: what an explorer reads on the hot path.

    actions   the choices (thread, and value of a data choice)
    threads   the thread of each event
    operations   what it did, with its outcome
    befores   for operations on synchronisation objects (and, in models, on any variable that some operation waits
              for): the states of the objects just before the event, in the order of the accesses; else None
    """

    __slots__ = ("actions", "befores", "operations", "threads")

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.threads: list[ThreadId] = []
        self.operations: list[Operation] = []
        self.befores: list[States | None] = []

    def __len__(self) -> int:
        return len(self.threads)

    def copy(self) -> Trace:
        """A trace of its own with the same events."""
        new = Trace()
        new.actions, new.threads = self.actions.copy(), self.threads.copy()
        new.operations, new.befores = self.operations.copy(), self.befores.copy()
        return new

    def cut(self, length: int) -> None:
        """Forget the events from `length` on."""
        del self.actions[length:], self.threads[length:], self.operations[length:], self.befores[length:]


class Ending(Enum):
    COMPLETE = "complete"
    """No thread can move any more: finished, or deadlocked."""
    SPINNING = "spinning"
    """No thread can move any more but in loops that wait for what nobody is left to write: a livelock, no end."""
    STOPPED = "stopped"
    """The chooser answered STOP."""
    ENDED = "ended"
    """It took too long for the clock: a repetition may come further."""
    CUT = "cut"
    """Too long (`--max-steps`), or something in the program made going on senseless: the reason is in
    `Run.incomplete`."""


class Pending(NamedTuple):
    """The next operation of a thread, and the states of its objects."""

    thread: ThreadId
    operation: Operation
    states: States


class Run:
    """How a run ended.

    blocked     the pending operations of the threads that cannot run, whatever the ending
    outcome     what distinguishes this result from others: hashable, equal for equivalent runs (None unless COMPLETE)
    deadlock    identity of the deadlocked terminal state, or None if there is no deadlock
    findings    what went wrong, in order of occurrence
    incomplete  why this run stands for less than all that its schedule could do; each goes into `Report.reasons`
    shares      did the threads have anything in common, whether or not somebody changed it?
    """

    __slots__ = ("blocked", "deadlock", "ending", "findings", "incomplete", "outcome", "shares")

    def __init__(
        self,
        ending: Ending,
        blocked: Sequence[Pending] = (),
        outcome: Hashable = None,
        deadlock: Hashable = None,
        findings: Sequence[Finding] = (),
        incomplete: Sequence[str] = (),
        shares: bool = True,
    ) -> None:
        self.ending = ending
        self.blocked = blocked
        self.outcome = outcome
        self.deadlock = deadlock
        self.findings = findings
        self.incomplete = incomplete
        self.shares = shares


class System(Protocol):
    """A program that can be run again and again."""

    def run(self, trace: Trace, choose: Chooser) -> Run:
        """Repeat the events in `trace`, then ask `choose` for each new one and append it, until the run ends.

        Raises `NotDeterministic` if an event repeated is not the event recorded, `AssumptionBroken` if the search
        must start again. Leaves no thread and no patch behind, and nothing of the program running, whatever happens.
        """
        ...

    def pending(self) -> Sequence[Pending]:
        """The next operation of each live thread, enabled or not, at the moment at which a chooser is being asked."""
        ...


class Forwarding:
    """A system that can do what another one can, and does it as that one; but for the methods of a subclass."""

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
    """Those after every event."""
    CHOICES = "choices"
    """The first, the last, and those with a choice; and where there is none for very long, one now and then, so that
    endless loops are seen to be such. [DHRR04, section 7]"""
    NOTHING = "nothing"
    """The search is a stateless one."""


class SyncChoices(StrEnum):
    """Which starts, ends and joins of threads are choices for `original`."""

    ALL = "all"
    SHARED = "shared"
    """Those of threads that share something at that moment. [DHRR04: D]"""


@runtime_checkable
class StatefulSystem(System, Protocol):
    """A system that can tell where it stands. All methods speak of the moment at which a chooser is being asked."""

    def state(self) -> StateKey | None:
        """The identity of the present state; None: it cannot be told, so this state equals no other."""
        ...

    def unstored(self) -> Mapping[str, int]:
        """why states could not be stored so far, with how often."""
        ...

    def sync_states(self) -> Mapping[Location, Any]:
        """The states of all objects that operations which can block look at."""
        ...

    def is_choice(self, thread: ThreadId, sync_choices: SyncChoices) -> bool:
        """Could it matter in the present state who moves before the thread's next operation, which is enabled?

        False only if what it accesses is out of reach of all other threads, and is no synchronisation with any.
        """
        ...

    def remembers_way(self) -> bool:
        """Do states tell, by names of objects or times, by which way they were reached? Then equal states are not
        always followed by equal ones.
        """
        ...

    def changes_data(self, operation: Operation) -> bool:
        """Does the event change anything but locks, conditions, semaphores and the like?"""
        ...

    def livelock(self, moving: int) -> Finding:
        """What to tell of a state that can only be come back to, while the threads of the mask go on and on."""
        ...

    def canonical(self, operation: Operation) -> Operation:
        """The operation under names that do not depend on the path by which the present state was reached.

        Where an object has no such name, one that it shares with other objects; the rule is then left out.
        """
        ...


@runtime_checkable
class OracleSystem(StatefulSystem, Protocol):
    """A system with facts about what its threads may still do, which may be wrong. See `dpor.explorers.sa`."""

    def ruled_out(self, thread: ThreadId) -> Collection[str]:
        """The facts by which no other thread will make an access that conflicts with the next operation of this one,
        which is a plain access; empty: there are none. To be asked while a chooser is called."""
        ...

    def withdraw_facts(self, facts: Collection[str]) -> None:
        """These do not hold: `ruled_out` will not answer by them any more. Raises `AssumptionBroken`."""
        ...
