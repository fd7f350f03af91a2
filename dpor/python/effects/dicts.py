"""Dicts: also OrderedDict, defaultdict and Counter.

    d[k], get, in            READ (d, k), READ KEY_SET
    d[k] = v, k present      WRITE (d, k), UPDATE ELEMENTS
    insert or delete a key   WRITE (d, k), UPDATE STRUCTURE; WRITE STRUCTURE once the order of keys is looked at
    len, truth               READ STRUCTURE
    keys                     READ STRUCTURE; a look at the order (see `key_order`)
    values, items, ==, ...   READ STRUCTURE, READ ELEMENTS; a look at the order
    popitem, ...             WRITE STRUCTURE, WRITE KEY_SET; a look at the order
    clear                    WRITE STRUCTURE, WRITE KEY_SET

Locations that no run of the search changes are left out (see `accesses`). Once the keys of a dict are known to change,
it is not known beforehand whether an operation will insert or delete, so it is assumed to, which covers both. Then
ELEMENTS is not needed, as every store UPDATEs or WRITEs STRUCTURE.
"""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from dpor.core.operations import READ, UPDATE, WRITE, Accesses
from dpor.python.effects.accesses import (
    KEY_SET,
    NOTHING,
    UNMADE,
    Reread,
    Touched,
    changes,
    learn,
    made,
    make,
    reads_structure,
    writes_structure,
)
from dpor.python.effects.calls import (
    KINDS,
    Args,
    Entry,
    MethodCall,
    as_dict,
    changes_unless_empty,
    entries_of_types,
    entry,
    nothing,
    whole,
)
from dpor.python.effects.iteration import (
    consumes_atomically,
    consumes_pairs_atomically,
    container_behind,
    has_plain_items,
    materialised,
    register_views,
    stepwise,
)
from dpor.python.effects.key_order import looks, moves_one
from dpor.python.effects.keys import ANY_KEY, PRIVATE, USER_EQ, part_of
from dpor.python.effects.kinds import container_type_of, register_container_type, static
from dpor.python.effects.lists import is_built_in, looks_deep
from dpor.python.effects.reach import ANYTHING, EQUAL, SHOW, reads
from dpor.python.kernel import accessing, scheduler
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import shared_objects
from dpor.python.sharing.shared_object import ELEMENTS, STRUCTURE, Namespace, SharedObject


def reads_all(shared: SharedObject) -> Accesses:
    """Return the accesses of what looks at all keys or values, one after the other."""
    looks(shared)
    return _reads_all_at_once(shared)


def _reads_all_at_once(shared: SharedObject) -> Accesses:
    """Return the accesses of what looks at all keys or values, in whichever order."""
    if changes(shared, STRUCTURE):
        return reads_structure(shared)
    return ((shared.location(ELEMENTS), READ),) if changes(shared, ELEMENTS) else NOTHING


def writes_all(shared: SharedObject) -> Accesses:
    """Accesses of an operation that may change all of the dict, and look at all of it."""
    accesses = _changes_all(shared)
    looks(shared)
    return accesses


def _changes_all(shared: SharedObject) -> Accesses:
    """Accesses of an operation that inserts or deletes keys that are not known beforehand."""
    learn(shared, KEY_SET)
    accesses = (*writes_structure(shared), (shared.location(KEY_SET), WRITE))
    if isinstance(shared, Namespace):
        for key in sorted(shared.written()):
            shared.is_written(key)
            accesses += ((shared.location(key), WRITE),)
    return accesses


# ---------------------------------------------------------------------- one key


def reads_key(shared: SharedObject, d: Any, key: Any) -> Accesses:
    """Return the accesses of what looks up one key."""
    keys_change = changes(shared, STRUCTURE)
    if not keys_change and not changes(shared, ELEMENTS):
        return NOTHING
    part = part_of(key)
    if part is PRIVATE:
        return NOTHING
    if part is ANY_KEY or part is USER_EQ:
        return reads_all(shared)
    accesses: Accesses = ((shared.location(part), READ),)
    if keys_change and changes(shared, KEY_SET):
        accesses += ((shared.location(KEY_SET), READ),)
    return accesses


