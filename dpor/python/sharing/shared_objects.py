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

Long on purpose: marks, names, namespaces and publishing all work on one table, and hot functions find it as a global.
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from _weakref import getweakrefcount, getweakrefs
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from dpor.core.operations import READ, WRITE, Access, Accesses, Location, Mode, Operation
from dpor.python.kernel import assumptions, opaque_code
from dpor.python.kernel.assumptions import DYING, Following, about
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.library import CONSTANT, package_of
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.run import Run, run
from dpor.python.sharing import orders
from dpor.python.sharing.code_of_types import MOST_TYPES, computes_in_c, modules_of_unseen_code

STRUCTURE: Final = "<structure>"
"""The part of a container that changes when its length, its keys or the positions of its elements do."""

ELEMENTS: Final = "<elements>"
"""The part that stands for all elements together: READ by operations on all of them, UPDATEd by a store of one."""

ATOMIC: Final[frozenset[type]] = frozenset(
    {
        int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice, type,
        types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, types.CodeType,
        types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType,
        types.MemberDescriptorType, types.ClassMethodDescriptorType, property, staticmethod,
        classmethod, types.GenericAlias, types.UnionType, tuple, frozenset, types.FrameType, types.TracebackType,
    }
)  # fmt: skip
"""Types whose objects hold nothing of their own that can change (what a tuple or a function refers to may). Frames and
tracebacks are among them: to find a thread's locals by way of an exception is beyond what programs do."""

CONTAINED: Final = frozenset({tuple, frozenset, types.FunctionType, types.MethodType, types.BuiltinFunctionType})
"""Those of these types through which other objects are reached."""


NAMES: Final = frozenset({"object", "root", "type", "dict of", "global", "class attribute", "process"})
"""The first words of names of locations with data; names of locks, of the process and of caches begin otherwise."""


class SharedObject:
    """A shared object, for the whole of a search.

    name, number   of the object, the same in every run
    reads, writes  cached operations on its fields; None where an access of the field is not an operation
    obj            the object, in the present run
    """

    __slots__ = ("_locations", "name", "number", "obj", "reads", "writes")

    def __init__(self, name: Hashable) -> None:
        self.name = name
        self.number = run.operations.location(name)
        self.reads: dict[str, Operation | Callable[..., Any] | None] = {}
        self.writes: dict[str, Operation | None] = {}
        self.obj: Any = None
        self._locations: dict[Hashable, Location] = {}

    def location(self, part: Hashable) -> Location:
        """The location of a part: a field's name, an element's key, STRUCTURE or ELEMENTS."""
        location = self._locations.get(part)
        if location is None:
            location = self._locations[part] = run.operations.location((self.number, part))
        return location

    def access(self, kind: str, part: Hashable, mode: Mode) -> Operation:
        accesses: Accesses = ((self.location(part), mode),)
        return run.operations.intern(kind, accesses)


class Namespace(SharedObject):
    """The `SharedObject` of a dict whose keys have locations of their own: fields, globals, class attributes.

    prefix    the beginning of the name of a key's location
    fact      the beginning of the fact that something writes there
    exposed   the fact that something reads the dict as a whole: then writing a key also writes STRUCTURE
    """

    __slots__ = ("exposed", "fact", "prefix")

    def __init__(self, name: Hashable, prefix: tuple[object, ...], fact: tuple[object, ...], exposed: object) -> None:
        super().__init__(name)
        self.prefix = prefix
        self.fact = fact
        self.exposed = exposed

    def location(self, part: Hashable) -> Location:
        if part != STRUCTURE and part != ELEMENTS:
            return run.operations.location((*self.prefix, part))
        assumptions.used_by_several(self.exposed, f"the dict behind {self.fact[-1]}")
        return super().location(STRUCTURE)

    def is_written(self, key: Any) -> None:
        """Record that the key is about to be stored or deleted."""
        fact = (*self.fact, key)
        if fact not in run.facts:
            assumptions.broken(fact, f"{key} is written while several threads exist")

    def written(self) -> set[str]:
        """The keys that are present, and those that this search has seen being written."""
        keys = {key for key in (self.obj or ()) if isinstance(key, str) and not key.startswith(".")}
        return keys.union(key for key, *more in about(run.facts, *self.fact) if not more)


