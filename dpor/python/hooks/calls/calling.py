"""`call`, the hook around every callee: what is called in place of the function.

Functions of the program, and everything known to be harmless, stay as they are: the call itself is the program's own,
without a frame of ours in between (`warnings`, `namedtuple` and others look at their caller's). Others get a wrapper
that performs the operation when it is called, after the arguments have been evaluated. While only one thread exists,
Python functions that are not instrumented stay as they are, too. If the evaluation of their own arguments starts the
second thread, what they do is not seen.
"""

from __future__ import annotations

import abc
import array
import decimal
import enum
import functools
import io
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any, Final

from dpor.core.home import is_ours
from dpor.python.effects import class_state
from dpor.python.effects.calls import BoundMethod, uninstrumented_method_of
from dpor.python.effects.kinds import container_type_of, is_immutable, static
from dpor.python.effects.reach import ANYTHING, views
from dpor.python.hooks import special
from dpor.python.hooks.calls import (  # noqa: F401
    consumers,
    contexts,
    environment,
    file_locks,
    files,
    objects,
    operating,
    pickles,
    tracebacks,
)
from dpor.python.hooks.calls.process import in_process
from dpor.python.hooks.calls.registry import AS_IS, class_wrappers, harmless, set_wrapper, wrappers
from dpor.python.hooks.calls.table import (
    READING_FUNCTIONS,
    READING_MODULES,
    READING_PYTHON_MODULES,
    READS_ARGUMENTS,
    STATEFUL_MODULES,
    TEXT_MODULES,
    WRITING_FUNCTIONS,
)
from dpor.python.hooks.calls.unknown import (
    making_incomplete,
    may_look,
    module_of,
    passing_on,
    reading_c,
    reading_python,
    unknown_c,
    unknown_python,
)
from dpor.python.hooks.operators import SCALARS, unpackmap
from dpor.python.kernel import opaque_code
from dpor.python.kernel.classes import is_a, module_named_by, module_of_class
from dpor.python.kernel.incomplete import incomplete, incomplete_if_multithreaded
from dpor.python.kernel.library import HARMLESS_MODULES
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects, subclasses, type_traits
from dpor.python.sharing.code_of_types import code_of, note_made, note_special_in_c
from dpor.python.sharing.fields import is_instrumented
from dpor.python.sharing.sharing_state import sharing

_FUNCTION: Final = types.FunctionType
_METHOD: Final = types.MethodType


def call(callee: Any) -> Any:
    """Return what is to be called in place of the callee."""
    kind = type(callee)
    if kind is _FUNCTION:
        return callee if ".call" in callee.__globals__ else _python_function(callee)
    if kind is _METHOD:
        function = callee.__func__
        if type(function) is _FUNCTION and ".call" in function.__globals__:
            return callee
        return _python_method(callee, function)
    wrapper = wrappers.get(id(callee))
    if wrapper is AS_IS:
        return callee
    return _other(callee, kind) if wrapper is None else wrapper


