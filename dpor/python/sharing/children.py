"""What the program can reach from an object in one step. A function for each type finds it."""

from __future__ import annotations

import gc
import io
import types
import weakref
from _weakref import getweakrefs
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from dpor.python.kernel.assumptions import Following, about
from dpor.python.kernel.classes import attributes_of_class, is_a
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.type_caches import MOST_TYPES, type_cache
from dpor.python.sharing import class_state
from dpor.python.sharing.shared_object import SharedObject, adopted
from dpor.python.sharing.sharing_state import OwnReference, sharing
from dpor.python.sharing.type_traits import CONTAINED, HOLD_NOTHING, NOTHING_IN_IT, fields, way_of

_any_adopted = False
"""True if there are types whose objects are given a `__dict__`."""
_has_adopted: Final = Following(lambda facts: any(about(facts, "dict adopted")))


def begin_run() -> None:
    """Called before each run. Empties the cache if the facts of the search say something else about `__dict__`s now."""
    global _any_adopted
    if _any_adopted != _has_adopted(run.facts):
        _any_adopted = not _any_adopted
        forget()


def adopts(kind: type) -> bool:
    """True if objects of this type are given a dict as `__dict__`. The locations of their fields are then the
    dict's."""
    return _any_adopted and adopted(kind) in run.facts


def references_to(obj: Any) -> list[weakref.ref[Any]]:
    """List the weak references to an object that have callbacks. Proxies do not give theirs, and are left out."""
    return [
        ref
        for ref in getweakrefs(obj)
        if type(ref) is not OwnReference
        if issubclass(type(ref), weakref.ReferenceType) and _callback_of(ref) is not None
    ]


def may_call(obj: Any) -> bool:
    """True if the object is a weak reference with a callback that is still to be called. Callbacks by which weak
    containers remove what has died do nothing if the reference is dropped first: it is not in the container then."""
    if not issubclass(type(obj), weakref.ReferenceType) or _referent_of(obj) is None:
        return False
    callback = _callback_of(obj)
    return callback is not None and not removes_from_container(callback)


def removes_from_container(callback: Any) -> bool:
    """True if this is how a weak container removes what has died."""
    return type(callback) is types.FunctionType and (callback.__module__, callback.__qualname__) in _REMOVING


def callbacks(obj: Any) -> list[Any]:
    """List the callbacks of these references."""
    return [*map(_callback_of, references_to(obj))]


_callback_of: Final = vars(weakref.ReferenceType)["__callback__"].__get__
_referent_of: Final = weakref.ReferenceType.__call__
_REMOVING: Final = frozenset(
    {
        ("weakref", "WeakKeyDictionary.__init__.<locals>.remove"),
        ("weakref", "WeakValueDictionary.__init__.<locals>.remove"),
        ("_weakrefset", "WeakSet.__init__.<locals>._remove"),
    }
)


def children(obj: Any, kind: type) -> list[Any]:
    """List the objects that the program can reach from an object of this type in one step, apart from classes and
    modules."""
    return (finders.get(kind) or finder_of(kind))(obj, kind)


def of_class(kind: type) -> list[tuple[str, Any]]:
    """List the names and values of the class's own attributes, apart from special ones that the program cannot
    change."""
    return [
        (name, held.__func__ if is_a(held, (staticmethod, classmethod)) else held)
        for name, held in attributes_of_class(kind).items()
        if not name.startswith("__") or class_state.is_named(name)
    ]


