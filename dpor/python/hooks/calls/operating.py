"""`operator`, `heapq`, `bisect` and `copy`: functions of the standard library that do what operators and methods do."""

from __future__ import annotations

import _heapq
import bisect
import copy
import functools
import operator
import types
from collections.abc import Callable
from typing import Any, Final

from dpor.python.effects.accesses import Reread, Touched, writes_structure, yield_before
from dpor.python.effects.iteration import report_uninstrumented_iteration
from dpor.python.effects.kinds import container_type_of, is_c_iterator, static
from dpor.python.effects.lists import is_built_in
from dpor.python.effects.reach import EQUAL, fields_of, reads
from dpor.python.hooks import attributes, operators
from dpor.python.hooks.calls import ordering
from dpor.python.hooks.calls.consumers import consumer
from dpor.python.hooks.calls.registry import harmless, set_wrapper, wrap
from dpor.python.hooks.calls.unknown import reading_c, reading_python
from dpor.python.kernel import opaque_code, scheduler
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects

# ---------------------------------------------------------------------- operator

_HOOKS: Final = operators.HOOKS

for _name, _hook in (
    *(("getitem", operators.getitem), ("delitem", operators.delitem), ("truth", lambda x: bool(operators.truth(x)))),
    ("setitem", lambda obj, key, value: operators.setitem(value, obj, key)),
    ("contains", lambda container, item: operators.contains(item, container)),
    ("not_", lambda x: not operators.truth(x)),
    *((name, _HOOKS[f".{name}"]) for name in ("add", "sub", "mul", "mod", "pow", "matmul", "floordiv", "lshift")),
    *(
        (name, _HOOKS[f".{name}"])
        for name in ("neg", "pos", "invert", "rshift", "xor", "eq", "ne", "lt", "le", "gt", "ge")
    ),
    *((name, _HOOKS[f".{name}"]) for name in ("iadd", "isub", "imul", "imod", "ipow", "imatmul", "ifloordiv")),
    *((name, _HOOKS[f".{name}"]) for name in ("ilshift", "irshift", "iand", "ior", "ixor")),
    *(("and_", _HOOKS[".and"]), ("or_", _HOOKS[".or"]), ("truediv", _HOOKS[".div"]), ("itruediv", _HOOKS[".idiv"])),
    *(("concat", _HOOKS[".add"]), ("iconcat", _HOOKS[".iadd"])),
):
    set_wrapper(getattr(operator, _name), _hook)
set_wrapper(operator.call, lambda function, /, *args, **kwargs: run.above.call(function)(*args, **kwargs))
set_wrapper(operator.length_hint, reading_c(operator.length_hint))
set_wrapper(operator.countOf, consumer(operator.countOf, EQUAL))
set_wrapper(operator.indexOf, consumer(operator.indexOf, EQUAL))
harmless(operator.itemgetter, operator.attrgetter, operator.methodcaller, operator.is_, operator.is_not, operator.index)


def call_getter(getter: Any) -> Callable[[Any], Any]:
    """Return what is called in place of an `itemgetter`, `attrgetter` or `methodcaller`."""
    names = getter.__reduce__()[1]
    if type(getter) is operator.itemgetter:
        return lambda obj: _one_or_all([operators.getitem(obj, key) for key in names])
    if type(getter) is operator.attrgetter:
        return lambda obj: _one_or_all([_attribute(obj, name) for name in names])
    return lambda obj: _call_method(getter, obj)


def _property(*accessors: Any, **named: Any) -> property:
    """Make a property. Loads call its getter without a hook; so if that goes from object to object by their names, it
    does so in steps."""
    if accessors:
        return property(_in_steps(accessors[0]), *accessors[1:], **named)
    return property(**{name: _in_steps(accessor) for name, accessor in named.items()})


def _in_steps(accessor: Any) -> Any:
    reaches = type(accessor) is operator.attrgetter and any("." in name for name in accessor.__reduce__()[1])
    return call_getter(accessor) if reaches else accessor


set_wrapper(property, _property)


