"""The hooks for operators: subscripts, arithmetic, comparisons, truth, iteration, unpacking.

These are the hottest functions of dpor: most operands are numbers, strings, or belong to one thread. So each performs
the plain operator at once if only one thread exists, if the types say that nothing can be shared, or if the object has
no `SharedObject`. The tables of `dpor.python.effects` decide the rest.

Operators of classes of the program are left alone: their bodies are instrumented. An operator of an uninstrumented
class (what `dataclass` generates, `Counter`) is one step.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Generator, ItemsView, Iterator, KeysView, ValuesView
from sys import getrefcount
from typing import Any, Final

from dpor.core.operations import Accesses
from dpor.python.effects.accesses import UNMADE, Reread, Touched, made, make, yield_before
from dpor.python.effects.calls import MethodCall, as_dict, perform, perform_uninstrumented, unknown
from dpor.python.effects.dicts import SIMPLE_KEYS, reads_key, writes_key
from dpor.python.effects.generators import awaited
from dpor.python.effects.iteration import (
    CHAINS,
    consume_view,
    consumes_atomically,
    container_behind,
    iterator_of,
    materialised,
    may_be_endless,
    perform_step,
    stepwise,
    stepwise_with_length,
)
from dpor.python.effects.keys import USER_EQ, part_of
from dpor.python.effects.kinds import (
    container_type_of,
    container_types,
    is_c_iterator,
    is_immutable,
    is_in_c,
    is_program,
    static,
)
from dpor.python.effects.lists import reads_item, writes_item
from dpor.python.effects.reach import ANYTHING, EQUAL, SHOW, reads, views, writes, yield_before_reading
from dpor.python.effects.set_order import stable_order
from dpor.python.kernel import accessing, loops, scheduler
from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing import shared_objects
from dpor.python.sharing.code_of_types import code_of
from dpor.python.sharing.identity import stable_id
from dpor.python.sharing.shared_object import SharedObject
from dpor.python.sharing.shared_objects import table
from dpor.python.sharing.type_traits import ATOMIC

SCALARS: Final = frozenset({int, str, float, bool, bytes, type(None), complex})
"""Types whose objects cannot change and hold no others: what most operands are."""

UNLIKE: Final = SCALARS - {bytes}
"""Those of them that compare unequal to every container without looking into it."""

# ---------------------------------------------------------------------- subscripts


_WINDOWS: Final = frozenset({memoryview, types.MappingProxyType})
"""Types whose objects show another object, which may be shared even if they belong to one thread."""


def getitem(obj: Any, key: Any) -> Any:
    """Perform `obj[key]`."""
    if run.multi and (table.get(id(obj)) is not run.current or type(obj) in _WINDOWS):
        shared = shared_objects.shared_object_of(obj)
        if shared is not None or type(obj) in _WINDOWS:
            kind = type(obj)
            if shared is not None and (kind is dict or (kind is list and type(key) is int and key >= 0)):
                if type(key) in SIMPLE_KEYS:
                    operation = made(shared, "read", key)
                    if operation is UNMADE:
                        touched = (reads_item if kind is list else reads_key)(shared, obj, key)
                        operation = make(shared, "read", key, touched)
                    if operation is not None:
                        accessing.access(operation)
                    return obj[key]
            return _perform(obj, shared, "__getitem__", operator.getitem, key)
    return obj[key]


def setitem(value: Any, obj: Any, key: Any) -> None:
    """Perform `obj[key] = value`."""
    if run.multi and (table.get(id(obj)) is not run.current or type(key) is slice or type(obj) is memoryview):
        shared = shared_objects.shared_object_of(obj)
        if shared is not None or type(key) is slice or type(obj) is memoryview:
            if shared is not None and type(key) in SIMPLE_KEYS and _is_there(obj, key) and obj[key] is not value:
                operation = made(shared, "write", key)
                if operation is UNMADE:
                    touched = (writes_item if type(obj) is list else writes_key)(shared, obj, key)
                    operation = make(shared, "write", key, touched)
                if operation is not None:
                    accessing.access(operation, lambda: _stored(obj, shared, key, value))
                shared_objects.publish(value)
                obj[key] = value
                return
            _perform(obj, shared, "__setitem__", operator.setitem, key, value)
            return
    obj[key] = value


def _stored(obj: Any, shared: SharedObject, key: Any, value: Any) -> Accesses:
    """Return what the store touches once others have moved: they may have stored the same value there."""
    reads, writes = (reads_item, writes_item) if type(obj) is list else (reads_key, writes_key)
    return (reads if _is_there(obj, key) and obj[key] is value else writes)(shared, obj, key)


def _is_there(obj: Any, key: Any) -> bool:
    """True if the store replaces an element of a list or dict: what it touches is then the same in every run."""
    kind = type(obj)
    return (kind is dict and key in obj) or (kind is list and type(key) is int and 0 <= key < len(obj))


def delitem(obj: Any, key: Any) -> None:
    """Perform `del obj[key]`."""
    if run.multi:
        shared = shared_objects.shared_object_of(obj)
        if shared is not None:
            _perform(obj, shared, "__delitem__", operator.delitem, key)
            return
    del obj[key]


def _perform(obj: Any, shared: SharedObject | None, name: str, plain: Callable[..., Any], *args: Any) -> Any:
    """Perform an operator of an object that is shared, or whose arguments may be."""
    kind = type(obj)
    container_type = container_types.get(kind)
    if container_type is None:
        if kind is types.MappingProxyType:
            return perform(MethodCall(obj, shared, name, plain, args))
        found = static(kind, name)
        if isinstance(found, types.FunctionType):
            return plain(obj, *args) if is_program(found) else _uninstrumented(obj, shared, name, found, plain, *args)
        container_type = container_type_of(kind)
        if container_type is None:
            if found is None or is_immutable(kind) or (name in _SIZES and found.__objclass__ in ATOMIC):
                return plain(obj, *args)
            return unknown(MethodCall(obj, shared, name, plain, args))
    entry = container_type.entries.get(name)
    return plain(obj, *args) if entry is None else entry(MethodCall(obj, shared, name, plain, args))


_SIZES: Final = ("__len__", "__bool__")
"""Methods that always return the same if an immutable built-in type has them, in classes derived from it too."""


def _uninstrumented(
    obj: Any, shared: SharedObject | None, name: str, found: Any, plain: Callable[..., Any], *args: Any
) -> Any:
    """Perform an operator in Python code that is not instrumented; any operand may be shared."""
    if is_immutable(type(obj)):
        return plain(obj, *args)
    return perform_uninstrumented(MethodCall(obj, shared, name, plain, args), found)


# ---------------------------------------------------------------------- arithmetic


def _both(name: str, plain: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Perform an operator that makes a new object of two operands, at least one of which is not of `SCALARS`."""
    both = [shared_objects.shared_object_of(a), shared_objects.shared_object_of(b)]
    if both == _NONE_SHARED and type(a) not in views and type(b) not in views:
        return plain(a, b)
    touched, calls = Touched(), False  # `calls`: code of the program, without a hook
    elements: list[Any] = []
    for operand, shared in zip((a, b), both, strict=True):
        kind = type(operand)
        container_type = container_type_of(kind)
        if container_type is not None:
            if shared is not None:
                touched.add(container_type.reads_all(shared))
                if isinstance(operand, set):
                    elements.extend(set.__iter__(operand))
        elif kind in views:
            consume_view(operand, touched)
        elif code_of(kind).computes_in_c:
            calls |= bool(touched.deeply(writes, (operand,)))  # it may, and change the operand afterwards
        elif kind is not tuple:
            found = static(kind, name)
            if operand is a and isinstance(found, types.FunctionType) and not is_program(found):
                return _uninstrumented(a, shared_objects.shared_object_of(a), name, found, plain, b)
    found = static(type(a), name)
    if isinstance(found, types.FunctionType) and container_type_of(type(a)) is not None:
        return (
            plain(a, b)
            if is_program(found)
            else _uninstrumented(a, shared_objects.shared_object_of(a), name, found, plain, b)
        )
    yield_before(name.strip("_"), touched)
    if calls or any(part_of(element) is USER_EQ for element in elements):
        with scheduler.atomic():
            return plain(a, b)
    return plain(a, b)


