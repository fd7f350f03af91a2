"""Functions on single objects: attributes by name, `len`, `id`, `hash`, text, and namespaces."""

from __future__ import annotations

import _weakref
import builtins
import gc
import inspect
import io
import math
import sys
import types
import typing
import weakref
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, Final

from dpor.core.operations import Accesses, Operation
from dpor.python.effects import letting_go, process_state
from dpor.python.effects.accesses import Touched, yield_before
from dpor.python.effects.calls import yield_before_unseen
from dpor.python.effects.dicts import moves_key
from dpor.python.effects.iteration import harmless_functions, has_plain_items
from dpor.python.effects.kinds import container_type_of, is_immutable, is_in_c, static
from dpor.python.effects.reach import ANYTHING, HASH, SHOW, reads, views, writes
from dpor.python.hooks import attributes, special
from dpor.python.hooks.adopted import note_store, reads_field
from dpor.python.hooks.calls import abstract
from dpor.python.hooks.calls.executing import GlobalsAsLocals
from dpor.python.hooks.calls.formatting import simplified
from dpor.python.hooks.calls.registry import set_class_wrapper, set_wrapper, wrap, wrappers
from dpor.python.hooks.calls.unknown import module_of, reading_c, yield_before_call
from dpor.python.hooks.operators import SCALARS, shown, truth
from dpor.python.kernel import accessing, opaque_code
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run
from dpor.python.rewrite.names import is_stored_specially
from dpor.python.sharing import children, deaths, shared_object, shared_objects
from dpor.python.sharing.fields import is_instrumented
from dpor.python.sharing.identity import stable_id

# ---------------------------------------------------------------------- attributes by name


@wrap(getattr)
def _getattr(obj: Any, name: str, *default: Any) -> Any:
    try:  # code in C, or without hooks, may look the attribute up before `loaded` returns
        looked_up_on = attributes.loaded(obj, name) if is_a(name, str) else obj
    except AttributeError:
        if not default:
            raise
        return default[0]
    return getattr(looked_up_on, name, *default)


@wrap(hasattr)
def _hasattr(obj: Any, name: str) -> bool:
    try:
        looked_up_on = attributes.loaded(obj, name) if is_a(name, str) else obj
    except AttributeError:
        return False
    return hasattr(looked_up_on, name)


@wrap(setattr)
def _setattr(obj: Any, name: str, value: Any) -> None:
    if not is_a(name, str):
        setattr(obj, name, value)
    attributes.stored(value, obj, name)


@wrap(delattr)
def _delattr(obj: Any, name: str) -> None:
    if not is_a(name, str):
        delattr(obj, name)
    attributes.delattr_(obj, name)


@wrap(isinstance)
def _isinstance(obj: Any, kinds: Any, /) -> bool:
    if run.multi and type(kinds) is not type:
        _yield_before_members(obj, type(obj), kinds)
        return abstract.answer(kinds, (type(obj),), lambda kinds: isinstance(obj, kinds))
    return isinstance(obj, kinds)


@wrap(issubclass)
def _issubclass(kind: Any, kinds: Any, /) -> bool:
    if run.multi and type(kinds) is not type:
        _yield_before_members(None, kind, kinds)
        return abstract.answer(kinds, (kind,) if is_a(kind, type) else (), lambda kinds: issubclass(kind, kinds))
    return issubclass(kind, kinds)


def _yield_before_members(obj: Any, kind: Any, kinds: Any) -> None:
    """Yield before `typing` looks for the members of protocols in an object, or a class. That is one step here, so the
    run is incomplete if other threads change several of them."""
    shared = shared_objects.shared_object_of(obj)
    found: dict[str, Accesses] = {}
    for name in sorted(_members(kinds)):
        operation = None if shared is None else attributes.read_operation(shared, obj, name)
        accesses = attributes.class_reads(name)
        if type(operation) is Operation:
            accesses += operation.accesses
        if children.adopts(type(obj)):
            accesses += reads_field(obj, name)
        if accesses:
            found[name] = accesses
    if len(found) > 1:
        incomplete(f"{kind.__qualname__} is held against a protocol of several members, which other threads change")
    if found:
        accessing.touch("read", tuple(access for accesses in found.values() for access in accesses))


