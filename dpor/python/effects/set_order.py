"""The order in which sets are iterated over: the same in every run.

It follows the hashes. Those of strings and numbers are fixed (the command fixes the hash seed); those of objects that
are equal only to themselves come from addresses. A set with such elements is iterated over in the order of their
run-stable numbers instead.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Set
from typing import Any, Final

from dpor.python.effects.keys import UnknownKey, part_of
from dpor.python.effects.kinds import static
from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import IDENTITIES
from dpor.python.kernel.classes import is_a
from dpor.python.sharing import shared_objects

_FIXED: Final = frozenset({str, int, float, bool, bytes, complex})
_NONE_IS_FIXED: Final = sys.version_info >= (3, 12)
_OBJECT_HASH: Final = object.__dict__["__hash__"]


def stable_order(elements: Set[Any]) -> list[Any] | None:
    """List the elements in an order that all runs agree on; None if the set's own order is such an order."""
    if len(elements) < 2 or _FIXED.issuperset(map(type, elements)) or all(map(is_fixed, elements)):
        return None
    return sorted(elements, key=_place)


def is_fixed(element: Any) -> bool:
    """True if the element's hash is the same in every run."""
    kind = type(element)
    if kind is tuple or kind is frozenset:
        return all(map(is_fixed, element))
    if element is None:
        return _NONE_IS_FIXED
    return kind in _FIXED or static(kind, "__hash__") is not _OBJECT_HASH


def _place(element: Any) -> tuple[int, int, str]:
    number = shared_objects.run_number(element)
    if number is not None:
        assumptions.note(IDENTITIES)
        return (1, number, "")
    if is_a(element, enum.Enum) or type(element) in shared_objects.ATOMIC:
        part = part_of(element)
        return (0, 0, "" if isinstance(part, UnknownKey) else repr(part))
    return (2, 0, type(element).__qualname__)
