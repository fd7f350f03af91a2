"""The order in which sets are iterated over: the same in every run.

It follows the hashes. Those of strings and numbers are fixed (the command fixes the hash seed); those of objects that
are equal only to themselves come from addresses. A set with such elements is iterated over in the order of their
run-stable numbers instead.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Set
from contextvars import ContextVar
from math import factorial
from typing import Any, Final

from dpor.python.effects.kinds import static
from dpor.python.kernel import assumptions, sync_objects
from dpor.python.kernel.assumptions import IDENTITIES
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.incomplete import incomplete, incomplete_if_multithreaded
from dpor.python.kernel.run import run
from dpor.python.sharing import children, orders, shared_objects
from dpor.python.sharing.orders import MOST
from dpor.python.sharing.sharing_state import sharing

_FIXED: Final = frozenset({str, int, float, bool, bytes, complex})
_NONE_IS_FIXED: Final = sys.version_info >= (3, 12)
_OBJECT_HASH: Final = object.__dict__["__hash__"]


def stable_order(elements: Set[Any]) -> list[Any] | None:
    """List the elements in an order that all runs agree on; None if the set's own order is such an order."""
    found = agreed_order(elements)
    order = sharing.order
    if found is None or order is None or all(_is_order_free(_hashed(element)) for element in found):
        return found
    length = len(found)
    orders.note_iteration(min(length, MOST))
    if length <= MOST:
        return permuted(found, order % factorial(length))
    say = incomplete if len(run.threads) > 1 else incomplete_if_multithreaded
    say(
        f"a set of {length} objects is iterated over in only a few orders; they depend on the addresses of its elements"
    )
    backwards, turn = divmod(order, length)
    turned = found[turn:] + found[:turn]
    return turned[::-1] if backwards % 2 else turned


def _is_order_free(element: Any) -> bool:
    """True if nobody minds the order of such objects in a set: threads are joined in any order, as by pools."""
    return is_a(element, sync_objects.SyncObject) and not element.dpor_is_data


def agreed_order(elements: Set[Any]) -> list[Any] | None:
    """List the elements in an order that all runs agree on, for uses whose result does not depend on it; None as
    above."""
    if len(elements) < 2 or _FIXED.issuperset(map(type, elements)) or all(map(has_fixed_hash, elements)):
        return None
    return sorted(elements, key=_place)


def permuted(items: list[Any], number: int) -> list[Any]:
    """The permutation of this number; 0 leaves them as they are.

    >>> ["".join(permuted(list("abc"), number)) for number in range(6)]
    ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']
    """
    rest = list(items)
    found = []
    while rest:
        index, number = divmod(number, factorial(len(rest) - 1))
        found.append(rest.pop(index))
    return found


def has_fixed_hash(element: Any) -> bool:
    """True if the element's hash is the same in every run."""
    element = _hashed(element)
    kind = type(element)
    if kind is tuple or kind is frozenset:
        return all(map(has_fixed_hash, element))
    if kind is ContextVar:
        return False
    if element is None:
        return _NONE_IS_FIXED
    return kind in _FIXED or static(kind, "__hash__") is not _OBJECT_HASH


def _hashed(element: Any) -> Any:
    """Return the object whose hash the element uses: of a weak reference, its object."""
    return weakref.ReferenceType.__call__(element) if is_a(element, weakref.ReferenceType) else element


def _place(element: Any) -> tuple[int, tuple[int, ...], str]:
    element = _hashed(element)
    name = shared_objects.run_name(element)
    if name is None:
        return (0, (), children.described(element))
    assumptions.note(IDENTITIES)
    kind, *numbers = name
    return (1, tuple(numbers), "") if kind == "object" else (2, (), repr(name))