def _members(kinds: Any) -> set[str]:
    """Return the names of the members of all protocols in the second argument of `isinstance`."""
    if getattr(kinds, "_is_protocol", False):
        names = getattr(kinds, "__protocol_attrs__", None)  # from 3.12 on
        return set(vars(typing)["_get_protocol_attrs"](kinds) if names is None else names)
    inside = kinds if type(kinds) is tuple else typing.get_args(kinds)
    return {name for one in inside for name in _members(one)}


@wrap(object.__getattribute__)
def _object_getattribute(obj: Any, name: str) -> Any:
    found = attributes.loaded_plainly(obj, name)
    return object.__getattribute__(obj, name) if found is obj else getattr(found, name)


@wrap(object.__setattr__)
def _object_setattr(obj: Any, name: str, value: Any) -> None:
    _yield_before_write(obj, name, value)
    if run.multi:
        shared_objects.publish(value)
    object.__setattr__(obj, name, value)


@wrap(object.__delattr__)
def _object_delattr(obj: Any, name: str) -> None:
    _yield_before_write(obj, name)
    object.__delattr__(obj, name)


@wrap(type.__setattr__)
def _type_setattr(kind: type, name: str, value: Any) -> None:
    if attributes.yield_before_write(kind, name):
        shared_objects.publish(value)
    type.__setattr__(kind, name, value)


@wrap(type.__delattr__)
def _type_delattr(kind: type, name: str) -> None:
    attributes.yield_before_write(kind, name)
    type.__delattr__(kind, name)


def _yield_before_write(obj: Any, name: str, value: Any = None) -> None:
    """Perform the operation of a store without the store: the class may have a `__setattr__` of its own."""
    if name == "__dict__":
        note_store(value, obj)
    if run.multi:
        if is_stored_specially(name) and special.yield_before_store(value, obj, name):
            return
        if children.adopts(type(obj)):
            attributes.yield_before_write(obj, name)
            return
        shared = shared_objects.shared_object_of(obj)
        operation = None if shared is None else attributes.write_operation(shared, obj, name)
        if operation is not None:
            accessing.access(operation)


def slot_method(slot: types.MemberDescriptorType, method: Any) -> Callable[..., Any]:
    """Wrap `C.x.__get__` and the like of a slot `x`: they do what accesses of the attribute do."""

    def act(*args: Any) -> Any:
        if args and args[0] is not None:
            if method.__name__ == "__get__":
                attributes.loaded(args[0], slot.__name__)
            else:
                _yield_before_write(args[0], slot.__name__)
                shared_objects.publish(args[1:])
        return method(*args)

    return act


# ---------------------------------------------------------------------- length, identity, text


_plain_len: Final = len
"""Kept here because programs under test may replace `builtins.len`."""


@wrap(len)
def _len(obj: Any, /) -> int:
    if run.multi:
        truth(obj)
    return _plain_len(obj)