_NONE_SHARED: Final = [None, None]


def _binary(name: str, plain: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the hook of the operator whose method has this name; `plain` performs it."""

    def hook(a: Any, b: Any) -> Any:
        if run.multi and (type(a) not in SCALARS or type(b) not in SCALARS):
            return _both(name, plain, a, b)
        return plain(a, b)

    return hook


def add(a: Any, b: Any) -> Any:
    """Perform `a + b`."""
    if run.multi and (type(a) not in SCALARS or type(b) not in SCALARS):
        return _both("__add__", operator.add, a, b)
    return a + b


def sub(a: Any, b: Any) -> Any:
    """Perform `a - b`."""
    if run.multi and (type(a) not in SCALARS or type(b) not in SCALARS):
        return _both("__sub__", operator.sub, a, b)
    return a - b


def mul(a: Any, b: Any) -> Any:
    """Perform `a * b`."""
    if run.multi and (type(a) not in SCALARS or type(b) not in SCALARS):
        return _both("__mul__", operator.mul, a, b)
    return a * b


def mod(a: Any, b: Any) -> Any:
    """Perform `a % b`; if `a` is a string, it formats `b`."""
    if run.multi:
        kind = type(a)
        if kind is str or kind is bytes:
            if type(b) not in SCALARS:
                yield_before_reading("format", (b,), SHOW)
        elif kind not in SCALARS:
            return _both("__mod__", operator.mod, a, b)
    return a % b


def _inplace(name: str, plain: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the hook of `a += b` or the like, which returns what is to be stored."""
    new = f"__{name[3:-2]}__"

    def hook(a: Any, b: Any) -> Any:
        if run.multi and (type(a) not in SCALARS or type(b) not in SCALARS):
            container_type = container_type_of(type(a))
            if container_type is not None and name in container_type.entries:
                return _perform(a, shared_objects.shared_object_of(a), name, plain, b)
            if container_type is not None or type(a) in views or type(a) is tuple or type(a) is frozenset:
                return _both(new, plain, a, b)
            if code_of(type(a)).computes_in_c or code_of(type(b)).computes_in_c:
                return unknown(MethodCall(a, shared_objects.shared_object_of(a), name, plain, (b,)))
            found = static(type(a), name)
            if isinstance(found, types.FunctionType) and not is_program(found):
                return _uninstrumented(a, shared_objects.shared_object_of(a), name, found, plain, b)
        return plain(a, b)

    return hook


iadd: Final = _inplace("__iadd__", operator.iadd)


def neg(a: Any) -> Any:
    """Perform `-a`."""
    if run.multi and type(a) not in SCALARS:
        shared = shared_objects.shared_object_of(a)
        if shared is not None:
            return _perform(a, shared, "__neg__", operator.neg)
    return -a


def pos(a: Any) -> Any:
    """Perform `+a`."""
    if run.multi and type(a) not in SCALARS:
        shared = shared_objects.shared_object_of(a)
        if shared is not None:
            return _perform(a, shared, "__pos__", operator.pos)
    return +a


def invert(a: Any) -> Any:
    """Perform `~a`."""
    if run.multi and type(a) not in SCALARS:
        shared = shared_objects.shared_object_of(a)
        if shared is not None:
            return _perform(a, shared, "__invert__", operator.invert)
    return ~a


# ---------------------------------------------------------------------- comparisons


def eq(a: Any, b: Any) -> Any:
    """Perform `a == b`."""
    if run.multi and type(a) not in UNLIKE and type(b) not in UNLIKE:
        return _compare("__eq__", operator.eq, a, b)
    return a == b


def ne(a: Any, b: Any) -> Any:
    """Perform `a != b`."""
    if run.multi and type(a) not in UNLIKE and type(b) not in UNLIKE:
        return _compare("__ne__", operator.ne, a, b)
    return a != b


def lt(a: Any, b: Any) -> Any:
    """Perform `a < b`."""
    if run.multi and type(a) not in UNLIKE and type(b) not in UNLIKE:
        return _compare("__lt__", operator.lt, a, b)
    return a < b


def le(a: Any, b: Any) -> Any:
    """Perform `a <= b`."""
    if run.multi and type(a) not in UNLIKE and type(b) not in UNLIKE:
        return _compare("__le__", operator.le, a, b)
    return a <= b


def gt(a: Any, b: Any) -> Any:
    """Perform `a > b`."""
    if run.multi and type(a) not in UNLIKE and type(b) not in UNLIKE:
        return _compare("__gt__", operator.gt, a, b)
    return a > b


def ge(a: Any, b: Any) -> Any:
    """Perform `a >= b`."""
    if run.multi and type(a) not in UNLIKE and type(b) not in UNLIKE:
        return _compare("__ge__", operator.ge, a, b)
    return a >= b


def _compare(name: str, plain: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Perform a comparison, which may look into both operands."""
    if _compares_alone(a, name) and _compares_alone(b, name):
        return plain(a, b)
    container_type = container_type_of(type(a))
    if container_type is not None and name in container_type.entries:
        return _perform(a, shared_objects.shared_object_of(a), name, plain, b)
    yield_before_reading(name.strip("_"), (a, b), EQUAL if name == "__ne__" else name)
    return plain(a, b)


_alone: Final[dict[tuple[type, str], bool]] = type_cache({})
"""Results of `_compares_alone`; a cache for the whole process."""


def _compares_alone(obj: Any, name: str) -> bool:
    """True if the comparison looks at nothing shared in this object, except in instrumented code."""
    kind = type(obj)
    if kind in container_types or kind is tuple:
        if kind is not tuple and shared_objects.shared_object_of(obj) is not None:
            return False
        return SCALARS.issuperset(map(type, obj)) if kind in _FLAT else False
    key = kind, name
    known = _alone.get(key)
    if known is None:
        if len(_alone) > 5000:  # do not keep classes that every run makes anew
            _alone.clear()
        found = static(kind, name)
        if found is object.__ne__:  # it asks `__eq__`
            found, name = static(kind, EQUAL), EQUAL
        own = is_program(found) if isinstance(found, types.FunctionType) else found is object.__dict__[name]
        known = _alone[key] = own and container_type_of(kind) is None and not issubclass(kind, (tuple, frozenset))
    return known


_FLAT: Final = frozenset({list, tuple, set})


def contains(a: Any, b: Any) -> Any:
    """Perform `a in b`."""
    if run.multi:
        kind = type(b)
        if kind not in SCALARS or kind is bytes:
            shared = shared_objects.shared_object_of(b)
            at_once = kind in _ATONCE or (kind in container_types and kind is not memoryview)
            if shared is not None or type(a) not in UNLIKE or not at_once:
                return _contains(a, b, shared)
    return a in b


def _contains(a: Any, b: Any, shared: SharedObject | None) -> bool:
    kind = type(b)
    if kind in views:
        return _in_view(a, b)
    if kind is tuple or kind is bytes:
        yield_before_reading("in", (a, *b), EQUAL)
        return a in b
    if kind is types.GeneratorType or is_c_iterator(kind) or static(kind, "__contains__") is None:
        return a in stepwise(b)
    return bool(_perform(b, shared, "__contains__", operator.contains, a))


def _in_view(a: Any, view: Any) -> bool:
    """Perform `a in view`, where the view is one of a container that may be shared."""
    behind = container_behind(view)
    shared = shared_objects.shared_object_of(behind)
    touched = Touched()
    by_key = "keys" in type(view).__name__ or type(view) is types.MappingProxyType
    if shared is not None:
        if by_key:
            touched.add(reads_key(shared, behind, a))
        elif "items" in type(view).__name__ and type(a) is tuple and len(a) == 2:
            touched.add(reads_key(shared, behind, a[0]))
        else:
            consume_view(view, touched)
    container_type = container_type_of(type(behind))
    compared = Reread(lambda: (a,) if by_key or container_type is None else (a, *container_type.contents(behind)))
    touched.deeply(reads, compared, EQUAL)
    yield_before("in", touched)
    return a in view


# ---------------------------------------------------------------------- truth and text


def truth(obj: Any) -> Any:
    """Called before a test of `obj`. Returns it."""
    if not run.multi or type(obj) in SCALARS:
        return obj
    is_view = type(obj) in views or type(obj) in _ABSTRACT_VIEWS
    if is_view or table.get(id(obj)) is not run.current:
        shared = shared_objects.shared_object_of(obj)
        if is_view:
            behind = container_behind(obj)
            _perform(behind, shared_objects.shared_object_of(behind), "__len__", _untouched)
        elif shared is not None:
            method = "__len__" if static(type(obj), "__bool__") is None else "__bool__"
            _perform(obj, shared, method, _untouched)
    return obj


_ABSTRACT_VIEWS: Final = frozenset({KeysView, ItemsView, ValuesView})
"""Classes of which an object may be made for a built-in container."""


def _untouched(obj: Any) -> None:
    """Does nothing: the program's own code makes the test right after the hook."""


def format_(obj: Any) -> Any:
    """Called before `obj` becomes part of an f-string. Returns the object to format."""
    if type(obj) in SCALARS:
        return obj
    if run.multi:
        yield_before_reading("format", (obj,), SHOW)
    return shown(obj)


def shown(obj: Any) -> Any:
    """Return the object, or a substitute with the same text if the text would contain an address."""
    if static(type(obj), "__repr__") is object.__repr__:
        if shared_objects.run_name(obj) is not None and static(type(obj), "__str__") is object.__str__:
            return ShownPlainly(obj, stable_id(obj))
    return obj


class ShownPlainly:
    """Looks like an object without a `__repr__` of its own, with a stable number in place of the address."""

    __slots__ = ("_obj", "_text")

    def __init__(self, obj: Any, number: int) -> None:
        self._obj = obj
        self._text = f"<{type(obj).__module__}.{type(obj).__qualname__} object at 0x{number:012x}>"

    def __repr__(self) -> str:
        return self._text

    def __format__(self, spec: str) -> str:
        if static(type(self._obj), "__format__") is object.__format__ and not spec:
            return self._text
        return format(self._obj, spec)


# ---------------------------------------------------------------------- iteration


def count_of_temporary(count: Callable[[object], int]) -> int:
    """Return what `count`, a function that counts references, returns for an object to which only its argument refers.

    Returns 0 if that cannot be distinguished from an object in a variable, whose reference the argument may borrow.
    """
    kept = object()
    return count(object()) if count(object()) < count(kept) else 0


def _counted(obj: object) -> int:
    held = [obj]
    del obj
    return getrefcount(held[0])


_TEMPORARY: Final = count_of_temporary(_counted)
"""A generator or `zip` with this reference count, counted like this, exists for this loop alone: no other thread can
have it."""

_ATONCE: Final = frozenset({tuple, str, range, bytes})
"""Types whose items never change, so that taking them is no operation."""
_OWN: Final = CHAINS | {types.GeneratorType}
"""Types of iterators that often exist for one loop alone."""
_CALLS: Final = type(iter(int, 1))
"""The type of `iter(function, sentinel)`."""


def iter_(obj: Any) -> Any:
    """Return what a `for` loop, a comprehension or `yield from` iterates over in place of `obj`."""
    kind = type(obj)
    if kind is list:
        return list_steps(obj)
    if kind in _ATONCE:
        return obj
    if kind in _OWN:
        held = [obj]
        del obj
        count, obj = getrefcount(held[0]), held[0]
        iterator = obj if count <= _TEMPORARY else _iter_other(obj, kind)
        return map(_tick, iterator) if kind in CHAINS and may_be_endless(obj) else iterator
    return map(_tick, _iter_other(obj, kind)) if kind is _CALLS else _iter_other(obj, kind)


def _tick(item: Any) -> Any:
    """Count an iteration: a loop over an endless iterator may wait for another thread, as a `while` loop may."""
    loops.tick()
    return item


def list_steps(items: list[Any]) -> Generator[Any, None, None]:
    """Yield the items, one step each: for a loop over a list that may become shared, or change, meanwhile."""
    index, key = 0, id(items)
    if run.multi and table.get(key) is not run.current:
        perform_step(items, 0, reads_item)
    for item in items:
        yield item
        index += 1  # noqa: SIM113
        if run.multi and table.get(key) is not run.current:
            perform_step(items, index, reads_item)


def _iter_other(obj: Any, kind: type) -> Any:
    container_type = container_type_of(kind)
    if container_type is not None:
        if kind in container_types or not isinstance(static(kind, "__iter__"), types.FunctionType):
            return _container_steps(obj, iterator_of(obj), container_type.step)
    elif kind in views:
        behind = container_behind(obj)
        container_type = container_type_of(type(behind))
        if container_type is not None:
            step = container_type.step if "keys" in kind.__name__ else container_type.value_step
            return _container_steps(behind, iterator_of(obj), step)
    return stepwise(obj)


def _container_steps(container: Any, iterator: Iterator[Any], step: Any) -> Generator[Any, None, None]:
    index = 0
    if run.multi:
        perform_step(container, 0, step)
    for item in iterator:
        yield item
        index += 1  # noqa: SIM113
        if run.multi:
            perform_step(container, index, step)


def unpack(obj: Any) -> Any:
    """Return what is unpacked, or spread by `*`, in place of `obj`. The items of a container are taken at once."""
    kind = type(obj)
    if kind in _ATONCE:
        return obj
    if kind in _OWN:
        held = [obj]
        del obj
        count, obj = getrefcount(held[0]), held[0]
        if count <= _TEMPORARY:
            return obj
    if kind not in container_types and is_c_iterator(kind):
        return stepwise(obj)
    if (kind is list or kind is dict) and shared_objects.shared_object_of(obj) is None:
        return obj
    if run.multi:
        touched = Touched()
        if consumes_atomically(obj, touched):
            if not touched:
                return obj if kind is not set and kind is not frozenset else stable_order(obj) or obj
            yield_before("unpack", touched)
            return tuple(materialised(obj))
        return stepwise_with_length(obj)
    return stable_order(obj) or obj if kind is set or kind is frozenset else stepwise_with_length(obj)


def unpackmap(obj: Any) -> Any:
    """Return what `**` spreads in place of `obj`."""
    if run.multi and isinstance(obj, dict):
        shared = shared_objects.shared_object_of(obj)
        container_type = container_type_of(type(obj))
        if shared is not None and container_type is not None:
            accesses = container_type.reads_all(shared)
            if accesses:
                yield_before("unpack", accesses)
                return dict(obj)
    if run.multi and type(obj) is types.MappingProxyType:
        touched = Touched()
        consume_view(obj, touched)
        yield_before("unpack", touched)
        return dict(obj)
    if run.multi and is_in_c(type(obj)):
        yield_before_reading("unpack", (obj,), ANYTHING)
    return as_dict(obj)


HOOKS: Final[dict[str, Callable[..., Any]]] = {
    ".getitem": getitem,
    ".setitem": setitem,
    ".delitem": delitem,
    ".slice": slice,
    ".add": add,
    ".sub": sub,
    ".mul": mul,
    ".mod": mod,
    **{
        f".{name}": _binary(f"__{dunder.strip('_')}__", getattr(operator, dunder))
        for name, dunder in {
            "matmul": "matmul",
            "div": "truediv",
            "floordiv": "floordiv",
            "pow": "pow",
            "lshift": "lshift",
            "rshift": "rshift",
            "and": "and_",
            "or": "or_",
            "xor": "xor",
        }.items()
    },
    ".iadd": iadd,
    **{
        f".i{name}": _inplace(f"__i{dunder}__", getattr(operator, f"i{dunder}"))
        for name, dunder in {
            "sub": "sub",
            "mul": "mul",
            "matmul": "matmul",
            "div": "truediv",
            "floordiv": "floordiv",
            "mod": "mod",
            "pow": "pow",
            "lshift": "lshift",
            "rshift": "rshift",
            "and": "and",
            "or": "or",
            "xor": "xor",
        }.items()
    },
    ".neg": neg,
    ".pos": pos,
    ".invert": invert,
    ".eq": eq,
    ".ne": ne,
    ".lt": lt,
    ".le": le,
    ".gt": gt,
    ".ge": ge,
    ".contains": contains,
    ".truth": truth,
    ".format": format_,
    ".iter": iter_,
    ".unpack": unpack,
    ".unpackmap": unpackmap,
    ".awaited": awaited,
}
"""The hooks, by the names that instrumented code uses."""