def _one_or_all(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


def _attribute(obj: Any, path: str) -> Any:
    for name in path.split("."):
        obj = getattr(attributes.loaded(obj, name), name)
    return obj


def _call_method(caller: Any, obj: Any) -> Any:
    """Call the `methodcaller` on the object on which its method is to be looked up."""
    made, args = caller.__reduce__()
    name = made.args[0] if isinstance(made, functools.partial) else args[0]
    return caller(attributes.meth(obj, name))


# ---------------------------------------------------------------------- heapq and bisect


def _on_list(function: Any, changes: bool, in_steps: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a C function on a list that compares its elements. It runs in steps if code of the program does the
    comparing."""

    def act(items: Any, *args: Any, **kwargs: Any) -> Any:
        if not run.multi:
            return function(items, *args, **kwargs)
        if not is_a(items, list):
            report_uninstrumented_iteration(items)
        touched = Touched()
        values = Reread(lambda: (*list.__iter__(items), *args) if is_a(items, list) else args)
        called = touched.deeply(reads, values, "__lt__")
        if called and is_a(items, list):
            yield_before(function.__name__, touched)
            return in_steps(items, *args, **kwargs)
        shared, container_type = shared_objects.shared_object_of(items), container_type_of(type(items))
        if shared is not None and container_type is not None:
            touched.add(writes_structure(shared) if changes else container_type.reads_all(shared))
        yield_before(function.__name__, touched)
        if shared is not None and changes:
            for value in args:
                shared_objects.publish(value)
        return function(items, *args, **kwargs)

    return act


def _heap_function(function: Any) -> Callable[..., Any]:
    def in_steps(items: Any, *args: Any, **kwargs: Any) -> Any:
        return function(items, *args, **kwargs) if kwargs else ordering.on_heap(function, items, args)

    return _on_list(function, True, in_steps)


for _name in ("heappush", "heappop", "heapify", "heapreplace", "heappushpop"):
    for _written in (_name, f"_{_name}_max", f"{_name}_max"):
        if hasattr(_heapq, _written):
            set_wrapper(getattr(_heapq, _written), _heap_function(getattr(_heapq, _written)))


def _bisecting(function: Any) -> Callable[..., Any]:
    """Wrap a function of `bisect`. It runs in steps if there is a key function, or the program's code compares
    elements."""
    inserts, left = "insort" in function.__name__, "left" in function.__name__

    def in_steps(items: Any, x: Any, *args: Any, key: Any = None, **kwargs: Any) -> Any:
        wanted = run.above.call(key)(x) if inserts and key is not None else x
        place = ordering.find_place(items, wanted, *args, left=left, key=key, **kwargs)
        return ordering.insert_at(items, place, x) if inserts else place

    at_once = _on_list(function, inserts, in_steps)

    def act(items: Any, x: Any, *args: Any, key: Any = None, **kwargs: Any) -> Any:
        if key is None:
            return at_once(items, x, *args, **kwargs)
        if run.multi and not is_built_in(key) and is_a(items, list):
            return in_steps(items, x, *args, key=key, **kwargs)
        return at_once(items, x, *args, key=key, **kwargs)

    return act


for _name in ("bisect_left", "bisect_right", "insort_left", "insort_right"):
    set_wrapper(getattr(bisect, _name), _bisecting(getattr(bisect, _name)))

# ---------------------------------------------------------------------- copy


@wrap(copy.copy)
def _copy(x: Any) -> Any:
    """Like `copy.copy`. For a container or a plain object it is one operation, because its contents are copied at
    once."""
    kind = type(x)
    if not run.multi or kind in operators.SCALARS:
        return copy.copy(x)
    shared, container_type = shared_objects.shared_object_of(x), container_type_of(kind)
    if shared is None and not is_c_iterator(kind):
        return copy.copy(x)
    if any(isinstance(static(kind, name), types.FunctionType) for name in _OWN_COPY):
        return reading_python(copy.copy)(x)
    touched = Touched()
    if container_type is not None and shared is not None:
        touched.add(container_type.reads_all(shared))
    if container_type is None or fields_of(x):
        touched.deeply(reads, (x,), "")
    yield_before("copy", touched)
    with scheduler.atomic():
        return copy.copy(x)


@wrap(copy.deepcopy)
def _deepcopy(*args: Any, **kwargs: Any) -> Any:
    """Like `copy.deepcopy`. The keys of a memo that the program passes are ids, and must be those that its `id`
    returns; so `copy` has to be instrumented then."""
    if args[1:2] not in ((), (None,)) or kwargs.get("memo") is not None:
        opaque_code.demand("copy", "copy.deepcopy is given a memo")
    return reading_python(copy.deepcopy)(*args, **kwargs)


_OWN_COPY: Final = ("__copy__", "__reduce_ex__", "__reduce__", "__getstate__")