def moves_key(shared: SharedObject, d: Any, key: Any) -> Accesses:
    """Accesses of an operation that may insert or delete the key."""
    part = part_of(key)
    if part is ANY_KEY or part is USER_EQ:
        return writes_all(shared)  # keys of equal hash are compared with it in the order of their insertion
    accesses = moves_one(shared)
    if part is not PRIVATE:
        if isinstance(shared, Namespace):
            shared.is_written(key)
        accesses = ((shared.location(part), WRITE), *accesses)
    return accesses


def writes_key(shared: SharedObject, d: Any, key: Any) -> Accesses:
    """Accesses of `d[key] = ...`."""
    if changes(shared, STRUCTURE):
        return moves_key(shared, d, key)
    part = part_of(key)
    if part is ANY_KEY or part is USER_EQ or part is PRIVATE or not dict.__contains__(d, key):
        return moves_key(shared, d, key)
    learn(shared, ELEMENTS)
    return ((shared.location(part), WRITE), (shared.location(ELEMENTS), UPDATE))


def _is_there(d: Any, key: Any, *_: Any) -> bool:
    return dict.__contains__(d, key)


def _is_absent(d: Any, key: Any, *_: Any) -> bool:
    return not dict.__contains__(d, key)


def _holds_already(d: Any, key: Any, value: Any) -> bool:
    return dict.get(d, key, _ABSENT) is value


_ABSENT: Final = object()


class Unless(NamedTuple):
    """When an operation on a key changes nothing, and what it then reads.

    unchanged(container, *args)      tells whether it would change nothing now, without calling code of the program
    reads(shared, container, key)    returns its accesses in that case
    """

    unchanged: Callable[..., bool]
    reads: Callable[[SharedObject, Any, Any], Accesses]


def _leaves_as_it_is(unless: Unless, obj: Any, args: Args) -> bool:
    try:
        return unless.unchanged(obj, *args)
    except TypeError:  # so will the operation: the key cannot be hashed, or there are too many arguments
        return True


def keyed(
    touches: Callable[[SharedObject, Any, Any], Accesses],
    keeps: Callable[[Args], Iterable[Any]] = lambda args: (),
    *,
    always_same: bool = False,
    unless: Unless | None = None,
) -> Entry:
    """Make the entry of a method whose first argument is a key.

    `always_same`: the accesses do not depend on what is in the container. If hashing or comparing the key runs Python
    code, the operation also reads what the keys are made of, and no other thread runs during it.
    """

    def act(call: MethodCall) -> Any:
        shared = call.shared
        if shared is None or not call.args:
            return call.run()
        key = call.args[0]
        if always_same and type(key) in SIMPLE_KEYS:
            kind = KINDS.get(call.name, call.name)
            operation = made(shared, kind, key)
            if operation is UNMADE:
                operation = make(shared, kind, key, touches(shared, call.obj, key))
            if operation is not None:
                accessing.access(operation)
            call.publish(keeps(call.args))
            return call.run()
        if unless is not None and not isinstance(shared, Namespace) and part_of(key) not in (ANY_KEY, USER_EQ):
            obj, args = call.obj, call.args
            return call.done_unless(
                lambda: _leaves_as_it_is(unless, obj, args),
                lambda: unless.reads(shared, obj, key),
                lambda: touches(shared, obj, key),
                keeps(args),
            )
        accesses = touches(shared, call.obj, key)
        if type(key) is not str and part_of(key) is USER_EQ:
            touched = Touched(accesses)
            touched.deeply(reads, Reread(lambda: (key, *filter(_has_user_eq, _keys(call.obj)))), ANYTHING)
            return call.indivisible(touched, keeps(call.args))
        return call.done(accesses, keeps(call.args))

    return act


SIMPLE_KEYS: Final = frozenset({str, int})


