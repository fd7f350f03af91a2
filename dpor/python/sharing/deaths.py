"""Notices objects that die while several threads exist, and lets them die where the program would notice.

CPython destroys an object as soon as its last reference is gone. The runtime, however, keeps shared objects alive until
the run ends, so that no address is used twice. So an object to which only the runtime still refers has died in the
program: here, it has *fallen*. Its death can be noticed only if the object is *mortal*: its class has a `__del__`, or
there are weak references to it, or it is a generator that has something to clean up.

As long as no weak reference is asked for its object, it suffices to look for fallen objects when all other threads have
ended, and at the end of the run, because an object that has fallen never comes back. If a weak reference is asked, or a
mortal object has fallen, the search learns a fact (`DYING`) and starts again. From then on letting go of an object is
an operation (`dpor.python.effects.letting_go`).
"""

from __future__ import annotations

import gc
import weakref
from _weakref import getweakrefcount
from collections import Counter
from collections.abc import Callable, Iterable
from sys import getrefcount
from typing import Any, Final, NamedTuple

from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import DYING
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import children, shared_objects, type_traits
from dpor.python.sharing.sharing_state import sharing


def mortal_always_shared() -> list[Any]:
    """What is published in each run as the same object."""
    return [] if sharing.always is None else sharing.always.mortal


holders: Final[list[Callable[[], Iterable[Any]]]] = [
    lambda: [thread.thread_object for thread in run.threads],
    mortal_always_shared,
]
"""Parts of the runtime that refer to objects of the program where CPython would not. Each function returns the objects
that its part refers to, as often as it does."""

before_counting: Final[list[Callable[[], object]]] = []
"""Functions to call before references are counted. They empty caches, which hold references."""

# ---------------------------------------------------------------------- counting references


def _count_by(objects: list[Any]) -> list[int]:
    """Return the number of references to each object, without the one in the list."""
    return [count - _BY_COUNTING for count in map(getrefcount, objects)]


_BY_COUNTING = 0
_BY_COUNTING = _count_by([object()])[0]
"""The number of references to an object that come from counting itself: from the list and from the call."""


class _Census(NamedTuple):
    """held      the objects that we refer to, each as often as we do
    numbers   their `id`s, in the same order
    theirs    how many references to each the program has, by `id`
    lasting   of which of them we cannot let go
    """

    held: list[Any]
    numbers: list[int]
    theirs: dict[int, int]
    lasting: frozenset[int]

    def object(self, number: int) -> Any:
        """Return the object with this `id`."""
        return self.held[self.numbers.index(number)]


class _LastCount:
    """The last count of all references. Nearly all of them are the same when they are counted again.

    numbers   the `id`s of the objects
    counts    how many references there were to each, also those that come from counting
    ours      how often each is in `numbers`
    theirs    how many references to each the program had
    """

    __slots__ = ("counts", "numbers", "ours", "theirs")

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.counts: list[int] = []
        self.ours: Counter[int] = Counter()
        self.theirs: dict[int, int] = {}

    def again(self, held: list[Any], numbers: list[int]) -> dict[int, int]:
        """Return how many references to each of these objects the program has now, by `id`."""
        counts = list(map(getrefcount, held))
        if numbers != self.numbers:
            self.numbers, self.ours = numbers, Counter(numbers)
            changed: Iterable[tuple[int, int]] = zip(numbers, counts, strict=True)
        elif counts == self.counts:
            return dict(self.theirs)
        else:
            pairs = zip(numbers, counts, self.counts, strict=True)
            changed = ((number, count) for number, count, before in pairs if count != before)
        self.counts = counts
        found = _theirs(changed, self.ours)
        self.theirs = found if len(found) == len(self.ours) else self.theirs | found
        return dict(self.theirs)


_last: Final = _LastCount()


def _held_elsewhere() -> list[Any]:
    return [obj for holder in holders for obj in holder()]


def _theirs(counts: Iterable[tuple[int, int]], ours: Counter[int]) -> dict[int, int]:
    """Return how many references the program has to objects in a list, by `id`.

    counts   pairs of an object's `id` and what `getrefcount` has counted for it
    ours     how often each object is in the list. The runtime has as many references, and the list as many again
    """
    return {number: count - _BY_COUNTING + 1 - 2 * ours[number] for number, count in counts}


def census() -> _Census:
    """Return how many references there are now to what is held, and who holds it."""
    for forget in before_counting:
        forget()
    held = shared_objects.held()
    here = len(held)
    held += _held_elsewhere()
    numbers = list(map(id, held))
    return _Census(held, numbers, _last.again(held, numbers), frozenset(numbers[here:]))