def structure_of(name: Hashable, exposed: object) -> Accesses:
    """Accesses of a store of a key in the namespace of this name, besides that of the key."""
    return (_structure_of(name, WRITE),) if exposed in run.facts else ()


def reads_names(shared: SharedObject, kind: type) -> Accesses:
    """Accesses of reading all fields of the object, of this type, whatever they are."""
    if names_change(kind) in run.facts:
        assumptions.used_by_several(names_looked_at(kind), f"which fields a {kind.__qualname__} has")
    elif exposed(kind) not in run.facts:
        return ()
    return (_structure_of(("dict of", shared.name), READ),)


def writes_names(shared: SharedObject) -> Accesses:
    """Accesses of adding a field to the object, or removing one."""
    return (_structure_of(("dict of", shared.name), WRITE),)


def _structure_of(name: Hashable, mode: Mode) -> Access:
    return run.operations.location((run.operations.location(name), STRUCTURE)), mode


table: dict[int, SharedObject | ModelThread] = {}
"""By `id`: the `SharedObject` of a shared object, or the thread to which an unshared one belongs.

Objects in it are kept alive until the run ends, so that no `id` is used twice.
"""
_kept: list[Any] = []
_used: list[SharedObject] = []
"""Those with an object in this run."""
_records: dict[Hashable, SharedObject] = {}
"""Of a search, as `_objects` are: `forget` empties them."""
_objects: dict[tuple[int, int, int], SharedObject] = {}
"""Those whose object is named by its publisher, by that name."""
_roots: Callable[[], Iterable[tuple[Hashable, Any]]] = lambda: ()
_roots_published = False
_any_coarse = False
"""True if there are types all objects of which share one `SharedObject`."""
any_finalised = False
"""Has this run met an object, shared or touched by one of several threads, whose class has a `__del__`?"""
_has_coarse: Final = Following(lambda facts: any(about(facts, "type")))
_any_adopted = False
"""Are there types whose objects are given a `__dict__`?"""
_has_adopted: Final = Following(lambda facts: any(about(facts, "dict adopted")))


def begin(roots: Callable[[], Iterable[tuple[Hashable, Any]]]) -> None:
    """Called before each run. `roots` gives (name, object) for what every thread can reach: globals and class
    attributes."""
    global _roots, _any_coarse, _any_adopted, _has_frames, any_finalised
    let_all_go()
    _exposed.clear()
    orders.begin()
    _has_frames = False
    dropped.clear()
    _roots = roots
    _any_coarse = _has_coarse(run.facts)
    any_finalised = False
    if _any_adopted != _has_adopted(run.facts):
        _any_adopted = not _any_adopted
        _forget_children()


def let_all_go() -> None:
    """What is shared is not kept alive any longer, and counts as no thread's."""
    global _roots_published
    table.clear()
    _kept.clear()
    _owned_weakly.clear()
    for shared in _used:
        shared.obj = None
    _used.clear()
    _roots_published = False


def held() -> list[Any]:
    """The objects that are kept alive here, each as often as there is a reference to it."""
    objects = [shared.obj for shared in _used if shared.obj is not None]
    objects += _kept
    if _exposed:
        for pair in {id(pair): pair for pair in _exposed.values()}.values():
            objects += pair
    return objects


def let_go(numbers: set[int]) -> None:
    """The objects with these addresses, which only those lists refer to, are not kept alive any longer."""
    for number in numbers:
        table.pop(number, None)
        for part in _exposed.get(number, ()):
            _exposed.pop(id(part), None)
    for shared in _used:
        if id(shared.obj) in numbers:
            shared.obj = None
    _used[:] = [shared for shared in _used if shared.obj is not None]
    _kept[:] = [obj for obj in _kept if id(obj) not in numbers]


def forget() -> None:
    """Called before a search starts, for the first time or again: `SharedObject`s cache what followed from the old
    facts."""
    _records.clear()
    _objects.clear()
    _used.clear()
    table.clear()
    _kept.clear()
    _forget_children()


