"""Lists. Storing at an index accesses that element; moving elements or changing the length accesses the structure.

    l[i], l[-1]      READ (l, i);  a negative index is known only while the structure cannot change
    l[i] = v         WRITE (l, i), UPDATE ELEMENTS
    len, truth       READ STRUCTURE
    l[a:b], ==, ...  READ STRUCTURE, READ ELEMENTS
    append, ...      WRITE STRUCTURE

If the structure changes, all of them also read STRUCTURE, so a WRITE of it conflicts with everything. Locations that no
run of the search changes are left out (see `accesses`).
"""

from __future__ import annotations

import gc
import operator
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from dpor.core.operations import READ, UPDATE, WRITE, Accesses
from dpor.python.effects.accesses import (
    NOTHING,
    Reread,
    Touched,
    changes,
    learn,
    reads_structure,
    writes_structure,
    yield_before,
)
from dpor.python.effects.calls import Entry, MethodCall, changes_unless_empty, entry, everything, nothing, whole
from dpor.python.effects.iteration import (
    consumes_atomically,
    contents,
    has_length_in_python,
    materialised,
    stepwise,
)
from dpor.python.effects.kinds import container_type_of, register_container_type, static
from dpor.python.effects.reach import ANYTHING, EQUAL, SHOW, reads
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects
from dpor.python.sharing.shared_object import ELEMENTS, STRUCTURE, SharedObject
from dpor.python.sharing.type_traits import HOLD_NOTHING


def reads_all(shared: SharedObject) -> Accesses:
    """Return the accesses of what looks at the length and at all elements."""
    accesses = reads_structure(shared)
    if changes(shared, ELEMENTS):
        accesses += ((shared.location(ELEMENTS), READ),)
    return accesses


def reads_item(shared: SharedObject, items: list[Any], index: int) -> Accesses:
    """Accesses of a read of the element at the index."""
    accesses = NOTHING
    if changes(shared, STRUCTURE):
        accesses = ((shared.location(STRUCTURE), READ),)
        if index < 0 and changes(shared, ELEMENTS):
            return (*accesses, (shared.location(ELEMENTS), READ))
    elif index < 0:
        index += list.__len__(items)
    if changes(shared, ELEMENTS):
        accesses += ((shared.location(index), READ),)
    return accesses


def writes_item(shared: SharedObject, items: list[Any], index: int) -> Accesses:
    """Return the accesses of a store at this index, which may be negative or out of range."""
    if changes(shared, STRUCTURE):
        if index < 0:
            return writes_structure(shared)
        accesses: Accesses = ((shared.location(STRUCTURE), READ),)
    else:
        accesses = NOTHING
        if index < 0:
            index += list.__len__(items)
        if not 0 <= index < list.__len__(items):
            return NOTHING  # an IndexError in every run
    learn(shared, ELEMENTS)
    return (*accesses, (shared.location(index), WRITE), (shared.location(ELEMENTS), UPDATE))


# ---------------------------------------------------------------------- subscripts


def _subscript(key: Any) -> Any:
    """Convert the key by `__index__` if it has one: before the operation, as that may be code of the program."""
    if type(key) is int or type(key) is bool:
        return key
    if type(key) is slice:
        return slice(_subscript(key.start), _subscript(key.stop), _subscript(key.step))
    if isinstance(static(type(key), "__index__"), types.FunctionType):
        return operator.index(key)
    return key


def _read(call: MethodCall) -> Any:
    (key,) = call.args
    call.args = (key := _subscript(key),)
    shared = call.shared
    if shared is None:
        return call.run()
    return call.done(reads_item(shared, call.obj, key) if is_a(key, int) else reads_all(shared))


def _write(call: MethodCall) -> Any:
    key, value = call.args
    key = _subscript(key)
    call.args = (key, value)
    shared = call.shared
    if is_a(key, slice):
        return _write_slice(call, key, value)
    if shared is None:
        return call.run()
    if not is_a(key, int):
        return call.done(writes_structure(shared), keeps=(value,))
    items = call.obj
    return call.done_unless(
        lambda: _holds_already(items, key, value),
        lambda: reads_item(shared, items, key),
        lambda: writes_item(shared, items, key),
        keeps=(value,),
    )


def _holds_already(items: list[Any], index: int, value: Any) -> bool:
    length = list.__len__(items)
    return -length <= index < length and list.__getitem__(items, index) is value


def _write_slice(call: MethodCall, key: slice, value: Any) -> Any:
    """Materialise the value first, then store it: one operation if only C code runs meanwhile."""
    touched = Touched()
    if not consumes_atomically(value, touched):
        value = list(stepwise(value))
        touched = Touched()
    if call.shared is not None:
        touched.add(writes_structure(call.shared))
    call.yield_before(touched)
    value = materialised(value)
    call.publish(contents(value))
    call.args = (key, value)
    return call.run()


