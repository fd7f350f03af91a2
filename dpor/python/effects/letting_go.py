"""Letting go of objects as an operation, in searches in which objects die while several threads exist.

When a thread reaches its next operation, it first *lets go* of the mortal objects to which its step has dropped
references: an operation for each, which writes whether the object is alive. Asking a weak reference reads that. Until
then we hold the object for the thread, so who lets go last is the last to refer to it; the object dies then, in that
thread. Reads of shared data lie between the operations of a step, so where in its step the thread has dropped the
reference makes no difference to others.

Who lets go last matters only for classes whose objects have been seen to die (`dies`); that they do is a fact about
each class. Of such objects a thread also lets go if its operation has given it a reference (`_note_held`) that it may
have dropped in the same step. Having that object, it may have reached others by reads that are no operations, because
no run changes what they read; it lets go of these as well (`_with_silent_parts`). An object that leads to a mortal one
and falls takes the mortal one with it: that is seen, and its class is then treated as mortal, too (`_note_what_falls`).

In which order a step drops several objects is seen only if one of them holds the others. If it is not seen and several
of them die, the run is incomplete. To drop a weak reference with a callback is no operation. So if an object dies and
such a reference to it was dropped before or is dropped later, other than by its callback, the run is incomplete, too.
"""

from __future__ import annotations

import gc
import sys
import weakref
from _weakref import getweakrefs
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from types import CellType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Final, NamedTuple, cast

from dpor.core.home import is_ours
from dpor.core.operations import READ, UPDATE, WRITE, Accesses, Location, Operation, ThreadId
from dpor.python.effects import key_order
from dpor.python.effects.accesses import KEY_SET, Touched, changes, yield_before
from dpor.python.effects.kinds import static
from dpor.python.effects.reach import writes
from dpor.python.kernel import accessing, assumptions, opaque_code
from dpor.python.kernel.assumptions import DYING, about
from dpor.python.kernel.classes import is_a, module_of_class, namespace_of
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import ModelThread, UnwindThread
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import children, deaths, shared_objects, subclasses, type_traits
from dpor.python.sharing.census import census
from dpor.python.sharing.deaths import dies, held_by
from dpor.python.sharing.fields import is_instrumented
from dpor.python.sharing.shared_object import ELEMENTS, STRUCTURE, SharedObject
from dpor.python.sharing.sharing_state import sharing

UNORDERED: Final = "several objects died in one step of a thread: not every order of dropping them is tried"
DROPPED: Final = (
    "a weak reference with a callback is dropped while several threads exist, and its object dies: not every order of"
    " the two is tried"
)


class _LettingGo:
    """What is remembered during a run.

    counted   by thread: how many references the program had to each mortal object when the thread's present step began
    taken     by thread: the objects to which its present step has taken a reference, and which may die when it drops
              that reference. Even if it drops it in the same step, other threads may run in between
    waiting   the threads that are waiting to let go of an object
    asked     by `id`: weak references to objects that have died, with the locations that say whether these are alive
    dropped   by `id`: weak references to objects to which a thread has dropped a weak reference with a callback, and
              the thread. (If the object dies in that thread, it could not die before. If it may die in another, a run
              shows that.)
    called    the `id`s of weak references that the program still had when their callbacks had been called
    kept_dead the `id`s of objects that have died and that we cannot let go
    pending   by thread: the `id`s of the objects that it is still to let go of
    order     by thread, and by `id` of what a container held that the thread's present step has changed, or an object
              that has died in it: the `id` of the object whose death led to that (0: the step's operation), and its
              place in the order of dropping
    """

    __slots__ = ("asked", "called", "counted", "dropped", "kept_dead", "order", "pending", "taken", "waiting")

    def __init__(self) -> None:
        self.counted: dict[ThreadId, dict[int, int]] = {}
        self.taken: dict[ThreadId, set[int]] = {}
        self.waiting: set[ThreadId] = set()
        self.asked: dict[int, tuple[Any, list[Location]]] = {}
        self.dropped: dict[int, tuple[ThreadId, Any]] = {}
        self.called: set[int] = set()
        self.kept_dead: set[int] = set()
        self.pending: dict[ThreadId, set[int]] = {}
        self.order: dict[ThreadId, dict[int, tuple[int, int]]] = {}