def are_there_any() -> bool:
    """True if there was something in this run that several threads could reach and change."""
    return bool(_used)


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
    if _way_of(kind) is not _RECORDED:
        return None
    if _any_coarse and _type_key(kind) in run.facts:
        return _coarse(obj)
    if kind not in _unremarkable:
        _look_at(kind, touched=True)
    number = id(obj)
    table[number] = run.current
    if kind.__weakrefoffset__ and (
        kind in _END_IN_C or kind.__module__ == "sqlite3" or is_finalised(kind) or getweakrefcount(obj)
    ):
        _owned_weakly[number] = weakref.ref(obj, lambda _: _died(number))
    else:
        _kept.append(obj)
    return None


_END_IN_C: Final = frozenset({types.GeneratorType, memoryview})
"""Built-in types whose objects do something when they die. (So does a cursor of a database: it lets go of its lock.)"""

_owned_weakly: dict[int, weakref.ref[Any]] = {}
"""By `id`, of the objects that belong to one thread and do something when they die: they die where that thread drops
them, as nobody else can come to them."""


def own_weakly(obj: Any) -> None:
    """There will be a weak reference to an object that is not shared."""
    number = id(obj)
    if number in table and number not in _owned_weakly and type(obj).__weakrefoffset__:
        _owned_weakly[number] = weakref.ref(obj, lambda _: _died(number))
        _kept[:] = [kept for kept in _kept if kept is not obj]


def own_references(obj: Any) -> int:
    """How many weak references to the object are ours."""
    return 1 if id(obj) in _owned_weakly else 0


def _died(number: int) -> None:
    if _owned_weakly.pop(number, None) is not None and not isinstance(table.get(number), SharedObject):
        table.pop(number, None)


def escaped(obj: Any) -> SharedObject:
    """The `SharedObject` of an object that two threads touch, though no publication of it was seen: from now on all
    objects of its type are taken as shared."""
    key = _type_key(type(obj))
    assumptions.broken(key, f"objects of type {key[1]}.{key[2]} reach other threads unseen: all are taken as shared")
    return _coarse(obj)


def _coarse(obj: Any) -> SharedObject:
    return _put(obj, _type_key(type(obj)))


def _type_key(kind: type) -> tuple[str, str, str]:
    return ("type", kind.__module__, kind.__qualname__)


def _put(obj: Any, name: Hashable) -> SharedObject:
    shared = _records.get(name)
    if shared is None:
        shared = _records[name] = SharedObject(name)
    shared.obj = obj
    _used.append(shared)
    table[id(obj)] = shared
    _kept.append(obj)
    _owned_weakly.pop(id(obj), None)
    _look_at(type(obj))
    return shared


def shared_object_named(name: Hashable) -> SharedObject | None:
    return _records.get(name)


# ---------------------------------------------------------------------- namespaces

_exposed: dict[int, tuple[Any, dict[str, Any]]] = {}
"""By `id` of either: an unshared object whose `__dict__` the program has asked for, and that dict."""


def exposed(kind: type) -> tuple[str, ...]:
    """The fact that something reads the `__dict__` of objects of the class as a whole."""
    return ("dict exposed", *_type_key(kind))


def names_change(kind: type, *name: str) -> tuple[str, ...]:
    """The fact that shared objects of the class get or lose fields (of this name)."""
    return ("names change", *_type_key(kind), *name)


def names_looked_at(kind: type) -> tuple[str, ...]:
    """The fact that something reads which fields shared objects of the class have."""
    return ("names looked at", *_type_key(kind))


def adopted(kind: type) -> tuple[str, ...]:
    """The fact that objects of the class are given a `__dict__`, as by `self.__dict__ = shared`: others may have it."""
    return ("dict adopted", *_type_key(kind))


def adopts(kind: type) -> bool:
    """Are the fields of such objects the keys of a dict that was given to them? Then their locations are the dict's."""
    return _any_adopted and adopted(kind) in run.facts


def expose(obj: Any, fields: dict[str, Any]) -> None:
    """Record that the dict is the `__dict__` of the object: accesses of either are accesses of both."""
    if adopts(type(obj)):
        return
    owner = shared_object_of(obj) if run.multi else table.get(id(obj))
    if not isinstance(owner, SharedObject):
        _exposed[id(obj)] = _exposed[id(fields)] = (obj, fields)
        return
    kind = type(obj)
    if not run.multi:  # when all others have ended it shows in which order the names came
        reads_names(owner, kind)
    fact = ("field", kind.__module__, kind.__qualname__)
    name, known = ("dict of", owner.name), table.get(id(fields))
    if isinstance(known, SharedObject) and known.name != name:
        incomplete(f"a dict that threads share is the fields of a {kind.__qualname__}, too: that it is one is not seen")
    _put_namespace(fields, name, (owner.number,), fact, exposed(kind))


