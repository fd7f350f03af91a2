"""Calls of built-in methods on shared containers, and the objects that replace these methods.

A container type has an *entry* for each method (`kinds.ContainerType.entries`): a function that takes a `MethodCall`,
waits at the scheduling point of the operation and then performs it. Most entries state only the accesses and what the
container keeps; `entry` makes those. The others are for methods that would call back into the program while they run
(`list.sort` with a key, `list.extend` with a generator): these do the same in steps, each an operation of its own, so
that other threads can come in between.
"""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from dpor.core.operations import Accesses
from dpor.python.effects import c_modules
from dpor.python.effects.accesses import NOTHING, UNMADE, Touched, made, make, yield_before
from dpor.python.effects.kinds import container_type_of, container_types, is_immutable, is_program, static
from dpor.python.effects.reach import ANYTHING, writes, yield_before_reading
from dpor.python.kernel import accessing, opaque_code, scheduler
from dpor.python.kernel.classes import is_a, module_of_class
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.library import STDLIB
from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing import shared_objects
from dpor.python.sharing.fields import Holder, is_instrumented
from dpor.python.sharing.shared_object import SharedObject

Args: TypeAlias = tuple[Any, ...]

KINDS: Final[Mapping[str, str]] = {
    "__getitem__": "read",
    "__setitem__": "write",
    "__delitem__": "delete",
    "__contains__": "in",
    "__len__": "len",
    "__bool__": "test",
}
"""The names of operators in reports; a method is shown by its own name."""