def _keys(obj: Any) -> Any:
    """The keys of a dict or elements of a set, even if its class has an `__iter__` of its own."""
    return dict.keys(obj) if is_a(obj, dict) else set.__iter__(obj)


def _has_user_eq(key: Any) -> bool:
    return type(key) is not str and part_of(key) is USER_EQ


# ---------------------------------------------------------------------- keys that are missing


def _read(call: MethodCall) -> Any:
    """`d[k]`: may insert the key if the class has a default (`defaultdict`)."""
    shared = call.shared
    if shared is None:
        return call.run()
    missing = static(type(call.obj), "__missing__")
    if missing is not _INSERT_MISSING:
        return _READ_KEY(call)
    factory = call.obj.default_factory
    if factory is None:
        return _READ_KEY(call)
    if _makes_at_once(factory):
        return _INSERT_KEY(call)
    return _insert_missing(call, shared, factory)


def _makes_at_once(factory: Any) -> bool:
    """True if no other thread can come in between while the factory makes a value: it executes no Python code. (Our
    locks are written in Python, CPython's are not.)"""
    if type(factory) is functools.partial:
        return _makes_at_once(factory.func) and not factory.keywords and all(map(_shows_nothing, factory.args))
    if is_built_in(factory):
        return True
    if not is_a(factory, type):
        return False
    if issubclass(factory, SyncObject):
        return "dpor_made_in_c" in vars(factory)
    made = static(factory, "__new__"), static(factory, "__init__")
    return type(factory) is type and not any(isinstance(maker, (types.FunctionType, staticmethod)) for maker in made)


def _shows_nothing(value: Any) -> bool:
    return is_a(value, type) or type(value) in SIMPLE_KEYS


def _insert_missing(call: MethodCall, shared: SharedObject, factory: Callable[[], Any]) -> Any:
    """Insert a default as CPython does with a factory in Python: look, make a value, store it. From 3.14 on, what is
    there by then is kept and returned; before, it is overwritten."""
    key = call.args[0]
    absent = object()
    found = _READ_KEY(MethodCall(call.obj, shared, "__getitem__", dict.get, (key, absent)))
    if found is not absent:
        return found
    made = factory()
    if _KEEPS_WHAT_IS_THERE:
        return _INSERT_KEY(MethodCall(call.obj, shared, "setdefault", dict.setdefault, (key, made)))
    _WRITE_KEY(MethodCall(call.obj, shared, "__setitem__", dict.__setitem__, (key, made)))
    return made


_INSERT_MISSING: Final = collections.defaultdict.__dict__["__missing__"]


def _keeps_what_is_there() -> bool:
    tried: collections.defaultdict[int, str] = collections.defaultdict()
    tried.default_factory = lambda: tried.setdefault(0, "there by then") and "made"
    return tried[0] == "there by then"


_KEEPS_WHAT_IS_THERE: Final = _keeps_what_is_there()

# ---------------------------------------------------------------------- many keys