def making_reference(kind: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `weakref.ref`, or a class derived from it, or its `__new__`.

    The callback is published, or the owner noted: whoever has the weak reference can reach the object, and whoever
    drops the object last calls the callback.
    """

    def make(*args: Any) -> Any:
        if not run.multi or not args:
            return kind(*args)
        is_shared = isinstance(shared_objects.table.get(id(args[0])), shared_object.SharedObject)
        if is_shared:
            shared_objects.publish(args[1:])
        else:
            shared_objects.own_weakly(args[0])
        ref = kind(*args)
        if is_shared:
            shared_objects.keep_reference(ref)
            deaths.note_reference_to(args[0])
        return ref

    return make


set_wrapper(weakref.ref, making_reference(weakref.ref))
set_class_wrapper(
    weakref.ref, "__new__", lambda kind, *args: making_reference(partial(weakref.ref.__new__, kind))(*args)
)


_remove_dead: Final = _weakref._remove_dead_weakref  # type: ignore[attr-defined]


@wrap(_remove_dead)
def _remove_dead_entry(names: Any, key: Any, /) -> None:
    """Called when the value of an entry of a `WeakValueDictionary` has died."""
    shared = shared_objects.shared_object_of(names) if run.multi else None
    if shared is not None:
        yield_before("delete", moves_key(shared, names, key))
    _remove_dead(names, key)


def asking(ref: Any, method: Any = None) -> Callable[..., Any]:
    """Return what is called in place of a weak reference (or of its `__call__`)."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        letting_go.yield_before_asking(ref)
        return (method or ref)(*args, **kwargs)

    return ask


for _looking in (sys.getsizeof, gc.get_referents, gc.get_referrers, math.dist):
    set_wrapper(_looking, reading_c(_looking))


@wrap(weakref.finalize)
def _finalize(*args: Any, **kwargs: Any) -> Any:
    """The first one registers with `atexit` what calls those that are left: with the program's own `atexit`."""
    if run.current is not None:
        opaque_code.demand("weakref", "weakref.finalize registers a function to be called at the end")
    return weakref.finalize(*args, **kwargs)


@wrap(weakref.proxy)
def _proxy(*args: Any) -> Any:
    return run.above.weak_proxy(*args)


@wrap(bool)
def _bool(*args: Any) -> bool:
    if run.multi and args:
        truth(args[0])
    return bool(*args)


def _number(kind: type) -> Callable[..., Any]:
    """Wrap `int` or `float`: they may be given text in memory that others change."""

    def number(*args: Any, **kwargs: Any) -> Any:
        if run.multi and args and type(args[0]) not in SCALARS and not is_immutable(type(args[0])):
            if container_type_of(type(args[0])) is not None or is_in_c(type(args[0])):
                yield_before_call(kind, args)
            for found in (static(type(args[0]), name) for name in _OF_NUMBERS):
                if isinstance(found, types.FunctionType) and not is_instrumented(found):
                    yield_before_unseen(found, args[0])
        return kind(*args, **kwargs)

    return number


_OF_NUMBERS: Final = ("__int__", "__float__", "__index__", "__trunc__")

for _kind in (int, float):
    set_wrapper(_kind, _number(_kind))
    harmless_functions.add(id(wrappers[id(_kind)]))


@wrap(id)
def _id(obj: Any, /) -> int:
    return stable_id(obj) if run.current is not None else id(obj)


@wrap(hash)
def _hash(obj: Any, /) -> int:
    if type(obj) in SCALARS:
        return hash(obj)
    if static(type(obj), "__hash__") is object.__hash__ and run.current is not None:
        return stable_id(obj) >> 4
    if run.multi:
        yield_before_call(hash, (obj,), HASH)
    return hash(obj)


def _showing(function: Any) -> Callable[..., Any]:
    """Wrap a function that makes text of its first argument."""

    def show(*args: Any, **kwargs: Any) -> Any:
        if not args or type(args[0]) in SCALARS:
            return function(*args, **kwargs)
        if run.multi:
            yield_before_call(function, args, SHOW)
        return function(shown(args[0]), *args[1:], **kwargs)

    return show


def showing_arguments(function: Any) -> Callable[..., Any]:
    """Wrap `"...".format` or the like, which makes text of all its arguments."""

    def show(*args: Any, **kwargs: Any) -> Any:
        if run.multi:
            if function.__name__ != "__mod__" and isinstance(function.__self__, str):
                named = args[0] if function.__name__ == "format_map" and args else kwargs
                simple = simplified(function.__self__, () if named is not kwargs else args, named)
                if simple is not None:
                    return showing_arguments(simple[0].format)(*simple[1])
            yield_before_call(function, (*args, *kwargs.values()), SHOW)
        return function(*map(shown, args), **kwargs)

    return show


for _function in (str, repr, ascii, format):
    set_wrapper(_function, _showing(_function))
    harmless_functions.add(id(wrappers[id(_function)]))
harmless_functions.update(map(id, (_len, _bool, _hash)))


@wrap(print)
def _print(*args: Any, **kwargs: Any) -> None:
    if run.multi:
        given = kwargs.get("file")
        touched = Touched(process_state.attribute_read("sys", "stdout") if given is None else ())
        touched.deeply(_printed, args, given)
        yield_before("print", touched)
    print(*map(shown, args), **kwargs)


def _printed(args: tuple[Any, ...], given: Any, touched: Touched) -> None:
    """Add what printing touches; nothing if nobody can see what is printed."""
    file = sys.stdout if given is None else given
    shared = shared_objects.shared_object_of(file)
    own = is_a(file, io.StringIO) or not any(file is stream for stream in (sys.stdout, sys.stderr))
    if shared is not None or own:
        reads(args, SHOW, touched)
        if shared is not None and not isinstance(static(type(file), "write"), types.FunctionType):
            writes((file,), touched)
    else:
        _looks_to_show(args)


def _looks_to_show(args: tuple[Any, ...]) -> None:
    """Note looks at the order of keys by what makes text that nobody sees: the `__repr__` of what a dict holds is
    called in that order."""
    stack, seen = [*args], set[int]()
    for value in stack:  # which grows
        kind = type(value)
        if kind in SCALARS or id(value) in seen:
            continue
        seen.add(id(value))
        container_type = container_type_of(kind)
        if container_type is not None and not has_plain_items(value):
            shared = shared_objects.shared_object_of(value)
            if shared is not None:
                container_type.reads_items(shared)
            stack += container_type.contents(value)
        elif kind is tuple:
            stack += value
        elif kind in views:
            stack.append(views[kind](value))


@wrap(types.MappingProxyType)
def _mapping_proxy(*args: Any, **kwargs: Any) -> Any:
    """A proxy of a dict shows the dict. Other mappings are seen only if their code is instrumented."""
    found = static(type(args[0]), "__getitem__") if args else None
    if type(found) is types.FunctionType and not is_instrumented(found):
        opaque_code.opaque_if_multithreaded(f"{module_of(found)}.{found.__qualname__}")
    return types.MappingProxyType(*args, **kwargs)


# ---------------------------------------------------------------------- namespaces
#
# Names of ours, which begin with a dot, are not shown. (The dict of a module is returned as it is: the program may
# write to it.)


@wrap(dir)
def _dir(*args: Any) -> list[str]:
    if args:
        if run.multi:
            yield_before("dir", special.read_names(args[0]))
        return _visible(dir(*args))
    return sorted(_visible(list(_locals_of(sys._getframe(1)))))


def _listing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that looks at all attributes of its first argument."""

    def list_(obj: Any, *args: Any, **kwargs: Any) -> Any:
        if run.multi:
            touched = special.read_names(obj)
            touched.deeply(reads, (obj,), ANYTHING)
            if touched:
                opaque_code.opaque(f"inspect.{function.__name__}")
                yield_before(function.__name__, touched)
        return function(obj, *args, **kwargs)

    return list_


for _lists in (inspect.getmembers, inspect.getmembers_static):
    set_wrapper(_lists, _listing(_lists))


@wrap(builtins.globals)
def _globals() -> Any:
    run.dirty = True
    names = sys._getframe(1).f_globals
    shared_objects.module_names(names)
    return names


@wrap(vars)
def _vars(*args: Any) -> Any:
    return vars(attributes.loaded(args[0], "__dict__")) if args else _locals_of(sys._getframe(1))


@wrap(builtins.locals)
def _locals() -> Any:
    return _locals_of(sys._getframe(1))


_OPTIMIZED: Final = 1
"""Flag in `co_flags`: locals of a function, of which `locals()` is a copy. (Those of a class body are its
namespace.)"""


def _locals_of(frame: FrameType) -> Any:
    names: Any = frame.f_locals
    if not frame.f_code.co_flags & _OPTIMIZED:
        return names.globals if type(names) is GlobalsAsLocals else names
    return {name: value for name, value in names.items() if not name.startswith(".")}


def _visible(names: list[str]) -> list[str]:
    return [name for name in names if not (is_a(name, str) and name.startswith("."))]


# ---------------------------------------------------------------------- the garbage collector


@wrap(gc.collect)
def _collect(*args: Any, **kwargs: Any) -> int:
    found = deaths.in_a_cycle() if run.multi else None
    if found is not None:
        name = type(found).__qualname__
        incomplete(f"gc.collect() may find a {name} in a cycle of references: that it dies then is no step")
    return gc.collect(*args, **kwargs)
