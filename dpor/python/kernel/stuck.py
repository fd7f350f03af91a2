"""Describes threads that can never go on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dpor.core.operations import Location
from dpor.python.kernel.model_thread import ModelThread, Waited


class Stuck(NamedTuple):
    """A thread that can never go on, in words.

    waits_for  the kind of its pending operation, and the object
    sentence   "at file:line waits to lock ..., held by ..."
    spins      the locations one of which it waits to be written; None if it does not spin
    reads      the names of the synchronisation objects among these
    """

    thread: str
    daemon: bool
    waits_for: str
    place: tuple[str, int] | None
    sentence: str
    spins: tuple[Location, ...] | None = None
    reads: tuple[str, ...] = ()


_WAITS_TO = {
    "lock": "waits to lock",
    "rewait": "waits for a notify of",
    "await notify": "waits for a notify of",
    "await set": "waits for the setting of",
    "await import": "waits for the import of",
    "join": "waits for the end of",
    "P": "waits to acquire",
    "get": "waits for an item of",
    "put": "waits for room in",
    "await tasks": "waits for all tasks of",
    "await result": "waits for the result of",
    "await completed": "waits for the completion of",
    "await worker": "waits for a worker of",
    "begin task": "waits for a worker of",
    "receive": "waits for bytes in",
    "send": "waits for room in",
    "await ready": "waits for",
}


def stuck_in_words(
    thread: ModelThread,
    objects: Sequence[Waited],
    place: tuple[str, int] | None,
    threads: Sequence[ModelThread],
    taken_at: Mapping[int, tuple[str, int]],
    names: Mapping[int, str],
) -> Stuck:
    """Describe why this thread can never go on. It waits at `place` (file, line) before an operation on the objects.

    threads     all threads of the run, by number
    taken_at    where each held lock was taken, by the lock's id; may be empty
    names       what the program calls the objects, by id; may be empty
    """
    assert thread.pending is not None
    kind = thread.pending.kind
    if kind == "spin":
        where = "" if place is None else f"at {short_place(place)} "
        locations = tuple(o.dpor_location for o in objects)
        return Stuck(thread.name, thread.daemon, f"spin {locations}", place, f"{where}spins", locations)
    notified = kind == "rewait" and thread.id not in objects[0].dpor_state
    verb = "waits to lock" if notified else _WAITS_TO.get(kind, f"waits ({kind})")
    if any(type(o).__name__ == "SimpleQueue" for o in objects):
        verb = "waits for an item of"
    awaited = objects[-1] if notified or kind in ("lock", "begin task") else objects[0] if objects else None
    sentence = verb if awaited is None else f"{verb} {names.get(id(awaited), name_of(awaited))}"
    if id(awaited) in names and awaited is not None and awaited.dpor_made_at is not None and kind != "join":
        sentence += f" (made at {short_place(awaited.dpor_made_at)})"
    if awaited is not None and verb == "waits to lock":
        sentence += _held(awaited, thread, threads, taken_at)
    return Stuck(
        thread.name,
        thread.daemon,
        f"{kind} {'' if awaited is None else name_of(awaited)}",
        place,
        sentence if place is None else f"at {short_place(place)} {sentence}",
    )


def has_own_name(o: Waited) -> bool:
    """True if the program has named the object, as it may name threads."""
    return isinstance(getattr(o, "_name", None), str)


def name_of(o: Waited) -> str:
    """A name for reports: the same in equivalent runs, and for all strategies."""
    return str(getattr(o, "_name", "")) if has_own_name(o) else f"{type(o).__name__} #{o.dpor_made_as}"


def _held(
    lock: Waited, waiting: ModelThread, threads: Sequence[ModelThread], taken_at: Mapping[int, tuple[str, int]]
) -> str:
    owner = lock.dpor_state[0] if isinstance(lock.dpor_state, tuple) else lock.dpor_state
    if not isinstance(owner, int):
        return ""
    by = "itself" if owner == waiting.id else threads[owner].name
    taken = taken_at.get(lock.dpor_location)
    return f", held by {by}" + ("" if taken is None else f" since {short_place(taken)}")


def short_place(place: tuple[str, int]) -> str:
    """Format (file, line) as file:line, without the folder."""
    return f"{os.path.basename(place[0])}:{place[1]}"