def _update(call: MethodCall) -> Any:
    """`update`, `|=` and `__init__`: the keys of a private dict are known beforehand, other keys are not."""
    obj, shared, args = call.obj, call.shared, call.args
    if shared is not None and call.name == "__init__" and is_a(obj, collections.defaultdict):
        return _CHANGE_ALL(call)  # this also replaces its factory
    if len(args) > 1 or (not args and not call.kwargs):
        return call.run()
    other = as_dict(args[0]) if args else {}
    if _is_plain_dict(other):
        behind = shared_objects.shared_object_of(other)
        touched = Touched(NOTHING if behind is None else reads_all(behind))
        if shared is not None:
            if behind is not None and changes(behind, STRUCTURE):
                touched.add(_changes_all(shared))
            for key in (*other, *call.kwargs):
                touched.add(writes_key(shared, obj, key))
        if shared is not None and behind is None and _are_simple(shared, (*other, *call.kwargs)):
            new = {**other, **call.kwargs}
            call.args = (other,) if args else ()
            return call.done_unless(
                lambda: all(_holds_already(obj, *pair) for pair in new.items()),
                lambda: _reads_keys(shared, obj, new),
                touched.accesses,
                _contents(new),
            )
        call.yield_before(touched)
        call.publish((*_contents(other), *call.kwargs.values()))
        call.args = (other,) if args else ()
        if not any(map(_has_user_eq, other)):
            return call.run()
        with scheduler.atomic():
            return call.run()
    if hasattr(type(other), "keys"):
        pairs: Any = ((key, other[key]) for key in stepwise(other.keys()))
    else:
        touched = Touched()
        if consumes_pairs_atomically(other, touched):
            if shared is not None:
                touched.add(_changes_all(shared))
            call.yield_before(touched)
            pairs = materialised(other)
            call.publish((pairs,))
            call.args = (pairs,)
            return call.run()
        pairs = stepwise(other)
    _update_in_steps(call, pairs)
    if call.kwargs:
        _update(MethodCall(obj, shared, call.name, call.plain, (), call.kwargs))
    return obj if call.name == "__ior__" else None


def _are_simple(shared: SharedObject, keys: Iterable[Any]) -> bool:
    return not isinstance(shared, Namespace) and all(type(key) in SIMPLE_KEYS for key in keys)


def _reads_keys(shared: SharedObject, d: Any, keys: Iterable[Any]) -> Accesses:
    touched = Touched()
    for key in keys:
        touched.add(reads_key(shared, d, key))
    return touched.accesses()


def _is_plain_dict(other: Any) -> bool:
    """True if C code reads the dict without calling Python methods of it."""
    kind = type(other)
    return is_a(other, dict) and not any(
        isinstance(static(kind, name), types.FunctionType) for name in ("keys", "__iter__", "__getitem__")
    )


def _update_in_steps(call: MethodCall, pairs: Iterable[Any]) -> None:
    """Store pairs that code of the program makes, each as it arrives."""
    obj = call.obj
    for number, pair in enumerate(pairs):
        try:
            key, value = _pair(pair)
        except (TypeError, ValueError) as error:
            raise type(error)(str(error).replace("#0", f"#{number}", 1)) from None
        shared = shared_objects.shared_object_of(obj)
        _WRITE_KEY(MethodCall(obj, shared, "__setitem__", dict.__setitem__, (key, value)))


def _pair(pair: Any) -> tuple[Any, Any]:
    if type(pair) is tuple and len(pair) == 2:
        return pair
    ((key, value),) = dict([pair]).items()
    return key, value


def _fromkeys(call: MethodCall) -> Any:
    touched = Touched()
    if call.args:
        items, *rest = call.args
        if consumes_atomically(items, touched):
            call.yield_before(touched)
            call.args = (materialised(items), *rest)
        else:
            call.args = (stepwise(items), *rest)
    return call.run()


def _merged(call: MethodCall) -> Any:
    """`|`: reads both dicts and makes a new one."""
    touched = Touched()
    for operand in (call.obj, *call.args):
        kind = container_type_of(type(operand))
        shared = shared_objects.shared_object_of(operand)
        if kind is not None and shared is not None:
            touched.add(kind.reads_all(shared))
    return call.done(touched)


def _comparing(method: str) -> Entry:
    """Make the entry of a comparison."""

    def act(call: MethodCall) -> Any:
        touched = Touched()
        touched.deeply(_reads_to_compare, (call.obj, *call.args), method)
        return call.done(touched)

    return act


def _reads_to_compare(values: Args, method: str, touched: Touched) -> None:
    """Add what comparing the values reads. In which order it compares keys and values shows only if that calls code, or
    if it compares the order, too, as `OrderedDict` does."""
    if not all(map(_compares_in_any_order, values)):
        reads(values, method, touched)
        return
    for value in values:
        shared = shared_objects.shared_object_of(value)
        if shared is not None:
            touched.add(_reads_all_at_once(shared))


