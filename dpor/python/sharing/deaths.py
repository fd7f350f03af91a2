"""Notices objects that die while several threads exist, and lets them die where the program would notice.

CPython destroys an object as soon as its last reference is gone. The runtime, however, keeps shared objects alive until
the run ends, so that no address is used twice. So an object to which only the runtime still refers has died in the
program: here, it has *fallen*. Its death can be noticed only if the object is *mortal*: its class has a `__del__`, or
there are weak references to it.

As long as no weak reference is asked for its object, it suffices to look for fallen objects when all other threads have
ended, and at the end of the run, because an object that has fallen never comes back. If a weak reference is asked, or a
mortal object has fallen, the search learns a fact (`DYING`) and starts again. From then on the references to mortal
objects are counted whenever a thread reaches its next operation. If there are fewer of them than when its step began,
the thread first performs an operation, "let go", which writes whether the object is alive; asking a weak reference
reads that. An object dies in the thread that lets go of the last reference, as in CPython.

This does not find every order of letting go, since a reference may turn out only later to have been the last but one.
So if an object dies, the verdict says that not every order was tried. If none dies, everything is covered: suppose that
one could die. Then some thread drops the last reference that does not come from asking a weak reference, and everything
before that has happened as in a run that was explored. In that run, too, the step was found to let go of the object, so
it was also tried before the thread that asked.
"""

from __future__ import annotations

import gc
import weakref
from _weakref import getweakrefcount, getweakrefs
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from sys import getrefcount
from typing import Any, Final, NamedTuple

from dpor.core.operations import READ, UPDATE, WRITE, Access, Accesses, Location, Operation, ThreadId
from dpor.python.kernel import accessing, assumptions
from dpor.python.kernel.assumptions import DYING
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import ModelThread, UnwindThread
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import children, shared_object, shared_objects, type_traits
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
    """objects   those that we refer to, by `id`
    theirs    how many references to each the program has
    lasting   of which of them we cannot let go
    """

    objects: dict[int, Any]
    theirs: dict[int, int]
    lasting: frozenset[int]


def _held_elsewhere() -> list[Any]:
    return [obj for holder in holders for obj in holder()]


def _of_program(held: list[Any]) -> dict[int, int]:
    """Return how many references the program has to each of these objects, by `id`. The runtime has as many as there
    are in the list, which are as many again."""
    ours = Counter(map(id, held))
    return {number: count + 1 - 2 * ours[number] for number, count in zip(map(id, held), _count_by(held), strict=True)}


def _census() -> _Census:
    for forget in before_counting:
        forget()
    held = shared_objects.held()
    here = len(held)
    held += _held_elsewhere()
    theirs = _of_program(held)
    return _Census(dict(zip(map(id, held), held, strict=True)), theirs, frozenset(map(id, held[here:])))


def fallen() -> list[Any]:
    """The objects that only we refer to, or that only such objects refer to."""
    objects, theirs, _ = _census()
    found = [obj for number, obj in objects.items() if theirs[number] == 0]
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


def is_mortal(obj: Any) -> bool:
    """Return True if the program may notice that the object has died."""
    kind = type(obj)
    if type_traits.is_neutral(kind) and not issubclass(kind, SyncObject):
        return False
    return type_traits.is_finalised(kind) or getweakrefcount(obj) > shared_objects.own_references(obj)


def _mortal_among(objects: list[Any]) -> list[Any]:
    """Return those of the objects that are mortal, each as often as it is in the list."""
    finalised = set(filter(type_traits.is_finalised, set(map(type, objects))))
    noticed = zip(objects, map(getweakrefcount, objects), strict=True)
    return [obj for obj, refs in noticed if (refs or type(obj) in finalised) and is_mortal(obj)]


def _references_to_mortal() -> dict[int, int]:
    """Return how many references the program has to each mortal object, by `id`."""
    for forget in before_counting:
        forget()
    return _of_program(_mortal_among(shared_objects.held() + _held_elsewhere()))


# ---------------------------------------------------------------------- while nobody asks


def _any_mortal() -> bool:
    if sharing.any_finalised:
        return True
    held = shared_objects.held() + _held_elsewhere()
    return any(getweakrefcount(obj) > issubclass(type(obj), SyncObject) for obj in held)


def report_deaths() -> None:
    """Report each mortal object that has died while several threads existed: break an assumption, or note that the run
    is incomplete."""
    if _any_mortal():
        for obj in fallen():
            if is_mortal(obj):
                _report_death(obj)


def _report_death(obj: Any) -> None:
    """Report the death of the object if code of the program is called because of it. (A weak reference without a
    callback reports the death when it is asked for the object.)"""
    kind = type(obj)
    if type_traits.is_finalised(kind):
        why = "its class has a __del__"
    elif children.callbacks(obj):
        why = "weak references to it have callbacks"
    else:
        return
    reason = f"a {kind.__qualname__} died while several threads existed, and {why}: {_NOT_ALL}"
    fact = DYING if DYING not in run.facts else (DYING, *_name_of(kind))
    if fact in run.facts:
        incomplete(reason)
    else:
        assumptions.broken(fact, reason)


_NOT_ALL: Final = "not every order of dropping it is tried"


def alone() -> None:
    """Called when all other threads have ended: from here on objects die where the program drops them."""
    if _any_mortal():
        report_deaths()
        sharing.let_all_go()


# ---------------------------------------------------------------------- when letting go is an operation

