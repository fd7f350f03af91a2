"""Sets: one location for each element, as for the keys of dicts (see `dicts`).

    x in s                        READ (s, x), READ KEY_SET
    add, discard, remove          WRITE (s, x), WRITE STRUCTURE
    len, truth, iteration, ==     READ STRUCTURE
    pop, clear, update, ...       WRITE STRUCTURE, WRITE KEY_SET

`pop` and iteration follow an order that all runs agree on (see `set_order`).
"""

from __future__ import annotations

from typing import Any, Final

from dpor.core.operations import READ, WRITE, Accesses
from dpor.python.effects.accesses import KEY_SET, NOTHING, Touched, changes, learn, reads_structure, writes_structure
from dpor.python.effects.calls import Entry, MethodCall, changes_unless_empty, everything, whole
from dpor.python.effects.dicts import Unless, keyed
from dpor.python.effects.iteration import consumes_atomically, contents, materialised, stepwise
from dpor.python.effects.keys import ANY_KEY, PRIVATE, USER_EQ, part_of
from dpor.python.effects.kinds import register_container_type
from dpor.python.effects.lists import looks_deep
from dpor.python.effects.reach import EQUAL, SHOW
from dpor.python.effects.set_order import stable_order
from dpor.python.kernel import scheduler
from dpor.python.kernel.classes import is_a
from dpor.python.sharing import shared_objects
from dpor.python.sharing.shared_object import STRUCTURE, SharedObject


def writes_all(shared: SharedObject) -> Accesses:
    """Return the accesses of what may change any element."""
    learn(shared, KEY_SET)
    return (*writes_structure(shared), (shared.location(KEY_SET), WRITE))


def _reads_element(shared: SharedObject, s: Any, element: Any) -> Accesses:
    if not changes(shared, STRUCTURE):
        return NOTHING
    part = part_of(frozenset(element) if type(element) is set else element)
    if part is PRIVATE:
        return NOTHING
    if part is ANY_KEY or part is USER_EQ:
        return reads_structure(shared)
    accesses: Accesses = ((shared.location(part), READ),)
    return (*accesses, (shared.location(KEY_SET), READ)) if changes(shared, KEY_SET) else accesses


def _moves_element(shared: SharedObject, s: Any, element: Any) -> Accesses:
    part = part_of(frozenset(element) if type(element) is set else element)
    if part is ANY_KEY or part is USER_EQ:
        return writes_all(shared)
    accesses = writes_structure(shared)
    return accesses if part is PRIVATE else ((shared.location(part), WRITE), *accesses)


_ADD: Final = keyed(_moves_element, keeps=everything, unless=Unless(set.__contains__, _reads_element))
_DROP: Final = keyed(_moves_element, unless=Unless(lambda s, element: not set.__contains__(s, element), _reads_element))


# ---------------------------------------------------------------------- many elements


def _updates(call: MethodCall) -> Any:
    """`update` and the like, `|=` and the like, `__init__`: change the set by the items of each argument."""
    touched = Touched()
    if call.name in _OPERATORS and not _are_sets(call.args):
        return call.run()
    if all(consumes_atomically(other, touched) for other in call.args):
        return _update_atomically(call, touched)
    if call.name in ("update", "__init__"):
        return _update_in_steps(call)
    call.args = tuple(set(stepwise(other)) for other in call.args)
    return _update_atomically(call, Touched())


def _update_atomically(call: MethodCall, touched: Touched) -> Any:
    if call.shared is not None:
        touched.add(writes_all(call.shared))
    call.yield_before(touched)
    if call.name not in _OPERATORS:
        call.args = tuple(map(materialised, call.args))
    for other in call.args:
        call.publish(contents(other))
    if call.shared is None:
        return call.run()
    with scheduler.atomic():  # elements may have an `__eq__` of their own
        return call.run()


def _update_in_steps(call: MethodCall) -> None:
    obj = call.obj
    if call.name == "__init__":
        _CHANGE_ALL(MethodCall(obj, call.shared, "clear", set.clear))
    for other in call.args:
        for element in stepwise(other):
            shared = shared_objects.shared_object_of(obj)
            _ADD(MethodCall(obj, shared, call.name, set.add, (element,)))


_OPERATORS: Final = frozenset({"__ior__", "__iand__", "__isub__", "__ixor__"})


def _are_sets(args: tuple[Any, ...]) -> bool:
    return all(is_a(arg, (set, frozenset)) for arg in args)


def _looks(call: MethodCall) -> Any:
    """`union`, `issubset`, `&`, ...: read all of the set and of the other arguments, and make something new."""
    touched = Touched()
    if call.name.startswith("__") and not _are_sets(call.args):
        return call.run()
    if call.shared is not None:
        touched.add(reads_structure(call.shared))
    if all(consumes_atomically(other, touched) for other in call.args):
        return call.indivisible(touched)
    call.args = tuple(set(stepwise(other)) for other in call.args)
    return call.indivisible(reads_structure(call.shared) if call.shared is not None else NOTHING)


def _pop(call: MethodCall) -> Any:
    call.plain = _pop_first
    return _CHANGE_UNLESS_EMPTY(call)


def _pop_first(obj: set[Any], *args: Any) -> Any:
    order = None if args else stable_order(obj)
    if order is None:
        return set.pop(obj, *args)
    set.remove(obj, order[0])
    return order[0]


_CHANGE_UNLESS_EMPTY: Final = changes_unless_empty(writes_all, reads_structure)


_CHANGE_ALL: Final = whole(writes_all)
_STRUCTURE: Final = whole(reads_structure)
_LOOK_DEEP: Final = {name: looks_deep(name) for name in (EQUAL, "__ne__", SHOW)}

READING: Final[dict[str, Entry]] = {
    "__contains__": keyed(_reads_element, always_same=True),
    "__len__": _STRUCTURE,
    "__sizeof__": _STRUCTURE,
    "copy": _STRUCTURE,
    "__iter__": _STRUCTURE,
    **dict.fromkeys(("__le__", "__lt__", "__ge__", "__gt__"), _looks),
    **dict.fromkeys(("union", "intersection", "difference", "symmetric_difference"), _looks),
    **dict.fromkeys(("isdisjoint", "issubset", "issuperset"), _looks),
    **dict.fromkeys(("__or__", "__ror__", "__and__", "__rand__", "__sub__", "__rsub__", "__xor__", "__rxor__"), _looks),
    **_LOOK_DEEP,
}

ENTRIES: Final[dict[str, Entry]] = {
    **READING,
    "add": _ADD,
    "discard": _DROP,
    "remove": _DROP,
    "pop": _pop,
    "clear": _CHANGE_UNLESS_EMPTY,
    "__init__": _updates,
    **dict.fromkeys(("update", "intersection_update", "difference_update", "symmetric_difference_update"), _updates),
    **dict.fromkeys(("__ior__", "__iand__", "__isub__", "__ixor__"), _updates),
}


def _steps(shared: SharedObject, s: Any, index: int) -> Accesses:
    return reads_structure(shared)


register_container_type(set, ENTRIES, set.__iter__, reads_structure, writes_all, step=_steps)