def module_names(names: dict[str, Any]) -> None:
    """Record that the dict is that of a module: its keys are globals."""
    module = names.get("__name__")
    if isinstance(module, str) and getattr(sys.modules.get(module), "__dict__", None) is names:
        prefix = ("global", module)
        _put_namespace(names, ("dict of", *prefix), prefix, prefix, ("dict exposed", *prefix))


def class_names(kind: type) -> None:
    """Record that the `__dict__` of the class is read: attributes are identified by their names, whatever the class."""
    (names,) = gc.get_referents(kind.__dict__)
    _put_attributes(names)


def function_names(function: types.FunctionType) -> None:
    """As `class_names`, for a function: functions are identified by names as well."""
    _put_attributes(function.__dict__)


CLASS_NAMES: Final = ("dict of", "class attribute")
CLASSES_EXPOSED: Final = ("dict exposed", "class attribute")


def _put_attributes(names: dict[str, Any]) -> None:
    _put_namespace(names, CLASS_NAMES, ("class attribute",), ("class attribute",), CLASSES_EXPOSED)


def _put_namespace(
    names: dict[str, Any], name: Hashable, prefix: tuple[object, ...], fact: tuple[object, ...], exposed: object
) -> None:
    if isinstance(table.get(id(names)), SharedObject):
        return
    shared = _records.get(name)
    if shared is None:
        shared = _records[name] = Namespace(name, prefix, fact, exposed)
    if not run.multi and len(run.threads) > 1 and any(about(run.facts, *fact)):
        assumptions.used_by_several(exposed, f"the dict behind {fact[-1]}")  # as in `expose`
    shared.obj = names
    _used.append(shared)
    table[id(names)] = shared
    _kept.append(names)


def run_number(obj: Any) -> int | None:
    """Return a number of the object that equivalent runs agree on; None if it has none."""
    mark = table.get(id(obj))
    return mark.number if isinstance(mark, SharedObject) else None


def run_name(obj: Any) -> tuple[Any, ...] | None:
    """What the object is called in all equivalent runs of all searches; None if it has no name, or shares it."""
    mark = table.get(id(obj))
    name = mark.name if isinstance(mark, SharedObject) else None
    return None if name is None or name[0] == "type" else name  # type: ignore[index, return-value]


def told(obj: Any) -> str:
    """What can be said of an object, and is the same in every run, without calling code of the program."""
    kind = type(obj)
    if kind in HOLD_NOTHING and kind is not type:
        return repr(obj)
    if kind is tuple or kind is frozenset:
        return f"({','.join(sorted(map(told, obj)) if kind is frozenset else map(told, obj))})"
    if kind is types.FunctionType or issubclass(kind, type):
        return f"{obj.__module__}.{obj.__qualname__}"
    own = fields(obj, kind) or {}
    scalars = [
        f"{name}={value!r}" for name, value in own.items() if type(value) in HOLD_NOTHING and type(value) is not type
    ]
    return f"{kind.__qualname__}({','.join(scalars)})"


# ---------------------------------------------------------------------- publishing


def publish(value: Any) -> None:
    """Share the value and all that is reachable from it: a reference is about to be stored where another thread can
    reach it."""
    if run.multi and type(value) not in HOLD_NOTHING:
        _publish(value)


HOLD_NOTHING: Final = frozenset({int, float, bool, str, bytes, type(None), complex, range, type})
"""Types of which an object, unless it is of a subclass, holds nothing that has to be published."""


def roots() -> Iterable[tuple[Hashable, Any]]:
    """Yield (name, object) for what every thread can reach: globals and class attributes of the program."""
    return _roots()