_counted: dict[ThreadId, dict[int, int]] = {}
"""By thread: how many references the program had to each mortal object when the thread's present step began."""
_taken: dict[ThreadId, set[int]] = {}
"""By thread: the objects to which its present step has taken a reference, and which may die when it drops that
reference. Even if it drops it in the same step, other threads may run in between."""
letting_go: Final[set[ThreadId]] = set()
"""The threads that are waiting to let go of an object."""
_asked: dict[int, tuple[Any, list[Location]]] = {}
"""By `id`: weak references to objects that have died, with the locations that say whether these are alive."""
_told: set[int] = set()


def begin() -> None:
    """Reset; called before each run."""
    _counted.clear()
    _taken.clear()
    letting_go.clear()
    _asked.clear()
    _told.clear()


def step_begins(thread: ModelThread, access: Operation | None = None) -> None:
    """Called when the thread goes on after it was chosen, before it performs this access."""
    if run.multi:
        _counted[thread.id] = _references_to_mortal()
        if access is not None and access.kind in _TAKING:
            taken = filter(_dies, map(_content, access.accesses))
            _taken[thread.id] = {id(obj) for obj in taken}


_TAKING: Final = frozenset({"read", "get", "setdefault"})
"""Kinds of operations that give the thread a reference to the object in the accessed location."""


def _content(access: Access) -> Any:
    """Return the object in the accessed location; None if there is no single one."""
    match run.operations.name_of(access[0]):
        case (int(number), part):
            shared = shared_objects.shared_object_named(run.operations.name_of(number))
            obj: Any = None if shared is None else shared.obj
            if is_a(obj, dict):
                return dict.get(obj, part)
            if is_a(obj, list):
                items = list.__len__(obj)
                return list.__getitem__(obj, part) if type(part) is int and 0 <= part < items else None
            if obj is not None and type(part) is str:
                return (type_traits.fields(obj, type(obj)) or {}).get(part)
    return None


def _dies(obj: Any) -> bool:
    """Return True if a run of this search has shown an object of this class dying while several threads existed."""
    return (DYING, *_name_of(type(obj))) in run.facts


def _name_of(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def step_ends() -> None:
    """Called when the current thread has reached its next operation: let go of what its step has dropped."""
    me = run.current
    released = _released(_counted.get(me.id, {}), _taken.pop(me.id, ()))
    while released:
        while released:
            mode = WRITE if _dies(released[0]) else UPDATE  # who is the last matters only where it dies by that
            accesses: Accesses = tuple((location, mode) for location in _written_by(released[0]))
            if accesses:
                letting_go.add(me.id)
                try:
                    accessing.touch("let go", accesses)
                finally:
                    letting_go.discard(me.id)
            number = id(released.pop(0))
            _die_if_fallen(number)
        released = _released({}, ())  # the objects that have died because of that


def _released(before: dict[int, int], taken: Collection[int]) -> list[Any]:
    """Return the mortal objects that have fallen, or to which there are fewer references than `before`; also those
    `taken` to which there are not more than before. Objects that have fallen and are not mortal are released."""
    while True:
        objects, theirs, lasting = _census()
        mortal = {id(obj): obj for obj in _mortal_among([*objects.values()])}
        silent = {number for number, n in theirs.items() if n == 0 and number not in mortal} - lasting
        if not silent:
            break
        del objects, mortal
        shared_objects.let_go(silent)
    _counted[run.current.id] = {number: theirs[number] for number in mortal}
    released = [
        obj
        for number, obj in mortal.items()
        if number not in _told and (theirs[number] == 0 or theirs[number] < before.get(number, 0) + (number in taken))
    ]
    return sorted(released, key=lambda obj: shared_objects.run_number(obj) or 0)  # an order on which all runs agree


def _die_if_fallen(number: int) -> None:
    """Let the object with this `id` die if only the runtime still refers to it."""
    objects, theirs, lasting = _census()
    if theirs.get(number) != 0:
        return
    obj = objects[number]
    _report_death(obj)
    locations = _written_by(obj)
    for ref in getweakrefs(obj):
        _asked[id(ref)] = (ref, locations)
    if number in lasting:
        _told.add(number)
        return
    for counted in _counted.values():
        counted.pop(number, None)
    del objects, obj
    shared_objects.let_go({number})
    if run.unwinding:  # it has been thrown into a `__del__`, which swallows it
        raise UnwindThread


def _written_by(obj: Any) -> list[Location]:
    """Return the locations that say whether the object is alive."""
    marks = [shared_objects.table.get(id(obj))]
    if not isinstance(marks[0], shared_object.SharedObject):  # a function: known by those who may ask for it
        marks = [shared_objects.table.get(id(ref)) for ref in getweakrefs(obj)]
    return sorted(
        {
            run.operations.location(("alive", mark.name))
            for mark in marks
            if isinstance(mark, shared_object.SharedObject)
        }
    )


def yield_before_asking(ref: Any) -> None:
    """Yield before a weak reference is asked for its object: whether the object is still alive is read then."""
    if not run.multi:
        return
    obj = weakref.ReferenceType.__call__(ref)
    locations = _asked.get(id(ref), (ref, []))[1] if obj is None else _written_by(obj)
    if not locations and type(obj) in type_traits.CONTAINED:
        incomplete(shared_objects.DEATHS)
    del obj
    if not locations:
        return
    if DYING not in run.facts:
        assumptions.broken(DYING, "a weak reference is asked for its object while several threads exist")
    accessing.touch("ask", tuple((location, READ) for location in locations))
    if id(ref) in _asked:
        incomplete(f"an object died while several threads existed, and a weak reference is asked for it: {_NOT_ALL}")