def _compares_in_any_order(value: Any) -> bool:
    kind = type(value)
    return is_a(value, dict) and static(kind, EQUAL) is dict.__eq__ and has_plain_items(value)


# ---------------------------------------------------------------------- the tables

_READ_KEY: Final = keyed(reads_key, always_same=True)
_WRITE_KEY: Final = keyed(writes_key, keeps=lambda args: args[:2], unless=Unless(_holds_already, reads_key))
_INSERT_KEY: Final = keyed(moves_key, keeps=lambda args: args[:2], unless=Unless(_is_there, reads_key))
_DELETE_KEY: Final = keyed(moves_key, unless=Unless(_is_absent, reads_key))
_STRUCTURE: Final = whole(reads_structure)
_KEYS: Final = whole(looks)
_ALL: Final = whole(reads_all)
_CHANGE_ALL: Final = whole(writes_all)
_MAKE: Final = entry(nothing)

ENTRIES: Final[dict[str, Entry]] = {
    "__getitem__": _read,
    "get": _READ_KEY,
    "__contains__": _READ_KEY,
    "__setitem__": _WRITE_KEY,
    "__delitem__": _DELETE_KEY,
    "pop": _DELETE_KEY,
    "setdefault": _INSERT_KEY,
    "update": _update,
    "__ior__": _update,
    "__init__": _update,
    "popitem": changes_unless_empty(writes_all, reads_all),
    "clear": changes_unless_empty(_changes_all, reads_structure),
    "__len__": _STRUCTURE,
    "__sizeof__": _KEYS,
    "copy": _ALL,
    "__or__": _merged,
    "__ror__": _merged,
    "__iter__": _KEYS,
    "__reversed__": _KEYS,
    "keys": _MAKE,
    "values": _MAKE,
    "items": _MAKE,
    "fromkeys": _fromkeys,
    **{name: _comparing(name) for name in (EQUAL, "__ne__")},
    **{name: looks_deep(name) for name in ("__lt__", "__le__", "__gt__", "__ge__", SHOW)},
}

ORDERED_ENTRIES: Final[dict[str, Entry]] = {**ENTRIES, "move_to_end": keyed(moves_key)}

DEFAULT_ENTRIES: Final[dict[str, Entry]] = {
    **ENTRIES,
    "__missing__": _CHANGE_ALL,  # called by hand: it overwrites what is there
    "__copy__": _ALL,
}


def _contents(d: Any) -> Iterable[Any]:
    return (*dict.keys(d), *dict.values(d))


def _steps_over_keys(shared: SharedObject, d: Any, index: int) -> Accesses:
    return looks(shared)


for _base, _entries in (
    (dict, ENTRIES),
    (collections.OrderedDict, ORDERED_ENTRIES),
    (collections.defaultdict, DEFAULT_ENTRIES),
):
    register_container_type(_base, _entries, _contents, reads_all, writes_all, reads_items=looks, step=_steps_over_keys)

_ordered: collections.OrderedDict[int, int] = collections.OrderedDict()
register_views({}.keys(), {}.values(), {}.items(), _ordered.keys(), _ordered.values(), _ordered.items())
register_views(types.MappingProxyType({}))


def _through(call: MethodCall) -> Any:
    """Perform a method of a `MappingProxyType` on the dict behind it."""
    behind = container_behind(call.obj)
    kind = container_type_of(type(behind))
    name = SHOW if call.name == "__str__" else call.name
    found = None if kind is None else kind.entries.get(name)
    if found is None:
        return call.run()
    method = functools.partial(_of_proxy, call.plain, call.obj)
    return found(MethodCall(behind, shared_objects.shared_object_of(behind), call.name, method, call.args, call.kwargs))


def _of_proxy(plain: Callable[..., Any], proxy: Any, behind: Any, *args: Any, **kwargs: Any) -> Any:
    return plain(proxy, *args, **kwargs)


entries_of_types[types.MappingProxyType] = _through