_now: Final = run.attach(_LettingGo)


def is_waiting() -> bool:
    """True if a thread is waiting to let go of an object."""
    return bool(_now.waiting)


# ---------------------------------------------------------------------- a step begins


def step_begins(thread: ModelThread, access: Operation | None = None) -> None:
    """Called when the thread goes on after it was chosen, before it performs this access."""
    if run.multi:
        _now.counted[thread.id] = deaths.references_to_mortal()
        if access is None or access.kind != "let go":
            _now.order[thread.id] = {}
            if access is not None:
                _note_held(thread, access)


def _note_held(thread: ModelThread, access: Operation) -> None:
    """Note which objects the access drops in which order, or gives the thread."""
    if access.kind in _DROPPING:
        held = [obj for location, mode in access.accesses if mode is WRITE for obj in _held_in(location)]
        _now.order[thread.id] = {id(obj): (0, place) for place, obj in enumerate(held, 1)}
    elif access.kind not in _TAKING_NOTHING:
        # who takes an object out, in a WRITE, has the reference that was there
        places = [location for location, mode in access.accesses if mode is READ or access.kind == "setdefault"]
        _note_taken(thread, [obj for location in places for obj in _held_in(location)])


def _note_taken(thread: ModelThread, objects: Iterable[Any]) -> None:
    _now.taken[thread.id] = set(map(id, _with_silent_parts(list(filter(dies, objects)))))


_DROPPING: Final = frozenset({"write", "delete", "clear"})
"""Kinds of operations that drop what is in the locations that they write, before anything else in the step."""
_TAKING_NOTHING: Final = frozenset({"len", "truth", "in", "iterate", "iter"})
"""Kinds of operations that do not give the thread a reference to what is in the locations that they read."""


def _held_in(location: Location) -> list[Any]:
    """Return the objects in the location, in the order in which the container drops them if it is cleared."""
    match run.operations.name_of(location):
        case ("global", str(module), str(name)):
            return [namespace_of(sys.modules[module]).get(name)] if module in sys.modules else []
        case ("class attribute", str(name)):
            return [
                obj
                for root, obj in shared_objects.roots()
                if is_a(root, tuple) and cast("tuple[object, ...]", root)[-1:] == (name,)
            ]
        case (int(number), part):
            shared = shared_objects.shared_object_named(run.operations.name_of(number))
            return [] if shared is None or shared.obj is None else _parts(shared.obj, part)
    return []


_WHOLE: Final = frozenset({STRUCTURE, ELEMENTS, KEY_SET})


def _parts(obj: Any, part: Any) -> list[Any]:
    """Return what the object holds in this part of it; all that it holds if the part is no single element or field."""
    kind = type(obj)
    if part in _WHOLE or kind is CellType:
        return gc.get_referents(obj)
    if is_a(obj, dict):
        return [dict.get(obj, part)]
    if is_a(obj, list) and type(part) is int:
        return [list.__getitem__(obj, part)] if 0 <= part < list.__len__(obj) else []
    if type(part) is not str:
        return gc.get_referents(obj)
    slots = (vars(base).get(part) for base in kind.__mro__)
    slot = next((own for own in slots if type(own) is MemberDescriptorType), None)
    if slot is None:
        return [(type_traits.fields(obj, kind) or {}).get(part)]
    try:
        return [slot.__get__(obj)]
    except AttributeError:  # it is empty
        return []


def _with_silent_parts(objects: list[Any]) -> list[Any]:
    """Return the objects and all that die which can be reached from them without an operation. Who has one of the
    objects may have taken a reference to such a part, and may drop it after the object."""
    found: dict[int, Any] = {}
    visited: set[int] = set()
    stack = list(objects)
    while stack:
        obj = stack.pop()
        if id(obj) not in visited:
            visited.add(id(obj))
            if dies(obj):
                found[id(obj)] = obj
            stack += _silent_parts(obj)
    return [*found.values()]