def publish_roots(thread_object: Any) -> None:
    """Share what a thread that is about to start is given, and what every thread can reach."""
    global _roots_published
    if not _roots_published:
        _roots_published = True
        for name, value in _roots():
            _publish(value, name)
    orders.tell_of_threads()
    _publish(thread_object)


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
    thread = run.current
    dying = DYING in run.facts
    stack = [value]
    visited: set[int] = set()
    counted = 0
    last: list[Any] = []
    while stack or last:
        obj = stack.pop() if stack else last.pop()
        kind = type(obj)
        if kind is set and stack and any(issubclass(type(part), weakref.ReferenceType) for part in obj):
            last.append(obj)  # which have no order: what they refer to is named by another way to it, if there is one
            continue
        way = _ways.get(kind) or _way_of(kind)
        if way is _NOTHING_IN_IT:
            continue
        key = id(obj)
        if way is _PASSED_THROUGH:
            if key in visited:
                continue
            visited.add(key)
        else:
            mark = table.get(key)
            if isinstance(mark, SharedObject):
                if through and key not in visited:
                    visited.add(key)
                    stack += reversed(children(obj, kind))
                continue
            if _exposed and key in _exposed and _exposed[key][1] is obj:  # owner first
                stack.append(_exposed[key][0])
                continue
            if mark is not None and mark is not thread:  # another has touched it, and this one has it
                escaped(obj)
            elif _any_coarse and _type_key(kind) in run.facts:
                _coarse(obj)
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
                    _used.append(shared)
                    table[key] = shared
                    _owned_weakly.pop(key, None)
                    if kind not in _unremarkable:
                        _look_at(kind)
            if _exposed and key in _exposed:
                fields = _exposed[key][1]
                expose(obj, fields)
                stack.extend(reversed(fields.values()))
        found = (_children.get(kind) or _children_of(kind))(obj, kind)
        if dying and getweakrefcount(obj):
            found += callbacks(obj)
        found.reverse()
        stack += found


def callbacks(obj: Any) -> list[Any]:
    """Of the weak references to it. (Whether a proxy has one, it does not say.)"""
    refs = [ref for ref in getweakrefs(obj) if issubclass(type(ref), weakref.ReferenceType)]
    return [callback for callback in map(_callback_of, refs) if callback is not None]


_callback_of: Final = vars(weakref.ReferenceType)["__callback__"].__get__


def children(obj: Any, kind: type) -> list[Any]:
    """List the objects that the program can reach from an object of this type in one step, apart from classes and
    modules."""
    return (_children.get(kind) or _children_of(kind))(obj, kind)


def _of_function(obj: Any, kind: type) -> list[Any]:
    children = [*(obj.__closure__ or ()), *(obj.__defaults__ or ())]
    if ".call" in obj.__builtins__:  # by `exec`: its globals are no module's
        children.insert(0, obj.__globals__)
    if obj.__kwdefaults__:
        children.extend(obj.__kwdefaults__.values())
    if obj.__dict__:
        children.extend(obj.__dict__.values())
    return children


def _of_builtin(obj: Any, kind: type) -> list[Any]:
    owner = obj.__self__
    return [] if type(owner) is types.ModuleType else [owner]


def _of_dict(obj: Any, kind: type) -> list[Any]:
    return [] if HOOKS_OF in obj else gc.get_referents(obj)  # a `__builtins__` that `exec` was given: not the program's


def _of_set(obj: Any, kind: type) -> list[Any]:
    return sorted(gc.get_referents(obj), key=told)


def _of_fields_alone(obj: Any, kind: type) -> list[Any]:
    own = fields(obj, kind)
    return gc.get_referents(obj) if own is None else [*own.values()]


def _of_any(obj: Any, kind: type) -> list[Any]:
    own = fields(obj, kind)
    if own is None:
        return gc.get_referents(obj)
    # Whether the dict is among what the object refers to depends on whether anybody has looked at it before.
    others = [child for child in gc.get_referents(obj) if child is not own and child is not kind]
    if others:
        inside = set(map(id, own.values()))
        others = [child for child in others if id(child) not in inside]
    return [*others, *own.values()]


def _of_weak_reference(obj: Any, kind: type) -> list[Any]:
    referent = weakref.ReferenceType.__call__(obj)
    if type(referent) in CONTAINED:
        _kept.append(referent)
    return [*gc.get_referents(obj), referent]


