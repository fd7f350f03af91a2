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
from types import FunctionType
from typing import Any, Final

from dpor.core.home import is_ours
from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import DYING
from dpor.python.kernel.classes import module_of_class
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import children, shared_objects, type_traits
from dpor.python.sharing.census import census, count_by, held_elsewhere
from dpor.python.sharing.sharing_state import sharing


def fallen() -> list[Any]:
    """The objects that only we refer to, or that only such objects refer to."""
    census.count()
    return falling([census.object(number) for number in sorted(census.fallen, key=census.positions.__getitem__)])


def falling(objects: list[Any]) -> list[Any]:
    """Return the objects, which only we refer to when they were counted last, and what only they refer to."""
    theirs = dict(census.theirs)
    found = objects.copy()
    for obj in found:  # which grows
        referents = gc.get_referents(obj)
        several = Counter(map(id, referents))
        for referent, count in zip(referents, count_by(referents), strict=True):
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
    return is_noticed(obj) or (run.dying and (dies(obj) or _is_referred_to(type(obj))))


def mortal() -> dict[int, Any]:
    """Return the mortal objects among those that were counted last, by `id`."""
    objects, numbers = census.objects, census.numbers
    chosen = census.chosen(_may_be_mortal, _is_mortal, _varies, _variants)
    return {numbers[at]: objects[at] for at in chosen}


def _is_mortal(obj: Any, weak_references: int) -> bool:
    kind = type(obj)
    if issubclass(kind, type):
        return False  # it refers to itself, so that no thread drops the last reference
    if run.dying and (dies(obj) or _is_referred_to(kind)):
        return True
    return bool(weak_references or _may_be_finalised(kind)) and is_noticed(obj)


def _varies(kind: type) -> bool:
    """True if an object of the type may be mortal at one time, and not at another with as many weak references."""
    return kind is FunctionType or kind in type_traits.GENERATORS


def _variants(objects: list[Any]) -> list[int]:
    """Return for each object, of a type that varies, what is another number when `_is_mortal` may be; 0 if there is no
    such number. Of what `dies` looks into, functions alone can be given other parts."""
    return [
        0 if type(obj) is not FunctionType or obj.__kwdefaults__ or obj.__dict__ else id(obj.__defaults__)
        for obj in objects
    ]


def _may_be_mortal(kind: type) -> bool:
    return _may_be_finalised(kind) or (run.dying and (_class_dies(kind) or _is_referred_to(kind)))


def _may_be_finalised(kind: type) -> bool:
    return kind in type_traits.GENERATORS or type_traits.is_finalised(kind)


def references_to_mortal() -> dict[int, int]:
    """Return how many references the program has to each mortal object, by `id`."""
    census.count()
    return {number: census.theirs[number] for number in mortal()}


# ---------------------------------------------------------------------- while nobody asks


def any_mortal() -> bool:
    """True if there may be an object whose death can be noticed."""
    if sharing.any_finalised or sharing.asked:
        return True
    for obj in filter(getweakrefcount, shared_objects.held() + held_elsewhere()):
        if getweakrefcount(obj) > 1 or not issubclass(type(obj), SyncObject):
            return True
    return False


def report_deaths() -> None:
    """Report each mortal object that has died while several threads existed: break an assumption, or note that the run
    is incomplete."""
    if any_mortal():
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
    elif id(obj) in sharing.asked and not run.dying:
        why = "a weak reference was asked for it, perhaps afterwards"
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
    if not _class_dies(kind) or (kind is FunctionType and is_ours(str(obj.__globals__.get("__name__")))):
        return False  # (how many references there are to a function of ours is no news of the program)
    return kind not in type_traits.CONTAINED or any(map(dies, held_by(obj)))


def note_reference_to(obj: Any) -> None:
    """A thread has made a weak reference to a shared object. To make one is no operation: so that threads let go of the
    object in the same steps whether it has been made before them or not, all objects of the class count as mortal."""
    kind = type(obj)
    if run.dying and not _is_referred_to(kind):
        assumptions.broken(_reference_to(kind), f"a thread makes a weak reference to a {kind.__qualname__}")


def _is_referred_to(kind: type) -> bool:
    return _reference_to(kind) in run.facts


def _reference_to(kind: type) -> tuple[str, str, str]:
    return ("weak references", *_name_of(kind))


def held_by(obj: Any) -> list[Any]:
    """Return the objects that are kept alive by this one, in the order in which it drops them when it dies."""
    kind = type(obj)
    return gc.get_referents(obj) if issubclass(kind, weakref.ReferenceType) else children.children(obj, kind)


def _class_dies(kind: type) -> bool:
    return (DYING, *_name_of(kind)) in run.facts


def _name_of(kind: type) -> tuple[str, str]:
    return module_of_class(kind), kind.__qualname__


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
    if any_mortal():
        report_deaths()
        sharing.let_all_go()