def _silent_parts(obj: Any) -> list[Any]:
    """Return the objects in those parts of the object that no run of this search changes."""
    kind = type(obj)
    if type_traits.way_of(kind) is type_traits.NOTHING_IN_IT or type_traits.is_neutral(kind):
        return []
    shared = shared_objects.table.get(id(obj))
    if isinstance(shared, SharedObject):
        if changes(shared, STRUCTURE) or changes(shared, ELEMENTS):
            return []
        if kind is CellType and any(where[1:2] == ("<cell>",) for where in about(run.facts, "field")):
            return []
        own = type_traits.fields(obj, kind)
        if own is not None:
            of_class = ("field", module_of_class(kind), kind.__qualname__)
            return [value for name, value in own.items() if (*of_class, name) not in run.facts]
    return held_by(obj)


# ---------------------------------------------------------------------- a step ends


def step_ends() -> None:
    """Called when the current thread has reached its next operation: let go of what its step has dropped."""
    me = run.current
    if me.id in _now.waiting:
        return
    taken: Collection[int] = _now.taken.pop(me.id, ())
    pending = _now.pending.setdefault(me.id, set())
    order = _now.order.setdefault(me.id, {})
    causes: set[int] = set()
    while released := _released(_now.counted.get(me.id, {}), taken, order):
        taken = ()
        while released:  # until it has let go of an object, this list keeps it alive
            number = id(released[0])
            cause, _ = order.get(number, (number, 0))
            accesses = _let_go_of(released[0])
            del released[0]
            pending.discard(number)
            death = _die_if_fallen(number, accesses, cause, order)
            if death is None:
                continue
            if death.noticed:
                causes.add(cause)
            if released:  # what it held dies before what is dropped after it
                released[:0] = _released(_now.counted.get(me.id, {}), (), order)
                places = {part: place for place, part in enumerate(death.held)}
                released.sort(key=lambda obj: places.get(id(obj), len(places)))
    if len(causes) > 1:
        incomplete(UNORDERED)


def _let_go_of(obj: Any) -> Accesses:
    """Perform the operation, if somebody may notice; return its accesses."""
    mode = WRITE if dies(obj) else UPDATE  # who is the last matters only where it dies by that
    touched = Touched((location, mode) for location in _written_by(obj))
    callbacks = children.callbacks(obj)
    for callback in callbacks:
        _see(callback)
    in_c = [callback for callback in callbacks if _function_of(callback) is None]
    if in_c:  # its death calls them, which may change what they refer to
        touched.deeply(writes, [part for callback in in_c for part in gc.get_referents(callback)])
    if touched:
        number = run.current.id
        _now.waiting.add(number)
        try:
            yield_before("let go", touched)
        finally:
            _now.waiting.discard(number)
    return touched.accesses()


def _released(before: Mapping[int, int], taken: Collection[int], order: dict[int, tuple[int, int]]) -> list[Any]:
    """Return the mortal objects that have fallen, or to which there are fewer references than `before`; also those
    `taken` to which there are not more than before. Objects that have fallen and are not mortal are released."""
    while True:
        census.count()
        theirs, elsewhere = census.theirs, census.elsewhere
        _note_dropped_references()
        mortal = deaths.mortal()
        silent = census.fallen - mortal.keys() - elsewhere
        if not silent:
            break
        for number in silent:
            _note_what_falls(census.object(number), mortal)
        del mortal
        census.let_go(silent)
    me = run.current.id
    _now.counted[me] = {number: theirs[number] for number in mortal}
    released = [
        obj
        for number, obj in mortal.items()
        if number not in _now.kept_dead
        if theirs[number] == 0 or theirs[number] < before.get(number, 0) + (number in taken)
    ]
    unordered = (0, 0)
    released.sort(key=lambda obj: (order.get(id(obj), unordered)[1], shared_objects.run_number(obj) or 0))
    everything = {id(obj): obj for obj in [*released, *_with_silent_parts(list(filter(dies, released)))]}
    pending = _now.pending[me]
    left = {number: obj for number, obj in everything.items() if number not in pending and number not in _now.kept_dead}
    pending.update(left)
    return [*left.values()]