def _delete(call: MethodCall) -> Any:
    call.args = (_subscript(call.args[0]),)
    return call.run() if call.shared is None else call.done(writes_structure(call.shared))


# ---------------------------------------------------------------------- methods that take an iterable


def _extend(call: MethodCall) -> Any:
    """`extend`, `+=` and `list.__init__`: one operation from a container, else element by element as they arrive."""
    if len(call.args) != 1 or call.kwargs:
        return _CHANGE(call)
    items = call.args[0]
    touched = Touched()
    if not consumes_atomically(items, touched):
        return _extend_in_steps(call, items)
    if type(items) in _SEQUENCES and not items and not touched and call.name != "__init__":
        return call.run()  # which changes nothing
    if call.shared is not None:
        touched.add(writes_structure(call.shared))
    call.yield_before(touched)
    if call.shared is not None or type(items) not in _SEQUENCES:
        items = materialised(items)
        call.publish(contents(items))
        call.args = (items,)
    return call.run()


def _extend_in_steps(call: MethodCall, items: Any) -> Any:
    obj: list[Any] = call.obj
    if call.name == "__init__":
        _CHANGE(MethodCall(obj, call.shared, "clear", list.clear))
    steps = stepwise(items)
    if has_length_in_python(type(items)):
        operator.length_hint(items)
    for item in steps:
        shared = shared_objects.shared_object_of(obj)
        if shared is not None:
            yield_before(call.name, writes_structure(shared))
            shared_objects.publish(item)
        list.append(obj, item)
    return obj if call.name == "__iadd__" else None


# ---------------------------------------------------------------------- methods that compare elements


def _compares(in_steps: Callable[[MethodCall], Any], accesses: Callable[[SharedObject], Accesses]) -> Entry:
    """Make the entry of a method that compares elements with its argument: one operation, unless instrumented code
    compares."""

    def act(call: MethodCall) -> Any:
        touched = Touched()
        called = bool(call.args) and touched.deeply(
            reads, Reread(lambda: (call.args[0], *list.__iter__(call.obj))), EQUAL
        )
        shared = call.shared
        if called and shared is not None and accesses(shared):
            call.yield_before(touched)
            return in_steps(call)
        if call.name == "remove" and shared is not None and not touched:
            items, args = call.obj, call.args
            return call.done_unless(
                lambda: not args or _is_certainly_absent(items, args[0]),
                lambda: reads_all(shared),
                lambda: accesses(shared),
            )
        touched.add(NOTHING if shared is None else accesses(shared))
        return call.done(touched)

    return act


def _is_certainly_absent(items: list[Any], value: Any) -> bool:
    """Tell without calling code of the program; False where that cannot be told."""
    plain = all(type(item) in HOLD_NOTHING for item in (value, *list.__iter__(items)))
    return plain and not list.__contains__(items, value)


def _matches(call: MethodCall, start: int = 0) -> Iterator[int]:
    """Yield the positions of elements equal to the argument, as CPython finds them: it reads the list again for each
    element."""
    items: list[Any] = call.obj
    value = call.args[0]
    index = start
    while True:
        shared = shared_objects.shared_object_of(items)
        if shared is not None:
            call.yield_before(reads_item(shared, items, index))
        if index >= list.__len__(items):
            return
        item = list.__getitem__(items, index)
        if item is value or item == value:
            yield index
        index += 1


def _contains_in_steps(call: MethodCall) -> bool:
    return any(True for _ in _matches(call))


def _count_in_steps(call: MethodCall) -> int:
    return sum(1 for _ in _matches(call))


def _index_in_steps(call: MethodCall) -> int:
    """`index` in steps; `start` and `stop` are applied by the plain method to a copy."""
    if len(call.args) > 1:
        shared = call.shared
        assert shared is not None
        call.yield_before(reads_all(shared))
        return list.copy(call.obj).index(*call.args)
    for index in _matches(call):
        return index
    return [].index(call.args[0])  # raises the same error


def _remove_in_steps(call: MethodCall) -> None:
    for index in _matches(call):
        shared = shared_objects.shared_object_of(call.obj)
        if shared is not None:
            call.yield_before(writes_structure(shared))
        list.__setitem__(call.obj, slice(index, index + 1), ())
        return
    [].remove(call.args[0])  # raises the same error


# ---------------------------------------------------------------------- sorting