class MethodCall:
    """One call of a method.

    obj, shared    the container, and its `SharedObject` (None if it is not shared: then only the arguments matter)
    name           of the method
    plain          the built-in function: `plain(obj, *args, **kwargs)` performs the call
    """

    __slots__ = ("args", "kwargs", "name", "obj", "plain", "shared")

    def __init__(
        self,
        obj: Any,
        shared: SharedObject | None,
        name: str,
        plain: Callable[..., Any],
        args: Args = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self.obj = obj
        self.shared = shared
        self.name = name
        self.plain = plain
        self.args = args
        self.kwargs: Mapping[str, Any] = kwargs or {}

    def done(self, accesses: Accesses | Touched, keeps: Iterable[Any] = ()) -> Any:
        """Perform the call as one operation with these accesses. `keeps`: values that the container refers to
        afterwards."""
        self.prepare(accesses, keeps)
        return self.run()

    def indivisible(self, accesses: Accesses | Touched, keeps: Iterable[Any] = ()) -> Any:
        """Like `done`, for a call that runs code of the program: no other thread runs until it returns."""
        self.prepare(accesses, keeps)
        if not accesses:
            return self.run()
        with scheduler.atomic():
            return self.run()

    def done_unless(
        self,
        unchanged: Callable[[], bool],
        reads: Callable[[], Accesses],
        writes: Callable[[], Accesses],
        keeps: Iterable[Any] = (),
    ) -> Any:
        """Perform a call that may leave the container as it is: then it is a read, like an attempt to take a lock
        that fails.
        `unchanged` tells so from what is in the container at that moment, without calling code of the program."""

        def now() -> Accesses:
            return reads() if unchanged() else writes()

        accesses = now()
        if accesses:
            accessing.touch(KINDS.get(self.name, self.name), accesses, now)
        if not unchanged():
            self.publish(keeps)
        return self.run()

    def prepare(self, accesses: Accesses | Touched, keeps: Iterable[Any] = ()) -> None:
        self.yield_before(accesses)
        self.publish(keeps)

    def publish(self, values: Iterable[Any]) -> None:
        """Publish values that the container refers to from now on, if it is shared."""
        if self.shared is not None:
            for value in values:
                shared_objects.publish(value)

    def yield_before(self, accesses: Accesses | Touched) -> None:
        yield_before(KINDS.get(self.name, self.name), accesses)

    def run(self) -> Any:
        return self.plain(self.obj, *self.args, **self.kwargs)


Entry: TypeAlias = Callable[[MethodCall], Any]


def entry(
    touches: Callable[[SharedObject, Any, Args], Accesses], keeps: Callable[[Args], Iterable[Any]] = lambda args: ()
) -> Entry:
    """Make the entry of a method that is one operation, from its accesses and from the values that the container
    keeps."""

    def act(call: MethodCall) -> Any:
        shared = call.shared
        if shared is None:
            return call.run()
        return call.done(touches(shared, call.obj, call.args), keeps(call.args))

    return act


def whole(
    accesses: Callable[[SharedObject], Accesses], keeps: Callable[[Args], Iterable[Any]] = lambda args: ()
) -> Entry:
    """Make the entry of a method whose accesses depend neither on its arguments nor on what is in the container."""

    def act(call: MethodCall) -> Any:
        shared = call.shared
        if shared is not None:
            kind = KINDS.get(call.name, call.name)
            operation = made(shared, kind)
            if operation is UNMADE:
                operation = make(shared, kind, None, accesses(shared))
            if operation is not None:
                accessing.access(operation)
            for value in keeps(call.args):
                shared_objects.publish(value)
        return call.run()

    return act


def changes_unless_empty(
    writes: Callable[[SharedObject], Accesses], reads: Callable[[SharedObject], Accesses]
) -> Entry:
    """Make the entry of a method that changes the container, but leaves it as it is (or raises) if it is empty."""

    def act(call: MethodCall) -> Any:
        shared, obj = call.shared, call.obj
        if shared is None:
            return call.run()
        length = next(base.__len__ for base in _SIZED if is_a(obj, base))
        return call.done_unless(lambda: length(obj) == 0, lambda: reads(shared), lambda: writes(shared))

    return act


_SIZED: Final = (list, dict, set, collections.deque)


def everything(args: Args) -> Iterable[Any]:
    """For `keeps`: the container keeps all arguments."""
    return args


def nothing(shared: SharedObject, obj: Any, args: Args) -> Accesses:
    """No accesses: for methods that only make another object, such as an iterator or a view."""
    return NOTHING


def unknown(call: MethodCall) -> Any:
    """Perform a method without an entry: it may change all that it can reach, and keep its arguments."""
    if is_immutable(type(call.obj)):
        return call.run()
    if _home(call) in _VALUES:
        if call.name not in _NOT_DEEP:
            yield_before_reading(call.name, (call.obj, *call.args), ANYTHING)
        return call.run()
    touched = Touched(c_modules.written(module_of_class(_home(call))))
    touched.deeply(writes, (call.obj, *call.args, *call.kwargs.values()))
    if run.multi and any(type(value) is types.GeneratorType for value in call.args):
        incomplete(f"{call.name} consumes a generator: what it does with the items is not seen")
    if run.multi and module_of_class(_home(call)) == "sqlite3":
        from dpor.python.effects import databases  # it imports `sqlite3`, as few programs do

        return databases.perform_call(call.obj, call.name, lambda: call.yield_before(touched), call.run)
    call.yield_before(touched)
    for value in (*call.args, *call.kwargs.values()):
        shared_objects.publish(value)
    if not touched or module_of_class(_home(call)).partition(".")[0] in STDLIB:
        return call.run()
    with scheduler.atomic():  # it may change the object again after it has called code of the program
        return call.run()


_VALUES: Final = frozenset({tuple, str, bytes, int, float, complex, frozenset})
"""Types whose methods change nothing, of objects of classes derived from them either."""
_NOT_DEEP: Final = frozenset({"__getitem__", "__len__", "__iter__", "__add__", "__mul__", "__rmul__", "__getnewargs__"})
"""Methods of tuples that do not look at what is inside the elements."""


def _home(call: MethodCall) -> type:
    """The class that has the method."""
    kind = type(call.obj)
    found: type | None = getattr(call.plain, "__objclass__", None)
    return found or next((base for base in kind.__mro__ if call.name in vars(base)), kind)


def perform_uninstrumented(call: MethodCall, function: types.FunctionType) -> Any:
    """Perform a method written in uninstrumented Python as one step, though in the real program other threads could
    interrupt it."""
    touched = Touched()
    values = (call.obj, *call.args, *call.kwargs.values())
    if is_mixin(function, type(call.obj)):
        return run.above.mixin(function)(call.obj, *call.args, **call.kwargs) if call.args else call.run()
    if _is_of_enum(function) or not touched.deeply(writes, values):
        return call.run()
    opaque_code.opaque(f"{function.__globals__.get('__name__')}.{function.__qualname__}")
    return call.indivisible(touched, keeps=values[1:])


def yield_before_unseen(function: types.FunctionType, *values: Any) -> None:
    """Yield before Python code that is not instrumented runs as one step, and note that the run is incomplete if it
    touches something shared."""
    touched = Touched()
    if not _is_of_enum(function) and touched.deeply(writes, values):
        opaque_code.opaque(f"{function.__globals__.get('__name__')}.{function.__qualname__}")
        yield_before(function.__name__, touched)


def yield_before_c(function: Any, *values: Any) -> None:
    """Yield before a function in C runs, which may change all that these values reach."""
    touched = Touched()
    if touched.deeply(writes, values):
        yield_before(getattr(function, "__name__", type(function).__name__), touched)


def _is_of_enum(function: types.FunctionType) -> bool:
    """True if the function belongs to `enum`, whose members never change. (What they compute is kept, and always the
    same.)"""
    return function.__globals__.get("__name__") == "enum"


_ABSTRACT: Final = ("__iter__", "__getitem__", "__setitem__", "__delitem__", "__len__", "insert", "add", "discard")


def uninstrumented_method_of(kind: type) -> types.FunctionType | None:
    """Return an uninstrumented Python method of the class that the mixins of `collections.abc` call (as `UserDict`
    has), or None."""
    for method in (static(kind, name) for name in _ABSTRACT):
        if type(method) is types.FunctionType and method.__module__ != "collections.abc":
            if not is_instrumented(method):
                return method
    return None


def is_mixin(function: types.FunctionType, kind: type) -> bool:
    """True if the function calls methods of the class, which perform operations of their own, and otherwise reads only
    what it is given."""
    return function.__module__ == "collections.abc" and uninstrumented_method_of(kind) is None


def as_dict(mapping: Any) -> Any:
    """Copy a mapping written in uninstrumented Python into a dict; return any other mapping as it is."""
    found = static(type(mapping), "__getitem__")
    if not run.multi or type(found) is not types.FunctionType or is_program(found):
        return mapping
    return perform_uninstrumented(
        MethodCall(mapping, shared_objects.shared_object_of(mapping), "__getitem__", dict, ()), found
    )


entries_of_types: dict[type, Entry] = type_cache({})
"""By type: the one entry of all methods of a type that is not a container."""


of_exceptions: dict[str, Entry] = {}
"""The entries of methods that change an exception, by name."""


def perform(call: MethodCall) -> Any:
    """Perform the call by the entry of its method."""
    kind = type(call.obj)
    container_type = container_type_of(kind)
    if container_type is not None:
        found = container_type.entries.get(call.name)
    else:
        found = of_exceptions.get(call.name) if issubclass(kind, BaseException) else entries_of_types.get(kind)
    if found is None and isinstance(call.plain, types.FunctionType) and not is_immutable(kind):
        return perform_uninstrumented(call, call.plain)
    return (found or unknown)(call)


class BoundMethod:
    """A method of a container, bound to it. Calling it performs the operation.

    `lookup_target` returns one in place of the container in `c.append`; looking up `append` on it gives itself.
    """

    __slots__ = ("_name", "_obj", "_plain", "_shared")

    def __init__(self, obj: Any, shared: SharedObject | None, name: str, plain: Callable[..., Any]) -> None:
        self._obj = obj
        self._shared = shared
        self._name = name
        self._plain = plain

    @property
    def dpor_parts(self) -> tuple[Any, SharedObject | None, str, Callable[..., Any]]:
        """The object, its locations, the name of the method, and the method of the class."""
        return self._obj, self._shared, self._name, self._plain

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        shared = self._shared
        if shared is None:
            shared = shared_objects.shared_object_of(self._obj)
        return perform(MethodCall(self._obj, shared, self._name, self._plain, args, kwargs))

    def __getattr__(self, name: str) -> Any:
        return self if name == self._name else getattr(self._plain.__get__(self._obj), name)

    def __eq__(self, other: object) -> bool:
        mine = self._plain.__get__(self._obj)
        return bool(mine == (other._plain.__get__(other._obj) if isinstance(other, BoundMethod) else other))

    def __hash__(self) -> int:
        return hash(self._plain.__get__(self._obj))

    def __repr__(self) -> str:
        return repr(self._plain.__get__(self._obj))


_METHODS: Final = (types.MethodDescriptorType, types.WrapperDescriptorType, types.FunctionType)


def lookup_target(obj: Any, shared: SharedObject | None, name: str) -> Any:
    """Return the object on which to look up `name`: a `BoundMethod` if that is an uninstrumented method, else `obj`
    itself."""
    kind = type(obj)
    if kind in container_types:
        found = _descriptors.get((kind, name))
        if found is not None:
            return BoundMethod(obj, shared, name, found)
    found = static(kind, name)
    if type(found) is types.MethodDescriptorType and kind in container_types:
        _descriptors[kind, name] = found
    if isinstance(found, _METHODS) and not _is_shadowed(obj, name):
        if isinstance(found, types.FunctionType) and is_program(found):
            return obj
        bound = BoundMethod(obj, shared, name, found)
        return Holder(name, bound) if name in _OWN_NAMES else bound
    if isinstance(found, types.ClassMethodDescriptorType):
        return BoundMethod(obj, shared, name, _ClassMethod(found))
    if isinstance(found, (types.GetSetDescriptorType, types.MemberDescriptorType)) and shared is not None:
        container_type = container_type_of(type(obj))
        if container_type is not None:
            yield_before("read", container_type.reads_all(shared))
    return obj


_descriptors: Final[dict[tuple[type, str], types.MethodDescriptorType]] = type_cache({})
"""Methods of the built-in containers themselves: a cache of their descriptors."""

_OWN_NAMES: Final = frozenset(dir(BoundMethod))
"""Names that a lookup on a `BoundMethod` would find in its own class."""


class _ClassMethod:
    """A built-in class method that can be called as a plain method, with the object as first argument."""

    def __init__(self, method: types.ClassMethodDescriptorType) -> None:
        self._method = method

    def __get__(self, obj: Any, kind: type | None = None) -> Any:
        return self._method.__get__(obj, type(obj))

    def __call__(self, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self.__get__(obj)(*args, **kwargs)


def _is_shadowed(obj: Any, name: str) -> bool:
    """True if the object itself (of a subclass) has an attribute of this name."""
    return type(obj) not in container_types and name in getattr(obj, "__dict__", ())
