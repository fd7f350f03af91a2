"""Which accesses need not be events, because no order of theirs can be observed: those that keep to a *discipline*.

A location is *silent* as long as all runs of a search have shown one of three things about its accesses:

    one thread alone makes them,
    none of them conflicts with another (all are reads, or all are updates), or
    a common lock is held at every access.

An access of a silent location is performed together with the event of its thread before it. What is written so is
ordered by the events of the lock, so the trace classes are the same, and there are fewer events in each run.

Every access is looked at all the same. The first contradiction makes its location visible, and the search starts
again. No contradiction can hide. Take the first of any schedule: all accesses before it are silent or events, and a
silent one can be moved back to the event before it, since it conflicts with nothing that lies between: the others do
not access the location, only read it too, or need the lock, which its thread holds. So the schedule is equivalent to
one that the search knows, up to the access, which is then performed. So nothing else may decide whether it can be
performed: a location is visible if a thread waits for its value. And nobody may take the lock away: one that another
thread than its holder releases guards nothing.

A search that stores states goes on from a state by one of the ways to it, so names of locations and of locks must be
the same along all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, Final, NamedTuple

from dpor.core.operations import READ, UPDATE, Accesses, Location, Mode, Operation, ThreadId

MOST_ALIKE: Final = 3
"""After this many searches with a contradiction in locations that are alike, all of these are visible. (There may be
many names of objects, one for each way to make them, and every search may show another one.)"""
MOST: Final = 60
"""After this many searches with a contradiction, all locations are visible."""

_ONLY_READ, _ONLY_UPDATED = 1 << READ, 1 << UPDATE


class Contradiction(NamedTuple):
    """An access that does not keep to the discipline of its location.

    location   the location
    locks      one of these should have been held: all accesses before had held them
    held       the locks that are held
    is_told    True if the location is that of a lock, and others than its holder can tell whether it is held
    """

    location: Location
    locks: tuple[Location, ...]
    held: tuple[Location, ...]
    is_told: bool = False


class Kept:
    """How a location has been accessed so far: by which threads, in which modes (both masks), under which common
    locks."""

    __slots__ = ("locks", "modes", "threads")

    def __init__(self, thread: ThreadId, mode: Mode, locks: tuple[Location, ...]) -> None:
        self.threads = 1 << thread
        self.modes = 1 << mode
        self.locks = locks

    def holds(self) -> bool:
        """True if one of the three is true."""
        return bool(self.locks) or not self.threads & (self.threads - 1) or self.modes in (_ONLY_READ, _ONLY_UPDATED)


class Discipline:
    """What one check knows about the accesses of its program.

    may_be_silent   takes a location: False if it is always visible
    may_guard       takes the location of a lock: False if it guards nothing
    alike           takes a location: returns the kinds of locations to which it belongs
    contradicted    called with each contradiction; the search must then start again
    """

    def __init__(
        self,
        may_be_silent: Callable[[Location], bool],
        may_guard: Callable[[Location], bool],
        alike: Callable[[Location], Collection[Hashable]],
        contradicted: Callable[[Contradiction], None],
    ) -> None:
        self._may_be_silent = may_be_silent
        self._may_guard = may_guard
        self._alike = alike
        self._contradicted = contradicted
        self._kept: dict[Location, Kept | None] = {}
        self._visible: set[Location] = set()
        self._kinds: dict[Hashable, int] = {}  # in how many searches there was a contradiction
        self._contradictory: set[Hashable] = set()  # the kinds that have shown one in the present search
        self._searches = 0  # with a contradiction
        self._released: set[Location] = set()

    def begin(self) -> None:
        """A search begins, for the first time or again. What is visible stays so."""
        self._kept.clear()
        self._contradictory.clear()

    def to_json(self) -> dict[str, Any]:
        """Return what the present search has shown, for one that goes on with it."""
        visible = self._visible.union(location for location, kept in self._kept.items() if kept is None)
        return {
            "visible": sorted(visible),
            "silent": [
                [location, kept.threads, kept.modes, list(kept.locks)]
                for location, kept in self._kept.items()
                if kept is not None
            ],
            "released": sorted(self._released),
        }

    def recall(self, shown: Mapping[str, Any]) -> None:
        """Take note of what another part of the search has shown, maybe in another process."""
        self._visible.update(shown["visible"])
        self._kept.update(dict.fromkeys(shown["visible"]))
        for location, threads, modes, locks in shown["silent"]:
            kept = self._kept.get(location, self)
            if kept is self:
                kept = self._kept[location] = Kept(0, READ, tuple(locks))
                kept.threads, kept.modes = threads, modes
            elif isinstance(kept, Kept):
                before = kept.locks
                kept.threads, kept.modes = kept.threads | threads, kept.modes | modes
                kept.locks = tuple([lock for lock in before if lock in locks])
                if not self._holds(kept):
                    self._contradict(Contradiction(location, before, tuple(locks)))
        for lock in shown["released"]:
            self.released(lock)

    def is_silent(self, thread: ThreadId, operation: Operation, held: Collection[Location]) -> bool:
        """Take note of an operation that the thread is about to perform while it holds these locks. True if all its
        accesses are silent; False also for an operation that accesses nothing."""
        known = self._kept
        silent = visible = bool(operation.accesses)
        for location, mode in operation.accesses:
            kept = known.get(location, self)
            if kept is self:
                kept = self._first(location, thread, mode, held)
            if kept is None:
                silent = False
            else:
                visible = False
                if not self._goes_on(location, kept, thread, mode, held):  # type: ignore[arg-type]
                    silent = False
        if visible or not operation.accesses:
            operation.visible = self
        return silent

    def take_note(self, thread: ThreadId, accesses: Accesses, held: Collection[Location]) -> None:
        """Take note of accesses that are part of an event whatever they are."""
        for location, mode in accesses:
            kept = self._kept.get(location, self)
            if kept is self:
                kept = self._first(location, thread, mode, held)
            if kept is not None:
                self._goes_on(location, kept, thread, mode, held)  # type: ignore[arg-type]

    def released(self, lock: Location) -> None:
        """Take note that a thread has released a lock that another one holds."""
        if lock in self._released:
            return
        self._released.add(lock)
        for location, kept in self._kept.items():
            if kept is not None and lock in kept.locks:
                locks = kept.locks
                kept.locks = tuple([other for other in locks if other != lock])
                if not self._holds(kept):
                    self._contradict(Contradiction(location, locks, ()))

    def _first(self, location: Location, thread: ThreadId, mode: Mode, held: Collection[Location]) -> Kept | None:
        """Return what is known of a location that is accessed for the first time in this search; None: it is
        visible."""
        if location in self._visible or not self._may_be_silent(location) or self._is_like_visible(location):
            kept = None
        else:
            guards = [lock for lock in held if lock not in self._released and self._may_guard(lock)]
            kept = Kept(thread, mode, tuple(guards))
        self._kept[location] = kept
        return kept

    def _goes_on(
        self, location: Location, kept: Kept, thread: ThreadId, mode: Mode, held: Collection[Location]
    ) -> bool:
        """Return True if the discipline still holds with this access."""
        locks = kept.locks
        kept.threads |= 1 << thread
        kept.modes |= 1 << mode
        for lock in locks:
            if lock not in held:
                kept.locks = tuple([lock for lock in locks if lock in held])
                break
        if kept.locks or self._holds(kept):
            return True
        self._contradict(Contradiction(location, locks, tuple(held)))
        return False

    def _holds(self, kept: Kept) -> bool:
        return kept.holds()

    def _is_like_visible(self, location: Location) -> bool:
        if self._searches >= MOST:
            return True
        return bool(self._kinds) and any(self._kinds.get(kind, 0) >= MOST_ALIKE for kind in self._alike(location))

    def in_words(self, contradiction: Contradiction, place: str, lock: Callable[[Location], str]) -> str:
        """Say what was accessed, and which lock was expected. `lock` returns the name of a lock."""
        if contradiction.is_told:
            return f"{lock(contradiction.location)} is tried, or released by another thread than its holder"
        if contradiction.locks:
            locks = " or ".join(map(lock, contradiction.locks))
            return f"{place} is accessed without {locks}, under which it always was"
        if contradiction.held:
            locks = " and ".join(map(lock, contradiction.held))
            return f"{place} is accessed under {locks}, and was accessed without"
        return f"{place} is accessed by several threads, without a lock"

    def _contradict(self, contradiction: Contradiction) -> None:
        location = contradiction.location
        self._visible.add(location)
        self._kept[location] = None
        self._searches += not self._contradictory
        for kind in self._alike(location):
            if kind not in self._contradictory:
                self._contradictory.add(kind)
                self._kinds[kind] = self._kinds.get(kind, 0) + 1
        self._contradicted(contradiction)
