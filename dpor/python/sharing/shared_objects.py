"""Which objects are shared, and the names of their locations.

An object belongs to the thread that makes it until a reference may be where another thread can reach it: `publish` then
gives the object, and all that is reachable from it, a `SharedObject`. Accesses to objects without a `SharedObject` are
not operations.

Names. A location must have the same number in every run, and in equivalent runs the same object must have the same
name though threads run in another order. So an object is named when it is published, by who publishes it, how many
events that thread has performed by then, and the number of the object since then: a function of the publisher's own
past alone. (Naming by first access fails: which thread comes first differs between equivalent runs.)

The rule is checked. The first thread to touch an object without a `SharedObject` marks it as its own; if another thread
then touches it, a reference escaped unseen. The search remembers such types and starts again: from then on all their
objects share one `SharedObject`, coarse but sound.
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from _weakref import getweakrefcount, getweakrefs
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from dpor.python.kernel import assumptions, opaque_code
from dpor.python.kernel.assumptions import DYING, Following, about
from dpor.python.kernel.classes import is_a, module_of_class, namespace_of
from dpor.python.kernel.incomplete import incomplete, incomplete_if_multithreaded
from dpor.python.kernel.library import CONSTANT, package_of
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.type_caches import MOST_TYPES, type_cache
from dpor.python.sharing import children, code_of_types, orders, subclasses
from dpor.python.sharing.children import adopts, callbacks, finder_of, finders, may_call, references_to
from dpor.python.sharing.code_of_types import code_of, note_special_in_c
from dpor.python.sharing.shared_object import Namespace, SharedObject, exposed, reads_names, type_key
from dpor.python.sharing.sharing_state import OwnReference, Roots, sharing
from dpor.python.sharing.type_traits import (
    CONTAINED,
    GENERATORS,
    HOLD_NOTHING,
    KEPT_ALIVE,
    NOTHING_IN_IT,
    RECORDED,
    is_finalised,
    way_of,
    ways,
)

table: Final = sharing.table  # often asked
_shared_by_name: Final[dict[Hashable, SharedObject]] = {}
"""The `SharedObject`s of the present search, by name. `forget` empties this and `_objects`."""
_objects: Final[dict[tuple[int, int, int], SharedObject]] = {}
"""Those of them that are named after the thread that published the object."""
_has_whole_types: Final = Following(lambda facts: any(about(facts, "type")))


def begin_run(roots: Roots) -> None:
    """Called before each run. `roots` gives (name, object) for what every thread can reach: globals and class
    attributes."""
    sharing.begin(roots)
    sharing.any_whole_type = _has_whole_types(run.facts)
    children.begin_run()


def held() -> list[Any]:
    """The objects that are kept alive here, each as often as there is a reference to it."""
    objects = [shared.obj for shared in sharing.used if shared.obj is not None]
    objects += sharing.kept
    objects += sharing.owned
    objects += sharing.published.values()
    if sharing.exposed:
        stands = {} if sharing.always is None else sharing.always.exposed
        for pair in {id(pair): pair for number, pair in sharing.exposed.items() if number not in stands}.values():
            objects += [part for part in pair if type(part) is not OwnReference]
    return objects


def sizes_of_held() -> tuple[int, ...]:
    """Return what tells, as long as nothing is let go, whether `held` returns the same as before."""
    return len(sharing.used), len(sharing.kept), len(sharing.owned), len(sharing.published), len(sharing.exposed)


def taken_out(numbers: set[int]) -> list[Any]:
    """Take the objects with these addresses, to which nobody else refers, out of what is held. They die when the result
    is emptied. No further reference to any other object should exist then, as their finalisers may lead to counting."""
    pairs = [(sharing.owner_of(number), sharing.exposed[number][1]) for number in numbers & sharing.exposed.keys()]
    exposed = [id(part) for pair in pairs for part in pair]
    pairs.clear()
    dead: list[Any] = [sharing.exposed.pop(number, None) for number in exposed]
    dead += [sharing.published.pop(number, None) for number in numbers]
    for number in numbers:
        table.pop(number, None)
    for shared in sharing.used:
        if id(shared.obj) in numbers:
            dead.append(shared.obj)
            shared.obj = None
    sharing.used[:] = [shared for shared in sharing.used if shared.obj is not None]
    for kept in (sharing.kept, sharing.owned):
        for place in reversed([place for place, obj in enumerate(kept) if id(obj) in numbers]):
            dead.append(kept.pop(place))
    return dead


def forget() -> None:
    """Called before a search starts, for the first time or again: `SharedObject`s cache what followed from the old
    facts."""
    _shared_by_name.clear()
    _objects.clear()
    sharing.used.clear()
    table.clear()
    sharing.kept.clear()
    sharing.owned.clear()
    children.forget()


def are_there_any() -> bool:
    """True if there was something in this run that several threads could reach and change."""
    return sharing.any_shared()


def shared_object_of(obj: Any) -> SharedObject | None:
    """Return the `SharedObject` of an object; None if accesses to it are not operations.

    That is so if it belongs to one thread, cannot change (int, str, function, ...), or only one thread exists.
    """
    if not run.multi:
        return None
    mark = table.get(id(obj))
    if mark is run.current:
        return None
    if mark is None:
        return first_touch(obj)
    return mark if isinstance(mark, SharedObject) else escaped(obj)


def first_touch(obj: Any) -> SharedObject | None:
    """The object has no mark: the thread that touches it is its owner from now on. Returns a `SharedObject` if its type
    is one whose objects are all taken as shared."""
    kind = type(obj)
    if way_of(kind) is not RECORDED:
        if issubclass(kind, type):
            for module in code_of(obj).of_descriptors:
                opaque_code.demand(module, f"threads use attributes of {obj.__qualname__}")
        return None
    if sharing.any_whole_type and type_key(kind) in run.facts:
        return _of_whole_type(obj)
    if kind not in _unremarkable:
        _look_at(kind, touched=True)
    number = id(obj)
    table[number] = run.current
    if kind.__weakrefoffset__ and (
        kind in _END_IN_C or module_of_class(kind) == "sqlite3" or is_finalised(kind) or getweakrefcount(obj)
    ):
        sharing.owned_weakly[number] = weakref.ref(obj, lambda _: _died(number))
    else:
        (sharing.owned if run.dying else sharing.kept).append(obj)
    return None


_END_IN_C: Final = frozenset({*GENERATORS, memoryview})
"""Built-in types whose objects do something when they die. (So does a cursor of a database: it lets go of its lock.)"""


def own_weakly(obj: Any) -> None:
    """There will be a weak reference to an object that is not shared."""
    number = id(obj)
    if number in table and number not in sharing.owned_weakly and type(obj).__weakrefoffset__:
        sharing.owned_weakly[number] = weakref.ref(obj, lambda _: _died(number))
        sharing.counted.clear()
        for objects in (sharing.kept, sharing.owned):
            objects[:] = [kept for kept in objects if kept is not obj]


def keep_reference(ref: weakref.ref[Any]) -> None:
    """Keep the weak reference to a shared object alive if it has a callback: the thread that drops it may have dropped
    the object before, and so called the callback."""
    if may_call(ref):
        sharing.kept.append(ref)


def own_references(obj: Any) -> int:
    """How many weak references to the object are ours, or those of the sets in which `asyncio` has its tasks."""
    ours = (id(obj) in sharing.owned_weakly) + issubclass(type(obj), SyncObject)
    ours += sum(type(ref) is OwnReference for ref in getweakrefs(obj)) if id(obj) in sharing.exposed else 0
    if type(obj).__module__ == "_asyncio":
        ours += sum(getattr(callback, "__module__", None) == "_weakrefset" for callback in callbacks(obj))
    return ours


def _died(number: int) -> None:
    if sharing.owned_weakly.pop(number, None) is not None and not isinstance(table.get(number), SharedObject):
        table.pop(number, None)


def escaped(obj: Any) -> SharedObject:
    """The `SharedObject` of an object that two threads touch, though no publication of it was seen: from now on all
    objects of its type are taken as shared."""
    key = type_key(type(obj))
    if not run.half_seen and not run.watched:
        assumptions.broken(
            key, f"objects of type {key[1]}.{key[2]} reach other threads unseen: all are taken as shared"
        )
    return _of_whole_type(obj)


def _of_whole_type(obj: Any) -> SharedObject:
    return _put(obj, type_key(type(obj)))


def _put(obj: Any, name: Hashable) -> SharedObject:
    shared = _shared_by_name.get(name)
    if shared is None:
        shared = _shared_by_name[name] = SharedObject(name)
    shared.obj = obj
    sharing.used.append(shared)
    table[id(obj)] = shared
    sharing.kept.append(obj)
    sharing.owned_weakly.pop(id(obj), None)
    _look_at(type(obj))
    return shared


def shared_object_named(name: Hashable) -> SharedObject | None:
    """Return the shared object of this name, or None if no run of the search has had one."""
    return _shared_by_name.get(name)


# ---------------------------------------------------------------------- namespaces


def expose(obj: Any, fields: dict[str, Any]) -> None:
    """Record that the dict is the `__dict__` of the object: accesses of either are accesses of both."""
    if adopts(type(obj)):
        return
    owner = shared_object_of(obj) if run.multi else table.get(id(obj))
    if not isinstance(owner, SharedObject):
        sharing.expose(obj, fields)
        return
    kind = type(obj)
    if not run.multi:  # when all others have ended it shows in which order the names came
        reads_names(owner, kind)
    fact = ("field", module_of_class(kind), kind.__qualname__)
    name, known = ("dict of", owner.name), table.get(id(fields))
    if isinstance(known, SharedObject) and known.name != name:
        incomplete(f"a dict that threads share is the fields of a {kind.__qualname__}, too: that it is one is not seen")
    _put_namespace(fields, name, (owner.number,), fact, exposed(kind))


def module_names(names: dict[str, Any]) -> None:
    """Record that the dict is that of a module: its keys are globals."""
    module = names.get("__name__")
    if isinstance(module, str) and namespace_of(sys.modules.get(module)) is names:
        prefix = ("global", module)
        _put_namespace(names, ("dict of", *prefix), prefix, prefix, ("dict exposed", *prefix))


def class_names(kind: type) -> None:
    """Record that the `__dict__` of the class is read: attributes are identified by their names, whatever the class."""
    (names,) = gc.get_referents(kind.__dict__)
    _put_attributes(names)


def function_names(function: types.FunctionType) -> None:
    """As `class_names`, for a function: functions are identified by names as well."""
    _put_attributes(function.__dict__)


def give_to_function(names: Any) -> None:
    """A function is given the dict as its `__dict__`: its keys are attributes from now on."""
    if isinstance(names, dict):
        known = table.get(id(names))
        if isinstance(known, SharedObject) and known.name != CLASS_NAMES:
            incomplete_if_multithreaded(
                "a dict that threads share is that of a function, too: that it is one is not seen"
            )
        sharing.given.append(names)
        _put_attributes(names)


CLASS_NAMES: Final = ("dict of", "class attribute")
CLASSES_EXPOSED: Final = ("dict exposed", "class attribute")


def _put_attributes(names: dict[str, Any]) -> None:
    _put_namespace(names, CLASS_NAMES, ("class attribute",), ("class attribute",), CLASSES_EXPOSED)


def _put_namespace(
    names: dict[str, Any], name: Hashable, prefix: tuple[object, ...], fact: tuple[object, ...], exposed: object
) -> None:
    if isinstance(table.get(id(names)), SharedObject):
        return
    shared = _shared_by_name.get(name)
    if shared is None:
        shared = _shared_by_name[name] = Namespace(name, prefix, fact, exposed)
    if not run.multi and len(run.threads) > 1 and any(about(run.facts, *fact)):
        assumptions.used_by_several(exposed, f"the dict behind {fact[-1]}")  # as in `expose`
    shared.obj = names
    sharing.used.append(shared)
    table[id(names)] = shared
    sharing.kept.append(names)


def run_number(obj: Any) -> int | None:
    """Return a number of the object that equivalent runs agree on; None if it has none."""
    mark = table.get(id(obj))
    return mark.number if isinstance(mark, SharedObject) else None


def run_name(obj: Any) -> tuple[Any, ...] | None:
    """What the object is called in all equivalent runs of all searches; None if it has no name, or shares it."""
    mark = table.get(id(obj))
    name = mark.name if isinstance(mark, SharedObject) else None
    return None if name is None or name[0] == "type" else name  # type: ignore[index, return-value]


# ---------------------------------------------------------------------- publishing


def made_class(kind: Any) -> Any:
    """Called with what a class statement in a function or a class has made, before its decorators are called."""
    if not is_a(kind, type):  # a metaclass may be any function
        return kind
    alive = weakref.ref(kind)

    def values() -> list[Any]:
        found = alive()
        return [] if found is None else [value for _, value in children.of_class(found)]

    made(values)
    return kind


def publish(value: Any) -> None:
    """Share the value and all that is reachable from it: a reference is about to be stored where another thread can
    reach it."""
    if run.multi and type(value) not in HOLD_NOTHING:
        _publish(value)


def roots() -> Iterable[tuple[Hashable, Any]]:
    """Return the roots of the program's objects, each as (name, object): the values of its globals and of its class
    attributes, which every thread can reach without being given them."""
    return sharing.roots()


def publish_roots(thread_object: Any) -> None:
    """Share what a thread that is about to start is given, and what every thread can reach."""
    if not sharing.roots_published:
        sharing.roots_published = True
        subclasses.note_several_threads()
        code_of_types.note_several_threads()
        for names in sharing.given:
            _put_attributes(names)
        if sharing.always is not None:
            sharing.always.publish()
        else:
            for name, value in sharing.roots():
                _publish(value, name)
    for values in sharing.made:
        for value in values():
            _publish(value)
    sharing.made.clear()
    orders.note_several_threads()
    _publish(thread_object)


def made(values: Callable[[], Iterable[Any]]) -> None:
    """Share what a class or module holds that a thread has made, now or when there are several threads. (They are
    shared when it is made, though perhaps no other thread can reach it: nobody publishes the class of an object.)"""
    if run.multi:
        for value in values():
            _publish(value)
    else:
        sharing.made.append(values)


def share(obj: Any, root: Hashable) -> None:
    """Every thread can reach the object under this name, and what it holds is nothing of the program."""
    if not isinstance(table.get(id(obj)), SharedObject):
        _put(obj, ("root", root, 0))


def publish_all(value: Any) -> None:
    """As `publish`, also while only one thread exists, and searching through shared objects too.

    The only thread may have stored something in them.
    """
    _publish(value, through=True)


def _publish(value: Any, root: Hashable = None, *, through: bool = False) -> None:
    thread, exposed = run.current, sharing.exposed
    dying = DYING in run.facts
    stack = [value]
    visited: set[int] = set()
    counted = 0
    last: list[Any] = []
    while stack or last:
        obj = stack.pop() if stack else last.pop()
        kind = type(obj)
        way = ways.get(kind) or way_of(kind)
        if way is NOTHING_IN_IT:
            continue
        if kind is set and stack and any(issubclass(type(part), weakref.ReferenceType) for part in obj):
            last.append(obj)  # which have no order: what they refer to is named by another way to it, if there is one
            continue
        key = id(obj)
        if way is not RECORDED:
            if key in visited:
                continue
            visited.add(key)
            if way is KEPT_ALIVE or (dying and kind in CONTAINED):
                sharing.published[key] = obj
        else:
            mark = table.get(key)
            if isinstance(mark, SharedObject):
                if through and key not in visited:
                    visited.add(key)
                    stack += reversed(children.children(obj, kind))
                continue
            if exposed and key in exposed and exposed[key][1] is obj:  # owner first
                stack.append(sharing.owner_of(key))
                continue
            if mark is not None and mark is not thread:  # another has touched it, and this one has it
                escaped(obj)
            elif sharing.any_whole_type and type_key(kind) in run.facts:
                _of_whole_type(obj)
            elif root is not None:
                _put(obj, ("root", root, counted))
                counted += 1
            else:
                name = thread.name_object()
                shared = _objects.get(name)
                if shared is None:
                    shared = _objects[name] = _put(obj, ("object", *name))
                else:
                    shared.obj = obj  # which keeps it alive
                    sharing.used.append(shared)
                    table[key] = shared
                    sharing.owned_weakly.pop(key, None)
                    if kind not in _unremarkable:
                        _look_at(kind)
            if exposed and key in exposed:
                fields = exposed[key][1]
                expose(obj, fields)
                stack.extend(reversed(fields.values()))
        found = (finders.get(kind) or finder_of(kind))(obj, kind)
        if getweakrefcount(obj):
            for ref in references_to(obj):
                keep_reference(ref)
            if dying:
                found += callbacks(obj)
        found.reverse()
        stack += found


DEATHS: Final = "a weak reference is asked for its object while several threads exist: when an object dies is no step"

ARITHMETIC: Final = "arithmetic in C"
"""The fact that threads share an object with operators in C, which may change it: then the rewriter also hooks
operators with a literal number as operand."""

_unremarkable: dict[type, None] = type_cache({})
"""Types that were examined and need no fact."""


def _look_at(kind: type, *, touched: bool = False) -> None:
    """Examine a type when an object of it may be shared, and learn the facts that follow."""
    if kind in GENERATORS:
        sharing.any_finalised = True
        return
    answer = is_finalised(kind)
    if answer:
        sharing.any_finalised = True
    asks = any(module_of_class(base) in _WEAK_CONTAINERS and base not in _IN_C for base in kind.__mro__)
    if asks and touched:
        opaque_code.demand("weakref", f"a {kind.__qualname__} is used while several threads exist")
    code = code_of(kind)
    entered = hasattr(kind, "__enter__")  # by `with`, which calls it without a hook
    for module in code.unseen:
        if touched or entered or package_of(module) not in CONSTANT:  # else it is seen when it comes to a shared object
            opaque_code.demand(module, f"threads use objects of type {module}.{kind.__qualname__}")
    if code.computes_in_c and ARITHMETIC not in run.facts:
        assumptions.broken(ARITHMETIC, f"objects of type {kind.__qualname__}, with operators in C, may be shared")
    in_c = note_special_in_c(kind)
    if not (answer or code.computes_in_c or code.unseen or asks or in_c) and len(_unremarkable) < MOST_TYPES:
        _unremarkable[kind] = None


_WEAK_CONTAINERS: Final = frozenset({"weakref", "_weakrefset"})
"""Modules whose classes, in Python, ask weak references for their objects."""
_IN_C: Final = frozenset({weakref.ReferenceType, weakref.ProxyType, weakref.CallableProxyType})