def described(obj: Any) -> str:
    """Describe an object, without calling code of the program, in a way that is the same in every run."""
    kind = type(obj)
    if kind in HOLD_NOTHING and kind is not type:
        return repr(obj)
    if kind is tuple or kind is frozenset:
        return f"({','.join(sorted(map(described, obj)) if kind is frozenset else map(described, obj))})"
    if kind is types.FunctionType or issubclass(kind, type):
        return f"{obj.__module__}.{obj.__qualname__}"
    if issubclass(kind, SyncObject):
        return f"{kind.__qualname__} {obj.dpor_location}"
    if kind is ContextVar:
        return f"ContextVar({obj.name})"
    if issubclass(kind, weakref.ReferenceType):
        referent = weakref.ReferenceType.__call__(obj)
        mark = sharing.table.get(id(referent))
        return f"{kind.__qualname__}({mark.number if isinstance(mark, SharedObject) else ''},{described(referent)})"
    own = fields(obj, kind) or {}
    scalars = [
        f"{name}={value!r}" for name, value in own.items() if type(value) in HOLD_NOTHING and type(value) is not type
    ]
    return f"{kind.__qualname__}({','.join(scalars)})"


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
    return [] if HOOKS_OF in obj else gc.get_referents(obj)  # what `exec` got as `__builtins__` is not the program's


def _of_set(obj: Any, kind: type) -> list[Any]:
    return sorted(gc.get_referents(obj), key=described)


def _of_fields_alone(obj: Any, kind: type) -> list[Any]:
    own = fields(obj, kind)
    return gc.get_referents(obj) if own is None else [*own.values()]


def _of_any(obj: Any, kind: type) -> list[Any]:
    own = fields(obj, kind)
    if own is None:
        return gc.get_referents(obj)
    # `gc.get_referents` may or may not include the dict: that depends on whether anybody has asked for it before.
    others = [child for child in referents(obj) if child is not own and child is not kind]
    if others:
        inside = set(map(id, own.values()))
        others = [child for child in others if id(child) not in inside]
    return [*others, *own.values()]


def referents(obj: Any) -> list[Any]:
    """Return what the object refers to. The list in which a `TextIOWrapper` has pieces of text that are still to be
    written is left out: it is not the program's, and is there at some times only."""
    found = gc.get_referents(obj)
    if issubclass(type(obj), io.TextIOWrapper):
        own = fields(obj, type(obj)) or {}
        found = [part for part in found if type(part) is not list or any(part is value for value in own.values())]
    return found


def _of_weak_reference(obj: Any, kind: type) -> list[Any]:
    referent = weakref.ReferenceType.__call__(obj)
    if type(referent) in CONTAINED:
        sharing.kept.append(referent)
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
finders = type_cache(dict(_CHILDREN))
"""A cache, for the process: the function that lists what an object refers to, by the object's type."""


def forget() -> None:
    """Forget how types are searched, because classes of the program are made anew."""
    finders.clear()
    finders.update(_CHILDREN)


def _of_adopter(obj: Any, kind: type) -> list[Any]:
    own = fields(obj, kind)
    return [own, *(child for child in gc.get_referents(obj) if child is not own and child is not kind)]


def finder_of(kind: type) -> Callable[[Any, type], list[Any]]:
    """Return the function that finds the objects which an object of the type leads to."""
    if len(finders) > MOST_TYPES:
        forget()
    if adopts(kind):
        found: Callable[[Any, type], list[Any]] = _of_adopter
    elif issubclass(kind, weakref.ReferenceType):
        found = _of_weak_reference
    else:
        found = _of_fields_alone if _has_fields_alone(kind) else _of_any
    finders[kind] = found
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
"""A key in a dict that we give to `exec` as `__builtins__`: the `id` of the namespace whose names have hooks in it."""


def _leads(value: Any, depth: int = 3) -> bool:
    """True if something that can change may be reached from the value.

    Used for what a drop-in for a module contains. Nothing that can change is reached from most of its functions, of
    which there are hundreds.
    """
    kind = type(value)
    if kind is types.CellType:
        found = gc.get_referents(value)
    elif kind in (types.FunctionType, types.BuiltinFunctionType):
        found = children(value, kind)
        if not found:
            return False
    else:
        return value is None or way_of(kind) is not NOTHING_IN_IT
    return not found or depth == 0 or any(_leads(child, depth - 1) for child in found)