def fallen() -> list[Any]:
    """The objects that only we refer to, or that only such objects refer to."""
    held, numbers, theirs, _ = census()
    found = [*{number: obj for number, obj in zip(numbers, held, strict=True) if theirs[number] == 0}.values()]
    held.clear()  # it would count
    for obj in found:  # which grows
        referents = gc.get_referents(obj)
        several = Counter(map(id, referents))
        for referent, count in zip(referents, _count_by(referents), strict=True):
            number = id(referent)
            if number not in theirs:
                theirs[number] = count + 1 - several[number]
            theirs[number] -= 1
            if theirs[number] == 0:
                found.append(referent)
    return found


def is_noticed(obj: Any) -> bool:
    """Return True if something happens when the object dies, or a weak reference can be asked whether it has."""
    kind = type(obj)
    if type_traits.is_neutral(kind) and not issubclass(kind, SyncObject):
        return False
    return _is_finalised(obj) or getweakrefcount(obj) > shared_objects.own_references(obj)


def _is_finalised(obj: Any) -> bool:
    """Return True if Python code runs when the object dies."""
    kind = type(obj)
    if kind in type_traits.GENERATORS:
        frame = getattr(obj, type_traits.GENERATORS[kind])
        return frame is not None and run.above.cleans_up(frame.f_code)
    return type_traits.is_finalised(kind)


def is_mortal(obj: Any) -> bool:
    """Return True if the program may notice that the object has died, or that another one dies with it."""
    return is_noticed(obj) or (run.dying and dies(obj))


def mortal_among(objects: list[Any]) -> list[Any]:
    """Return those of the objects that are mortal, each as often as it is in the list."""
    kinds = {
        kind
        for kind in set(map(type, objects))
        if kind in type_traits.GENERATORS or type_traits.is_finalised(kind) or (run.dying and _class_dies(kind))
    }
    noticed = zip(objects, map(getweakrefcount, objects), strict=True)
    return [obj for obj, refs in noticed if (refs or type(obj) in kinds) and is_mortal(obj)]


def references_to_mortal() -> dict[int, int]:
    """Return how many references the program has to each mortal object, by `id`."""
    for forget in before_counting:
        forget()
    held = mortal_among(shared_objects.held() + _held_elsewhere())
    numbers = list(map(id, held))
    return _theirs(zip(numbers, map(getrefcount, held), strict=True), Counter(numbers))


# ---------------------------------------------------------------------- while nobody asks


def _any_mortal() -> bool:
    if sharing.any_finalised:
        return True
    for obj in shared_objects.held() + _held_elsewhere():
        count = getweakrefcount(obj)
        if count > 1 or (count and not issubclass(type(obj), SyncObject)):
            return True
    return False


def report_deaths() -> None:
    """Report each mortal object that has died while several threads existed: break an assumption, or note that the run
    is incomplete."""
    if _any_mortal():
        for obj in fallen():
            if is_mortal(obj):
                report_death(obj)


def report_death(obj: Any) -> None:
    """Report the death of the object if code of the program is called because of it. (A weak reference without a
    callback reports the death when it is asked for the object.)"""
    kind = type(obj)
    if _is_finalised(obj):
        why = "it cleans up then" if kind in type_traits.GENERATORS else "its class has a __del__"
    elif children.callbacks(obj):
        why = "weak references to it have callbacks"
    else:
        return
    reason = f"a {kind.__qualname__} died while several threads existed, and {why}"
    if not learns(kind, reason):
        incomplete(f"{reason}: {NOT_ALL}")


def learns(kind: type, reason: str) -> bool:
    """Learn that objects of the class die; False if that is known."""
    fact = DYING if DYING not in run.facts else (DYING, *_name_of(kind))
    if fact in run.facts:
        return False
    assumptions.broken(fact, reason)
    return True


NOT_ALL: Final = "not every order of dropping it is tried"


def dies(obj: Any) -> bool:
    """Return True if a run of this search has shown an object of this class dying while several threads existed. Of
    tuples and functions only those count that hold such an object."""
    kind = type(obj)
    if not _class_dies(kind):
        return False
    return kind not in type_traits.CONTAINED or any(map(dies, held_by(obj)))


def held_by(obj: Any) -> list[Any]:
    """Return the objects that are kept alive by this one, in the order in which it drops them when it dies."""
    kind = type(obj)
    return gc.get_referents(obj) if issubclass(kind, weakref.ReferenceType) else children.children(obj, kind)


def _class_dies(kind: type) -> bool:
    return (DYING, *_name_of(kind)) in run.facts


def _name_of(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def in_a_cycle() -> Any:
    """Return an object whose death would be noticed, and that a cycle of references keeps alive; None if there is
    none."""
    for obj in shared_objects.held():
        reached: dict[int, Any] = {}
        stack = held_by(obj)
        while stack:
            part = stack.pop()
            if id(part) not in reached:
                reached[id(part)] = part
                stack += held_by(part)
        if id(obj) in reached:
            for part in reached.values():
                if is_noticed(part):
                    return part
    return None


def alone() -> None:
    """Called when all other threads have ended: from here on objects die where the program drops them."""
    if _any_mortal():
        report_deaths()
        sharing.let_all_go()