def _note_dropped_references() -> None:
    """Note the objects of the weak references that this step has dropped. Whether an object that has fallen, too, was
    dropped before is not seen: the container that held it need not have been the last to do so."""
    references = [number for number in census.fallen if children.may_call(census.object(number))]
    together = set(map(id, deaths.fallen())) if references else ()
    for number in references:
        referent = id(weakref.ReferenceType.__call__(census.object(number)))
        if referent in together:
            incomplete(UNORDERED)
        _now.dropped[referent] = run.current.id, weakref.ref(weakref.ReferenceType.__call__(census.object(number)))


def _note_what_falls(obj: Any, mortal: Mapping[int, Any]) -> None:
    """The object, which is not mortal, has fallen: if a mortal one is reached from it without another that we hold, its
    class is one of those that die. Classes and modules do not die with an object that refers to them."""
    if not mortal:
        return
    stack, visited = [obj], {id(obj)}
    while stack:
        inner = stack.pop()
        for part in held_by(inner):
            if issubclass(type(part), _STAYING):
                continue
            number = id(part)
            if number in mortal:
                name = type(obj).__qualname__
                deaths.learns(type(obj), f"a {name} that holds a {type(part).__qualname__} died")
                return
            if number not in visited and not isinstance(shared_objects.table.get(number), SharedObject):
                visited.add(number)
                stack.append(part)


_STAYING: Final = (type, ModuleType)


class _Death(NamedTuple):
    """`noticed`: whether code of the program is called because of it; `held`: the `id`s of what the object held."""

    noticed: bool
    held: list[int]


def _die_if_fallen(number: int, written: Accesses, cause: int, order: dict[int, tuple[int, int]]) -> _Death | None:
    """Let the object with this `id` die if only the runtime still refers to it. Return None if it lives."""
    census.count()
    theirs, elsewhere = census.theirs, census.elsewhere
    _now.counted[run.current.id] = dict(theirs)
    if theirs.get(number) != 0:
        return None
    obj = census.object(number)
    noticed = deaths.is_noticed(obj)
    kind = type(obj)
    new = noticed and deaths.learns(kind, f"a {kind.__qualname__} died while several threads existed")
    if not new and (number in elsewhere or not written):
        deaths.report_death(obj)
    by, ref = _now.dropped.get(number, (run.current.id, None))
    if by != run.current.id and ref is not None and ref() is obj:
        incomplete(DROPPED)
    del ref
    locations = _written_by(obj)
    _now.asked.update((id(ref), (ref, locations)) for ref in getweakrefs(obj))
    if number in elsewhere:
        _now.kept_dead.add(number)
        return None
    held = [*map(id, held_by(obj))]
    order.update((part, (cause, place)) for place, part in enumerate(held, 1))
    for counted in _now.counted.values():
        counted.pop(number, None)
    called = [id(ref) for ref in children.references_to(obj) if theirs.get(id(ref)) and children.may_call(ref)]
    del obj
    census.let_go({number})
    if called:
        census.count()
        falling = Counter(id(part) for fallen in census.fallen for part in gc.get_referents(census.object(fallen)))
        now = {ref: census.theirs.get(ref, 0) - falling[ref] for ref in called}  # one is in `_now.asked`
        _now.called.update(ref for ref in called if now[ref] > theirs[ref])
    if run.unwinding:  # it has been thrown into a `__del__`, which swallows it
        raise UnwindThread
    return _Death(noticed, held)


def _function_of(callback: Any) -> FunctionType | None:
    """Return the Python function that a call of the callback executes, which performs operations; None if it is in
    C."""
    function = callback.__func__ if is_a(callback, MethodType) else callback
    found = function if is_a(function, FunctionType) else static(type(function), "__call__")
    return found if is_a(found, FunctionType) else None