def _sort(call: MethodCall) -> Any:
    """`sort`: with a key function or an order in instrumented code, other threads can look in between.

    As in CPython they then find the list empty, and what they do to it is lost.
    """
    shared = call.shared
    touched = Touched()
    items = Reread(lambda: list.__iter__(call.obj))
    called = touched.deeply(reads, items, "__lt__")
    key = call.kwargs.get("key")
    if key is not None:
        if not is_built_in(key):
            call.kwargs = {**call.kwargs, "key": run.above.call(key)}
            called = True
        touched.deeply(reads, items, ANYTHING)
    if shared is not None:
        if called:
            return _sort_in_steps(call, shared)
        if not touched and not call.kwargs:
            obj = call.obj
            return call.done_unless(
                lambda: _is_certainly_sorted(obj), lambda: reads_all(shared), lambda: writes_structure(shared)
            )
        touched.add(writes_structure(shared))
    return call.done(touched)


def _is_certainly_sorted(items: list[Any]) -> bool:
    """Tell without calling code of the program; False where that cannot be told."""
    items = list(list.__iter__(items))
    kinds = set(map(type, items))
    return len(kinds) <= 1 and kinds <= {int, float, str, bytes} and all(map(operator.le, items, items[1:]))


def _sort_in_steps(call: MethodCall, shared: SharedObject) -> None:
    items: list[Any] = call.obj
    call.yield_before(writes_structure(shared))
    ordered = list.copy(items)
    list.clear(items)
    try:
        list.sort(ordered, *call.args, **call.kwargs)
    finally:
        call.yield_before(writes_structure(shared))
        was_changed = list.__len__(items) > 0
        list.__setitem__(items, slice(None), ordered)
    if was_changed:
        raise ValueError("list modified during sort")


def is_built_in(function: Any) -> bool:
    """True if calling the function certainly runs no code of the program, provided that its arguments have none."""
    kind = type(function)
    return kind in _C_FUNCTIONS or (kind is type and function.__module__ == "builtins")


_C_FUNCTIONS: Final = frozenset(
    {
        types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, operator.itemgetter,
        operator.attrgetter, operator.methodcaller,
    }
)  # fmt: skip


# ---------------------------------------------------------------------- whole lists


def _looks_at_both(call: MethodCall) -> Any:
    """`+`: reads both lists and makes a new one."""
    touched = Touched()
    for operand in (call.obj, *call.args):
        container_type = container_type_of(type(operand))
        shared = shared_objects.shared_object_of(operand)
        if container_type is not None and shared is not None:
            touched.add(container_type.reads_all(shared))
    return call.done(touched)


def looks_deep(method: str) -> Entry:
    """Make the entry of a method that compares or shows: it reads nested objects too.

    Instrumented code that it calls sees a copy, so that it does not matter what others do to the container meanwhile.
    """

    def act(call: MethodCall) -> Any:
        touched = Touched()
        called = touched.deeply(reads, (call.obj, *call.args), method)
        call.yield_before(touched)
        if (
            called
            and touched
            and type(call.obj) is list
            and not any(item is call.obj for item in list.__iter__(call.obj))
        ):
            return call.plain(list.copy(call.obj), *call.args)
        return call.run()

    return act


_STRUCTURE: Final = whole(reads_structure)
_ALL: Final = whole(reads_all)
_CHANGE: Final = whole(writes_structure)
_SEQUENCES: Final = frozenset({list, tuple, str, bytes, range})
_KEEP: Final = whole(writes_structure, keeps=everything)

ENTRIES: Final[dict[str, Entry]] = {
    "__getitem__": _read,
    "__setitem__": _write,
    "__delitem__": _delete,
    "__len__": _STRUCTURE,
    "__sizeof__": _STRUCTURE,
    "__iter__": entry(nothing),
    "__reversed__": _STRUCTURE,
    "__contains__": _compares(_contains_in_steps, reads_all),
    "index": _compares(_index_in_steps, reads_all),
    "count": _compares(_count_in_steps, reads_all),
    "remove": _compares(_remove_in_steps, writes_structure),
    "append": _KEEP,
    "insert": _KEEP,
    "extend": _extend,
    "__iadd__": _extend,
    "__init__": _extend,
    "__imul__": _CHANGE,
    **dict.fromkeys(("pop", "clear", "reverse"), changes_unless_empty(writes_structure, reads_structure)),
    "sort": _sort,
    "copy": _ALL,
    "__mul__": _ALL,
    "__rmul__": _ALL,
    "__add__": _looks_at_both,
    **{name: looks_deep(name) for name in (EQUAL, "__ne__", "__lt__", "__le__", "__gt__", "__ge__", SHOW)},
}


def _contents(items: Any) -> Iterable[Any]:
    """(To iterate over a list that C keeps for itself may crash: that of a parser of XML has empty places.)"""
    return reversed(gc.get_referents(items)) if type(items) is list else list.__iter__(items)


register_container_type(list, ENTRIES, _contents, reads_all, writes_structure, step=reads_item)
