"""Special attributes: stores and loads by names such as `__class__`, `__dict__` and `__add__`, which decide how fields,
elements and globals are found.

`C.__add__ = ...`, `x.__class__ = D`, `C.__bases__ = ...`, `f.__defaults__ = ...`, `x.__dict__ = ...`,
`cell.cell_contents = ...`, `ABC.register` and the like change what look-ups, operators and calls find. All of that is
one location, the *rules*. As long as nobody writes them, nothing reads them; once somebody does, the search starts
again with hooks that read them first (`watching`).

The other part of this file handles loads by special names: of namespaces (`x.__dict__`, `f.__globals__`), of closure
cells, and of the chain of an exception.
"""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, Final

from dpor.core.home import is_ours
from dpor.core.operations import READ, WRITE, Accesses, Mode
from dpor.python.effects.accesses import Touched
from dpor.python.effects.generators import WORDS, is_executing
from dpor.python.effects.kinds import container_type_of
from dpor.python.hooks import attributes
from dpor.python.hooks.adopted import note_store
from dpor.python.hooks.exceptions import chain_exceptions, read_chain
from dpor.python.hooks.operators import SCALARS
from dpor.python.kernel import accessing, assumptions
from dpor.python.kernel.assumptions import about
from dpor.python.kernel.classes import is_a, module_of_class
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run
from dpor.python.rewrite.names import CHAINED, OF_GENERATORS
from dpor.python.sharing import host_fields, shared_object, shared_objects, type_traits
from dpor.python.sharing.fields import Holder
from dpor.python.sharing.shared_object import STRUCTURE
from dpor.python.sharing.shared_objects import shared_object_of

RULES: Final = attributes.RULES

# ---------------------------------------------------------------------- the rules


def write_rules(what: str, also: Accesses = ()) -> None:
    """Yield before something changes what look-ups find. `what`: the change, in words."""
    run.dirty = True
    attributes.forget_types()
    if RULES not in run.facts:
        assumptions.broken(RULES, f"{what} while several threads exist")
    accessing.touch("write", (attributes.rules(WRITE), *also))


def read_rules(*args: Any) -> None:
    """Called before something is found by the classes of these arguments."""
    if not run.multi or SCALARS.issuperset(map(type, args)):
        return
    accessing.touch("read", (attributes.rules(READ),))


def _looks_inside(args: Iterable[Any]) -> None:
    """Called before built-in code looks up methods of the items of these arguments: note that the run is incomplete if
    the items are the program's."""
    for arg in args:
        container_type = container_type_of(type(arg))
        inside = arg if type(arg) is tuple else () if container_type is None else container_type.contents(arg)
        if any(
            type(item).__flags__ & attributes.OF_THE_PROGRAM and not type_traits.is_neutral(type(item))
            for item in inside
        ):
            incomplete("classes change while threads run: what built-in functions find in them is not seen")


def watching(found: dict[str, Any]) -> dict[str, Any]:
    """Return the hooks for searches in which the rules are written."""
    watched = {n: hook if n in _UNWATCHED else _watching(hook, n in _INSIDE) for n, hook in found.items()}
    return {**watched, ".call": _call, ".call_after": _call, ".meth": _meth, ".meth_after": _meth}


_UNWATCHED: Final = frozenset(
    {".attr", ".getspecial", ".tick", ".gload", ".gstore", ".gdel", ".slice", ".operand", ".made"}
)
"""Hooks that read the rules themselves, or find nothing by classes."""