_CHILDREN: Final[dict[type, Callable[[Any, type], list[Any]]]] = {
    types.FunctionType: _of_function,
    types.BuiltinFunctionType: _of_builtin,
    dict: _of_dict,
    set: _of_set,
    frozenset: _of_set,
    DropInModule: lambda obj, kind: obj.leading(_leads),
    **dict.fromkeys((list, tuple, types.CellType, types.MethodType), lambda obj, kind: gc.get_referents(obj)),
}
_children = dict(_CHILDREN)
"""A cache, for the process: how to come on from an object, by its type."""


def _forget_children() -> None:
    _children.clear()
    _children.update(_CHILDREN)


def _of_adopter(obj: Any, kind: type) -> list[Any]:
    own = fields(obj, kind)
    return [own, *(child for child in gc.get_referents(obj) if child is not own and child is not kind)]


def _children_of(kind: type) -> Callable[[Any, type], list[Any]]:
    if len(_children) > MOST_TYPES:
        _forget_children()
    if adopts(kind):
        found: Callable[[Any, type], list[Any]] = _of_adopter
    elif issubclass(kind, weakref.ReferenceType):
        found = _of_weak_reference
    else:
        found = _of_fields_alone if _has_fields_alone(kind) else _of_any
    _children[kind] = found
    return found


class _Plain:
    pass


def _has_fields_alone(kind: type) -> bool:
    """True if an object of the type refers only to its class and its fields, which are in a `__dict__`."""
    return (
        (kind.__basicsize__, kind.__itemsize__) == (_Plain.__basicsize__, _Plain.__itemsize__)
        and kind.__dictoffset__ == _Plain.__dictoffset__
        and not any(type(own) is types.MemberDescriptorType for base in kind.__mro__ for own in base.__dict__.values())
    )


HOOKS_OF: Final = ".owner"
"""A key in a `__builtins__` of ours: names whose hooks these are."""


def _leads(value: Any, depth: int = 3) -> bool:
    """True if something that can change may be reached from it.

    Asked of what a drop-in for a module contains: most of its hundreds of functions lead nowhere.
    """
    kind = type(value)
    if kind is types.CellType:
        found = gc.get_referents(value)
    elif kind in (types.FunctionType, types.BuiltinFunctionType):
        found = children(value, kind)
        if not found:
            return False
    else:
        return value is None or _way_of(kind) is not _NOTHING_IN_IT
    return not found or depth == 0 or any(_leads(child, depth - 1) for child in found)


_fields: dict[type, Callable[[Any], dict[str, Any]] | None] = {}
"""A cache, for the process: see `fields_of`."""


def fields_of(kind: type) -> Callable[[Any], dict[str, Any]] | None:
    """Return a function from an object of this type to its `__dict__` that calls no code of the program.

    None if such objects have none, or hide it.
    """
    try:
        return _fields[kind]
    except KeyError:
        pass
    if len(_fields) > 5000:  # classes made anew by every run are not kept for ever
        _fields.clear()
    found = None
    if kind.__dictoffset__:
        found = next((own for base in kind.__mro__ if type(own := base.__dict__.get("__dict__")) in _GETTERS), None)
    getter = _fields[kind] = None if found is None else found.__get__
    return getter


def fields(obj: Any, kind: type) -> dict[str, Any] | None:
    """Return the `__dict__` of an object of this type, or None."""
    getter = fields_of(kind)
    if getter is None:
        return None
    try:
        return getter(obj)
    except TypeError:  # the class has other bases now
        del _fields[kind]
        getter = fields_of(kind)
        return None if getter is None else getter(obj)


_GETTERS: Final = (types.GetSetDescriptorType, types.MemberDescriptorType)


# ---------------------------------------------------------------------- kinds of types

_NOTHING_IN_IT, _PASSED_THROUGH, _RECORDED = 1, 2, 3
"""What publishing does with an object of a type: nothing, as nothing that can change is reached through it; it goes on
to what the object refers to; or the object is given a `SharedObject` first."""

_ways: dict[type, int] = {}
"""A cache, for the process: what publishing does, by type."""
DEATHS: Final = "a weak reference is asked for its object while several threads exist: when an object dies is no step"
GENERATORS: Final = "a shared generator would clean up when it dies, which is no step"

ARITHMETIC: Final = "arithmetic in C"
"""The fact that threads share an object with operators in C, which may change it: then the rewriter also hooks
operators with a literal number as operand."""

