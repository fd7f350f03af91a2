"""Names of locations as text, for files that outlive the process.

Two names have the same text if and only if they are equal, so a process that reads the text finds the same location.
Only names made of values whose equality is known have one: there is none for a date with a time zone, which is equal to
others that look different.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import uuid
from collections.abc import Hashable
from typing import Any, Final

_AS_THEY_LOOK: Final = frozenset({bytes, type(None), type(Ellipsis), uuid.UUID, datetime.date, datetime.timedelta})
"""Types whose objects are equal if and only if they look the same, and never equal to an object of another type."""
_REAL: Final = frozenset({bool, int, float, decimal.Decimal, fractions.Fraction})


def as_text(name: Hashable) -> str | None:
    """Return the text of a name; None if it has none.

    >>> as_text(("object", 1, 2.5)), as_text((True, 1.0)), as_text(frozenset("ba"))
    ("('object',1,5/2)", '(1,1)', "{'a','b'}")
    >>> as_text(("object", range(3))) is None
    True
    """
    kind = type(name)
    if kind in _REAL:
        return _number(name)
    if kind is complex:
        parts = _number(name.real), _number(name.imag)  # type: ignore[attr-defined]
        return parts[0] if parts[1] == "0" else f"{parts[0]} + {parts[1]}j"
    if isinstance(name, str):
        return repr(str.__str__(name))
    if isinstance(name, (tuple, frozenset)):
        texts = [as_text(part) for part in name]
        if None in texts:
            return None
        found = [text for text in texts if text is not None]
        return f"({','.join(found)})" if isinstance(name, tuple) else f"{{{','.join(sorted(found))}}}"
    return repr(name) if kind in _AS_THEY_LOOK else None


def _number(number: Any) -> str:
    try:
        numerator, denominator = number.as_integer_ratio()
    except (OverflowError, ValueError):  # infinite, or NaN
        return repr(float(number))
    return str(numerator) if denominator == 1 else f"{numerator}/{denominator}"