def _see(callback: Any) -> None:
    """Have the code of the callback instrumented: the interpreter calls it without a hook. (That of `weakref.finalize`
    calls functions of the program, and in C.)"""
    function = _function_of(callback)
    if function is None or is_instrumented(function) or children.removes_from_container(callback):
        return
    module = str(function.__globals__.get("__name__"))
    if not is_ours(module):
        opaque_code.opaque(f"{module}.{function.__qualname__}")


def _written_by(obj: Any) -> list[Location]:
    """Return the locations that say whether the object is alive. A function has none of its own, nor has a tuple: those
    are known by the weak references to them and by what they hold."""
    mark = shared_objects.table.get(id(obj))
    if isinstance(mark, SharedObject):
        return [run.operations.location(("alive", mark.name))]
    if is_a(obj, SyncObject):
        return [run.operations.location(("alive", run.operations.name_of(obj.dpor_location)))]
    marks = [shared_objects.table.get(id(ref)) for ref in getweakrefs(obj)]
    found = {run.operations.location(("alive", mark.name)) for mark in marks if isinstance(mark, SharedObject)}
    if type(obj) in type_traits.CONTAINED:
        for part in filter(dies, held_by(obj)):
            found.update(_written_by(part))
    return sorted(found)


# ---------------------------------------------------------------------- what belongs to one thread


def let_go_of_owned() -> None:
    """Let what belongs to the current thread die if the thread has dropped it. No other thread can reach it, so this is
    no operation; but what dies with it may be noticed, and by this thread at once."""
    if not run.multi or run.unwinding or run.atomic or run.observer:
        return
    while dropped := census.dropped():  # what one held may be dropped with it
        census.count()
        if len(dropped) > 1 and sum(map(_is_noticed_to_die, dropped)) > 1:
            incomplete(UNORDERED)
        census.let_go(dropped)


def _is_noticed_to_die(number: int) -> bool:
    return any(map(deaths.is_noticed, deaths.falling([census.object(number)])))


# ---------------------------------------------------------------------- other threads have ended, or the run


def alone() -> None:
    """Called when all other threads have ended: from here on objects die where the program drops them."""
    _note_dropped()
    subclasses.look()
    deaths.alone()


def is_to_be_watched() -> bool:
    """Called when all other threads have ended: True if it is to be seen whether the one that is left looks at the
    order of keys. Then `alone` is not called."""
    if not key_order.is_open():
        return False
    _note_dropped()
    subclasses.look()
    return True


def run_over() -> None:
    """Called when the run is over while several threads exist."""
    _note_dropped()
    subclasses.look()
    deaths.report_deaths()


def _note_dropped() -> None:
    """If weak references were dropped after their callbacks were called, they may have been dropped before as well."""
    if _now.called:
        census.count()
        if any(census.theirs.get(number) == 1 for number in _now.called):  # which is the one in `_now.asked`
            incomplete(DROPPED)


# ---------------------------------------------------------------------- weak references


def yield_before_asking(ref: Any) -> None:
    """Yield before a weak reference is asked for its object: whether the object is still alive is read then."""
    if not run.multi or run.watched:
        return
    obj = weakref.ReferenceType.__call__(ref)
    locations = _now.asked.get(id(ref), (ref, []))[1] if obj is None else _written_by(obj)
    if not locations and obj is not None and not run.dying:
        sharing.asked.setdefault(id(obj), weakref.ref(obj))
    if not locations and type(obj) in type_traits.CONTAINED:
        incomplete(shared_objects.DEATHS)
    del obj
    if not locations:
        return
    if DYING not in run.facts:
        assumptions.broken(DYING, "a weak reference is asked for its object while several threads exist")
    accessing.touch("ask", tuple((location, READ) for location in locations))
    if run.dying:
        _note_taken(run.current, [weakref.ReferenceType.__call__(ref)])
    if id(ref) in _now.asked and weakref.ReferenceType.__call__(ref) is not None:
        incomplete(f"a weak reference is asked for an object that has died and is kept alive: {deaths.NOT_ALL}")