_finalised: dict[type, bool] = {}
"""A cache, for the process: does Python code run when an object of the type dies?"""
_unremarkable: set[type] = set()
"""Types that were examined and need no fact."""


def is_finalised(kind: type) -> bool:
    """Does Python code run when an object of the class dies?"""
    answer = _finalised.get(kind)
    if answer is None:
        if len(_finalised) > MOST_TYPES:
            _finalised.clear()
        answer = _finalised[kind] = isinstance(getattr(kind, "__del__", None), types.FunctionType)
    return answer


def _look_at(kind: type, *, touched: bool = False) -> None:
    """Examine a type when an object of it may be shared, and learn the facts that follow."""
    global any_finalised, _has_frames
    if kind in _FRAMES:
        _has_frames = True
        return
    answer = is_finalised(kind)
    if answer:
        any_finalised = True
    asks = any(base.__module__ in _WEAK_CONTAINERS and base not in _IN_C for base in kind.__mro__)
    if asks and touched:
        opaque_code.demand("weakref", f"a {kind.__qualname__} is used while several threads exist")
    unseen = modules_of_unseen_code(kind)
    for module in unseen:
        if touched or package_of(module) not in CONSTANT:  # else it is seen when it comes to a shared object
            opaque_code.demand(module, f"threads use objects of type {module}.{kind.__qualname__}")
    computes = computes_in_c(kind)
    if computes and ARITHMETIC not in run.facts:
        assumptions.broken(ARITHMETIC, f"objects of type {kind.__qualname__}, with operators in C, may be shared")
    if not (answer or computes or unseen or asks) and len(_unremarkable) < MOST_TYPES:
        _unremarkable.add(kind)


_WEAK_CONTAINERS: Final = frozenset({"weakref", "_weakrefset"})
"""Modules whose classes, in Python, ask weak references for their objects."""
_IN_C: Final = frozenset({weakref.ReferenceType, weakref.ProxyType, weakref.CallableProxyType})


_FRAMES: Final = {
    types.GeneratorType: "gi_frame",
    types.CoroutineType: "cr_frame",
    types.AsyncGeneratorType: "ag_frame",
}
_has_frames = False
"""Does the run share a generator?"""


dropped: list[types.FrameType] = []
"""Where shared generators and coroutines stand to which no thread had a reference any more while several existed."""


def note_dropped() -> None:
    """A thread is about to end."""
    if not _has_frames:
        return
    for shared in _used:
        obj = shared.obj
        if type(obj) in _FRAMES:
            ours = 3 + sum(kept is obj for kept in _kept)  # the `SharedObject`, the variable, the argument
            frame = getattr(obj, _FRAMES[type(obj)])
            if frame is not None and sys.getrefcount(obj) <= ours:
                dropped.append(frame)


recorded: Final[set[type]] = set()
"""Classes of ours whose objects change, and are shared, as those of the program do."""
_neutral: dict[type, bool] = {}
"""A cache, for the process: see `is_neutral`."""


def _way_of(kind: type) -> int:
    way = _ways.get(kind)
    if way is None:
        if kind in CONTAINED:
            way = _PASSED_THROUGH
        elif kind in ATOMIC or kind is Run or issubclass(kind, type):  # what carries the program out is none of it
            way = _NOTHING_IN_IT
        else:
            way = _PASSED_THROUGH if is_neutral(kind) else _RECORDED
        if len(_ways) > MOST_TYPES:
            _ways.clear()
        _ways[kind] = way
    return way


def is_neutral(kind: type) -> bool:
    """True for classes whose accesses are never operations of ours: drop-ins, which perform their own."""
    answer = _neutral.get(kind)
    if answer is None:
        module = kind.__module__
        ours = isinstance(module, str) and module.startswith("dpor.python") and type(kind).__module__ != "_ctypes"
        answer = ours and kind not in recorded
        if len(_neutral) > MOST_TYPES:
            _neutral.clear()
        _neutral[kind] = answer
    return answer


def make_neutral(kind: type) -> None:
    """Count objects of the class as drop-ins, wherever the class comes from."""
    _neutral[kind] = True
    _ways[kind] = _PASSED_THROUGH