_INSIDE: Final = frozenset({".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".contains", ".format", ".mod"})
"""Hooks that go through the items of containers."""


def _watching(hook: Callable[..., Any], inside: bool) -> Callable[..., Any]:
    def watched(*args: Any) -> Any:
        read_rules(*args)
        if inside and run.multi:
            _looks_inside(args)
        return hook(*args)

    return watched


_OF_FRAMES: Final = frozenset({"globals", "locals", "vars", "dir", "exec", "eval", "super"})
"""Built-in functions that look at the frame of their caller."""


_INSIDE_CALLED: Final = (sorted, min, max, sum, any, all, str, repr, set, frozenset, dict, print, format, hash)


def _call(callee: Any) -> Any:
    made = run.above.call(callee)
    if not run.multi or getattr(callee, "__name__", None) in _OF_FRAMES or type_traits.is_neutral(type(callee)):
        return made

    def called(*args: Any, **kwargs: Any) -> Any:
        read_rules(callee, *args)
        if run.multi and any(callee is known for known in _INSIDE_CALLED):
            _looks_inside(args)
        return made(*args, **kwargs)

    return called


def _meth(obj: Any, name: str) -> Any:
    if not run.multi or is_a(obj, super) or type_traits.is_neutral(type(obj)):
        return attributes.meth(obj, name)
    found = attributes.attr_with_classes(obj, name)
    try:
        callee = getattr(found, name)
    except AttributeError:
        return obj  # let the program's own look-up raise
    return Holder(name, _call(callee))


def registering(register: Any) -> Callable[..., Any]:
    """Wrap `ABC.register`, which changes the result of `isinstance`, `register` of a `singledispatch`, which changes
    what is called, or `update_abstractmethods`, which changes of which classes there are objects."""

    def act(*args: Any, **kwargs: Any) -> Any:
        if run.multi:
            write_rules(f"{register.__qualname__} is called")
        return register(*args, **kwargs)

    return act


# ---------------------------------------------------------------------- stores under special names


def store_special(value: Any, obj: Any, name: str) -> None:
    """Perform `obj.name = value`, for a special name."""
    if name == "__dict__":
        note_store(value, obj)
    if run.multi:
        if is_a(obj, BaseException) and name in CHAINED:
            if shared_object_of(obj) is not None:
                chain_exceptions()
                shared_objects.publish(value)
                setattr(obj, name, value)
                return
        elif yield_before_store(value, obj, name):
            shared_objects.publish(value)
            setattr(obj, name, value)
            return
    attributes.store_field(value, obj, name)


def delete_special(obj: Any, name: str) -> None:
    """Perform `del obj.name`, for a special name."""
    if run.multi and yield_before_store(None, obj, name):
        delattr(obj, name)
    else:
        attributes.delattr_(obj, name)


def yield_before_store(value: Any, obj: Any, name: str) -> bool:
    """Perform the operation of a store under a special name, if it is one. Return True if the caller then only has to
    store."""
    kind = type(obj)
    if is_a(obj, types.FunctionType) and name in _OF_DECORATORS:
        return False
    if is_a(obj, (type, types.FunctionType)):
        write_rules(f"{obj.__qualname__}.{name} is assigned")
        if name in ("__enter__", "__exit__"):
            incomplete(f"{obj.__qualname__}.{name} is assigned while threads run: `with` does not see that")
        return True
    if type(obj) is types.CellType:
        shared = shared_object_of(obj)
        if shared is not None:
            write_rules("the contents of a closure cell are assigned", _cell(shared, WRITE))
        return shared is not None
    if name in _OF_OBJECTS and shared_object_of(obj) is not None:
        write_rules(f"the {name} of an object of {kind.__qualname__} is assigned")
        if name == "__class__" and is_a(value, type):
            _same_fields(kind, value)
            if hasattr(value, "__exit__"):
                incomplete(f"an object becomes a {value.__qualname__}: `with` does not see when")
    return False


_OF_OBJECTS: Final = ("__class__", "__dict__")
_OF_DECORATORS: Final = ("__wrapped__", "__doc__")
"""Attributes of functions at which neither calls nor built-in functions look."""


def _same_fields(one: type, other: type) -> None:
    """Fields are known by the class of their object, which changes: note for each class the facts about fields of the
    other."""
    for kind, to in ((one, other), (other, one)):
        for (name,) in list(about(run.facts, "field", module_of_class(kind), kind.__qualname__)):
            assumptions.used_by_several(attributes.field_key(to, name), f"a field of {to.__qualname__}")


# ---------------------------------------------------------------------- loads under special names


def load_special(obj: Any, name: str) -> Any:
    """Called before the load of `obj.name`, for a special name. Returns the object on which the attribute is then
    looked up."""
    if name in _CHANGED_IN_PLACE and is_a(obj, (types.FunctionType, type, types.ModuleType)):
        run.dirty = True
    if name == "__dict__":
        if RULES in run.facts:
            read_rules(obj)
        namespace(obj)
    elif name == "__module__" and is_ours(module_of_class(kind := obj if is_a(obj, type) else type(obj))):
        return Holder(name, getattr(kind, "dpor_module", module_of_class(kind)))  # as programs see it
    elif name == "modules" and obj is sys:
        attributes.attr_with_classes(obj, name)
        return Holder(name, run.above.replacement_for(sys.modules))
    elif name in ("__globals__", "f_globals") and is_a(obj, (types.FunctionType, types.FrameType)):
        shared_objects.module_names(getattr(obj, name))
        run.dirty = True
    elif run.multi:
        if type(obj) is types.CellType:
            _read_cell(obj)
            return obj
        if is_a(obj, BaseException) and name in CHAINED:
            if shared_object_of(obj) is not None:
                accessing.touch("read", (read_chain(),))
            return obj
        if name == "__kwdefaults__":
            incomplete(f"{name} of a function is used while threads run: calls do not see how it changes")
        elif name in OF_GENERATORS and type(obj) in WORDS:
            shared = shared_object_of(obj)
            if shared is not None:
                accessing.touch("read", ((shared.location(STRUCTURE), READ),))
                if name.endswith(("_running", "_suspended")) and is_executing(obj):
                    return Holder(name, name.endswith("_running"))
            return obj
    return attributes.attr_with_classes(obj, name)


_CHANGED_IN_PLACE: Final = frozenset({"__dict__", "__kwdefaults__", "__annotations__"})
"""Dicts that outlive a run, and that the program may change once it has them."""


def of_super(obj: Any, name: str) -> Any:
    """Called before the load of `super().name` that is not called: it looks at classes only."""
    if run.multi and ("class attribute", name) in run.facts:
        accessing.touch("read", attributes.class_reads(name))
    return obj


def namespace(obj: Any) -> None:
    """Called before the `__dict__` of the object is used as a dict: its keys are fields, attributes or globals."""
    kind = type(obj)
    if issubclass(kind, types.ModuleType):
        run.dirty = True
        host_fields.remember(obj)
        shared_objects.module_names(vars(obj))
    elif issubclass(kind, type):
        shared_objects.class_names(obj)
    elif kind is types.FunctionType:
        run.dirty = True
        shared_objects.function_names(obj)
    else:
        fields = own_names(obj)
        if fields is not None:
            shared_objects.expose(obj, fields)


def own_names(obj: Any) -> dict[str, Any] | None:
    """Return the `__dict__` of the object without calling a `__getattribute__` of the program; None if it has none."""
    try:
        fields = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return None
    return fields if type(fields) is dict else None


def read_names(obj: Any) -> Touched:
    """Return the accesses of a look at the names of all attributes of the object (`dir`)."""
    touched = Touched((attributes.rules(READ),) if RULES in run.facts else ())
    for shown in (obj, type(obj)):
        namespace(shown)
        is_class = issubclass(type(shown), type)
        shared = shared_objects.shared_object_of(gc.get_referents(shown.__dict__)[0] if is_class else own_names(shown))
        if shared is not None:
            touched.add(((shared.location(STRUCTURE), READ),))
    return touched


def _read_cell(cell: types.CellType) -> None:
    shared = shared_object_of(cell)
    if shared is not None:
        accesses = _cell(shared, READ)
        if RULES in run.facts:
            accesses += (attributes.rules(READ),)
        if accesses:
            accessing.touch("read", accesses)


def _cell(shared: shared_object.SharedObject, mode: Mode) -> Accesses:
    """Return the accesses of the contents of a cell. Code that binds the variable knows its name, but a cell does not,
    so all names count."""
    names = {name for _, kind, name in about(run.facts, "field") if kind == "<cell>"}
    return tuple((shared.location(name), mode) for name in sorted(names))
