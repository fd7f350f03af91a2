"""Synchronisation objects: what threads wait for. Each has a state that rules read and replace."""

from __future__ import annotations

import sys
import weakref
from typing import Any, ClassVar

from dpor.core.operations import (
    READ,
    Accesses,
    Location,
    States,
    ThreadId,
)
from dpor.python.kernel.model_thread import Waited
from dpor.python.kernel.program_frames import program_frame
from dpor.python.kernel.run import ABLE_UNKNOWN, run

_set_by_program = False
"""True if a program has derived a class with a `__setattr__` from a drop-in; states must then be set past that
method."""


class Made(weakref.ref["SyncObject"]):
    """Our own reference to a synchronisation object, which lives only as long as in the program. (A plain `weakref.ref`
    would be the one that the program gets, too.)"""

    __slots__ = ()


class SyncObject:
    """Base of the drop-ins of synchronisation primitives.

    dpor_state      the immutable state that the rules of `dpor.primitives` read and replace
    dpor_location   its location, named by the thread that made it and how many events that thread had then run
    dpor_made_at    (file, line) of the program where it was made; None if not recorded
    dpor_is_data    of a class: its objects also hold data of the program, as queues do
    dpor_is_part    of a class: its objects are parts of others, which programs do not see
    dpor_guards     True for locks, whose state says which thread holds them
    dpor_made_in_c  of a class that stands for one in C: to make an object executes no Python code there

    Programs derive classes from some of these, with attributes of their own, so all names here have a prefix.
    """

    dpor_state: Any
    dpor_location: Location
    dpor_made_at: tuple[str, int] | None
    dpor_is_data: ClassVar[bool] = False
    dpor_is_part: ClassVar[bool] = False
    dpor_guards: ClassVar[bool] = False
    dpor_made_in_c: ClassVar[bool]

    def __init_subclass__(cls, **others: Any) -> None:
        global _set_by_program
        super().__init_subclass__(**others)
        _set_by_program = _set_by_program or cls.__setattr__ is not object.__setattr__

    def __init__(self) -> None:
        self.dpor_made_at = None
        run.made.append(Made(self))
        thread = run.current
        if thread is None:
            self.dpor_location = run.operations.location(("sync", type(self).__name__, -1, run.made_early))
            run.made_early += 1
        else:
            self.dpor_location = run.operations.location(("sync", type(self).__name__, *thread.name_object()))
        if run.recorder is not None or run.imports_once:
            frame = program_frame(sys._getframe(1))
            if frame is not None:
                self.dpor_made_at = (frame.f_code.co_filename, frame.f_lineno)

    @property
    def dpor_made_as(self) -> str:
        """Tells the object from others of its class, equally in equivalent runs and for all strategies:
        "thread.events.count", the thread that made it, that thread's events by then, and a count. For objects that the
        main thread makes before its first event, only the count."""
        name: Any = run.operations.name_of(self.dpor_location)
        maker, events, count = name[2:] if name[0] == "sync" and len(name) == 5 else (0, 0, self.dpor_location)
        return f"{maker}.{events}.{count}" if maker or events else str(count)


class Fixed(SyncObject):
    """A synchronisation object that every run has and no thread makes: `run.process`, whose state is True while the
    program runs, and `run.alive`, whose state is the number of live non-daemon threads."""

    def __init__(self, name: str) -> None:
        self.dpor_location = run.operations.location(name)
        self.dpor_made_at = None


class Counter(SyncObject):
    """Counts the writes of a location of plain accesses; the count is its state."""

    def __init__(self, location: Location) -> None:
        self.dpor_location = location
        self.dpor_state = 0
        self.dpor_made_at = None


def whole_of(obj: Waited) -> Waited:
    """Return what the object is a part of, or the object itself."""
    if isinstance(obj, SyncObject) and obj.dpor_is_part:
        for made in run.made:
            other = made()
            if other is not None and any(part is obj for part in vars(other).values()):
                return other  # type: ignore[no-any-return]
    return obj


def counter_of(location: Location) -> Counter:
    """Return the object that counts the writes of a location in this run."""
    found = run.counters.get(location)
    if found is None:
        found = run.counters[location] = Counter(location)
    return found


def count_writes(accesses: Accesses) -> States:
    """Count these accesses; return how often each location had been written before."""
    befores: list[int] = []
    for location, mode in accesses:
        counter = counter_of(location)
        befores.append(counter.dpor_state)
        if mode is not READ:
            counter.dpor_state += 1
            run.able = ABLE_UNKNOWN
    return tuple(befores)


def set_states(objects: tuple[Waited, ...], states: States) -> None:
    """Give the objects their new states; those of `count_writes` have none."""
    run.able = ABLE_UNKNOWN
    if _set_by_program:
        for o, state in zip(objects, states, strict=False):
            object.__setattr__(o, "dpor_state", state)
    elif len(objects) == 1:
        objects[0].dpor_state = states[0]
    else:
        for o, state in zip(objects, states, strict=False):
            o.dpor_state = state


def guards(objects: tuple[Waited, ...]) -> bool:
    """True if one of these is a lock that data may be under."""
    return any(getattr(type(o), "dpor_guards", False) for o in objects)


def note_holders(objects: tuple[Waited, ...], states: States) -> None:
    """Note who holds the locks among the objects when these are in the new states."""
    for o, state in zip(objects, states, strict=False):
        if getattr(type(o), "dpor_guards", False):
            _note_holder(o, owner(o.dpor_state), owner(state))


def owner(state: Any) -> ThreadId | None:
    """Return the thread that holds a lock in this state."""
    return state[0] if type(state) is tuple else state  # type: ignore[no-any-return]


def _note_holder(lock: Waited, before: ThreadId | None, now: ThreadId | None) -> None:
    if before == now:
        return
    me = 0 if run.current is None else run.current.id
    if before is not None and before < len(run.threads):
        run.threads[before].held.pop(lock.dpor_location, None)
        if before != me and run.discipline is not None:
            run.discipline.released(lock.dpor_location)
    if now is not None and now < len(run.threads):
        run.threads[now].held[lock.dpor_location] = lock
