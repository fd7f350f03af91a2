"""The hooks for attributes, globals, closure cells and loops (other hooks: `operators`, `calls`).

Loads return the object and leave the look-up itself to the program's own bytecode, right after the operation: nothing
can come in between, and the error, the line and the frame are the program's own.

A field that nobody writes after its object is shared needs no operation at all. So a field (its class and name), a
module global, a class attribute or a closure cell is silent until something writes it while several threads exist; that
first write makes it *visible*, and the search starts again with that fact. Runs in which it was silent contained no
such write, and without one its reads commute with everything.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, Final

from dpor.core.operations import READ, WRITE, Access, Accesses, Mode, Operation
from dpor.python.effects.calls import MethodCall, unknown, yield_before_c, yield_before_unseen
from dpor.python.effects.kinds import container_type_of, is_c_iterator, is_in_c, is_of_c
from dpor.python.effects.process_state import reads_of_module
from dpor.python.hooks.adopted import reads_field, writes_field
from dpor.python.kernel import accessing, assumptions, loops, opaque_code
from dpor.python.kernel.assumptions import about
from dpor.python.kernel.classes import is_a, module_of_class
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.program_frames import last_place
from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import type_cache
from dpor.python.rewrite import SUPPORT
from dpor.python.rewrite.names import LOADED_SPECIALLY, is_stored_specially
from dpor.python.sharing import children, host_fields, shared_object, shared_objects, type_traits
from dpor.python.sharing.code_of_types import code_of
from dpor.python.sharing.fields import Holder, is_instrumented
from dpor.python.sharing.shared_object import SharedObject
from dpor.python.sharing.shared_objects import publish, shared_object_of, table

_HOLDERS: tuple[type, ...] = (type, types.ModuleType, types.FunctionType)
"""Types whose objects have attributes, and which all threads find by name: their accesses need no `SharedObject`."""


def count_as_function(kind: type) -> None:
    """Treat attributes of objects of this type like those of functions."""
    global _HOLDERS
    _HOLDERS += (kind,)


# ---------------------------------------------------------------------- attributes


def attr(obj: Any, name: str) -> Any:
    """Called before the load of `obj.name`. Returns the object on which the program then looks up the attribute."""
    if run.multi:
        mark = table.get(id(obj))
        if mark is run.current:
            return obj
        shared: SharedObject | None
        if type(mark) is SharedObject:
            shared = mark
        elif mark is None:
            shared = shared_objects.first_touch(obj)
            if shared is None:
                return obj
        elif isinstance(mark, SharedObject):
            shared = mark
        else:
            shared = shared_objects.escaped(obj)
        try:
            operation = shared.reads[name]
        except KeyError:
            operation = shared.reads[name] = read_operation(shared, obj, name)
        if operation is None:
            return obj
        if type(operation) is Operation:
            accessing.access(operation)
            return obj
        return operation(obj, shared, name)  # type: ignore[operator]
    return obj


_ways: dict[type, dict[str, int]] = type_cache({})
"""How a callee is found, by the type of the object and the name; a cache, emptied by `forget_types`."""
_PLAIN, _CALLED, _LATER, _OF_SUPER = 1, 2, 3, 4
"""How the callee of `obj.m(...)` is found. _PLAIN: a function of the class, which needs no hook. _CALLED: a callable
that is loaded like any field, and that `call` has to examine. _LATER: a method in C, whose object may be private while
its arguments are shared. _OF_SUPER: a method of a base class, which may be in C or not instrumented."""


def meth(obj: Any, name: str) -> Any:
    """Like `attr`, for a load whose result is called at once: `obj.name(...)`."""
    kind = type(obj)
    try:
        way = _ways[kind][name]
    except KeyError:
        way = _ways.setdefault(kind, {})[name] = _way(kind, name)
    if way == _PLAIN:
        return obj
    if way == _OF_SUPER:
        return _looked_at(obj, name)
    if way == _LATER:
        if run.multi and shared_object_of(obj) is None:
            return _looked_at(obj, name)
        found = attr(obj, name)
    else:
        found = attr_with_classes(obj, name)
    return _looked_at(obj, name) if found is obj else found


def meth_after(obj: Any, name: str) -> Any:
    """Like `meth`, where the evaluation of arguments may run code of the program. Until the method is called, the
    object may have been shared."""
    found = meth(obj, name)
    if found is obj and run.multi and _ways[type(obj)][name] == _LATER and shared_object_of(obj) is None:
        return run.above.lookup_target(obj, None, name)
    return found


def _looked_at(obj: Any, name: str) -> Any:
    """Look up the callee and let the hook `call` examine it. Returns the object on which the program then finds what it
    is to call."""
    itself = looks_up_itself(type(obj))
    try:
        callee = getattr(obj, name)
    except AttributeError:
        if itself:
            raise
        return obj  # let the program's own look-up raise
    looked_at = run.above.call(callee)
    return Holder(name, looked_at) if itself or looked_at is not callee else obj


def looks_up_itself(kind: type) -> bool:
    """True if the class has a `__getattribute__` in Python. Its operations are those of its code, and it must be called
    only once for each look-up."""
    return type(_static(kind, "__getattribute__")[0]) is types.FunctionType


def _way(kind: type, name: str) -> int:
    """Return how the callee of `obj.name(...)` is found, where `obj` is of this type: see `_PLAIN` and its like."""
    if issubclass(kind, (types.ModuleType, type)):
        return _CALLED
    if kind is super:
        return _OF_SUPER
    if type_traits.is_neutral(kind):
        return _PLAIN
    if kind is types.MemberDescriptorType or kind is types.FunctionType or children.adopts(kind):
        return _CALLED
    found, _ = _static(kind, name)
    if kind in (str, bytes):
        return _CALLED if kind is bytes or name in ("join", "format", "format_map", "__mod__", "translate") else _PLAIN
    if kind is tuple or module_of_class(kind) == "re":
        return _CALLED
    if kind in type_traits.ATOMIC:
        return _PLAIN
    if type(found) in _C_CALLABLES:
        return _LATER
    if is_a(found, (types.FunctionType, staticmethod, classmethod)):
        inner = found if is_a(found, types.FunctionType) else found.__func__
        if not is_a(inner, types.FunctionType) or not is_instrumented(inner):
            return _CALLED
        visible = field_key(kind, name) in run.facts or ("class attribute", name) in run.facts
        return _CALLED if visible else _PLAIN
    return _CALLED


def forget_types() -> None:
    """Empty the cache: the classes of the program are made anew, or the facts have changed."""
    _ways.clear()


def loaded(obj: Any, name: str) -> Any:
    """Like the hook of a load, for a name that is known only at run time. Returns the object to look it up on."""
    return run.above.load_special(obj, name) if name in LOADED_SPECIALLY else attr_with_classes(obj, name)


def loaded_plainly(obj: Any, name: str) -> Any:
    """Like `loaded`, for `object.__getattribute__`: a `__getattribute__` of the class is not called."""
    found = loaded(obj, name)
    if found is obj and run.multi and looks_up_itself(type(obj)):
        shared, way = shared_object_of(obj), _lookup_way(type(obj), name)
        if shared is not None and way is not None:
            return way(obj, shared, name)
    return found


def stored(value: Any, obj: Any, name: str) -> None:
    """Perform `setattr(obj, name, value)`."""
    store = run.above.store_special if is_stored_specially(name) else store_field
    store(value, obj, name)


def store_field(value: Any, obj: Any, name: str) -> None:
    """Like `setattr_`, in searches in which objects are given their `__dict__`."""
    if run.multi and children.adopts(type(obj)) and yield_before_write(obj, name):
        publish(value)
        setattr(obj, name, value)
    else:
        setattr_(value, obj, name)


def setattr_(value: Any, obj: Any, name: str) -> None:
    """Perform `obj.name = value`."""
    if run.multi:
        mark = table.get(id(obj))
        if mark is not run.current:  # the object may be shared
            if isinstance(mark, SharedObject):
                operation = mark.writes.get(name)
                if operation is None:  # not cached yet; but whether the thread yields must not depend on that
                    operation = write_operation(mark, obj, name)
                if operation is not None:
                    accessing.access(operation)
                publish(value)
            elif yield_before_write(obj, name):
                publish(value)
    elif is_a(obj, _HOLDERS):
        _note_change(obj)
    setattr(obj, name, value)


def delattr_(obj: Any, name: str) -> None:
    """Perform `del obj.name`."""
    if run.multi and shared_object_of(obj) is not None:
        _note_other_names(type(obj), name)
    yield_before_write(obj, name, goes=True)
    delattr(obj, name)


def yield_before_write(obj: Any, name: str, *, goes: bool = False) -> bool:
    """Yield before `obj.name` is stored, or deleted (`goes`). Return True if another thread can see the change."""
    if not run.multi:
        if is_a(obj, _HOLDERS):
            _note_change(obj)
        return False
    kind = type(obj)
    if children.adopts(kind) and not _is_kept_outside(kind, name):
        accesses = writes_field(obj, name, goes=goes)
        if accesses:
            accessing.touch("write", accesses)
        return bool(accesses) or shared_object_of(obj) is not None
    shared = shared_object_of(obj)
    if shared is None:
        if not is_a(obj, _HOLDERS):
            return False
        _write_class_or_module(obj, name)
    else:
        operation = write_operation(shared, obj, name)
        if operation is not None:
            accessing.access(operation)
    return True


def read_operation(shared: SharedObject, obj: Any, name: str) -> Any:
    """Return the operation of a load of the field, or None, or a function that returns the object to look it up on."""
    kind = type(obj)
    found, _ = _static(kind, name)
    way = _lookup_way(kind, name)
    if way is not None:
        if looks_up_itself(kind):
            return None
        return _shadowed if way is lookup_target and field_key(kind, name) in run.facts else way
    if type(found) in _C_CALLABLES and field_key(kind, name) not in run.facts:
        return None
    if is_of_c(found):
        container_type = container_type_of(kind)
        if container_type is not None:  # a memoryview may be released, a `defaultdict` given another factory
            accesses = container_type.reads_all(shared)
            return run.operations.intern("read", accesses) if accesses else None
        if is_in_c(kind):
            return shared.access("read", shared_object.STRUCTURE, READ)
    if found is not _MISSING and _is_data_descriptor(found) and not _is_field(found, name):
        return None  # the code of the property is instrumented
    if field_key(kind, name) not in run.facts:
        return None
    return shared.access("read", name, READ)


def _lookup_way(kind: type, name: str) -> Callable[[Any, SharedObject, str], Any] | None:
    """If what is found in the class would touch the object unseen: return a function that diverts the look-up; else
    None."""
    if code_of(kind).looks_up_in_c:
        return _unknown_lookup
    found, _ = _static(kind, name)
    if type(found) in _C_CALLABLES:
        return None if _is_harmless(kind, name) else lookup_target
    if found is not _MISSING and _is_data_descriptor(found):
        return _opaque_property if not _is_field(found, name) and _getter_is_opaque(found) else None
    if found is not _MISSING and _getter_is_opaque(found):
        return _opaque_getter
    return _opaque_method if is_a(found, types.FunctionType) and not is_instrumented(found) else None


def _unknown_lookup(obj: Any, shared: SharedObject, name: str) -> Any:
    return Holder(name, unknown(MethodCall(obj, shared, "__getattribute__", getattr, (name,))))


_C_CALLABLES: Final = frozenset(
    {
        types.MethodDescriptorType, types.WrapperDescriptorType, types.BuiltinFunctionType,
        types.ClassMethodDescriptorType,
    }
)  # fmt: skip
_SPECIAL: Final = frozenset(
    {"__getitem__", "__setitem__", "__delitem__", "__contains__", "__len__", "__iter__", "__iadd__", "__next__"}
)
_TELLING: Final = frozenset(
    {
        "__length_hint__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__copy__", "__repr__",
        "__str__", "__enter__", "__exit__",
    }
)  # fmt: skip
"""Methods that show or change the position of an iterator written in C; files are such iterators, too."""
_IMMUTABLE_C: Final = frozenset({"datetime", "re", "_decimal", "decimal", "uuid", "_thread", "types", "zoneinfo"})


def _is_harmless(kind: type, name: str) -> bool:
    """True if the method, which is in C, touches nothing that can change."""
    return (
        (name.startswith("__") and name not in _SPECIAL and not (name in _TELLING and is_c_iterator(kind)))
        or (module_of_class(kind) in _IMMUTABLE_C and not is_in_c(kind))
        or kind is ContextVar
        or kind is Token
    )


def lookup_target(obj: Any, shared: SharedObject, name: str) -> Any:
    """Return an object on which the attribute is found as a callable that performs the operation; the method is in
    C."""
    return run.above.lookup_target(obj, shared, name)


def _shadowed(obj: Any, shared: SharedObject, name: str) -> Any:
    """Like `lookup_target`, if a field of the object may hide the method."""
    accessing.access(shared.access("read", name, READ))
    return lookup_target(obj, shared, name)


def _is_field(descriptor: Any, name: str) -> bool:
    """True for a slot, or an attribute that a type in C stores in its objects (`error.args`)."""
    if is_a(descriptor, types.GetSetDescriptorType):
        return not name.startswith("__")
    return is_a(descriptor, types.MemberDescriptorType)


def _getter_is_opaque(descriptor: Any) -> bool:
    """True if no hook is in the code that reads the attribute. (`property(len)` is in C.)"""
    if _is_property(descriptor):
        getter = descriptor.fget
        return getter is not None and not (is_a(getter, types.FunctionType) and is_instrumented(getter))
    getter = _static(type(descriptor), "__get__")[0]
    return is_a(getter, types.FunctionType) and not is_instrumented(getter)


def _is_property(descriptor: Any) -> bool:
    """True if loads of it are calls of its `fget`: derived classes may have a `__get__` of their own."""
    return is_a(descriptor, property) and _static(type(descriptor), "__get__")[0] is _GET


_GET: Final = vars(property)["__get__"]


def _opaque_property(obj: Any, shared: SharedObject, name: str) -> Any:
    found = _static(type(obj), name)[0]
    if _is_property(found):
        return Holder(name, run.above.call(found.fget)(obj))
    if type(found).__module__ == "enum":  # `member.value` is what is in `member._value_`
        loaded(obj, f"_{name}_")
    return Holder(name, run.above.call(type(found).__get__)(found, obj, type(obj)))


def _opaque_getter(obj: Any, shared: SharedObject, name: str) -> Any:
    """Like `_opaque_property`, for a descriptor that a field of the object hides, such as a cached property."""
    kind = type(obj)
    if field_key(kind, name) in run.facts:
        accessing.access(shared.access("read", name, READ))
    fields = type_traits.fields(obj, kind)
    return obj if fields is not None and name in fields else _opaque_property(obj, shared, name)


def _opaque_method(obj: Any, shared: SharedObject, name: str) -> Any:
    itself = looks_up_itself(type(obj))
    return Holder(name, run.above.call(object.__getattribute__(obj, name) if itself else getattr(obj, name)))


def write_operation(shared: SharedObject, obj: Any, name: str) -> Operation | None:
    """Return the operation of a store to, or a deletion of, the attribute; None if code of the program does it."""
    try:
        return shared.writes[name]
    except KeyError:
        pass
    kind = type(obj)
    found, _ = _static(kind, name)
    operation: Operation | None
    container_type = container_type_of(kind) if is_of_c(found) else None
    if container_type is not None:
        operation = run.operations.intern("write", container_type.writes_all(shared))
    elif is_of_c(found) and is_in_c(kind):
        operation = shared.access("write", shared_object.STRUCTURE, WRITE)
    elif found is not _MISSING and _is_data_descriptor(found) and not _is_field(found, name):
        for setter in (getattr(found, "fset", None), getattr(found, "fdel", None)):
            if isinstance(setter, types.FunctionType) and not is_instrumented(setter):
                run.above.note_field_store(kind, name)
                yield_before_unseen(setter, obj)
                return None
            if is_a(found, property) and setter is not None and not isinstance(setter, types.FunctionType):
                yield_before_c(setter, obj)
                return None
        operation = None
    else:
        key = field_key(kind, name)
        run.above.note_field_store(kind, name)
        if key not in run.facts:
            assumptions.broken(key, f"{kind.__qualname__}.{name} is written while several threads exist")
            for base in kind.__mro__:  # code of the base may look at the field, perhaps in a comparison without a hook
                opaque_code.demand(base.__module__, f"{base.__qualname__}.{name} is written")
            _note_if_new(obj, name)
            return shared.access("write", name, WRITE)
        _note_if_new(obj, name)
        accesses: Accesses = ((shared.location(name), WRITE),)
        looked = shared_object.names_looked_at(kind) if shared_object.names_change(kind, name) in run.facts else None
        if shared_object.exposed(kind) in run.facts or looked in run.facts:
            accesses += shared_object.writes_names(shared)
        operation = run.operations.intern("write", accesses)
    shared.writes[name] = operation
    return operation


def _note_if_new(obj: Any, name: str) -> None:
    fields = type_traits.fields(obj, type(obj))
    if fields is not None and name not in fields:
        _note_other_names(type(obj), name)


def _note_other_names(kind: type, name: str) -> None:
    """The field is added or deleted: note the facts for code that looks at all fields of the object, whichever they
    are."""
    for fact in (shared_object.names_change(kind, name), shared_object.names_change(kind)):
        if fact not in run.facts:
            assumptions.broken(fact, f"{kind.__qualname__}.{name} is added or deleted while several threads exist")


def field_key(kind: type, name: str) -> tuple[str, str, str, str]:
    """The fact that names a field: the class through which it is accessed, and its name."""
    return ("field", module_of_class(kind), kind.__qualname__, name)


def is_field_key(fact: object) -> bool:
    """True for facts that say that a field is written."""
    return isinstance(fact, tuple) and fact[0] == "field"


_MISSING: Final = object()


def _static(kind: type, name: str) -> tuple[Any, type | None]:
    """Return what the class has under the name, and the base where it is; runs no code of the program."""
    for base in kind.__mro__:
        found = base.__dict__.get(name, _MISSING)
        if found is not _MISSING:
            return found, base
    return _MISSING, None


def _is_data_descriptor(found: Any) -> bool:
    kind = type(found)
    return hasattr(kind, "__set__") or hasattr(kind, "__delete__")


def _is_kept_outside(kind: type, name: str) -> bool:
    """True if the attribute is a property, a slot or the like, and so is not in the `__dict__` of the object."""
    found, _ = _static(kind, name)
    return found is not _MISSING and _is_data_descriptor(found)


# ---------------------------------------------------------------------- classes, modules, globals, cells


def _write_class_or_module(obj: Any, name: str) -> None:
    """Yield before a class attribute or module global changes while several threads exist."""
    _note_change(obj)
    if host_fields.is_read_unseen(obj, name):
        opaque_code.unseen(obj.__module__ if is_a(obj, type) else obj.__name__, f"{obj.__name__}.{name} is assigned")
    if is_a(obj, types.ModuleType):
        write_global(obj.__name__, name)
        return
    key = ("class attribute", name)
    if key not in run.facts:
        assumptions.broken(key, f"the class attribute {obj.__qualname__}.{name} is written while several threads exist")
    location = run.operations.location(("class attribute", name))
    accessing.touch(
        "write",
        ((location, WRITE), *shared_object.structure_of(shared_objects.CLASS_NAMES, shared_objects.CLASSES_EXPOSED)),
    )


def _note_change(obj: Any) -> None:
    """Note that something changes that outlives the run. The program's own objects are made again; those of others are
    put back."""
    run.dirty = True
    host_fields.remember(obj)


RULES: Final = "rules"
"""The location of what look-ups find, and the fact that it is written: see `special`."""


def rules(mode: Mode) -> Access:
    """Return the access of what depends on, or changes, how attributes are looked up."""
    return run.operations.location(RULES), mode


def attr_with_classes(obj: Any, name: str) -> Any:
    """Like `attr`, in searches in which class attributes, globals of modules or the rules of look-up are written."""
    if not run.multi:
        return obj
    kind = type(obj)  # (`isinstance` could call a `__getattribute__` of the program)
    if issubclass(kind, types.ModuleType):
        if looks_up_itself(kind):
            return obj
        accesses = reads_of_module(obj, name)
        if accesses:
            accessing.touch("read", accesses)
        return obj
    accesses = class_reads(name)
    if RULES in run.facts and (kind.__flags__ & OF_THE_PROGRAM or issubclass(kind, _HOLDERS)):
        accesses += (rules(READ),)
    given = children.adopts(kind) and not _is_kept_outside(kind, name)
    if given:
        accesses += reads_field(obj, name)
    if not accesses and not given:
        return attr(obj, name)
    # The look-up is one step: what it finds in the class and in the object is read together.
    shared = shared_object_of(obj)
    operation = None if shared is None else _lookup_way(kind, name) if given else read_operation(shared, obj, name)
    if type(operation) is Operation:
        accesses += operation.accesses
    if accesses:
        accessing.touch("read", accesses)
    return obj if shared is None or operation is None or type(operation) is Operation else operation(obj, shared, name)


def class_reads(name: str) -> Accesses:
    """Return the accesses of looking for the name in a class, if anything writes it."""
    if ("class attribute", name) not in run.facts:
        return ()
    return ((run.operations.location(("class attribute", name)), READ),)


OF_THE_PROGRAM: Final = 1 << 9
"""Flag in the `__flags__` of a class (HEAPTYPE): it was created at run time."""


def read_global(module: str, name: str) -> None:
    """Yield before a global is read, if anything writes it."""
    if ("global", module, name) in run.facts:
        accessing.touch("read", ((run.operations.location(("global", module, name)), READ),))


def write_global(module: str, name: str) -> None:
    """Perform the operation of a store to a global. Breaks an assumption if it is the first one."""
    key = ("global", module, name)
    if key not in run.facts:
        assumptions.broken(key, f"the global {module}.{name} is written while several threads exist")
    location = run.operations.location(key)
    whole = shared_object.structure_of(("dict of", "global", module), ("dict exposed", "global", module))
    accessing.touch("write", ((location, WRITE), *whole))


def global_hooks(module: str) -> dict[str, Callable[..., Any]]:
    """Return the hooks for globals of one module that functions rebind."""

    def gload(name: str) -> None:
        if run.multi:
            read_global(module, name)
            if ("global", "builtins", name) in run.facts:
                read_global("builtins", name)

    def gstore(name: str, value: Any) -> Any:
        run.dirty = True
        if run.multi:
            write_global(module, name)
            publish(value)
        return value

    def gdel(name: str) -> None:
        gstore(name, None)

    return {".gload": gload, ".gstore": gstore, ".gdel": gdel}


def cload(closure: types.FunctionType) -> None:
    """Called before the load of a variable. `closure`: a lambda that refers to nothing but this variable."""
    if run.multi:
        assert closure.__closure__ is not None
        cell = closure.__closure__[0]
        shared = shared_object_of(cell)
        if shared is not None:
            key = _cell_key(closure)
            if key in run.facts:
                accessing.access(shared.access("read", key[3], READ))


def cstore(closure: types.FunctionType, value: Any) -> Any:
    """Called before the store of a variable; returns the value. `closure`: as for `cload`."""
    if run.multi:
        assert closure.__closure__ is not None
        shared = shared_object_of(closure.__closure__[0])
        if shared is not None:
            key = _cell_key(closure)
            if key not in run.facts:
                assumptions.broken(key, f"the variable {key[3]} of an enclosing function is rebound by several threads")
            accessing.access(shared.access("write", key[3], WRITE))
            publish(value)
    return value


def _cell_key(closure: types.FunctionType) -> tuple[str, str, str, str]:
    code = closure.__code__
    return ("field", code.co_filename, "<cell>", code.co_freevars[0])


def subject(obj: Any, names: tuple[str, ...]) -> Any:
    """Called before `match obj:`; `names` are the attributes in its patterns. Reads everything that they may read, in
    one step.

    What the patterns look into is determined before the step. An object that another thread puts there while this one
    waits is matched without being seen, so the run is incomplete.
    """
    if run.multi:
        accesses: dict[Access, None] = {}
        for part in _parts_of(obj):
            if children.adopts(type(part)):
                accesses.update(dict.fromkeys(access for name in names for access in reads_field(part, name)))
            shared = shared_object_of(part)
            if shared is not None:
                accesses.update(dict.fromkeys(_matched(shared, part, names)))
        if accesses:
            incomplete(f"match looks at what other threads change, in several steps{last_place()}")
            accessing.touch("match", tuple(accesses))
    return obj


def _matched(shared: SharedObject, part: Any, names: tuple[str, ...]) -> list[Access]:
    kind = type(part)
    container_type = container_type_of(kind)
    if container_type is not None:
        return list(container_type.reads_all(shared))
    positional = getattr(kind, "__match_args__", ()) if "__match_args__" in names else ()
    found: list[Access] = []
    for name in (*names, *positional):
        operation = read_operation(shared, part, name)
        if type(operation) is Operation:
            found.extend(operation.accesses)
    return found


_DEEPEST_PATTERN: Final = 5


def _parts_of(obj: Any) -> list[Any]:
    """Return the object, and the objects that patterns may look into, up to the depth that patterns usually have."""
    found: dict[int, Any] = {}
    layer = [obj]
    for _ in range(_DEEPEST_PATTERN):
        inside: list[Any] = []
        for part in layer:
            if type(part) in type_traits.HOLD_NOTHING or is_a(part, type) or id(part) in found:
                continue
            found[id(part)] = part
            if is_a(part, (list, tuple)):
                inside.extend(part)
            elif is_a(part, dict):
                inside.extend(part.values())
            else:
                inside.extend(getattr(part, "__dict__", {}).values())
        layer = inside
    return list(found.values())


def attribute_hooks(facts: set[object]) -> dict[str, Any]:
    """The hooks of this file that are the same for all modules, chosen by the facts of the search."""
    given = any(about(facts, "dict adopted"))
    classes = any(about(facts, "class attribute")) or any(about(facts, "global")) or RULES in facts or given
    load = attr_with_classes if classes else attr
    return {
        ".attr": load,
        ".meth": meth,
        ".meth_after": meth_after,
        ".setattr": store_field if given else setattr_,
        ".delattr": delattr_,
        ".cload": cload,
        ".cstore": cstore,
        ".tick": loops.tick,
        ".subject": subject,
        **SUPPORT,
    }