def call_after(callee: Any) -> Any:
    """Like `call`, where the evaluation of arguments may run code of the program: until a method of a container is
    called, the container may have been shared."""
    found, kind = call(callee), type(callee)
    if not run.multi:
        _may_look_later(callee, kind)
    if found is not callee:
        return found
    if kind is functools.partial:
        function = call_after(callee.func)
        return callee if function is callee.func else functools.partial(function, *callee.args, **callee.keywords)
    if kind in _BOUND and container_type_of(type(callee.__self__)):
        plain = _descriptor(callee, callee.__self__)
        if isinstance(plain, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            return BoundMethod(callee.__self__, None, callee.__name__, plain)
    return found


def _may_look_later(callee: Any, kind: type) -> None:
    """If the arguments start threads and wait for them, it is not seen what a Python function without hooks reads."""
    function = callee.__func__ if kind is _METHOD else callee
    if type(function) is _FUNCTION:
        if ".call" not in function.__globals__ and not is_instrumented(function):
            may_look(module_of(function))
    elif isinstance(callee, enum.EnumMeta):
        may_look("enum")


_BOUND: Final = (types.BuiltinMethodType, types.MethodWrapperType)


# ---------------------------------------------------------------------- Python functions


def _python_function(function: types.FunctionType) -> Any:
    wrapper = wrappers.get(id(function))
    if wrapper is not None:
        return wrapper
    module = module_of(function)
    if module == "ctypes" and function.__name__ in _POINTING:
        return making_incomplete(function, _POINTERS)
    if is_instrumented(function):
        return function
    wrapper = in_process(function, module)
    if wrapper is not None:
        if run.multi:
            may_look(module)
        return wrapper
    if not run.multi:
        return function
    looked_at = class_state.LOOKING.get(f"{module}.{function.__qualname__}")
    if looked_at is not None:
        return class_state.looking(function, looked_at)
    if _registers(function):
        return special.registering(function)
    if module == "unittest.mock":
        incomplete(_PATCHED)
    if function.__name__ in WRITING_FUNCTIONS:
        return unknown_python(function, function)
    if (module, function.__name__) in READING_FUNCTIONS or module in READING_PYTHON_MODULES:
        return reading_python(function)
    if module in TEXT_MODULES:
        return reading_c(function)
    if module == "collections.abc" and "." in function.__qualname__:
        return _mixin(function)
    is_method = module in STATEFUL_MODULES and "." in function.__qualname__  # `Counter.update(counter, ...)`
    if _is_harmless_module(module) and not is_method:
        return passing_on(function, function)
    return unknown_python(function, function)


_REGISTERING: Final = (abc.ABCMeta.register, abc.update_abstractmethods, functools.singledispatchmethod.register)


def _registers(function: types.FunctionType) -> bool:
    """True if a call of the function changes what `isinstance` says, what a `singledispatch` calls, or of which classes
    there are objects."""
    return function in _REGISTERING or (
        function.__qualname__.startswith("singledispatch.<locals>.register") and module_of(function) == "functools"
    )


def _mixin(function: types.FunctionType) -> Callable[..., Any]:
    """Wrap a mixin such as `MutableMapping.update(d, ...)`: it calls methods of the object's class."""

    def act(*args: Any, **kwargs: Any) -> Any:
        if args and uninstrumented_method_of(type(args[0])):
            return unknown_python(function, function)(*args, **kwargs)
        return run.above.mixin(function)(*args, **kwargs)

    return act


_CHANGING_MODULES: Final = frozenset({"contextlib", "unittest.mock"})
"""Modules whose objects call what they are given, and change meanwhile. (A method of the program that `contextmanager`
decorates is a function of contextlib too, but bound to an object of the program, which it passes on.)"""


_PATCHED: Final = "unittest.mock patches while several threads exist: who looks at what it replaces does not see when"


def _python_method(method: Any, function: Any) -> Any:
    if type(function) is not _FUNCTION:  # any callable can be bound
        inner = call(function)
        return method if inner is function else functools.partial(inner, method.__self__)
    known = wrappers.get(id(function)) or (
        None if is_instrumented(function) else in_process(function, module_of(function))
    )
    if known is not None and known is not AS_IS:
        if run.multi and not is_instrumented(function):
            may_look(module_of(function))
        return functools.partial(known, method.__self__)
    if not run.multi:
        return method
    if _registers(function):
        return special.registering(method)
    module = module_of(function)
    if (
        module in _CHANGING_MODULES
        and not _CHANGING_MODULES.isdisjoint(map(module_of_class, type(method.__self__).__mro__))
        and shared_objects.shared_object_of(method.__self__) is not None
    ):
        opaque_code.opaque(f"{module}.{function.__qualname__}")
    if is_instrumented(function) or is_immutable(type(method.__self__)):
        return method
    if function.__name__ in WRITING_FUNCTIONS:
        return unknown_python(function, method, method.__self__)
    if module == "collections.abc":
        return functools.partial(_mixin(function), method.__self__)
    if module.partition(".")[0] == "asyncio" and not hasattr(method.__self__, "call_soon_threadsafe"):
        return _of_one_thread(method)
    if module not in STATEFUL_MODULES and _is_harmless_module(module):
        return passing_on(function, method)
    return unknown_python(function, method, method.__self__)


def _of_one_thread(method: Any) -> Callable[..., Any]:
    """A method of an object of `asyncio`, which one thread may use: that of its loop."""

    def act(*args: Any, **kwargs: Any) -> Any:
        users = run.threads[0].data.setdefault("objects of asyncio", {})
        _, user = users.setdefault(id(method.__self__), (method.__self__, run.current))
        if user is not run.current:
            incomplete(f"several threads use a {type(method.__self__).__qualname__} of asyncio, which is not seen")
        return method(*args, **kwargs)

    return act


def _is_harmless(function: types.FunctionType) -> bool:
    return is_instrumented(function) or _is_harmless_module(module_of(function))


def _is_harmless_module(name: Any) -> bool:
    if not is_a(name, str):
        return False
    return name in HARMLESS_MODULES or name.partition(".")[0] in HARMLESS_MODULES or is_ours(name)


def note_field_store(kind: type, name: str) -> None:
    """Called when a field of a shared object of this class is assigned. Note that the run is incomplete if methods of
    the class that are taken for harmless may read it."""
    module = module_of_class(kind)
    harmless_one = module not in STATEFUL_MODULES and _is_harmless_module(module)
    unseen = harmless_one and any(type(f) is _FUNCTION and not is_instrumented(f) for f in vars(kind).values())
    if is_immutable(kind) or unseen:
        incomplete(
            f"{module}.{kind.__qualname__}.{name} is assigned while threads run: its methods are not instrumented"
        )


# ---------------------------------------------------------------------- C functions, classes, other callables


def _other(callee: Any, kind: type) -> Any:
    if kind is types.BuiltinFunctionType:
        return _c_function(callee)
    if is_a(callee, type):
        return _class(callee)
    if kind is types.MethodWrapperType:
        return _c_method(callee, callee.__self__, callee.__name__, static(callee.__objclass__, callee.__name__))
    if kind is types.MethodDescriptorType or kind is types.WrapperDescriptorType:
        return _unbound(callee)
    if kind is functools.partial:
        return _partial(callee)
    if kind in _GETTERS:
        return operating.call_getter(callee)
    if issubclass(kind, weakref.ReferenceType):
        asks = static(kind, "__call__")
        if type(asks) is not _FUNCTION:
            return objects.asking(callee)
        if run.multi and not is_instrumented(asks):
            if not opaque_code.demand(module_of(asks), f"a {kind.__qualname__} is asked for its object"):
                incomplete(shared_objects.DEATHS)
        return callee
    if kind is BoundMethod or type_traits.is_neutral(kind):
        return callee
    function = static(kind, "__call__")
    if type(function) is staticmethod:
        function = function.__func__
    if type(function) in _BOUND:
        return call(function)
    if type(function) is types.MethodDescriptorType and function.__name__ != "__call__":
        return call(function.__get__(callee))
    if type(function) is _FUNCTION:
        if run.multi and module_of(function) in _CHANGING_MODULES:
            opaque_code.opaque(f"{module_of(function)}.{function.__qualname__}")
        if not _is_harmless(function):
            return unknown_python(function, callee, callee)
        if run.multi and not is_instrumented(function):
            may_look(module_of(function))
        return callee
    return unknown_c(callee) if function is not None and kind is not _LRU_CACHE else callee


_GETTERS: Final = frozenset({operator.itemgetter, operator.attrgetter, operator.methodcaller})
_LRU_CACHE: Final = type(functools.lru_cache(lambda: None))


def _c_function(function: Any) -> Any:
    owner = function.__self__
    if owner is None or type(owner) is types.ModuleType:
        module = module_named_by(function)
        found = in_process(function, module)
        if found is not None:
            return found
        if module == "_ctypes" and function.__name__ in _POINTING:
            made = making_incomplete(function, _POINTERS)
            set_wrapper(function, made)
            return made
        if module in TEXT_MODULES:
            made = reading_c(function)
            set_wrapper(function, made)
            return made
        if _is_harmless_module(module):
            harmless(function)
            return function
        reads = module in READING_MODULES and function.__name__ not in WRITING_FUNCTIONS
        made = reading_c(function) if reads else unknown_c(function)
        set_wrapper(function, made)
        return made
    if is_a(owner, type):
        if function.__name__ == "__subclasses__":
            subclasses.asked(owner)
        if module_of_class(type(owner)) == "_ctypes" and function.__name__ in _POINTING:
            return making_incomplete(function, _POINTERS)
        wrapper = class_wrappers.get((id(owner), function.__name__))
        if wrapper is not None:
            return wrapper
        if owner in SCALARS:
            return reading_c(function)
        return function if is_immutable(owner) else unknown_c(function)
    return _c_method(function, owner, function.__name__, _descriptor(function, owner))


_POINTING: Final = frozenset({"pointer", "addressof", "from_buffer", "from_address", "in_dll", "cast"})
_POINTERS: Final = "memory is had by pointers of ctypes: what is read and written through them is not seen"


def _descriptor(method: Any, owner: Any) -> Any:
    """Return the descriptor by which the method was found. (`super()` finds a method in C that the class itself
    overrides.)"""
    for base in type(owner).__mro__:
        found = base.__dict__.get(method.__name__)
        if isinstance(found, types.MethodDescriptorType) and found.__get__(owner) == method:
            return found
    return static(type(owner), method.__name__)


def _c_method(method: Any, owner: Any, name: str, plain: Any) -> Any:
    """Return what is called in place of a method in C, bound to its object. `plain`: its descriptor."""
    kind = type(owner)
    if kind is str or kind is bytes:
        return _text_method(method, name)
    if name == "__call__" and issubclass(kind, weakref.ReferenceType):
        return objects.asking(owner, method)
    if kind is types.MemberDescriptorType and name in ("__get__", "__set__", "__delete__"):
        return objects.slot_method(owner, method)
    if module_of_class(kind) in TEXT_MODULES and (is_immutable(kind) or kind in type_traits.ATOMIC):
        return reading_c(method)
    if issubclass(kind, decimal.Decimal):
        return contexts.in_context(method)
    if kind is functools.partial and name == "__setstate__":
        incomplete_if_multithreaded(
            "partial.__setstate__ changes what a partial calls: its calls are not ordered with that"
        )
    if kind is tuple:
        return functools.partial(reading_c(plain), owner)
    if kind in type_traits.ATOMIC or is_immutable(kind) or type_traits.is_neutral(kind):
        return method
    of_object = name in _OF_OBJECT and any(plain is root.__dict__.get(name) for root in (object, type))
    if kind is types.SimpleNamespace:
        return _of_object(owner, name) or functools.partial(reading_c(plain), owner)
    if container_type_of(kind) is None and of_object:
        return _of_object(owner, name) or method
    known = container_type_of(kind) is not None and kind is not memoryview and name not in READS_ARGUMENTS
    if run.multi and kind not in views and shared_objects.shared_object_of(owner) is None and known:
        if name != "pop" or not is_a(owner, set):  # `set.pop` has to take the same element in all runs
            return method
    if not isinstance(plain, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return method
    return BoundMethod(owner, None, name, plain)


_OF_OBJECT: Final = frozenset(
    {"__setattr__", "__getattribute__", "__delattr__", "__init__", "__new__", "__repr__", "__eq__"}
)


def _of_object(owner: Any, name: str) -> Any:
    """Return the wrapper of a method of `object` or `type`, as `super().__setattr__` finds it; None if it has none."""
    root = type if is_a(owner, type) else object
    wrapper = wrappers.get(id(root.__dict__.get(name)))
    return None if wrapper is None else functools.partial(wrapper, owner)


def _text_method(method: Any, name: str) -> Any:
    if name == "join":
        return consumers.consumer(method, ANYTHING if type(method.__self__) is not str else None)
    if name in ("format", "format_map", "__mod__"):
        return objects.showing_arguments(method)
    return reading_c(method) if name == "translate" or type(method.__self__) is bytes else method


def _unbound(descriptor: Any) -> Any:
    """Wrap a method looked up on its class: `list.append(l, x)`."""
    owner, name = descriptor.__objclass__, descriptor.__name__
    if owner in type_traits.ATOMIC and owner not in (str, bytes, tuple):
        return descriptor

    def act(*args: Any, **kwargs: Any) -> Any:
        if not args or not is_a(args[0], owner):
            return descriptor(*args, **kwargs)
        return _c_method(descriptor.__get__(args[0]), args[0], name, descriptor)(*args[1:], **kwargs)

    return act


def _partial(partial: functools.partial[Any]) -> Any:
    shared = shared_objects.shared_object_of(partial.keywords) if run.multi else None
    if shared is not None:  # another thread may have `p.keywords`, and change it
        return lambda *args, **kwargs: call(partial.func)(
            *partial.args, *args, **{**unpackmap(partial.keywords), **kwargs}
        )
    function = call(partial.func)
    if function is partial.func:
        return partial
    return functools.partial(function, *partial.args, **partial.keywords)


# ---------------------------------------------------------------------- classes

_classes: Final[dict[int, weakref.ref[type]]] = {}
"""Weak references to the classes that need no wrapper, by `id`."""


def _class(kind: type) -> Any:
    if module_of_class(kind) == "unittest.mock" and kind.__name__ == "_patch_dict":
        if run.multi:
            incomplete(_PATCHED)
        return kind
    takes_names = isinstance(kind, enum.EnumMeta) and not kind.__members__
    if takes_names and run.multi:  # it makes an enumeration of the names, which may be the keys of a dict
        may_look("enum")
    unseen = code_of(kind).unseen
    if unseen and run.multi:
        note_made(kind)
    in_c = note_special_in_c(kind)
    make = _maker(kind)
    if make is not None:
        return make(kind)
    dies_noticed = type_traits.is_finalised(kind)
    if dies_noticed and run.multi:
        sharing.any_finalised = True
    if in_c or unseen or dies_noticed or takes_names:
        return kind
    number = id(kind)

    def forget(_: object) -> None:
        _classes.pop(number, None)
        wrappers.pop(number, None)

    _classes[number] = weakref.ref(kind, forget)
    wrappers[number] = AS_IS
    return kind


def _maker(kind: type) -> Callable[[type], Any] | None:
    """Return a function that makes the wrapper of a class; None if it needs none. The function does not keep the class
    alive."""
    makers = [static(kind, "__new__"), static(kind, "__init__")]
    built_in = all(_owner(kind, name).__module__ == "builtins" for name in ("__new__", "__init__"))
    makers = [made.__func__ if isinstance(made, staticmethod) else made for made in makers]
    functions = [made for made in makers if type(made) is _FUNCTION]
    if functions:
        foreign = [f for f in functions if not _keeps_nothing(f) and not _is_generated(f)]
        return None if not foreign else lambda k: unknown_python(foreign[0], k)
    if issubclass(kind, weakref.ReferenceType):
        return objects.making_reference
    if container_type_of(kind) is not None and kind is not memoryview:
        if issubclass(kind, dict):
            return lambda k: lambda *args, **kwargs: consumers.make_dict(k, args, kwargs)
        if issubclass(kind, array.array):
            return consumers.make_array
        return consumers.consumer
    if kind is io.BytesIO or kind is memoryview:
        return reading_c
    if module_of_class(kind) == "builtins" or _is_harmless_module(module_of_class(kind)) or is_immutable(kind):
        return None
    if makers == [object.__new__, object.__init__] or issubclass(kind, (BaseException, type)):
        return None
    return reading_c if built_in else unknown_c  # `class Message(str)`


def _owner(kind: type, name: str) -> type:
    """The class that the attribute is found in."""
    return next(base for base in kind.__mro__ if name in base.__dict__)


def _keeps_nothing(function: types.FunctionType) -> bool:
    return _is_harmless(function) and (module_of(function) not in STATEFUL_MODULES or is_instrumented(function))


def _is_generated(function: types.FunctionType) -> bool:
    """True if `dataclass`, `namedtuple` or the like has made the function: it only fills in a new object."""
    return function.__code__.co_filename.startswith("<")
