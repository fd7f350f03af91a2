"""Decides whether two operations of different threads may be swapped. Nothing else decides it.

Two operations are *dependent* if they touch a common location and their modes there conflict: anything but READ with
READ and UPDATE with UPDATE. Whatever enables or disables an operation touches a location of it with WRITE, so two
independent operations neither enable nor disable each other. [ADJS14, section 2: E ⊨ p ♢ q; Maz87]
"""

from __future__ import annotations

from dpor.core.operations import WRITE, Location, Operation


def dependent(a: Operation, b: Operation) -> bool:
    """True if the operations, of different threads, do not commute. Their modes are those of the outcomes, where
    known."""
    if a.barrier or b.barrier:
        return True
    others = b.accesses
    for location, mode in a.accesses:
        for other, other_mode in others:
            if other == location and (mode is not other_mode or mode is WRITE):
                return True
    return False


def common_location(a: Operation, b: Operation) -> Location | None:
    """Return the first location for which the operations are dependent, or None."""
    for location, mode in a.accesses:
        for other, other_mode in b.accesses:
            if other == location and (mode is not other_mode or mode is WRITE):
                return location
    return None
